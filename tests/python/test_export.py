"""`mneme export`: rows, columns, files for other tools."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mneme.cli.app import run
from mneme.cli.exit_codes import ExitCode
from mneme.corpus.split import split_of
from mneme.data import files
from mneme.data.code import CODE
from mneme.data.column import Kind, described
from mneme.data.configurations import CONFIGURATION_FIELDS, CONFIGURATIONS, RESULT_FIELDS
from mneme.data.sources import find_results, rows_of
from mneme.errors import ArtifactCorrupt, NotFound
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recording.recorded_execution import RecordedExecution
from mneme.session.origin import note_origin
from mneme.session.result_store import ResultStore
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from report_samples import BASELINE_NS, KERNEL, SYMBOL, write_results
from tune_parts import FakeExecutor, Levels, recording

__all__ = ["recording"]

ROOT = Path(__file__).resolve().parents[2]
# Fields of a result that no column has as they are: why.
ELSEWHERE = {
    "exec_time": "samples_ns and warmup_ns",
    "iterations_used": "the number of samples_ns",
    "counters": "counters, as JSON",
    "counters_error": "for people",
    "time_ci_ns": "median_low_ns and median_high_ns",
    "reg_usage": "registers, missing for 0",
    "shared_mem_usage": "shared_bytes, with dynamic shared memory",
    "in_place_ns": "asked for by mneme compare only",
    "executed": "status",
    "failed": "status",
    "rounding": "failure",
    "worker_died": "error",
    "suggestion": "for people",
    "note": "for people",
    "mismatches": "for people",
    "part": "for people",
    "gpu_id": "device",
    "device_usable": "about the process",
    "open_time": "about the process",
    "device_open_time": "about the process",
    "upload_time": "about the process",
    "launched_ns": "about the process",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished search of 60 trials."""
    return write_results(tmp_path_factory.mktemp("export") / "results")


def exported(*results: Path, **options: Any) -> list[dict[str, Any]]:
    return list(rows_of(find_results(results), **options))


def best_of(results: Path) -> dict[str, Any]:
    return json.loads((results / "best.json").read_text())


def test_each_measured_configuration_is_a_row_with_every_column(results: Path) -> None:
    rows = exported(results)
    assert len(rows) == 61
    assert [row["trial"] for row in rows] == [-1, *range(60)]
    assert all(list(row) == CONFIGURATIONS.names() for row in rows)
    assert {row["kernel_symbol"] for row in rows} == {SYMBOL}
    assert {row["source"] for row in rows} == {"tune"}
    assert {row["results"] for row in rows} == {"results"}


def test_rows_say_what_the_files_say(results: Path) -> None:
    rows = exported(results)
    lines = [json.loads(line) for line in (results / "trials.jsonl").read_text().splitlines()]
    for row, line in zip(rows[1:], lines, strict=True):
        assert row["status"] == line["status"]
        assert row["time_ns"] == line["metric"]
        assert row["speedup"] == line["speedup"]
        assert row["config_hash"] == line["config_hash"]
        assert json.loads(row["params"]) == line["params"]
        assert row["passes"] == line["config"]["passes"]
        assert row["block_x"] == line["config"]["block"]["x"]
        assert row["code_bytes"] == line["result"]["obj_size"]
        if line["status"] == "verified":
            assert [*row["warmup_ns"], *row["samples_ns"]] == line["result"]["exec_time"]
            assert len(row["samples_ns"]) == line["result"]["iterations_used"]
            assert row["registers"] == line["result"]["reg_usage"]
    failed = next(row for row in rows if row["status"] == "compile_error")
    assert failed["failure"] == "compile_error"
    assert "Cannot select" in failed["error"]
    assert failed["time_ns"] is None
    assert failed["verified"] is False


def test_baseline_and_winner_are_marked(results: Path) -> None:
    rows, best = exported(results), best_of(results)
    (baseline,) = [row for row in rows if row["is_baseline"]]
    assert baseline["is_as_built"]
    assert baseline["time_ns"] == BASELINE_NS
    (winner,) = [row for row in rows if row["is_winner"]]
    assert winner["trial"] == best["trial"]
    assert winner["gain"] == best["gain"]["ratio"]
    assert winner["gain_low"] == best["gain"]["low"]
    assert winner["kernel"] == KERNEL


