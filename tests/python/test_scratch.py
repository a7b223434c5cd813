"""Temporary directories: none stays, whatever ends the process that made it."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from mneme.files import scratch as scratches
from mneme.files.scratch import ScratchDirectory, hold, host_in_names, remove_left

MAKE = """
import sys
from mneme.files import scratch as scratches
from mneme.files.scratch import ScratchDirectory
kept = ScratchDirectory("tried")
print(kept.name, flush=True)
sys.stdin.readline()
"""
made: list[ScratchDirectory] = []


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def make() -> str:
    """Make one that only the end of the process can remove."""
    made.append(ScratchDirectory("tried"))
    return made[-1].name


def started() -> tuple[subprocess.Popen[str], Path]:
    """Start a process that makes one and ends when it gets a line."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", MAKE], text=True, **pipes)  # type: ignore[call-overload]
    return process, Path(process.stdout.readline().strip())


def test_it_is_there_until_it_is_cleaned_up(scratch: Path) -> None:
    with ScratchDirectory("tried") as name:
        assert list(scratch.iterdir()) == [Path(name)]
        Path(name, "file").touch()
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes_of_pools_leave_none(scratch: Path, how: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(how)) as pool:
        assert Path(pool.submit(make).result()).is_dir()
    assert not list(scratch.iterdir())


def test_a_forked_child_leaves_its_parents(scratch: Path) -> None:
    kept = ScratchDirectory("tried")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        pool.submit(kept.cleanup).exception()
    assert list(scratch.iterdir()) == [Path(kept.name)]
    kept.cleanup()


def test_what_a_killed_process_left_goes_with_the_next(scratch: Path) -> None:
    killed, left = started()
    other, used = started()
    killed.kill()
    killed.communicate()
    assert set(scratch.iterdir()) == {left, used}
    with ScratchDirectory("tried") as name:
        assert set(scratch.iterdir()) == {used, Path(name)}
    other.communicate("\n")
    assert not list(scratch.iterdir())


def test_what_is_of_others_stays(scratch: Path) -> None:
    host = host_in_names()
    names = [f"mneme-tried-{host}-b-abc", f"mneme-tried-x{host}-abc", f"mneme-other-{host}-abc"]
    for name in names:
        (scratch / name).mkdir()
    (scratch / f"mneme-tried-{host}-link").symlink_to(scratch / names[0])
    with ScratchDirectory("tried"):
        assert len(list(scratch.iterdir())) == len(names) + 2


def test_hosts_of_one_name_leave_each_others(
    scratch: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = tmp_path_factory.mktemp("etc") / "machine-id"
    monkeypatch.setattr(scratches, "_MACHINE_ID", machine)

    def leave() -> Path:
        with ScratchDirectory("tried") as name:
            pass
        Path(name).mkdir()  # as a killed process does
        return Path(name)

    left = [leave()]  # no identifier can be read
    for one in ("one", "two"):
        machine.write_text(one)
        left.append(leave())
    assert set(scratch.iterdir()) == set(left)
    with ScratchDirectory("tried") as name:
        assert set(scratch.iterdir()) == {*left[:2], Path(name)}
    machine.unlink()
    with ScratchDirectory("tried") as name:
        assert set(scratch.iterdir()) == {left[1], Path(name)}


def test_what_several_hold_goes_when_nobody_does(scratch: Path) -> None:
    shared = scratch / "shared"
    shared.mkdir()
    one, other = hold(shared), hold(shared)
    assert min(one, other) >= 0
    os.close(one)
    remove_left([shared])
    assert shared.is_dir()
    os.close(other)
    remove_left([shared])
    assert not shared.exists()
    assert hold(shared) == -1


def test_one_that_another_process_takes_for_left_is_made_again(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making a directory and locking it another process may lock it to remove it."""
    taken: list[int] = []

    def taken_first(directory: Path, how: int) -> int:
        if not taken:
            taken.append(hold(directory, how))
            return -1
        return hold(directory, how)

    monkeypatch.setattr(scratches, "hold", taken_first)
    kept = ScratchDirectory("tried")
    first = next(one for one in scratch.iterdir() if str(one) != kept.name)
    os.close(taken[0])
    remove_left([first, Path(kept.name)])
    assert list(scratch.iterdir()) == [Path(kept.name)]
    kept.cleanup()
