"""What may be wrong with nodes of a cluster: drivers, disks, clocks, and the network between them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from cluster_parts import CPU, PROGRAM, dask_nodes, mneme, wait_for_client
from mneme.devices import DeviceLimits
from mneme.measure import dask_questions, pool_processes
from mneme.measure.pool_processes import PoolProcess, PoolProcesses
from mneme.measure.pool_watch import PoolWatch
from mneme.session.events import NodeReport, TuneListener
from mneme.session.options import TuneOptions
from mneme.session.result_store import read_trials
from mneme.session.session import TuningSession
from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

TRIALS = 40
# A process that loads it never comes back.
DRIVER = "#include <unistd.h>\n__attribute__((constructor)) void hang(void) { for (;;) pause(); }\n"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "recording"
    done = mneme("record", "-rdb", path, *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    return path


class Listener(TuneListener):
    """Notes what users are told; does something once, when a trial has finished."""

    def __init__(self, action: Any = lambda: None) -> None:
        self.told: list[str] = []
        self.hosts: dict[str, Any] = {}
        self._action = action

    def progress(self, *_: Any) -> None:
        action, self._action = self._action, lambda: None
        action()

    def nodes(self, found: NodeReport) -> None:
        self.hosts = {host: one for host, one in found.hosts.items() if one.finished}

    def note(self, sentence: str) -> None:
        self.told.append(sentence)

    def warn(self, sentence: str) -> None:
        self.told.append(sentence)


def search(recording: Path, results: Path, on: str, listener: Listener, **more: Any) -> list[Any]:
    """Search in this process; return the trials."""
    options = TuneOptions(
        record_database=recording,
        trials=TRIALS,
        seed=1,
        knowledge=False,
        results_dir=results,
        on=on,
        **{"device": "cpu", **more},
    )
    session = TuningSession(options, listener)
    assert session.run() == 0, session.error
    trials = read_trials(results)
    assert len({one.candidate.config.key() for one in trials}) == len(trials) == TRIALS
    assert not [one.result.error for one in trials if one.result.worker_died]
    return trials


def test_a_node_whose_driver_hangs_is_left_out(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "driver.c"
    source.write_text(DRIVER)
    driver = tmp_path / "driver" / "libcuda.so.1"
    driver.parent.mkdir()
    subprocess.run([compiler, "-shared", "-fPIC", "-o", driver, source], check=True)
    monkeypatch.setattr(dask_questions, "ANSWER_SECONDS", 4.0)
    broken = f"export LD_LIBRARY_PATH={driver.parent}"
    listener = Listener()
    with dask_nodes(tmp_path, {"node1": "", "node2": broken}) as (on, _):
        search(recording, tmp_path / "results", on, listener, device=None)
    told = "\n".join(listener.told)
    assert "is left out: nothing answers there within 4 s: its process hangs" in told
    assert "by processes of node1" in told


def test_nodes_whose_gpus_do_not_work_say_why() -> None:
    """However many they are: nobody wants to search on what is left of them."""
    why = {"cuda": "no NVIDIA driver found: it is broken", "hip": "no AMD GPU"}
    good = PoolProcess(host="a", pid=1, limits=DeviceLimits(id="cuda:1", name="H200"))
    limits = DeviceLimits(id="cpu", name="CPU")
    bad = PoolProcess(host="b", pid=1, limits=limits, unusable=why)
    found = PoolProcesses(pool=cast("Any", None), by_address={"b1": bad, "b2": bad, "a1": good})
    pool_processes._leave_out_other_models(found)
    assert list(found.by_address) == ["a1"]
    assert set(found.left_out) == {"b1", "b2"}
    assert found.left_out["b1"].startswith("b has CPU, and 1 of the other processes H200: ")
    assert found.left_out["b1"].endswith(f"; its GPU cannot be used: {why['cuda']}")
    only = PoolProcesses(pool=cast("Any", None), by_address={"b1": bad, "b2": replace(bad, pid=2)})
    pool_processes._leave_out_other_models(only)
    assert list(only.by_address) == ["b1", "b2"]


def test_a_node_whose_scratch_disk_is_full_measures_on(recording: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    full = f"mount -t tmpfs -o size=1m none {scratch}; dd if=/dev/zero of={scratch}/full"
    listener = Listener()
    with dask_nodes(tmp_path, {"node1": "", "node2": f"{full}; export TMPDIR={scratch}"}) as (
        on,
        _,
    ):
        search(recording, tmp_path / "results", on, listener)
    assert "left out" not in "\n".join(listener.told)
    assert set(listener.hosts) == {"node1", "node2"}


# A worker with this is killed by its first configuration, such as for want of memory.
DYING = """
import os, signal
from mneme.measure import remote_evaluation
remote_evaluation.evaluate = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_node_that_dies_of_its_first_configuration_stops_nobody(
    recording: Path, tmp_path: Path
) -> None:
    """The nodes are compared then, and only this one may take its task."""
    (tmp_path / "dying.py").write_text(DYING)
    dying = f"export DASK_DISTRIBUTED__WORKER__PRELOAD='[\"{tmp_path}/dying.py\"]'"
    listener = Listener()
    with dask_nodes(tmp_path, {"node1": "", "node2": dying}) as (on, _):
        search(recording, tmp_path / "results", on, listener)
    gone = [one for one in listener.told if "gone" in one]
    assert gone == ["node2: a process is gone: dead, or cut off from the network"]