def test_a_search_without_gain_has_the_program_as_winner(tmp_path: Path) -> None:
    rows = exported(write_results(tmp_path / "r", trials=4, has_gain=False))
    assert [row["trial"] for row in rows if row["is_winner"]] == [-1]


def test_the_program_as_built_has_a_row_of_its_own(tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", trials=2, has_gain=False)
    path = results / "baseline.json"
    data = json.loads(path.read_text())
    built = {**data, "config": {**data["config"], "passes": "default<O1>"}, "metric": 60_000.0}
    path.write_text(json.dumps({**data, "as_built": built}))
    first, second, *_ = exported(results)
    assert (first["is_baseline"], first["is_as_built"], first["is_winner"]) == (True, False, False)
    assert (second["is_baseline"], second["is_as_built"]) == (False, True)
    assert second["is_winner"]
    assert second["passes"] == "default<O1>"
    assert second["speedup"] == BASELINE_NS / 60_000


@pytest.mark.parametrize("llvm", ["recorded", "ptx"])
def test_code_that_no_pipeline_made_has_none(tmp_path: Path, llvm: str) -> None:
    results = write_results(tmp_path / "r", trials=2)
    path = results / "baseline.json"
    data = json.loads(path.read_text())
    data["config"]["llvm"] = llvm
    path.write_text(json.dumps(data))
    baseline = exported(results)[0]
    assert (baseline["passes"], baseline["pipeline"], baseline["llvm"]) == (None, None, llvm)


def test_a_pipeline_is_a_list_of_its_passes(results: Path) -> None:
    nested = next(row for row in exported(results) if row["passes"].startswith("function"))
    assert nested["pipeline"] == ["sroa", "early-cse", "simplifycfg", "inline", "gvn", "licm"]


def test_a_tree_of_results_is_searched_and_each_is_taken_once(tmp_path: Path) -> None:
    write_results(tmp_path / "all" / "one", trials=3)
    write_results(tmp_path / "all" / "deep" / "two", trials=4, seed=2)
    rows = exported(tmp_path / "all", tmp_path / "all" / "one")
    assert len(rows) == 4 + 5
    assert {row["results"] for row in rows} == {"all/one", "all/deep/two"}


def test_results_of_optimize_name_the_program(tmp_path: Path) -> None:
    write_results(tmp_path / "session" / "results" / "one", trials=2)
    told = {"command": ["./bin/app", "input.dat"]}
    (tmp_path / "session" / "optimize.json").write_text(json.dumps(told))
    rows = exported(tmp_path / "session")
    assert {(row["source"], row["program"]) for row in rows} == {("optimize", "app")}
    assert {row["program"] for row in exported(tmp_path, program="mine")} == {"mine"}


def test_results_of_a_corpus_name_the_program_and_its_split(tmp_path: Path) -> None:
    record = tmp_path / "corpus" / "programs" / "spmv" / "00ff" / "17.json"
    results = write_results(tmp_path / "r", trials=1)
    data = json.loads((results / "baseline.json").read_text())
    data["record"] = {"record_database": str(record)}
    (results / "best.json").unlink()
    (results / "baseline.json").write_text(json.dumps(data))
    assert {row["program"] for row in exported(results)} == {None}
    record.parent.mkdir(parents=True)
    (tmp_path / "corpus" / "corpus.json").touch()
    found = {(row["program"], row["split"]) for row in exported(results)}
    assert found == {("spmv", split_of("spmv"))}


def test_an_unfinished_search_is_exported_as_far_as_it_came(tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", trials=5, is_finished=False)
    with (results / "trials.jsonl").open("a") as file:
        file.write('{"trial": 5, "stat')
    rows = exported(results)
    assert len(rows) == 6
    assert not any(row["is_winner"] for row in rows)


def test_the_machine_is_that_of_the_time(tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", trials=2)
    machines = [
        {"since": "2026-11-21T16:00:00+00:00", "host": "a", "device_name": "H100"},
        {"since": "2026-11-22T00:00:00+00:00", "host": "b", "device_name": "H200"},
    ]
    record = {"ir_hash": "00ff", "code_hash": "17", "place": "a.cu:3"}
    (results / "origin.json").write_text(json.dumps({"machines": machines, "record": record}))
    rows = exported(results)
    assert {(row["host"], row["device_name"]) for row in rows} == {("a", "H100")}
    assert {(row["recorded_ir_hash"], row["place"]) for row in rows} == {("00ff", "a.cu:3")}


@needs_native
@pytest.mark.compile
def test_a_search_writes_down_where_its_numbers_come_from(recording: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    options = TuneOptions(
        record_database=recording, results_dir=results, sampler="exhaustive", seed=7, device="cpu"
    )
    assert TuningSession(options, space=Levels(), make_executor=FakeExecutor()).run() == 0
    rows, (path,) = exported(results), recording.glob("[0-9]*.json")
    record = RecordedExecution.from_json(path)
    assert len(rows) == 1 + 1 + 16
    for row in rows:
        assert int(row["static_hash"], 16) == int(record.static_hash)
        assert int(row["dynamic_hash"], 16) == int(row["record_id"]) == int(*record)
        assert (row["recorded_ir_hash"],) == record.module_hashes
        assert (row["code_hash"], row["place"]) == (record.code_hash, str(record.place))
        assert (row["sampler"], row["seed"]) == ("exhaustive", 7)
        assert (row["device"], row["target"], row["driver"]) == ("cpu", "cpu", None)
        assert row["host"]
        assert row["llvm_version"].partition(".")[0].isdecimal()
    assert [row["trial"] for row in rows if row["is_as_built"]] == [-1]


@needs_native
def test_a_machine_is_written_down_once(tmp_path: Path) -> None:
    path = next((ROOT / "tests" / "golden" / "v2").glob("[0-9]*.json"))
    record = RecordedExecution.from_json(path)
    instance = next(iter(record.values()))
    store = ResultStore(tmp_path)
    for _ in range(2):
        note_origin(store, record, instance, "cpu")
    (machine,) = (store.read("origin.json") or {})["machines"]
    store.write("origin.json", {"machines": [{**machine, "host": "another"}]})
    note_origin(store, record, instance, "cpu")
    hosts = [one["host"] for one in (store.read("origin.json") or {})["machines"]]
    assert hosts == ["another", machine["host"]]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"obj_size": "large"}, "trial 1 that cannot be understood: its code_bytes is 'large'"),
        ({"start_time": "yesterday"}, "trial 1 that cannot be understood"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(
    tmp_path: Path, broken: dict[str, Any], told: str
) -> None:
    results = write_results(tmp_path / "r", trials=3)
    path = results / "trials.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["result"].update(broken)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ArtifactCorrupt, match=told):
        exported(results)


def test_a_directory_without_results_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no results"):
        find_results([tmp_path])
    with pytest.raises(NotFound, match="does not exist"):
        find_results([tmp_path / "none"])


def test_every_field_of_a_configuration_and_a_result_is_exported() -> None:
    names = set(CONFIGURATIONS.names())
    assert {*CONFIGURATION_FIELDS, "grid", "block"} == {
        one.name for one in fields(ExperimentConfiguration)
    }
    assert {*RESULT_FIELDS, *ELSEWHERE} == {one.name for one in fields(ExperimentResult)}
    assert {*CONFIGURATION_FIELDS.values(), *RESULT_FIELDS.values()} <= names
    assert len(names) == len(CONFIGURATIONS.columns)


def test_the_documentation_lists_the_columns() -> None:
    text = (ROOT / "docs" / "export.md").read_text()
    assert described(CONFIGURATIONS) in text, "run: scripts/columns.py --write"
    assert described(CODE) in text, "run: scripts/columns.py --write"
    done = subprocess.run([sys.executable, ROOT / "scripts" / "columns.py"], check=False)
    assert done.returncode == 0


def written(results: Path, path: Path) -> Path:
    files.write_table(path, CONFIGURATIONS, rows_of(find_results([results])))
    return path


def test_csv_has_lists_as_json(results: Path, tmp_path: Path) -> None:
    with written(results, tmp_path / "data.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 61
    assert list(rows[0]) == CONFIGURATIONS.names()
    assert json.loads(rows[0]["pipeline"]) == ["default<O3>"]
    assert rows[0]["is_baseline"] == "true"
    assert float(rows[0]["time_ns"]) == BASELINE_NS


def test_json_lines_are_objects(results: Path, tmp_path: Path) -> None:
    path = written(results, tmp_path / "data.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["started_at"] == "2026-11-21T17:00:00+00:00"
    assert [row["trial"] for row in rows] == [-1, *range(60)]


def test_parquet_has_units_and_the_version_of_the_schema(results: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(written(results, tmp_path / "data.parquet"))
    told = json.loads(table.schema.metadata[b"mneme"])
    assert told["table"] == "mneme.configurations"
    assert told["schema_version"] == CONFIGURATIONS.version
    assert table.schema.field("median_ns").metadata[b"unit"] == b"ns"
    assert table.num_rows == 61


def test_pandas_polars_and_duckdb_read_the_same(results: Path, tmp_path: Path) -> None:
    names = ("pyarrow", "pandas", "polars", "duckdb")
    _, pandas, polars, duckdb = (pytest.importorskip(name) for name in names)
    path = written(results, tmp_path / "data.parquet")
    expected = [row for row in exported(results) if row["status"] == "verified"]
    median = sorted(row["time_ns"] for row in expected)[len(expected) // 2]

    frame = pandas.read_parquet(path)
    assert list(frame.columns) == CONFIGURATIONS.names()
    assert sum(frame.status == "verified") == len(expected)
    assert list(frame.pipeline[0]) == ["default<O3>"]
    assert str(frame.started_at.dtype).startswith("datetime64[us, UTC")

    table = polars.read_parquet(path)
    assert table.columns == CONFIGURATIONS.names()
    kinds = dict(zip(table.columns, table.dtypes, strict=True))
    assert kinds["samples_ns"] == polars.List(polars.Int64)
    verified = table.filter(polars.col("status") == "verified")
    assert verified["time_ns"].sort()[len(expected) // 2] == median

    asked = "select count(*), max(speedup), max(len(samples_ns)) from read_parquet(?)"
    (answer,) = duckdb.execute(f"{asked} where status = 'verified'", [str(path)]).fetchall()
    assert answer == (len(expected), max(row["speedup"] for row in expected), 12)


def test_many_rows_are_written_in_groups(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(files, "_BATCH", 10)
    file = parquet.ParquetFile(written(results, tmp_path / "data.parquet"))
    assert file.metadata.num_row_groups == 7
    assert file.metadata.num_rows == 61


def test_every_kind_of_column_can_be_written() -> None:
    used = {one.kind for one in CONFIGURATIONS.columns}
    assert used <= set(Kind)


def test_the_command_writes_the_file(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    assert run(["export", str(results), "-o", str(path)]) == ExitCode.OK
    told = capsys.readouterr()
    assert told.out == f"{path}\n"
    assert "61 configurations from 1 directory" in told.err


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("data.xlsx", ExitCode.INVALID_CONFIGURATION, "none of the endings .parquet, .csv, .jsonl"),
        ("none/data.csv", ExitCode.IO_FAILED, "cannot write"),
    ],
)
def test_files_that_cannot_be_written_are_named(
    results: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    code: ExitCode,
    told: str,
) -> None:
    assert run(["export", str(results), "-o", str(tmp_path / name)]) == code
    assert told in capsys.readouterr().err


def test_a_failed_export_leaves_the_old_file(tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", trials=3)
    (results / "best.json").write_text("no JSON")
    path = tmp_path / "data.csv"
    path.write_text("old")
    with pytest.raises(ArtifactCorrupt, match="best.json"):
        written(results, path)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["data.csv"]


def test_parquet_without_pyarrow_says_what_to_install(
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "data.parquet"
    assert run(["export", str(results), "-o", str(path)]) == ExitCode.UNAVAILABLE
    assert "mneme-gpu[data]" in capsys.readouterr().err
    assert not path.exists()
