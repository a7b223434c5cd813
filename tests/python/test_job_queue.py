"""Searches whose workers are jobs: of a real Slurm of one machine, and of a stand-in of Flux."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mneme.errors import InvalidArgument
from mneme.measure import job_queue
from mneme.measure.cluster import check_cluster
from mneme.measure.job_time import seconds_of_job, time_for_search
from mneme.optimize import searches
from mneme.optimize.events import OptimizeListener
from mneme.optimize.options import OptimizeOptions
from mneme.optimize.profile import Profile
from mneme.optimize.result import OptimizeResult
from mneme.optimize.searches import Searches
from mneme.session.option_files import read_options
from mneme.session.options import TuneOptions
from mneme.session.result_store import read_trials
from native_parts import needs_native
from slurm_node import output, slurm_node, wait_for, wait_for_jobs, why_not

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
SMALL = ("--cluster", "memory=200MB")

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "recording"
    line = [sys.executable, "-m", "mneme", "record", "-rdb", path, "--device", "cpu", "--"]
    subprocess.run([*line, PROGRAM, "4096"], check=True, capture_output=True, timeout=120)
    return path


def skip_without_dask_jobqueue() -> None:
    """Skip; importing it would change what an interrupt does to this process."""
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    skip_without_dask_jobqueue()
    if missing := why_not():
        pytest.skip(missing)
    with slurm_node(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


def tune_command(recording: Path, tmp_path: Path, *more: str, trials: int = 8) -> list[str]:
    return [
        *(sys.executable, "-m", "mneme", "tune", "-rdb", str(recording), "--device", "cpu"),
        *("--no-knowledge", "--seed", "1", "--trials", str(trials), "--timeout", "100"),
        *("--results-dir", str(tmp_path / "results"), *more),
    ]


def tune(
    recording: Path, tmp_path: Path, environment: dict[str, str], *more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        tune_command(recording, tmp_path, *more),
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
        cwd=tmp_path,
        env=environment,
    )


def test_jobs_of_slurm_measure(recording: Path, tmp_path: Path, slurm: dict[str, str]) -> None:
    more = ("--cluster", "jobs=2", "--cluster", "walltime=00:05:00", *SMALL)
    done = tune(recording, tmp_path, slurm, "--on", "slurm", *more)
    assert done.returncode == 0, done.stderr
    assert "submitting 2 jobs to Slurm; output goes to" in done.stderr
    assert "#SBATCH -t 00:05:00" in done.stderr, "a job is shown before it is submitted"
    assert "--gpus" not in done.stderr, "the CPU device needs none"
    assert len(read_trials(tmp_path / "results")) == 8
    wait_for_jobs(slurm, 30)
    folder = tmp_path / "mneme-jobs"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not [one for one in folder.iterdir() if "PRIVATE KEY" in one.read_text()]


@pytest.mark.slow
def test_a_search_ends_before_its_jobs_do(
    recording: Path, tmp_path: Path, slurm: dict[str, str]
) -> None:
    more = ("--on", "slurm", "--cluster", "walltime=00:01:00", *SMALL, "--trials", "100000")
    done = tune(recording, tmp_path, slurm, *more)
    assert done.returncode == 0, done.stderr
    assert "so everything is done within" in done.stderr
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["status"] == "timeout"
    assert summary["gain"] is not None, "there always is a winner"
    config = json.loads((tmp_path / "results" / "config.json").read_text())
    assert config["timeout"] == 100, "a resumed run has what the user asked for"


NOW = int(time.time())
BEFORE = {"SLURM_JOB_START_TIME": str(NOW + 7000), "SLURM_JOB_END_TIME": str(NOW + 7900)}
AFTER = {"SLURM_JOB_START_TIME": str(NOW - 7900), "SLURM_JOB_END_TIME": str(NOW - 7000)}


@pytest.mark.parametrize(
    ("variables", "answer", "seconds"),
    [
        ({}, "", None),
        ({"SLURM_JOB_ID": "7"}, "4:58", 298),
        ({"SLURM_JOB_ID": "7"}, "1:00:02", 3602),
        ({"SLURM_JOB_ID": "7"}, "2-01:00:02", 2 * 86400 + 3602),
        ({"SLURM_JOB_ID": "7"}, "UNLIMITED", None),
        ({"SLURM_JOB_ID": "7"}, "", None),
        # The clock of this node is hours before, or after, that of the controller.
        ({"SLURM_JOB_ID": "7", **BEFORE}, "4:58", 298),
        ({"SLURM_JOB_ID": "7", **AFTER}, "4:58", 298),
        ({"FLUX_JOB_ID": "f"}, "59.7", 59.7),
        ({"FLUX_JOB_ID": "f"}, "infinity", None),
    ],
)
def test_batch_systems_say_how_long_a_job_has(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    answer: str,
    seconds: float | None,
) -> None:
    for name in ("SLURM_JOB_ID", "SLURM_JOB_END_TIME", "SLURM_JOB_START_TIME", "FLUX_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for name in ("squeue", "flux"):
        command = tmp_path / name
        command.write_text(f"#!/bin/sh\necho '{answer}'\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert seconds_of_job() == seconds


def test_a_job_says_when_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_END_TIME", str(int(time.time()) + 300))
    monkeypatch.setenv("SLURM_JOB_START_TIME", str(int(time.time()) - 300))
    left = seconds_of_job()
    assert left is not None
    assert 290 < left <= 300
    assert time_for_search(900) == 810
    assert time_for_search(60) == 30


def test_a_refused_job_is_one_sentence(
    recording: Path, tmp_path: Path, slurm: dict[str, str]
) -> None:
    done = tune(recording, tmp_path, slurm, "--on", "slurm", "--cluster", "queue=nothere")
    assert done.returncode == 6
    assert "Slurm refuses the job: " in done.stderr.splitlines()[-1]
    assert "invalid partition specified: nothere" in done.stderr.splitlines()[-1]


def test_jobs_that_end_at_once_end_the_search(
    recording: Path, tmp_path: Path, slurm: dict[str, str]
) -> None:
    more = ("--cluster", 'job_script_prologue=["exit 3"]', *SMALL)
    done = tune(recording, tmp_path, slurm, "--on", "slurm", *more)
    assert done.returncode == 6
    last = done.stderr.splitlines()[-1]
    assert f"what they wrote is in '{tmp_path / 'mneme-jobs'}'" in last


def test_an_interrupted_search_cancels_its_jobs(
    recording: Path, tmp_path: Path, slurm: dict[str, str]
) -> None:
    later = 'job_extra_directives=["--begin=now+1hour"]'
    more = ("--on", "slurm", "--cluster", later, *SMALL)
    command = tune_command(recording, tmp_path, *more)
    with subprocess.Popen(command, cwd=tmp_path, env=slurm, stderr=subprocess.PIPE) as process:
        wait_for(lambda: output(["squeue", "-h"], slurm) != "", "the job")
        time.sleep(1)  # it waits for the job by now
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert output(["squeue", "-h"], slurm) == ""


def test_searches_of_optimize_end_before_their_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    options = OptimizeOptions(command=("app",), on="slurm")
    result = OptimizeResult(command=["app"], directory=Path("d"))
    found = Searches(options, Profile(), result, OptimizeListener())
    assert found.time_of_jobs() > 1e9
    opened = contextlib.nullcontext(object())
    monkeypatch.setattr(searches, "open_cluster", lambda *_, **__: opened)
    monkeypatch.setattr(searches, "seconds_left", lambda _: 900.0)
    with found.cluster():
        assert 800 < found.time_of_jobs() <= 810


def test_options_of_jobs_come_from_files(tmp_path: Path) -> None:
    file = tmp_path / "options.yaml"
    file.write_text("on: slurm\ncluster:\n  jobs: 4\n  queue: gpu\n")
    options = TuneOptions.from_dict({"record_database": "r", "trials": 1, **read_options(file)})
    assert list(options.cluster) == ["jobs=4", 'queue="gpu"']
    options.validate()


@pytest.mark.parametrize(
    ("on", "given", "words"),
    [
        ("slurm", "queue", "it is KEY=VALUE"),
        ("slurm", "jobs=0", "a number of jobs, 1 or more"),
        ("slurm", "jobs=many", "a number of jobs, 1 or more"),
        ("mpi", "jobs=2", "--cluster is for --on slurm and --on flux"),
        (None, "jobs=2", "--cluster is for --on slurm and --on flux"),
    ],
)
def test_wrong_options_of_jobs_are_named(on: str | None, given: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        check_cluster(on, [given])


def test_an_unknown_option_of_a_job_is_named(
    recording: Path, tmp_path: Path, slurm: dict[str, str]
) -> None:
    done = tune(recording, tmp_path, slurm, "--on", "slurm", "--cluster", "wallclock=1:00")
    assert done.returncode == 3
    assert "unexpected keyword argument 'wallclock'" in done.stderr


def test_without_slurm_its_command_is_named(recording: Path, tmp_path: Path) -> None:
    skip_without_dask_jobqueue()
    done = tune(recording, tmp_path, {**os.environ, "PATH": str(tmp_path)}, "--on", "slurm")
    assert done.returncode == 6
    assert "no command 'sbatch' here" in done.stderr


def use_empty_flux(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder, with a Flux that takes no jobs."""
    skip_without_dask_jobqueue()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (folder / "flux").write_text("")
    (folder / "flux").chmod(0o755)


