"""`mneme corpus lit`: a corpus as a suite of tests that LLVM's `lit` runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from corpus_parts import GOLDEN, add, contents, mneme, swapped_results
from native_parts import needs_native

pytestmark = [needs_native, pytest.mark.compile]

pytest.importorskip("lit")

LIT = Path(sys.executable).with_name("lit")
ONCE = ("-D", "device=cpu", "-D", "options=--iterations 1 --warmup 0")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two programs; of the second, one launch claims to have left what another one did."""
    folder = tmp_path_factory.mktemp("lit")
    add(folder / "c", GOLDEN / "v1", "old")
    add(folder / "c", swapped_results(folder / "swapped"), "wrong")
    assert "wrote 6 tests" in mneme("lit", folder / "c", "-o", folder / "suite")
    return folder / "suite"


def lit(suite: Path, folder: Path, *options: str, code: int) -> dict[str, dict[str, Any]]:
    """Run a suite; return the results by the name of the test."""
    results = folder / "results.json"
    done = subprocess.run(
        [LIT, suite, "-o", results, *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    assert done.returncode == code, done.stdout + done.stderr
    tests = json.loads(results.read_text())["tests"]
    return {one["name"].partition(" :: ")[2]: one for one in tests}


def test_lit_tells_verified_launches_from_others(suite: Path, tmp_path: Path) -> None:
    results = lit(suite, tmp_path, *ONCE, "-D", "passes=default<O2>", code=1)
    codes = {name: one["code"] for name, one in results.items()}
    assert sorted(codes.values()) == ["FAIL", *["PASS"] * 5]
    (failed,) = [name for name, code in codes.items() if code == "FAIL"]
    assert failed.startswith("wrong/")
    assert failed.endswith("-1.test")
    assert "mneme replay" in results[failed]["output"]
    assert "default<O2>" in results[failed]["output"]


def test_results_have_the_metrics_that_llvm_compares(suite: Path, tmp_path: Path) -> None:
    """Its compare.py reads `tests`, their `name`, and numbers in `metrics`."""
    results = lit(suite, tmp_path, *ONCE, "--filter", "old/", code=0)
    assert len(results) == 3
    for one in results.values():
        metrics = one["metrics"]
        assert set(metrics) == {"exec_time", "compile_time", "size", "registers"}
        assert metrics["exec_time"] > 0
        assert metrics["compile_time"] > 0
        assert metrics["size"] > 1000


def test_names_of_tests_are_the_same_everywhere(suite: Path) -> None:
    names = [one for one in contents(suite) if one.startswith("old/")]
    assert names == [
        "old/9609945cc353/link-ccb3b351-1.test",
        "old/9609945cc353/walk-13a99b28-1.test",
        "old/9609945cc353/walk-13a99b28-2.test",
    ]


def test_what_cannot_be_replayed_is_neither_passed_nor_wrong(suite: Path, tmp_path: Path) -> None:
    wrong = lit(suite, tmp_path, *ONCE, "-D", "passes=no-such-pass", "--filter", "link", code=1)
    assert {one["code"] for one in wrong.values()} == {"UNRESOLVED"}
    options = ("-D", "device=cuda:99", "--filter", "old/.*link")
    absent = lit(suite, tmp_path, *options, code=0)
    assert {one["code"] for one in absent.values()} == {"UNSUPPORTED"}


def test_tests_have_the_limit_of_lit(suite: Path, tmp_path: Path) -> None:
    options = ("-D", "options=--iterations 100000000", "-D", "device=cpu", "--filter", "old/.*link")
    ended = lit(suite, tmp_path, *options, "--timeout", "1", code=1)
    assert {one["code"] for one in ended.values()} == {"TIMEOUT"}


def test_a_suite_replaces_nothing(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    said = mneme("lit", suite.parent / "c", "-o", tmp_path, code=3)
    assert "is there already" in said
    assert contents(tmp_path) == {"notes.txt": b"mine"}
    assert "needs -o" in mneme("lit", suite.parent / "c", code=2)
