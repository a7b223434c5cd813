"""What is sent to nodes that do not see a recording."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cluster_parts import CPU, PROGRAM, mneme
from mneme import __version__ as mneme_version
from mneme.errors import IoFailed
from mneme.files.scratch import hold
from mneme.measure import sent_recordings
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.remote_evaluation import examine
from mneme.measure.sent_recordings import (
    _begin,
    _held,
    _sender_directory,
    _without,
    find_sent,
    pack,
    remove_sent,
    send,
)
from mneme.recording.directory import Recording
from mneme.recording.inventory import find_record
from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

# The small kernel's memory is a copy of a part of what the large one leaves.
TWO_KERNELS = """
__global__ void large(unsigned* p) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  p[i] = x ^ x >> 16;
}
__global__ void small(unsigned* p) { ++p[threadIdx.x]; }
int main() {
  unsigned *a, *b;
  cudaMalloc(&a, 16 << 20);
  cudaMalloc(&b, 64 << 10);
  large<<<16384, 256>>>(a);
  cudaMemcpy(b, a, 64 << 10, cudaMemcpyDeviceToDevice);
  cudaFree(a);
  small<<<1, 64>>>(b);
  return cudaDeviceSynchronize();
}
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sent") / "recording"
    done = mneme("record", "-rdb", path, *CPU, "--", PROGRAM, "4096")
    assert done.returncode == 0, done.stderr
    return path


def test_only_what_a_launch_needs_is_sent(tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    done = mneme("record", "-rdb", folder, *CPU, "--", PROGRAM.parent / "spmv_cg")
    assert done.returncode == 0, done.stderr
    record = max(Recording(folder).values(), key=len)
    assert len(record) > 1
    package, last = min(
        ((pack(record.path, one), one) for one in record), key=lambda it: it[0].bytes
    )
    files = {one.name for one in folder.iterdir() if one.suffix in (".json", ".mneme", ".bc")}
    assert list(package.files)[-1] == record.path.name
    assert set(package.files) < files
    received: list[int] = []

    def receive(function: Any, *given: Any) -> Any:
        if isinstance(given[-1], list):
            received.extend(len(part) for _, part in given[-1])
        return function(*given)

    send(package, "sender", receive)
    try:
        sent = find_sent("sender", package.name, str(record.path))
        assert sent is not None
        assert sum(received) == package.bytes
        done = mneme("replay", "-rdb", sent, "-rid", last, *CPU)
        assert done.returncode == 0, done.stderr
        assert "exact" in done.stdout + done.stderr
        others = {one: pack(record.path, one) for one in record if one != last}
        for one in others.values():
            send(one, "sender", receive)
        names = {name for one in others.values() for name in one.files} | set(package.files)
        assert sum(received) <= sum((folder / name).stat().st_size for name in names)
        for launch, one in others.items():
            place = find_sent("sender", one.name, str(record.path))
            done = mneme("replay", "-rdb", str(place), "-rid", launch, *CPU)
            assert "exact" in done.stdout + done.stderr
    finally:
        remove_sent("sender")
    assert find_sent("sender", package.name, str(record.path)) is None


def test_of_files_that_launches_share_parts_are_sent(tmp_path: Path) -> None:
    """The second kernel changes a little of what the snapshot of the first one holds."""
    folder = tmp_path / "recording"
    (tmp_path / "a.cu").write_text(TWO_KERNELS)
    program = tmp_path / "app"
    compiler = PROGRAM.parents[1] / "bin" / "mneme-cxx"
    subprocess.run([compiler, "-O1", tmp_path / "a.cu", "-o", program], check=True)
    done = mneme("record", "-rdb", folder, *CPU, "--", program)
    assert done.returncode == 0, done.stderr
    packages = {}
    for record in Recording(folder).values():
        (launch,) = record
        packages[record.kernel_name] = package = pack(record.path, launch)
        for name, one in package.files.items():
            content = (folder / name).read_bytes()
            assert one.size == len(content)
            assert sum(size for _, size in one.ranges) == one.bytes <= len(content)
        send(package, record.kernel_name, lambda function, *given: function(*given))
        try:
            sent = find_sent(record.kernel_name, package.name, str(record.path))
            assert sent is not None
            stored = sum(one.stat().st_blocks for one in sent.parent.iterdir()) * 512
            assert stored < package.bytes + 64 * 1024
            done = mneme("replay", "-rdb", sent, *CPU)
            assert "exact" in done.stdout + done.stderr
        finally:
            remove_sent(record.kernel_name)
    large, small = packages["_Z5largePj"], packages["_Z5smallPj"]
    # Random words cannot be compressed: 16 MiB of them, and 64 KiB.
    assert large.bytes > 16 << 20
    assert small.bytes < 1 << 20
    shared = set(large.files) & set(small.files)
    assert any(small.files[one].bytes < small.files[one].size // 8 for one in shared)


def test_a_trimmed_launch_is_sent_without_what_it_does_not_read(tmp_path: Path) -> None:
    """Memory that is there but not read goes with a launch, since kernels can compute addresses."""
    folder, small = tmp_path / "recording", tmp_path / "small"
    (tmp_path / "a.cu").write_text(TWO_KERNELS.replace("  cudaFree(a);\n", ""))
    program = tmp_path / "app"
    compiler = PROGRAM.parents[1] / "bin" / "mneme-cxx"
    subprocess.run([compiler, "-O1", tmp_path / "a.cu", "-o", program], check=True)
    for line in (
        ("record", "-rdb", folder, *CPU, "--", program),
        ("trim", folder, "small", "-o", small, "--keep-grid", *CPU),
    ):
        done = mneme(*line)
        assert done.returncode == 0, done.stderr

    def sent(recording: Path) -> int:
        (record,) = (one for one in Recording(recording).values() if "small" in one.kernel_name)
        return pack(record.path, next(iter(record))).bytes

    assert sent(folder) > 16 << 20
    assert sent(small) < 64 << 10


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        ([], [(2, 6), (10, 5)]),
        ([(0, 20)], []),
        ([(0, 3), (12, 1)], [(3, 5), (10, 2), (13, 2)]),
        ([(4, 7)], [(2, 2), (11, 4)]),
        ([(8, 2), (15, 9)], [(2, 6), (10, 5)]),
    ],
)
def test_parts_that_are_there_are_not_sent_again(
    known: list[tuple[int, int]], missing: list[tuple[int, int]]
) -> None:
    assert list(_without([(2, 6), (10, 5)], known)) == missing


