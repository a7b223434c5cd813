"""Every reader refuses at once what is not a regular file."""

from __future__ import annotations

import os
import signal
import socket
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from mneme.deploy.check import check_tuned_file
from mneme.deploy.tuned_file import read_tuned_file
from mneme.deploy.tuning_results import read_result
from mneme.errors import MnemeError
from mneme.files.regular_file import read_bytes, read_text
from mneme.measure.replay_executor import ir_bytes
from mneme.programs.check import remark_on_program
from mneme.recording.inventory import find_record
from mneme.recording.record_json import read_record
from mneme.report.results import read_results
from mneme.search.pass_choices import read_pipeline_file
from mneme.session.option_files import read_options
from native_parts import needs_native

READERS: dict[str, Callable[[Path], object]] = {
    "tuned kernels": read_tuned_file,
    "deploy --check": lambda path: check_tuned_file(path, ["/bin/true"]),
    "pipelines": read_pipeline_file,
    "options": read_options,
    "a record": read_record,
    "a recording": find_record,
    "IR": ir_bytes,
}


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    def too_late(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError("it waits for the other end of a pipe")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["pipe", "socket", "device", "directory"])
def no_file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "1.json"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "directory":
        path.mkdir()
    elif request.param == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(path))
            yield path
        return
    yield path


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_every_reader_refuses_what_is_no_file(
    reader: Callable[[Path], object], no_file: Path
) -> None:
    with pytest.raises(MnemeError, match=r"1\.json"):
        reader(no_file)


@pytest.mark.parametrize("name", ["best.json", "baseline.json", "trials.jsonl", "config.json"])
def test_results_directories_refuse_what_is_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "best.json").write_text("{}")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises((MnemeError, OSError)):
        read_results(tmp_path)
    with pytest.raises((MnemeError, OSError)):
        read_result(tmp_path)


def test_a_program_that_is_no_file_is_not_opened(no_file: Path) -> None:
    assert remark_on_program(no_file) == ""


@needs_native
def test_a_pipe_of_a_shell_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"k": {}}')
    os.close(writing)
    assert set(read_tuned_file(f"/dev/fd/{reading}")) == {"k"}
    os.close(reading)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_text("12345")
    assert read_text(path, most=5) == "12345"
    with pytest.raises(OSError, match="more than"):
        read_bytes(path, most=4)
    os.truncate(path, 1 << 40)
    with pytest.raises(MnemeError, match="64 MiB"):
        read_tuned_file(path)


@pytest.mark.parametrize("size", [0, 5, 70_000, 300_000])
def test_a_file_takes_the_memory_it_has(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    tracemalloc.start()
    try:
        assert read_bytes(path) == b"x" * size
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    # A file of the kernel's has more than it says.
    assert b"Linux" in read_bytes("/proc/version")
