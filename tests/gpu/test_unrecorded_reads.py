"""Kernels that read what no recording holds are named, and their replays are not called wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD

PROGRAM = BUILD / "tests" / "apps" / "api" / "unrecorded_reads"
READS = {
    "stamps": ["clocks"],
    "timed": ["clocks"],
    "places": ["multiprocessor numbers"],
    "plain": [],
}
READS["sampled"] = ["textures"] if support.DEVICE.startswith("hip") else []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], str]:
    directory = tmp_path_factory.mktemp("reads")
    done = support.record(directory, PROGRAM)
    assert (done.stdout, done.returncode) == ("unrecorded_reads: ok\n", 0), done.stderr
    found = {
        str(json.loads(path.read_text())["DemangledName"]).partition("(")[0]: path
        for path in support.records(directory)
    }
    return found, done.stderr


@pytest.mark.parametrize("kernel", sorted(READS))
def test_the_recording_says_what_it_does_not_hold(
    kernel: str, recorded: tuple[dict[str, Path], str]
) -> None:
    records, said = recorded
    reads = READS[kernel]
    details = json.loads(support.mneme("show", records[kernel], "--json").stdout)
    assert details["unrecorded_reads"] == reads
    shown = support.mneme("show", records[kernel]).stdout
    warned = f"kernel '{kernel}(" in said
    assert warned == bool(reads)
    assert ("its replays may differ" in shown) == bool(reads)


@pytest.mark.parametrize("kernel", sorted(READS))
@pytest.mark.parametrize("pipeline", ["default<O3>", "default<O1>"])
def test_a_replay_that_differs_names_the_cause(
    kernel: str, pipeline: str, recorded: tuple[dict[str, Path], str]
) -> None:
    record = recorded[0][kernel]
    done = support.replay(record, support.instances(record)[0], pipeline)
    result = done.result
    allowed = {"exact"}
    if READS[kernel]:
        allowed |= {"unreproducible", "nondeterministic"}
    if kernel == "sampled" and READS[kernel]:
        allowed = {"unreproducible", "nondeterministic", "failed"}
    if kernel == "stamps":
        allowed = {"unreproducible", "nondeterministic"}
    if kernel == "timed":
        allowed = {"exact"}
    assert result["result_class"] in allowed, done.stderr
    assert result["verified"] == (result["result_class"] == "exact")
    if not result["verified"]:
        assert READS[kernel][0] in done.stderr
        assert READS[kernel] == result["unrecorded_reads"]
