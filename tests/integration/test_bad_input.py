"""Bad input: one clear sentence, the right exit code, nothing lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import BUILD, Finished, example, mneme, records, run_command


def assert_one_sentence(done: Finished, *words: str) -> None:
    assert done.returncode != 0
    assert "Traceback" not in done.stderr, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.fixture
def record(recordings: dict[str, Path], tmp_path: Path) -> Path:
    """A private copy of the vector_add recording."""
    directory = tmp_path / "copy"
    shutil.copytree(recordings["vector_add"], directory)
    (path,) = records(directory)
    return path


def replay(record: Path, *options: str) -> Finished:
    return mneme("replay", "-rdb", record, "--device", "cpu", *options)


def test_missing_database(tmp_path: Path) -> None:
    assert_one_sentence(replay(tmp_path / "no.json", "default<O1>"), "no.json", "No such file")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"StaticHash": 1}', b"\x00\xff\x7fELF"])
def test_damaged_database(record: Path, content: bytes) -> None:
    record.write_bytes(content)
    assert_one_sentence(replay(record, "default<O1>"), record.name)


def test_unknown_record_id(record: Path) -> None:
    assert_one_sentence(replay(record, "-rid", "123", "default<O1>"), "123")


@pytest.mark.parametrize("kind", ["Prologue", "Epilogue"])
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "flipped"])
def test_damaged_snapshot(record: Path, kind: str, damage: str) -> None:
    (instance,) = json.loads(record.read_text())["instances"].values()
    snapshot = record.parent / instance[kind]
    content = bytearray(snapshot.read_bytes())
    if damage == "missing":
        snapshot.unlink()
    elif damage == "empty":
        snapshot.write_bytes(b"")
    elif damage == "truncated":
        snapshot.write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 0x10
        snapshot.write_bytes(content)
    assert_one_sentence(replay(record, "default<O1>"), snapshot.name)


def test_damaged_ir(record: Path) -> None:
    (module,) = json.loads(record.read_text())["Modules"]
    path = record.parent / module
    path.write_bytes(path.read_bytes()[:100])
    done = replay(record, "default<O1>")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("passes", "word"),
    [("no-such-pass", "no-such-pass"), ("default<O3", "default<O3"), ("function(", "function(")],
)
def test_bad_pipeline(record: Path, passes: str, word: str) -> None:
    done = replay(record, passes)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert word in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("-bidx", "2048"), "2048"),
        (("-bidx", "0"), "0"),
        (("-gidy", "70000"), "70000"),
        (("-shem", "10000000"), "shared memory"),
    ],
)
def test_impossible_launch(record: Path, options: tuple[str, ...], word: str) -> None:
    done = replay(record, *options, "default<O1>")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert word in done.stderr + done.stdout


def test_record_without_separator(tmp_path: Path) -> None:
    assert_one_sentence(mneme("record", "-rdb", tmp_path, example("vector_add")), "--")


def test_record_of_a_missing_program(tmp_path: Path) -> None:
    assert_one_sentence(mneme("record", "-rdb", tmp_path, "--", tmp_path / "nothing"), "nothing")


def test_record_of_a_program_that_is_not_instrumented(tmp_path: Path) -> None:
    done = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", "/bin/echo", "hello")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert "add_mneme" in done.stderr


def test_window_too_small_names_the_option(tmp_path: Path) -> None:
    elements = str(100 << 20)  # three buffers of 400 MiB do not fit into 1 GiB
    done = mneme(
        "record",
        "-rdb",
        tmp_path,
        "-vass",
        "1",
        "--device",
        "cpu",
        "--",
        example("vector_add"),
        elements,
    )
    assert done.returncode == 0, done.stderr
    assert "PASSED" in done.stdout
    assert "-vass" in done.stderr


@pytest.mark.compile
def test_a_program_without_kernels_is_not_blamed(tmp_path: Path) -> None:
    source = tmp_path / "host.cu"
    source.write_text("int main() { void* p; return cudaMalloc(&p, 8) != cudaSuccess; }")
    compiler = BUILD / "bin" / "mneme-cxx"
    options = ("-x", "cuda", "--offload-arch=sm_90", source, "-o", tmp_path / "host", "-lcudart")
    built = run_command(compiler, *options)
    assert built.returncode == 0, built.stderr
    done = mneme("record", "--device", "cpu", "-rdb", tmp_path / "db", "--", tmp_path / "host")
    assert (done.returncode, done.stdout) == (0, "")
    (line,) = done.stderr.splitlines()
    assert "the program itself has none" in line
