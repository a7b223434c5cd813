"""The tables of docs/measurements.md have the numbers of the files of results that they are made of."""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = (ROOT / "docs" / "measurements.md").read_text()
FILES = sorted(RESULTS.glob("**/*.*"))
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
# What a table is made of, how it begins in the page, and which columns of ours its columns after the first are.
TABLES = (
    ("production_h200.jsonl", "| program, kernel | as built", {1: 1, 2: 2, 3: 3, 5: 4, 6: 5}),
    ("optimize_h200.jsonl", "| kernel | in replays", {1: 1, 2: 2, 3: 3}),
    ("optimize_programs_h100.jsonl", "| programs of |", {1: 1, 2: 2, 3: 3, 4: 4}),
    (
        "samplers_h100.jsonl.xz",
        "| kernel, as built | auto after",
        {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 9, 9: 10},
    ),
    ("pipelines_h200.jsonl", "| kernel | `default<O3>`", {1: 1, 2: 2, 3: 3}),
    ("simulated.jsonl", "| kernel | sampler |", {2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8}),
)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def page_table(start: str) -> list[list[str]]:
    """The rows of the table that begins so."""
    after = PAGE[PAGE.index(start) :].splitlines()
    lines = after[: next(number for number, line in enumerate(after) if not line.startswith("|"))]
    return [cells(line) for line in lines[2:]]


def our_table(*names: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "tables.py", *(RESULTS / name for name in names)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    rows = [cells(line) for line in done.stdout.splitlines() if line.startswith("|")]
    return [row for row in rows if row[1] != "---"]


def are_same(page: str, ours: str) -> bool:
    """Every number of the page is one of ours in fewer digits, in the same order."""
    left = [float(text) for text in NUMBER.findall(ours)]
    for text in NUMBER.findall(page):
        nearly = 0.501 * 10.0 ** -len(text.partition(".")[2])
        while left and abs(left[0] - float(text)) > nearly:
            del left[0]
        if not left:
            return False
        del left[0]
    return True


@pytest.mark.parametrize(("file", "start", "columns"), TABLES, ids=[one[0] for one in TABLES])
def test_a_table_has_the_numbers_of_its_file(
    file: str, start: str, columns: dict[int, int]
) -> None:
    _, *ours = our_table(file)
    for row in page_table(start):
        found = [
            one for one in ours if all(are_same(row[at], one[to]) for at, to in columns.items())
        ]
        assert found, row
    assert file in PAGE


def test_statements_hold_as_often_as_the_files_say() -> None:
    row = our_table("coverage_h200.jsonl")[1]
    before = our_table("coverage_before_h200.jsonl")[1]
    page = dict(page_table("| | |\n|---|---|\n| statements"))
    assert are_same(page["statements"], row[1])
    assert are_same(page["hold in production"], row[2])
    assert are_same(page["claims of a gain (the interval above 1)"], row[3])
    assert are_same(page["a kernel said to be faster than itself"], f"{before[4]} {row[4]}")
    ours = our_table("coverage_before_h100.jsonl", "coverage_h100.jsonl")
    ours = [one for one in ours if one[1] != "statements"]
    for row, one in zip(page_table("| | statements | hold in"), ours, strict=True):
        assert are_same(row[1], one[1])
        assert are_same(row[2], one[2])


def test_numbers_that_are_others_are_seen() -> None:
    assert are_same("1.03 (1.0 to 2)", "1.026 (1.013 to 2.031)")
    assert not are_same("1.02", "1.026")
    assert not are_same("2, 1", "1, 2")


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_a_file_of_results_says_what_was_measured_and_has_a_line_for_each(path: Path) -> None:
    content = path.read_bytes()
    text = lzma.decompress(content) if path.suffix == ".xz" else content
    first, *results = [json.loads(line) for line in text.decode().splitlines()]
    assert {"what", "date"} < set(first)
    assert set(first) & {"machine", "hardware"}
    assert results
