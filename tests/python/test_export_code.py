"""`mneme export --features`: a row for each IR, of recordings and of searches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mneme.cli.app import run
from mneme.cli.exit_codes import ExitCode
from mneme.data.code import CODE, code_rows, find_records
from mneme.data.files import write_table
from mneme.ir.features import FEATURES
from native_parts import needs_native
from report_samples import KERNEL, SYMBOL, write_results

pytestmark = needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def rows(records: list[Path], results: list[Path]) -> tuple[list[dict[str, Any]], list[str]]:
    told: list[str] = []
    return list(code_rows(records, results, tell=told.append)), told


def test_recordings_have_a_row_for_each_ir() -> None:
    records = find_records([GOLDEN])
    found, told = rows(records, [])
    assert told == []
    assert len(records) == 4
    # The second version of a kernel is the same code, whichever format its recording has.
    assert {row["stage"] for row in found} == {"recorded"}
    assert all(list(row) == CODE.names() for row in found)
    assert {row["kernel_symbol"] for row in found} >= {"_Z4linkP4Nodeii"}
    link = next(row for row in found if row["kernel_symbol"] == "_Z4linkP4Nodeii")
    assert (link["arguments"], link["arguments_pointer"], link["target"]) == (3, 1, "sm_90")
    assert link["instructions"] > 20
    assert link["ir2vec"] is None
    keys = [(row["ir_hash"], row["kernel_symbol"]) for row in found]
    assert len(set(keys)) == len(keys)


def test_rows_of_code_and_of_configurations_have_the_same_hash(tmp_path: Path) -> None:
    record = next((GOLDEN / "v2").glob("[0-9]*.json"))
    results = write_results(tmp_path / "results", trials=3)
    path = results / "baseline.json"
    baseline = json.loads(path.read_text())
    baseline["record"] = {"record_database": str(record), "kernel_name": SYMBOL}
    baseline["result"]["ir_hash"] = "00aa"
    path.write_text(json.dumps(baseline))
    found, told = rows([], [results])
    assert told == []
    assert [(row["stage"], row["ir_hash"] == "00aa") for row in found] == [
        ("recorded", False),
        ("as_built", True),
    ]
    (hashed,) = json.loads(record.read_text())["ModuleHashes"]
    assert found[0]["ir_hash"] == hashed
    assert found[1]["kernel_symbol"] == SYMBOL
    assert (found[1]["op_load"], found[1]["blocks"]) == (40, 41)


def test_code_that_is_not_there_is_named(tmp_path: Path) -> None:
    results = write_results(tmp_path / "results", trials=1)
    path = results / "baseline.json"
    baseline = json.loads(path.read_text())
    baseline["record"] = {"record_database": str(tmp_path / "17.json"), "static_hash": "0f"}
    path.write_text(json.dumps(baseline))
    _, told = rows([], [results])
    assert told == [
        f"the recording of '{results}' is not at '{tmp_path / '17.json'}': its code is left out"
    ]


def test_damaged_code_is_named_and_left_out(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "v2", tmp_path / "rec")
    broken = min((tmp_path / "rec").glob("*.bc"))
    broken.write_bytes(b"no IR")
    found, told = rows(find_records([tmp_path]), [])
    assert len(found) == 1
    assert len(told) == 1
    assert "is left out" in told[0]


def test_features_are_written_as_any_table(tmp_path: Path) -> None:
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    path = tmp_path / "code.parquet"
    found, _ = rows(find_records([GOLDEN]), [])
    assert write_table(path, CODE, found) == len(found)
    table = pandas.read_parquet(path)
    assert list(table.columns) == CODE.names()
    assert table[list(FEATURES)].dtypes.astype(str).unique().tolist() == ["int64"]


def test_the_command_writes_both_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write_results(tmp_path / "results", trials=3)
    data, code = tmp_path / "data.csv", tmp_path / "code.jsonl"
    places = (str(results), "--features", str(code))
    assert run(["export", *places, "-o", str(data)]) == ExitCode.OK
    told = capsys.readouterr()
    assert told.out == f"{data}\n{code}\n"
    assert run(["export", str(GOLDEN), "--features", str(code)]) == ExitCode.OK
    lines = [json.loads(line) for line in code.read_text().splitlines()]
    assert len(lines) > 1
    assert KERNEL not in {one["kernel"] for one in lines}


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ((), ExitCode.USAGE, "name the file to write"),
        (("-o", "a.csv", "--ir2vec", "v.json"), ExitCode.USAGE, "needs --features"),
        (
            ("--features", "a.csv", "--ir2vec", "none.json"),
            ExitCode.INVALID_CONFIGURATION,
            "no vocabulary 'none.json'",
        ),
        (("--features", "a.csv"), ExitCode.RECORD_UNREADABLE, "no results and no recording"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: ExitCode,
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["export", str(tmp_path), *arguments]) == code
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
