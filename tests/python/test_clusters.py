"""Searches that other processes measure for: Dask's workers and the ranks of MPI."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cluster_parts import CPU, PROGRAM, address_of, dask_cluster, dask_nodes, mneme, mpi
from mneme.devices import DeviceLimits, choose_device, device_limits, use_limits
from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.files.scratch import host_in_names
from mneme.measure import cluster, pool_processes, pool_watch
from mneme.measure.cluster import check_cluster, open_cluster
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.pool_processes import PoolProcess
from mneme.measure.remote_evaluation import UnfitProcess, evaluate
from mneme.measure.statistics import NodeStatistics
from mneme.optimize.options import OptimizeOptions
from mneme.recording.inventory import find_record
from mneme.session import machines
from mneme.session.events import TuneListener
from mneme.session.option_files import read_options, write_options
from mneme.session.options import TuneOptions
from mneme.session.result_store import ResultStore, read_trials
from mneme.session.session import TuningSession
from mneme.session.trials import CompletedCandidate
from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

# What names of directories have after the host's, which is another one on nodes.
MACHINE = host_in_names().removeprefix(os.uname().nodename)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clusters") / "recording"
    done = mneme("record", "-rdb", path, *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    return path


def tune(
    recording: Path, results: Path, *more: str | Path, trials: int = 12, **how: Any
) -> subprocess.CompletedProcess[str]:
    known = ("--no-knowledge", "--seed", "1", "--trials", str(trials), "--results-dir", results)
    return mneme("tune", "-rdb", recording, *known, *more, **how)


def options_for(recording: Path, results: Path, trials: int, on: str) -> TuneOptions:
    return TuneOptions(
        record_database=recording,
        device="cpu",
        trials=trials,
        seed=1,
        knowledge=False,
        results_dir=results,
        on=on,
    )


def test_workers_of_dask_measure(recording: Path, tmp_path: Path) -> None:
    with dask_cluster(2) as cluster:
        on = address_of(cluster)
        done = tune(recording, tmp_path / "one", "--on", on)
        every = tune(recording, tmp_path / "all", "--all", "--on", on)
    assert done.returncode == 0, done.stderr
    assert f"by processes of {os.uname().nodename} (2)" in done.stderr
    summary = json.loads((tmp_path / "one" / "summary.json").read_text())
    assert summary["status"] == "completed"
    trials = read_trials(tmp_path / "one")
    assert len(trials) == 12
    assert {one.result.device for one in trials if one.is_verified} == {"cpu"}
    assert every.returncode == 0, every.stderr
    assert len(list((tmp_path / "all").glob("*/summary.json"))) == 1


def test_hosts_are_named_with_what_they_did(recording: Path, tmp_path: Path) -> None:
    with dask_nodes(tmp_path, {"node1": "", "node2": ""}) as (on, _):
        done = tune(recording, tmp_path / "results", "--on", on, *CPU)
    assert done.returncode == 0, done.stderr
    assert "by processes of" in done.stderr
    nodes = json.loads((tmp_path / "results" / "summary.json").read_text())["executor"]["nodes"]
    assert set(nodes) == {"node1", "node2"}
    assert sum(one["finished"] for one in nodes.values()) >= 12
    told = done.stderr.splitlines()
    assert any(one.startswith("mneme: Dask shows what runs at http://") for one in told)
    at = told.index("mneme: host   processes  configurations  failed  busy")
    for line, (host, node) in zip(told[at + 1 :], nodes.items(), strict=False):
        _, *cells, busy, percent = line.split()
        assert cells == [host, "1", str(node["finished"]), str(node["failures"])]
        assert (busy.isdigit(), percent) == (True, "%")


def test_one_table_is_for_all_kernels_and_says_who_is_left_out(
    recording: Path, tmp_path: Path
) -> None:
    hidden = f"mount -t tmpfs none {recording}; mount -t tmpfs -o size=4k none $TMPDIR"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    hosts = {"node1": "", "node2": f"export TMPDIR={scratch}; {hidden}"}
    with dask_nodes(tmp_path, hosts) as (on, _):
        done = tune(recording, tmp_path / "results", "--all", "--on", on, *CPU)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("mneme: host   processes  configurations") == 1
    (left_out,) = (one for one in done.stderr.splitlines() if one.startswith("mneme: left out: "))
    assert "node2: " in left_out
    assert "set TMPDIR" in left_out


def test_nodes_without_the_recording_name_a_winner_after_wrong_code(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was wrong may have written anywhere, so the recording is opened anew."""
    monkeypatch.setattr(CompletedCandidate, "is_verified", property(is_right_on_even_trials))
    hidden = f"mount -t tmpfs none {recording}; export TMPDIR={tmp_path}"
    with dask_nodes(tmp_path, {"node1": hidden}) as (on, _):
        session = TuningSession(options_for(recording, tmp_path / "results", 12, on))
        assert session.run() == 0, session.error
    assert session.outcome is not None
    assert session.outcome.status == "completed"