def test_what_a_broken_connection_dropped_is_measured(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask drops all that a client has at the scheduler, and connects again."""
    clients: list[Any] = []
    real = PoolWatch.of

    def watched(pool: Any, *more: Any) -> Any:
        clients.append(pool._client)
        return real(pool, *more)

    monkeypatch.setattr(PoolWatch, "of", watched)

    def cut() -> None:
        client = clients[0]
        client.loop.add_callback(client.scheduler_comm.abort)

    with dask_nodes(tmp_path, {"node1": "", "node2": ""}) as (on, _):
        trials = search(recording, tmp_path / "results", on, Listener(cut))
    assert not [one for one in trials if one.status == "internal_error"]


def test_clocks_of_nodes_do_not_matter(recording: Path, tmp_path: Path) -> None:
    custom = tmp_path / "custom" / "sitecustomize.py"
    custom.parent.mkdir()
    custom.write_text("import time\nright = time.time\ntime.time = lambda: right() - 7200.0\n")
    wrong = f"export PYTHONPATH={custom.parent}:$PYTHONPATH"
    listener = Listener()
    with dask_nodes(tmp_path, {"node1": "", "node2": wrong}) as (on, _):
        trials = search(recording, tmp_path / "results", on, listener)
    assert "left out" not in "\n".join(listener.told)
    assert sum(one.is_verified for one in trials) > TRIALS // 4


class Cable:
    """Between this machine and a namespace of the network."""

    def __init__(self) -> None:
        number = os.getpid()
        self.space, self._end = f"mneme-{number}", f"mn{number}"
        self.host = f"10.213.{number % 250}.1"

    def plug(self, state: str) -> None:
        """Set it up or down."""
        subprocess.run(["ip", "link", "set", self._end, state], check=True)

    def lay(self) -> None:
        """Make both ends; skip the test where nobody may."""
        other = f"{self._end}b"
        lines = (
            f"netns add {self.space}",
            f"link add {self._end} type veth peer name {other} netns {self.space}",
            f"addr add {self.host}/30 dev {self._end}",
            f"-n {self.space} addr add {self.host[:-1]}2/30 dev {other}",
            f"-n {self.space} link set {other} up",
            f"-n {self.space} link set lo up",
        )
        for line in lines:
            if subprocess.run(["ip", *line.split()], check=False, capture_output=True).returncode:
                pytest.skip(f"'ip {line}' fails: run as root")
        self.plug("up")

    def remove(self) -> None:
        """Remove both ends."""
        subprocess.run(["ip", "netns", "del", self.space], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self._end], check=False, capture_output=True)


@pytest.fixture
def cable() -> Iterator[Cable]:
    if shutil.which("ip") is None or shutil.which("nsenter") is None:
        pytest.skip("ip or nsenter is not installed")
    made = Cable()
    try:
        made.lay()
        yield made
    finally:
        made.remove()


@contextlib.contextmanager
def cut_off(
    folder: Path, cable: Cable, monkeypatch: pytest.MonkeyPatch, patience: str
) -> Iterator[str]:
    """Start two nodes, of which the second is at the other end of a cable."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP", patience)
    there = f'set -- nsenter --net=/run/netns/{cable.space} "$@"'
    with dask_nodes(folder, {"node1": "", "node2": there}, "--host", cable.host) as (on, _):
        yield on


