"""`mneme replay --all` and `--on`: several launches, here or in the processes of a cluster."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster_parts import CPU, address_of, dask_cluster, dask_nodes, mneme, mpi
from mneme.errors import NotFound, OutOfMemory
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions
from mneme.mneme_types import dim3
from mneme.recording.configured import recorded_configuration
from mneme.recording.directory import Recording
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
IDS = ["1972764553778116424", "5414914570903653460", "3913246467672645478"]

pytestmark = [pytest.mark.compile, needs_native]


def replayed(*words: str | Path, code: int = 0, **how: Any) -> tuple[list[dict[str, Any]], str]:
    done = mneme("replay", *words, *CPU, **how)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout), done.stderr


def test_every_launch_of_a_recording_is_replayed() -> None:
    results, told = replayed(GOLDEN, "--all")
    assert [one["record_id"] for one in results] == IDS
    assert all(one["Result"]["verified"] for one in results)
    assert {one["demangled"].split("(")[0] for one in results} == {"walk", "link"}
    assert "walk 5414914570903653460: verified: exact" in told
    assert told.splitlines()[-1] == "mneme: 3 of 3 launches are verified"


def test_a_kernel_and_options_count_for_all_of_its_launches() -> None:
    results, _ = replayed(GOLDEN, "walk", "default<O1>", "--all", "--specialize", "-it", "1")
    assert [one["record_id"] for one in results] == IDS[:2]
    configs = [one["Replay-config"] for one in results]
    assert {(one["passes"], one["specialize"]) for one in configs} == {("default<O1>", True)}
    assert {one["Result"]["iterations_used"] for one in results} == {1}


def test_one_damaged_launch_ends_no_other_replay(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "recording")
    (damaged,) = (tmp_path / "recording").glob(f"*prologue*{IDS[0]}*")
    damaged.write_bytes(damaged.read_bytes()[:100])
    results, told = replayed(tmp_path / "recording", "--all", code=7)
    assert [one["Result"]["verified"] for one in results] == [False, True, True]
    assert damaged.name in told
    assert "2 of 3 launches are verified" in told


def test_the_cpu_device_measures_nothing_after_wrong_code_in_its_process(tmp_path: Path) -> None:
    record = next(one for one in Recording(GOLDEN).values() if one.short_name == "link")
    launch = record[IDS[2]]
    right = recorded_configuration(launch)
    wrong = replace(right, block=dim3(1, 1, 1))
    place = str(record.path.absolute()), IDS[2]
    options = SuiteOptions(iterations=1, warmup=0)
    with SuiteExecutor(["cpu"], tmp_path, options) as executor:
        results = []
        pids = []
        for config in (right, right, wrong, right):
            results.append(executor.submit(0, place, config)().verified)
            pids.append(executor.pids)
    assert results == [True, True, False, True]
    assert pids[0] == pids[1] != pids[3]


def test_a_process_opens_a_launch_while_another_one_measures(tmp_path: Path) -> None:
    recording = Recording(GOLDEN)
    launches = [(record, one) for record in recording.values() for one in record.values()]
    places = [(str(record.path.absolute()), one.dynamic_hash) for record, one in launches]
    snapshots = [one.prologue.fn for _, one in launches]
    options = SuiteOptions(iterations=1, warmup=0, lanes=2)
    with SuiteExecutor(["cpu"], tmp_path, options) as executor:
        for at, (_, launch) in enumerate(launches):
            wait = executor.open(0, places[at], snapshots[at], lane=at % 2)
            if at:
                before = recorded_configuration(launches[at - 1][1])
                assert executor.submit(0, places[at - 1], before, lane=1 - at % 2)().verified
            wait()
            executor.close_others(0, at % 2)
            config = recorded_configuration(launch)
            assert executor.submit(0, places[at], config, lane=at % 2)().verified
        assert len(executor.pids) == 2
        with pytest.raises(
            OutOfMemory, match=r"\d+ bytes beside another launch, with \d+ bytes left"
        ):
            executor.open(0, places[0], snapshots[0], lane=1, most_part=1e-15)()
        with pytest.raises(NotFound):
            executor.open(0, places[0], f"{snapshots[0]}.none", lane=1)()
        gone = places[0][0], "1"
        with pytest.raises(NotFound):
            executor.open(0, gone, snapshots[0], lane=1)()
        config = recorded_configuration(launches[0][1])
        assert executor.submit(0, places[0], config, lane=1)().verified


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["walk@1", "--all"], 3, "--all means every launch, and 'walk@1' names one"),
        (["--all", "-rid", IDS[0]], 2, "--all means every launch, and -rid names one"),
        (["--all", "-ol", "x.ll"], 2, "--output-ll is for one launch on this machine"),
        (["link", "--on", "nowhere"], 3, "--on is 'nowhere'; it is dask://HOST:PORT"),
        (["link", "--cluster", "jobs=2"], 3, "--cluster is for --on slurm"),
        (["nosuch", "--all"], 4, "has no kernel 'nosuch'"),
    ],
)
def test_what_does_not_go_together_is_refused(words: list[str], code: int, sentence: str) -> None:
    done = mneme("replay", GOLDEN, *words, *CPU)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert sum(not line.startswith("  ") for line in done.stderr.splitlines()) == 1


def test_workers_of_dask_replay() -> None:
    with dask_cluster(2) as cluster:
        on = address_of(cluster)
        results, told = replayed(GOLDEN, "--all", "--on", on)
        one, _ = replayed(GOLDEN, "link", "--on", on)
    assert [each["record_id"] for each in results] == IDS
    assert all(each["Result"]["verified"] for each in results)
    assert "3 of 3 launches are verified" in told
    assert one["Result"]["verified"]  # type: ignore[call-overload]


def test_hosts_without_the_recording_are_sent_it(tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    shutil.copytree(GOLDEN, recording)
    hides = f"mount -t tmpfs none {recording}"
    with dask_nodes(tmp_path, {"node1": hides, "node2": hides}) as (on, _):
        results, _ = replayed(recording, "--all", "--on", on)
    assert all(one["Result"]["verified"] for one in results)


def test_ranks_of_mpi_replay(tmp_path: Path) -> None:
    results, told = replayed(GOLDEN, "--all", "--on", "mpi", **mpi(tmp_path, 3))
    assert all(one["Result"]["verified"] for one in results)
    assert told.count("3 of 3 launches are verified") == 1
    assert os.uname().nodename not in told  # nothing is left out