def is_right_on_even_trials(done: CompletedCandidate) -> bool:
    return (done.status == "verified" and done.candidate.trial % 2 == 0) or done.candidate.trial < 0


def test_a_host_without_the_recording_is_sent_it(recording: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch of node2"
    scratch.mkdir()
    hidden = f"mount -t tmpfs none {recording}; export TMPDIR='{scratch}'"
    with dask_nodes(tmp_path, {"node1": "", "node2": hidden}) as (on, _):
        done = tune(recording, tmp_path / "results", "--on", on, *CPU, trials=30)
        assert not list(scratch.glob("mneme-*"))
    assert done.returncode == 0, done.stderr
    assert "left out" not in done.stderr
    nodes = json.loads((tmp_path / "results" / "summary.json").read_text())["executor"]["nodes"]
    assert nodes["node2"]["finished"] > 0
    trials = read_trials(tmp_path / "results")
    assert {one.status for one in trials} <= {"verified", "failed_verification", "invalid_launch"}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("mount -t tmpfs -o size=4k none $TMPDIR", "which has 0 MiB left; set TMPDIR"),
        (
            f"chmod 755 $TMPDIR; mkdir $TMPDIR/mneme-0-recordings-node2{MACHINE}; chown 1 $TMPDIR/*",
            "another user",
        ),
    ],
    ids=["full", "foreign"],
)
def test_a_host_that_cannot_take_the_recording_is_left_out(
    recording: Path, tmp_path: Path, command: str, why: str
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    hidden = f"mount -t tmpfs none {recording}; export TMPDIR={scratch}; {command}"
    with dask_nodes(tmp_path, {"node1": "", "node2": hidden}) as (on, _):
        done = tune(recording, tmp_path / "results", "--on", on, *CPU)
    assert done.returncode == 0, done.stderr
    assert "is left out: " in done.stderr
    assert why in done.stderr
    assert "by processes of node1" in done.stderr


def test_a_host_with_a_mneme_of_old_is_left_out(recording: Path, tmp_path: Path) -> None:
    old = tmp_path / "old" / "mneme"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text("__version__ = '0.0.1'")
    with dask_nodes(tmp_path, {"node1": "", "node2": f"export PYTHONPATH={old.parent}"}) as (on, _):
        done = tune(recording, tmp_path / "results", "--on", on, *CPU)
    assert done.returncode == 0, done.stderr
    assert "is left out: node2: mneme cannot be imported there" in done.stderr


def test_what_a_killed_host_had_is_measured_by_another(recording: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = f"export TMPDIR={scratch}"
    with dask_nodes(tmp_path, {"node1": command, "node2": command}) as (on, pids):

        class Listener(TuneListener):
            def progress(self, *_: Any) -> None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pids["node2"], signal.SIGKILL)

        session = TuningSession(options_for(recording, results, 40, on), Listener())
        assert session.run() == 0, session.error
        left = [one.name for one in scratch.glob("mneme-*")]
        assert not [one for one in left if not one.startswith("mneme-logs-node2-")], left
    trials = read_trials(results)
    assert len(trials) == 40
    assert not [one.result.error for one in trials if one.result.worker_died]


def test_certificates_are_those_of_dask(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["-keyout", key, "-out", certificate, "-days", "1", "-subj", "/CN=mneme"]
    line = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", *map(str, made)]
    subprocess.run(line, check=True, capture_output=True)
    prefix = "DASK_DISTRIBUTED__COMM__TLS__"
    variables = {f"{prefix}CA_FILE": str(certificate)}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        variables[f"{prefix}{role}__CERT"] = str(certificate)
        variables[f"{prefix}{role}__KEY"] = str(key)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with dask_nodes(tmp_path, {"node1": ""}, "--protocol", "tls") as (on, _):
        assert json.loads((tmp_path / "scheduler.json").read_text())["address"].startswith("tls")
        safe = tune(recording, tmp_path / "safe", "--on", on, *CPU)
        address = json.loads((tmp_path / "scheduler.json").read_text())["address"]
        assert cluster._address_of(address.replace("tls://", "dask://")) == address
        plain = cluster._address_of(address.replace("tls://", "dask+tcp://"))
        assert plain == address.replace("tls://", "tcp://")
        for name in variables:
            monkeypatch.delenv(name)
        without = tune(recording, tmp_path / "without", "--on", on, *CPU)
    assert safe.returncode == 0, safe.stderr
    assert without.returncode == 6
    assert len(without.stderr.splitlines()) == 1
    assert "check your TLS configuration" in without.stderr


def test_a_killed_scheduler_ends_the_search(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_watch, "PATIENCE_SECONDS", 1.0)
    results = tmp_path / "results"
    with dask_nodes(tmp_path, {"node1": ""}) as (on, pids):

        class Listener(TuneListener):
            def progress(self, *_: Any) -> None:
                os.kill(pids["scheduler"], signal.SIGKILL)

        session = TuningSession(options_for(recording, results, 1000, on), Listener())
        assert session.run() == 6
        assert session.is_pool_gone
    assert f"--resume --results-dir {results}" in session.error
    assert read_trials(results)


def test_optimize_searches_on_dask(tmp_path: Path) -> None:
    with dask_cluster(1) as cluster:
        line = ("optimize", "-o", tmp_path / "out", "--budget", "25s", *CPU)
        done = mneme(*line, "--on", address_of(cluster), "--", PROGRAM, "4096")
    assert done.returncode in (0, 1), done.stderr
    (log,) = (tmp_path / "out" / "results").glob("*/logs/tune.log")
    assert "by processes of" in log.read_text()


def test_ranks_of_mpi_measure(recording: Path, tmp_path: Path) -> None:
    done = tune(recording, tmp_path / "results", "--on", "mpi", *CPU, **mpi(tmp_path, 3))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("12 trials") == 1
    assert f"by processes of {os.uname().nodename} (2)" in done.stderr


def test_one_process_of_mpi_is_too_few(recording: Path, tmp_path: Path) -> None:
    done = tune(recording, tmp_path / "results", "--on", "mpi", *CPU, **mpi(tmp_path, 1))
    assert done.returncode == 3
    assert "needs two processes or more" in done.stderr


def test_a_pool_that_loses_its_workers_ends_the_search(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_watch, "PATIENCE_SECONDS", 1.0)
    with dask_cluster(1) as cluster:
        options = options_for(recording, tmp_path / "results", 60, address_of(cluster))
        killed: list[Any] = []

        class Listener(TuneListener):
            def progress(self, *_: Any) -> None:
                if len(read_trials(tmp_path / "results")) >= 5 and not killed:
                    killed.extend(cluster.workers.values())
                    for worker in killed:  # a nanny that is told twice waits for ever
                        cluster.sync(worker.kill)

        session = TuningSession(options, Listener())
        assert session.run() == 6
        assert session.is_pool_gone
    assert "the pool has had no process for 1 s" in session.error
    assert f"--resume --results-dir {tmp_path / 'results'}" in session.error
    kept = read_trials(tmp_path / "results")
    assert 5 <= len([one for one in kept if one.status != "internal_error"]) < 60
    done = tune(recording, tmp_path / "results", "--resume", *CPU, trials=60)
    assert done.returncode == 0, done.stderr
    assert "measuring on" not in done.stderr  # this machine goes on
    names = [one.candidate.config.key() for one in read_trials(tmp_path / "results") if one.metric]
    assert len(names) == len(set(names))


def test_processes_with_other_models_are_left_out(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = iter(["A", "B", "B"])

    def examine(_spec: object, _version: str, number: int) -> dict[str, Any]:
        limits = replace(DeviceLimits(), name=next(models))
        return {"host": f"node{number}", "pid": 1, "limits": vars_of(limits)}

    monkeypatch.setattr(pool_processes, "examine", examine)
    with ThreadPoolExecutor(3) as pool:
        executor = FuturesReplayExecutor(pool, find_record(recording).path, None, 1, device="cpu")
        with pytest.warns(RuntimeWarning, match="has A, and 2 of the other processes B"):
            executor.prepare()
        assert [one.limits.name for one in executor.workers] == ["B", "B"]
        assert len(executor.left_out) == 1


def vars_of(limits: DeviceLimits) -> dict[str, Any]:
    return {name: getattr(limits, name) for name in DeviceLimits.__dataclass_fields__}


def test_a_process_with_another_model_measures_nothing(recording: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        executor = FuturesReplayExecutor(pool, find_record(recording).path, None, 1, device="cpu")
        executor.prepare()
        spec = executor._spec
    assert spec.model == device_limits("cpu").name
    with pytest.raises(UnfitProcess, match=r"measures on .*, the others on another"):
        evaluate(replace(spec, model="another"), 0, [], b"", {})
    with pytest.raises(UnfitProcess, match=f"^{os.uname().nodename}: .*No such file"):
        evaluate(replace(spec, log_directory="/proc/logs"), 0, [], b"", {})
    with pytest.raises(UnfitProcess, match="is another recording there"):
        evaluate(replace(spec, digest="0" * 32), 0, [], b"", {})


def test_limits_are_those_of_the_device_that_measures() -> None:
    elsewhere = DeviceLimits(id="cuda:0", name="H", target="sm_90")
    with use_limits(elsewhere):
        assert choose_device() == "cuda:0"
        assert device_limits() is elsewhere
        assert device_limits("cuda:0") is elsewhere
        assert device_limits("cpu").target == "cpu"
    assert device_limits("cpu") is not elsewhere


@pytest.mark.parametrize("on", ["dsk://x", "dask://", "mpi://x", "dask"])
def test_what_names_no_cluster_is_refused(on: str) -> None:
    with pytest.raises(InvalidArgument, match="it is dask://HOST:PORT"):
        check_cluster(on)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("mneme.measure.cluster._CONNECT_SECONDS", 1)
    with pytest.raises(
        BackendUnavailable, match="no Dask scheduler answers at 'dask://127.0.0.1:1'"
    ):
        open_cluster("dask://127.0.0.1:1").__enter__()


def test_optimize_refuses_mpi() -> None:
    with pytest.raises(InvalidArgument, match="takes no '--on mpi'"):
        OptimizeOptions(command=("true",), on="mpi").validate()


def test_a_killed_rank_loses_nothing_that_finished(recording: Path, tmp_path: Path) -> None:
    how = mpi(tmp_path, 3)
    results = tmp_path / "results"
    line = [*how.pop("before"), sys.executable, "-m", "mneme", "tune", "-rdb", str(recording)]
    line += ["--on", "mpi", *CPU, "--no-knowledge", "--trials", "4000"]
    job = subprocess.Popen(
        [*line, "--results-dir", str(results), "--quiet"],
        env={**os.environ, **how},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while job.poll() is None and len(read_trials(results)) < 20:
            pass
        os.killpg(job.pid, signal.SIGKILL)
    finally:
        job.wait(60)
    count = len(read_trials(results))
    assert count >= 20
    done = tune(recording, results, "--resume", *CPU, trials=count + 5)
    assert done.returncode == 0, done.stderr
    assert len(read_trials(results)) >= count


def test_a_config_file_names_a_cluster(tmp_path: Path) -> None:
    file = tmp_path / "tune.yaml"
    file.write_text("on: dask://node:8786\nsearch:\n  trials: 3\n")
    assert read_options(file) == {"on": "dask://node:8786", "trials": 3}
    write_options(file, TuneOptions(on="mpi"))
    assert read_options(file)["on"] == "mpi"


@pytest.mark.parametrize(
    ("device", "threads", "is_warned"),
    [("cuda:0", 1, True), ("cuda:0", 8, False), ("cpu", 1, False)],
)
def test_workers_with_one_thread_are_warned_of(
    tmp_path: Path, device: str, threads: int, is_warned: bool
) -> None:
    limits = DeviceLimits(id=device, name="H")
    process = PoolProcess(host="node1", pid=1, limits=limits, threads=threads)

    nodes = {"node1": NodeStatistics(processes=1)}
    executor = SimpleNamespace(workers=[process], nodes=nodes, prepare=lambda: None)
    told: list[str] = []
    listener = TuneListener()
    listener.warn = told.append  # type: ignore[method-assign]
    machines.prepare(executor, ResultStore(tmp_path), listener)
    assert ["--nthreads N" in one for one in told] == [True] * is_warned