KILLED = """
import json, os, signal, sys
from mneme.measure import job_queue
options = json.loads(sys.argv[1])
with job_queue._scheduler("flux", job_queue.BATCH_SYSTEMS["flux"], options, device=None):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_invalid_option_leaves_no_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_empty_flux(tmp_path, monkeypatch)
    line = [sys.executable, "-c", KILLED, '{"wallclock": 1}']
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    assert "unexpected keyword argument 'wallclock'" in done.stderr
    assert "Exception ignored" not in done.stderr
    assert not list((tmp_path / "mneme-jobs").iterdir())


def test_certificates_of_a_killed_search_go_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    use_empty_flux(tmp_path, monkeypatch)
    done = subprocess.run([sys.executable, "-c", KILLED, "{}"], check=False)
    assert done.returncode == -signal.SIGKILL

    def certificates() -> set[Path]:
        files = (one for one in (tmp_path / "mneme-jobs").rglob("*") if one.is_file())
        return {one for one in files if "-----BEGIN" in one.read_text()}

    left = certificates()
    assert left
    system = job_queue.BATCH_SYSTEMS["flux"]
    with job_queue._scheduler("flux", system, {}, device=None) as cluster:
        first = certificates()
        assert first.isdisjoint(left)
        assert all(str(one) in cluster.job_script() for one in first)
        with job_queue._scheduler("flux", system, {}, device=None):
            assert certificates() > first, "another search is not a killed one"
        assert certificates() == first
    assert not certificates()
    assert not list((tmp_path / "mneme-jobs").iterdir())
    with pytest.raises(KeyError), job_queue._scheduler("flux", system, {}, device=None):
        raise KeyError
    assert not list((tmp_path / "mneme-jobs").iterdir())
    del cluster
    gc.collect()
    assert "Exception ignored" not in capfd.readouterr().err


def test_only_the_encrypted_port_is_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_empty_flux(tmp_path, monkeypatch)
    psutil = pytest.importorskip("psutil")

    def listening() -> set[tuple[str, int]]:
        found = psutil.Process().net_connections("tcp")
        return {tuple(one.laddr) for one in found if one.status == psutil.CONN_LISTEN}

    before = listening()
    interrupt = signal.getsignal(signal.SIGINT)
    with job_queue._scheduler("flux", job_queue.BATCH_SYSTEMS["flux"], {}, device=None) as cluster:
        assert signal.getsignal(signal.SIGINT) is interrupt, "dask-jobqueue has one of its own"
        own = listening() - before
        assert cluster.scheduler_address.startswith("tls://")
        port = int(cluster.scheduler_address.rpartition(":")[2])
    assert port in {one for _, one in own}
    assert {address for address, one in own if one != port} <= {"127.0.0.1", "::1"}


FLUX = """\
#!{python}
# A Flux of one machine: `batch` starts a script, `jobs` lists those that run, `cancel` ends them.
import os, signal, subprocess, sys
from pathlib import Path
folder = Path({folder!r})
if sys.argv[1] == "batch":
    text = Path(sys.argv[2]).read_text()
    name = "\\u0192" + str(len(list(folder.glob("*.job"))))
    (folder / (name + ".job")).write_text(text)
    with (folder / (name + ".out")).open("w") as out:
        process = subprocess.Popen(["bash", "-c", text], stdout=out, stderr=out, process_group=0)
    (folder / (name + ".pid")).write_text(str(process.pid))
    print(name)
