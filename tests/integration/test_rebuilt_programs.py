"""A file of tuned kernels still serves a program that was built again: code is known by its content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command
from tuned_runs import counts

from mneme.programs.kernels import embedded_kernels

pytestmark = pytest.mark.compile
SOURCE = ROOT / "tests/apps/lambdas/shifted.cu"


def build(folder: Path, *options: str, source: Path = SOURCE, level: str = "-O2") -> Path:
    program = folder / "program"
    built = (
        level,
        "-x",
        "cuda",
        "--offload-arch=sm_90",
        *options,
        source,
        "-o",
        program,
        "-lcudart",
    )
    done = run_command(BUILD / "bin" / "mneme-cxx", *built)
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("first"))


@pytest.fixture(scope="module")
def tuned(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with an entry for each of the three kernels."""
    entries: dict[str, Any] = {}
    for name, (kernel,) in embedded_kernels([program]).items():
        variant = {"Pipeline": "default<O3>", "CodeHash": kernel.code_hash}
        own = {"Version": 1, "StaticHash": kernel.static_hash, "Variants": [variant]}
        entries[name] = {"Mneme": own}
    assert len(entries) == 3
    path: Path = tmp_path_factory.mktemp("tuned") / "tuned.json"
    path.write_text(json.dumps(entries))
    return path


def codes(program: Path) -> set[tuple[str, str]]:
    kernels = [kernel for group in embedded_kernels([program]).values() for kernel in group]
    return {(kernel.static_hash, kernel.code_hash) for kernel in kernels}


def run(program: Path, tuned: Path | None = None) -> Finished:
    environment = {} if tuned is None else {
        "PROTEUS_TUNED_KERNELS": str(tuned), "PROTEUS_TRACE_OUTPUT": "cache-stats",
    }  # fmt: skip
    return mneme("run", "--device", "cpu", "--", program, **environment)


def moved(tmp_path: Path) -> Path:
    """Return the same source in another folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    copy = folder / "renamed.cu"
    copy.write_text("// A line more.\n" + SOURCE.read_text())
    return copy


# What is changed in the program, and how many of its launches are of tuned kernels then.
@pytest.mark.parametrize(
    ("options", "launches"),
    [
        ([], 3),
        (["-DINSERT"], 3),
        (["-DCHANGED"], 2),
        (["-DEDITED"], 2),
        (["-DINSERT", "-DEDITED"], 2),
    ],
    ids=["same", "a lambda inserted", "another kernel", "a lambda edited", "both"],
)
def test_what_still_applies(
    program: Path, tuned: Path, tmp_path: Path, options: list[str], launches: int
) -> None:
    other = build(tmp_path, *options) if options else program
    done = run(other, tuned)
    assert done.returncode == 0, done.stderr
    assert done.stdout == run(other).stdout
    assert counts(done.stderr).tuned == launches, done.stderr
    said = [line for line in done.stderr.splitlines() if "has the code that was tuned as" in line]
    assert bool(said) is ("-DINSERT" in options)


def test_a_moved_file_is_the_same_code(tuned: Path, tmp_path: Path) -> None:
    assert counts(run(build(tmp_path, source=moved(tmp_path)), tuned).stderr).tuned == 3


@pytest.mark.parametrize(
    ("options", "is_same"),
    [
        (["-O3"], True),
        (["-g"], True),
        (["-std=c++20"], True),
        (["-O0"], False),
        (["-ffast-math"], False),
        (["--no-offload-arch=sm_90", "--offload-arch=sm_80"], False),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_flags_that_change_the_code(
    program: Path, tmp_path: Path, options: list[str], is_same: bool
) -> None:
    first, other = codes(program), codes(build(tmp_path, *options))
    assert (first == other) if is_same else not first & other


def test_a_level_without_unrolling_changes_kernels_with_loops(
    program: Path, tmp_path: Path
) -> None:
    first, other = codes(program), codes(build(tmp_path, "-O1"))
    assert len(first & other) == 2  # of three


def test_a_check_knows_kernels_by_their_code(tuned: Path, tmp_path: Path) -> None:
    other = build(tmp_path, "-DINSERT")
    done = mneme("deploy", "--check", tuned, other, "--json")
    assert done.returncode == 0, done.stdout
    checks = json.loads(done.stdout)
    assert [one["status"] for one in checks] == ["matches"] * 3
    assert sum("in this build it is" in one["reason"] for one in checks) == 2


def test_a_file_is_written_for_the_new_build(tuned: Path, tmp_path: Path) -> None:
    other, new = build(tmp_path, "-DINSERT", "-DCHANGED"), tmp_path / "new.json"
    done = mneme("deploy", "--rebase", tuned, other, "-o", new)
    assert done.returncode == 0, done.stderr
    assert "_Z5shiftPd is left out" in done.stderr
    names = json.loads(new.read_text())
    assert set(names) <= set(embedded_kernels([other]))
    again = run(other, new)
    assert counts(again.stderr).tuned == 2
    assert "has the code that was tuned as" not in again.stderr


def test_nothing_is_written_where_nothing_fits(tuned: Path, tmp_path: Path) -> None:
    other = BUILD / "examples" / "vector_add"
    done = mneme("deploy", "--rebase", tuned, other, "-o", tmp_path / "new.json")
    assert done.returncode == 1
    assert not (tmp_path / "new.json").exists()