def test_damaged_pieces_are_refused(recording: Path, tmp_path: Path) -> None:
    record = find_record(recording)
    package = pack(record.path, next(iter(record)))

    def damage(function: Any, *given: Any) -> Any:
        return function(*(one[:-1] if isinstance(one, list) else one for one in given))

    with pytest.raises(IoFailed, match="arrived damaged"):
        send(package, "damaged", damage)
    assert find_sent("damaged", package.name, str(record.path)) is None
    remove_sent("damaged")


def test_what_was_sent_for_killed_processes_goes_when_the_host_is_looked_at(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = [_sender_directory(name) for name in ("killed", "used", "asking")]
    for folder in folders:
        (folder / "files").mkdir(parents=True)
    lock = hold(folders[1])
    spec = FuturesReplayExecutor(
        ThreadPoolExecutor(1), find_record(recording).path, None, 1, device="cpu"
    )._spec
    # The process that held what the search sent may have been killed, and is there again.
    examine(replace(spec, sender="asking"), mneme_version, 0)
    assert [one.is_dir() for one in folders] == [False, True, True]
    os.close(lock)
    examine(spec, mneme_version, 1)
    assert not any(one.exists() for one in folders)
    folders[1].parent.rmdir()
    examine(spec, mneme_version, 2)
    assert not folders[1].parent.exists()


@pytest.fixture
def being_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield what was sent for a search: another process removes it while this one waits."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    directory = _sender_directory("late")
    (directory / "name").mkdir(parents=True)
    (directory / "name" / "1.json").touch()
    other = contextlib.ExitStack()
    other.callback(os.close, hold(directory, fcntl.LOCK_EX))

    def remove(_seconds: float) -> None:
        shutil.rmtree(directory)
        other.close()

    monkeypatch.setattr(sent_recordings, "time", SimpleNamespace(sleep=remove))
    yield directory
    other.close()


def test_what_another_process_is_removing_is_sent_again(being_removed: Path) -> None:
    assert find_sent("late", "name", "1.json") is None
    _begin("late", "name", {})
    assert {one.name for one in being_removed.iterdir()} == {"name.part", "files"}
    assert "late" in _held
    remove_sent("late")
    assert not being_removed.exists()


def test_what_another_process_never_removes_is_named(
    being_removed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_recordings, "time", SimpleNamespace(sleep=lambda _: None))
    with pytest.raises(IoFailed, match=f"another process is removing '{being_removed}'"):
        _begin("late", "name", {})


def test_recordings_are_sent_where_nothing_can_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    _begin("unlocked", "name", {})
    assert (_sender_directory("unlocked") / "name.part").is_dir()
    assert "unlocked" not in _held
