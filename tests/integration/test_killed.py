"""Applications that die while recording, and disks that fill up: nothing finished is lost."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import example, instances, mneme, records

from mneme import _native


def replay_everything(directory: Path) -> int:
    """Replay every listed instance; returns how many there were."""
    count = 0
    for record in records(directory):
        for record_id in instances(record):
            with closing(_native.ReplaySession(str(record), record_id, "cpu")) as session:
                text, _, _ = session.run(session.recorded(), '{"iterations": 0, "warmup": 0}')
            assert json.loads(text)["verified"], f"{record} {record_id}: {text}"
            count += 1
    return count


def has_begun(directory: Path, *, is_finished: bool) -> bool:
    """Whether there is a recording, or one that names an instance."""
    return any(directory.glob("[0-9]*.json")) if is_finished else directory.exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_every_finished_instance_survives_the_application(number: int, tmp_path: Path) -> None:
    randomness = random.Random(20 + number)
    replayed = 0
    for attempt in range(12):
        directory = tmp_path / f"{number}-{attempt}"
        command = [
            sys.executable,
            "-m",
            "mneme",
            "record",
            "-rdb",
            str(directory),
            "-mr",
            "100",
            "--device",
            "cpu",
            "--",
            str(example("spmv_cg")),
            "96",
            "60",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
            # As soon as there is something the first time, later at any time from then on.
            while child.poll() is None and not has_begun(directory, is_finished=attempt == 0):
                time.sleep(0.002)
            time.sleep(attempt and randomness.random() * 0.3)
            child.send_signal(number)
            child.communicate(timeout=60)
        if directory.exists():
            replayed += replay_everything(directory)
            listing = _native.list_directory(str(directory))
            leftovers = [name for name in os.listdir(directory) if ".tmp-" in name]
            assert not leftovers or listing["unfinished"]
    assert replayed > 0


def test_full_disk_loses_recordings_not_the_run(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this container may not mount")
    try:
        plain = mneme("run", "--device", "cpu", "--", example("vector_add"))
        done = mneme("record", "-rdb", small, "--device", "cpu", "--", example("vector_add"))
        assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
        assert "lost" in done.stderr
        assert "No space left" in done.stderr
        assert replay_everything(small) == 0
    finally:
        subprocess.run(["umount", str(small)], check=True)


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """A directory that something else keeps locked."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def test_directory_that_is_kept_locked_costs_no_recording(tmp_path: Path) -> None:
    directory = tmp_path / "db"
    directory.mkdir()
    with locked(directory):
        begin = time.monotonic()
        done = mneme("record", "-rdb", directory, "--device", "cpu", "--", example("stencil2d"))
        assert time.monotonic() - begin < 60
    assert done.returncode == 0, done.stderr
    assert f"process {os.getpid()}" in done.stderr
    assert "written to it without waiting" in done.stderr
    assert replay_everything(directory) > 0
    assert _native.list_directory(str(directory))["notes"] == []


@pytest.mark.parametrize("verb", ["clean", "copy", "move"])
def test_records_in_a_directory_that_is_kept_locked_stay(verb: str, tmp_path: Path) -> None:
    directory = tmp_path / "db"
    done = mneme("record", "-rdb", directory, "--device", "cpu", "--", example("vector_add"))
    assert done.returncode == 0, done.stderr
    (record,) = records(directory)
    other = tmp_path / "other"
    other.mkdir()
    before = sorted(directory.iterdir())
    with locked(directory if verb == "clean" else other):
        done = mneme(verb, record, *(() if verb == "clean" else (other,)))
    assert done.returncode != 0
    assert "locked" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(directory.iterdir()) == before
    assert not any(other.iterdir())
