"""Programs that die on the GPU: what had been launched is recorded, or listed as lost with its size."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD, launches, on_gpus
from mneme import _native

PROGRAM = BUILD / "tests" / "apps" / "gpu_record" / "ends"
LAUNCHES = 4
# By the list of what was taken, by the writer, and by the transfer that failed.
LOST = re.compile(
    r"lost instance \d+ of kernel|instance \d+ of kernel \d+, \d+ bytes of memory, was lost"
    r"|of memory were lost: .*?(?:\((\d+) times\))?$"
)
SIZES = on_gpus(["16", "1024"])


def kept_in(directory: Path) -> int:
    kept = list(launches(directory)) if list(directory.glob("*.json")) else []
    for path, record_id in kept:
        replayed = support.replay(path, record_id, "default<O3>")
        assert replayed.returncode == 0, replayed.stderr
    return len(kept)


def lost_in(notes: list[str]) -> int:
    return sum(int(found[1] or 1) for note in notes if (found := LOST.search(note)))


@pytest.mark.parametrize("mebibytes", SIZES)
def test_program_that_aborts_loses_nothing(mebibytes: str, tmp_path: Path) -> None:
    done = support.record(tmp_path / "db", PROGRAM, "abort", mebibytes)
    assert (done.returncode, done.stdout) == (-signal.SIGABRT, "launched\n"), done.stderr
    assert kept_in(tmp_path / "db") == LAUNCHES
    assert _native.list_directory(str(tmp_path / "db"))["notes"] == []


@pytest.mark.parametrize("mebibytes", SIZES)
@pytest.mark.parametrize(
    ("how", "number"),
    [("fault", signal.SIGABRT), ("segv", signal.SIGSEGV), ("kill", signal.SIGKILL)],
)
def test_what_was_launched_before_is_kept_or_listed(
    how: str, number: int, mebibytes: str, tmp_path: Path
) -> None:
    done = support.record(tmp_path / "db", PROGRAM, how, mebibytes)
    assert (done.returncode, done.stdout) == (-number, "launched\n"), done.stderr
    notes = _native.list_directory(str(tmp_path / "db"))["notes"]
    assert kept_in(tmp_path / "db") + lost_in(notes) == LAUNCHES, notes
