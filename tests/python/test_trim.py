"""Smaller recordings: what a launch does not read is left out, and it replays the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mneme.recording.recorded_execution import RecordedExecution
from mneme.trim import trimming
from mneme.trim.ranges import CHUNK, PAGE, Range, merged, size_of
from mneme.trim.search import Search
from native_parts import needs_native

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MNEME_BUILD_DIR", ROOT / "build"))
KERNELS = ROOT / "tests" / "apps" / "gpu_record" / "trim_kernels.cu"

pytestmark = [
    pytest.mark.compile,
    pytest.mark.cuda,
    needs_native,
    pytest.mark.skipif(not (BUILD / "examples" / "vector_add").is_file(), reason="no CUDA toolkit"),
]


def mneme(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mneme", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trim") / "program"
    options = ("-x", "cuda", "--offload-arch=sm_90", "-O2", "-lcudart")
    subprocess.run([BUILD / "bin" / "mneme-cxx", *options, KERNELS, "-o", path], check=True)
    return path


def recorded(program: Path, folder: Path, *words: str) -> Path:
    path = folder / "recording"
    done = mneme("record", "--device", "cpu", "-rdb", path, "--", program, *words)
    assert done.returncode == 0, done.stderr
    return path


def content_of(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def trimmed(program: Path, folder: Path, kernel: str, *more: str) -> dict[str, Any]:
    """Record and trim; check that the original stays and that the result replays."""
    recording = recorded(program, folder, kernel)
    before = content_of(recording)
    done = mneme("trim", recording, "-o", folder / "small", "--device", "cpu", "--json", *more)
    assert done.returncode == 0, done.stderr
    assert content_of(recording) == before
    assert {one.name for one in folder.iterdir()} == {"recording", "small"}
    for passes in ("default<O3>", "default<O0>"):
        replayed = mneme("replay", folder / "small", passes, "--device", "cpu")
        assert "verified: exact" in replayed.stderr, replayed.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_one_kibibyte_is_left_of_64_mebibytes(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "little")
    assert result["memory"]["before"] == 68 << 20
    assert result["memory"]["after"] <= 512 << 10
    assert result["memory"]["before"] - result["unread"] <= PAGE
    assert result["undecided"] == 0
    assert result["why_same_grid"] == "it has one block"
    shown = mneme("show", tmp_path / "small")
    assert shown.returncode == 0, shown.stderr


def test_indices_decide_what_is_read(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "gather", "--keep-grid")
    # 16 places of the table, each in one page or two, and one page of indices.
    assert result["memory"]["before"] - result["unread"] <= 33 * PAGE
    assert result["grid"]["after"] == result["grid"]["before"] == [2, 1, 1]


def test_nothing_is_gained_where_all_is_read(program: Path, tmp_path: Path) -> None:
    recording = recorded(program, tmp_path, "everything")
    words = ("-o", tmp_path / "small", "--device", "cpu", "--keep-grid")
    done = mneme("trim", recording, *words)
    assert done.returncode == 0, done.stderr
    assert "there is nothing to gain: the launch needs what was recorded" in done.stdout
    again = mneme("replay", tmp_path / "small", "--device", "cpu")
    assert "verified: exact" in again.stderr


def test_a_chain_of_pointers_stays(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "chain")
    # Five links, and what they lead to, four of which cross the end of a page.
    assert result["memory"]["before"] - result["unread"] == 14 * PAGE


def test_atomics_keep_what_they_add_to(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "histogram")
    assert result["memory"]["before"] - result["unread"] == 4096 + 1024
    assert result["grid"]["after"] == result["grid"]["before"]


@pytest.mark.parametrize("kernel", ["accumulate", "accumulate doubles"])
def test_sums_that_were_zero_are_read(program: Path, tmp_path: Path, kernel: str) -> None:
    """One is read that a tiny number in place of zero does not change, or that a huge one hides."""
    result = trimmed(program, tmp_path, kernel)
    # The page of the sums, and those of the 1,000 numbers.
    inputs = 2 if "doubles" in kernel else 1
    assert result["memory"]["before"] - result["unread"] == (1 + inputs) * PAGE


def test_bytes_between_those_that_are_written_stay_out(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "strided", "--keep-grid")
    # No page of the output is read, though most bytes of it stay as they are.
    assert result["memory"]["before"] - result["unread"] == PAGE
    assert result["memory"]["after"] == 320 << 10


def test_variables_are_trimmed_but_stay(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "lookup")
    assert result["memory"]["before"] - result["unread"] == PAGE
    shown = mneme("show", tmp_path / "small")
    assert "16.0 KiB" in shown.stdout


def test_a_kernel_that_does_not_end_is_answered(program: Path, tmp_path: Path) -> None:
    """Large numbers make it run for long; that it then fails is the answer."""
    result = trimmed(program, tmp_path, "waits")
    assert result["memory"]["before"] - result["unread"] == PAGE


def test_a_kernel_that_varies_is_refused(program: Path, tmp_path: Path) -> None:
    recording = recorded(program, tmp_path, "unordered")
    done = mneme("trim", recording, "-o", tmp_path / "small", "--device", "cpu")
    assert done.returncode == 1
    # Blocks that run at the same time show it, too.
    assert done.stderr.startswith("mneme: only a launch that replays exactly can be trimmed, and ")
    assert done.stderr.count("\n") == 1
    assert {one.name for one in tmp_path.iterdir()} == {"recording"}


def test_a_stencil_needs_one_block(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "stencil")
    assert result["grid"] == {"before": [32, 64, 1], "after": [1, 1, 1]}
    assert result["files"]["after"] < result["files"]["before"] / 10
    (record,) = (tmp_path / "small").glob("*.json")
    (record_id,) = RecordedExecution.from_json(record)
    assert record_id == result["record_id"]
    # It is the id that a launch of one block has.
    one = recorded(program, tmp_path / "one", "stencil", "one")
    assert record_id in RecordedExecution.from_json(next(one.glob("*.json")))


def test_a_reduction_needs_all_blocks(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "reduction")
    assert result["grid"] == {"before": [256, 1, 1], "after": [256, 1, 1]}
    assert result["why_same_grid"] == "a smaller grid leaves something that the whole one does not"


def started(recording: Path, output: Path) -> subprocess.Popen[str]:
    """Start a trimming, and wait until it is at work."""
    words = ("trim", recording, "-o", output, "--device", "cpu")
    command = [sys.executable, "-m", "mneme", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not list(output.parent.glob(f".{output.name}.tmp-*")):
        time.sleep(0.01)
    return process


def test_an_interrupt_leaves_nothing(program: Path, tmp_path: Path) -> None:
    recording = recorded(program, tmp_path, "gather")
    process = started(recording, tmp_path / "small")
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert {one.name for one in tmp_path.iterdir()} == {"recording"}


def test_a_killed_process_leaves_nothing_where_the_result_goes(
    program: Path, tmp_path: Path
) -> None:
    recording = recorded(program, tmp_path, "little")
    process = started(recording, tmp_path / "small")
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "small").exists()
    # The next one removes what was begun.
    done = mneme("trim", recording, "-o", tmp_path / "small", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert {one.name for one in tmp_path.iterdir()} == {"recording", "small"}


def test_what_is_undecided_when_time_is_over_is_kept(program: Path, tmp_path: Path) -> None:
    result = trimmed(program, tmp_path, "gather", "--keep-grid", "--budget", "0.001s")
    assert result["undecided"] == result["memory"]["before"]
    assert result["unread"] == 0
    assert result["memory"]["after"] == result["memory"]["before"]


def test_what_is_trimmed_says_so_and_can_be_trimmed_again(program: Path, tmp_path: Path) -> None:
    first = trimmed(program, tmp_path, "little")
    done = mneme("trim", tmp_path / "small", "-o", tmp_path / "again", "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["memory"]["after"] == first["memory"]["after"]
    texts = [mneme("show", tmp_path / name).stdout for name in ("small", "again")]
    told = [line for text in texts for line in text.splitlines() if line.startswith("trimmed from")]
    assert len(told) == 2
    assert told[0] == told[1]
    assert "left out 68.0 MiB of 68.0 MiB of memory that it does not read" in told[0]


def test_a_trimmed_launch_becomes_a_program(program: Path, tmp_path: Path) -> None:
    trimmed(program, tmp_path, "stencil")
    done = mneme("scaffold", "replay", tmp_path / "small", "--out", tmp_path / "reproducer")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "reproducer").iterdir())


def test_a_directory_in_use_is_refused(program: Path, tmp_path: Path) -> None:
    recording = recorded(program, tmp_path, "little")
    before = content_of(recording)
    done = mneme("trim", recording, "-o", recording, "--device", "cpu")
    assert done.returncode == 8
    assert "name a directory that does not, or an empty one" in done.stderr
    assert content_of(recording) == before


def test_much_memory_is_trimmed_in_two_steps(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trimming, "_MUCH_BYTES", 1 << 20)
    recording = recorded(program, tmp_path, "little")
    (record,) = recording.glob("*.json")
    (record_id,) = RecordedExecution.from_json(record)
    told: list[trimming.Progress] = []
    result = trimming.trim(
        trimming.TrimOptions(
            record=record,
            record_id=record_id,
            output=tmp_path / "small",
            device="cpu",
            on_progress=told.append,
        )
    )
    assert {one.name for one in tmp_path.iterdir()} == {"recording", "small"}
    assert result.record.is_file()
    assert result.described_before == 68 << 20
    assert result.described_before - result.unread == PAGE
    assert told[0].undecided == 68 << 20
    assert "verified: exact" in mneme("replay", tmp_path / "small", "--device", "cpu").stderr
    assert "of 68.0 MiB of memory" in mneme("show", tmp_path / "small").stdout


def searched(sizes: list[int], read: list[Range]) -> tuple[list[Range], int]:
    """Return what a search finds where these ranges are read, and how many questions it asks."""
    asked = []

    def is_unread(found: Any, ranges: Any, *, is_sample: bool) -> bool:
        del found, is_sample
        asked.append(ranges)
        return not any(
            a.region == b.region and a.begin < b.end and b.begin < a.end
            for a in ranges
            for b in read
        )

    search = Search(sizes, is_unread)
    search.run()
    assert search.undecided == 0
    return search.found, len(asked)


def test_a_search_with_nothing_read_asks_once() -> None:
    found, questions = searched([1 << 30] * 100, [])
    assert size_of(found) == 100 << 30
    assert questions == 1


def test_a_search_finds_one_page_of_many_regions() -> None:
    read = Range(37, 5 * CHUNK, 5 * CHUNK + 8)
    found, questions = searched([1 << 30] * 100, [read])
    assert size_of(found) == (100 << 30) - PAGE
    assert questions < 150


def test_a_search_gives_up_where_all_is_read() -> None:
    found, questions = searched([1 << 30], [Range(0, 0, 1 << 30)])
    assert found == []
    assert questions == 9


def test_a_search_finds_many_places() -> None:
    read = [Range(0, place * (1 << 22) + 12345, place * (1 << 22) + 12349) for place in range(100)]
    found, _ = searched([1 << 29], read)
    assert size_of(found) == (1 << 29) - 100 * PAGE


def test_what_touches_becomes_one() -> None:
    assert merged([Range(1, 0, 4), Range(0, 8, 9), Range(0, 0, 8)]) == [
        Range(0, 0, 9),
        Range(1, 0, 4),
    ]