def test_a_short_cut_of_the_network_costs_nothing(
    recording: Path, tmp_path: Path, cable: Cable, monkeypatch: pytest.MonkeyPatch
) -> None:
    mended = threading.Timer(2, cable.plug, ["up"])

    def cut() -> None:
        cable.plug("down")
        mended.start()

    with cut_off(tmp_path, cable, monkeypatch, "30s") as on:
        try:
            search(recording, tmp_path / "results", on, Listener(cut))
            mended.join()
        finally:
            mended.cancel()


def test_what_a_node_had_that_is_cut_off_is_measured_elsewhere(
    recording: Path, tmp_path: Path, cable: Cable, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cut_off(tmp_path, cable, monkeypatch, "11s") as on:
        search(recording, tmp_path / "results", on, Listener(lambda: cable.plug("down")))


@contextlib.contextmanager
def mended_after_loss(folder: Path, cable: Cable) -> Iterator[threading.Event]:
    """Mend the cable as soon as the scheduler has lost a node; yield what is set then."""
    is_lost, is_over = threading.Event(), threading.Event()
    client = wait_for_client(folder / "scheduler.json")

    def watch() -> None:
        while not is_over.wait(0.2):
            if len(client.nthreads()) < 2:
                cable.plug("up")
                is_lost.set()
                return

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield is_lost
    finally:
        is_over.set()
        watching.join()
        client.close()


# Notes what a worker measures for the search, without the last rounds.
NOTING = """
import json, os
from mneme.measure import remote_evaluation
known = remote_evaluation.evaluate
real = getattr(known, "real", known)  # Dask loads this twice
def noting(spec, number, configurations, ir, options):
    with open(f"{FOLDER}/{os.uname().nodename}.measured", "a") as file:
        for one in () if options["fresh"] else configurations:
            file.write(json.dumps(one, sort_keys=True) + "\\n")
    return real(spec, number, configurations, ir, options)
noting.real = real
remote_evaluation.evaluate = noting
"""


def test_after_a_long_cut_only_what_was_in_flight_is_measured_again(
    recording: Path, tmp_path: Path, cable: Cable, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "noting.py").write_text(NOTING.replace("{FOLDER}", str(tmp_path)))
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", f'["{tmp_path}/noting.py"]')
    finished: list[Any] = []
    before: Counter[str] = Counter()

    def measured() -> Counter[str]:
        files = tmp_path.glob("*.measured")
        return Counter(line for file in files for line in file.read_text().splitlines())

    def cut() -> None:
        cable.plug("down")
        finished.extend(read_trials(tmp_path / "results"))
        before.update(measured())

    with (
        cut_off(tmp_path, cable, monkeypatch, "11s") as on,
        mended_after_loss(tmp_path, cable) as is_lost,
    ):
        trials = search(recording, tmp_path / "results", on, Listener(cut))
        assert is_lost.wait(30)
    after = measured()
    after.subtract(before)
    known, every = (
        [json.dumps(one.candidate.config.to_dict(), sort_keys=True) for one in some]
        for some in (finished, trials)
    )
    assert [text for text in known if after[text]] == []
    # What waited at node2 is measured there, and once more where its result counts.
    assert [text for text in every if before[text] + after[text] > 1]
    assert {after[text] for text in every} <= {0, 1, 2}