elif sys.argv[1] == "jobs":
    print("\\n".join(one.stem for one in folder.glob("*.pid")))
elif sys.argv[1] == "cancel":
    for name in sys.argv[2:]:
        pid = folder / (name + ".pid")
        os.killpg(int(pid.read_text()), signal.SIGTERM)
        pid.unlink()
"""


def test_jobs_of_flux_measure(recording: Path, tmp_path: Path) -> None:
    """Flux is in no package index; the stand-in takes what flux-batch(1) documents."""
    skip_without_dask_jobqueue()
    folder = tmp_path / "flux"
    folder.mkdir()
    command = folder / "flux"
    command.write_text(FLUX.format(python=sys.executable, folder=str(folder)))
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    more = ("--cluster", "queue=debug", "--cluster", "account=me", "--cluster", "walltime=5m")
    more += ("--cluster", "jobs=2")
    done = tune(recording, tmp_path, environment, "--on", "flux", *more)
    assert done.returncode == 0, done.stderr
    job, other = (one.read_text() for one in sorted(folder.glob("*.job")))
    assert "--name mneme-0 " in job
    assert "--name mneme-1 " in other, "Dask refuses two of one name"
    directives = {line.removeprefix("#flux: ") for line in job.splitlines() if "#flux:" in line}
    wanted = {"--nslots=1", "--cores-per-slot=1", "--queue=debug", "--bank=me", "--time-limit=5m"}
    assert directives >= wanted
    assert not list(folder.glob("*.pid")), "the job is cancelled at the end"
    assert "--dashboard-address 127.0.0.1:0" in job, "Dask's pages are for nobody else"
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["status"] == "completed"
