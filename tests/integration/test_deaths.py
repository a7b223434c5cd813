"""Programs that abort, fault or are killed: what had been launched is recorded, or listed as lost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, instances, records, run_command

from mneme import _native

LAUNCHES = 4
LOST = re.compile(r"lost instance (\d+) of kernel '.*fill.*', (\d+) bytes of memory")
ABORTS = ["abort", "assert", "terminate", "thread", "threads", "handler"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that dies as it is told."""
    target = tmp_path_factory.mktemp("ends") / "ends"
    source = ROOT / "tests" / "apps" / "gpu_record" / "ends.cu"
    built = run_command(
        BUILD / "bin" / "mneme-cxx",
        *("-O2", "--offload-arch=sm_90", source, "-o", target, "-lcudart", "-pthread"),
    )
    assert built.returncode == 0, built.stderr
    return target


def run(verb: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """As a shell sees it: with the signal that ended the program."""
    return subprocess.run(
        [sys.executable, "-m", "mneme", verb, *map(str, command)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def die(
    program: Path, directory: Path, how: str, mebibytes: int
) -> subprocess.CompletedProcess[str]:
    """Record a death, which looks as it does alone."""
    words = ("--device", "cpu", "--", program, how, str(mebibytes))
    plain = run("run", *words)
    done = run("record", "-rdb", directory, "-mr", "20", *words)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    own = [line for line in done.stderr.splitlines() if not line.startswith("mneme")]
    assert own == [line for line in plain.stderr.splitlines() if not line.startswith("mneme")]
    return done


def kept_in(directory: Path) -> set[str]:
    """The dynamic hashes of what replays as it was recorded."""
    kept = set()
    for record in records(directory):
        for instance in instances(record):
            with closing(_native.ReplaySession(str(record), instance, "cpu")) as session:
                text, _, _ = session.run(session.recorded(), '{"iterations": 0, "warmup": 0}')
            assert json.loads(text)["verified"], text
            kept.add(instance)
    return kept


def lost_in(directory: Path) -> dict[str, int]:
    """What the listing says was lost: dynamic hash and size."""
    notes = "\n".join(_native.list_directory(str(directory))["notes"])
    return {instance: int(size) for instance, size in LOST.findall(notes)}


@pytest.mark.parametrize("mebibytes", [1, 64])
@pytest.mark.parametrize("how", ABORTS)
def test_program_that_aborts_loses_nothing(
    how: str, mebibytes: int, program: Path, tmp_path: Path
) -> None:
    done = die(program, tmp_path / "db", how, mebibytes)
    assert done.returncode == -signal.SIGABRT
    assert len(kept_in(tmp_path / "db")) == LAUNCHES
    assert _native.list_directory(str(tmp_path / "db"))["notes"] == []


@pytest.mark.parametrize("mebibytes", [1, 64])
@pytest.mark.parametrize("how", ["fault", "segv", "term", "kill", "syscall"])
def test_what_a_killed_program_had_launched_is_kept_or_listed_with_its_size(
    how: str, mebibytes: int, program: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "db"
    die(program, directory, how, mebibytes)
    lost = lost_in(directory)
    assert len(kept_in(directory) | set(lost)) == LAUNCHES
    assert set(lost.values()) <= {mebibytes << 20}
    assert bool(lost) == ("lost instance" in run("ls", directory).stdout)


def test_program_that_jumps_out_of_abort_is_recorded_further(program: Path, tmp_path: Path) -> None:
    done = die(program, tmp_path / "db", "jump", 16)
    assert done.returncode == 0
    assert len(kept_in(tmp_path / "db")) == 2 * LAUNCHES
    assert os.listdir(tmp_path / "db") == [
        name for name in os.listdir(tmp_path / "db") if not name.startswith("unfinished")
    ]


def test_program_that_exits_leaves_no_note(program: Path, tmp_path: Path) -> None:
    die(program, tmp_path / "db", "_exit", 64)
    assert len(kept_in(tmp_path / "db")) == LAUNCHES
    assert not [name for name in os.listdir(tmp_path / "db") if name.startswith("unfinished")]
