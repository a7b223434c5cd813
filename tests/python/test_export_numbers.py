"""What DuckDB computes from exported files is what pages and tables of mneme show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compare_samples import Simulated, compared, make_cases, variant
from mneme.compare import Comparison
from mneme.data.code import code_rows
from mneme.data.configurations import CONFIGURATIONS
from mneme.data.files import write_table
from mneme.data.sources import find_results, rows_of
from mneme.errors import ArtifactCorrupt
from mneme.mneme_types import ExperimentResult
from mneme.report.results import read_results
from report_samples import write_results

WRONG = ExperimentResult(executed=True, result_class="few_ulp", max_ulp=2, error="2 ULP off")
VARIANTS = (variant("O3"), variant("O2", "fast"), variant("slow", "slow"), variant("off", "off"))


def exported(results: Path) -> list[dict[str, Any]]:
    return list(rows_of(find_results([results])))


def query(results: Path, path: Path, text: str) -> list[tuple[Any, ...]]:
    """Ask DuckDB about what is exported; FILE stands for the file."""
    duckdb, _ = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    write_table(path, CONFIGURATIONS, exported(results))
    return list(duckdb.sql(text.replace("FILE", f"'{path}'")).fetchall())


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    simulated = Simulated(factors={"fast": 0.9, "slow": 1.2}, failures={"off": WRONG})
    return compared(make_cases(tmp_path / "rec", 9), VARIANTS, simulated, tmp_path / "cmp")


def test_the_numbers_of_a_comparison_are_found_again(
    comparison: Comparison, tmp_path: Path
) -> None:
    asked = """
        SELECT variant, exp(avg(ln(gain))), count(*) FILTER (gain_is_significant AND gain > 1),
            count(*) FILTER (gain_is_significant AND gain < 1), count(*) FILTER (NOT verified)
        FROM FILE WHERE NOT is_baseline GROUP BY variant ORDER BY variant"""
    found = query(tmp_path / "cmp", tmp_path / "data.parquet", asked)
    summaries = sorted(comparison.summaries, key=lambda one: one.name)
    assert [row[0] for row in found] == [one.name for one in summaries]
    for (_, ratio, faster, slower, failed), shown in zip(found, summaries, strict=True):
        assert (ratio is None) == (shown.mean is None)
        if shown.mean is not None:
            assert ratio == pytest.approx(shown.mean.ratio)
        verdicts = {"faster": faster, "slower": slower, "a few ULP off": failed}
        assert {key: count for key, count in verdicts.items() if count} == {
            key: count for key, count in shown.verdicts.items() if key != "no difference"
        }


def test_each_row_of_a_comparison_is_found_again(comparison: Comparison, tmp_path: Path) -> None:
    asked = """
        SELECT kernel, variant, list_median(ratios), gain_low, gain_high, p_value, time_ns
        FROM FILE WHERE NOT is_baseline AND verified"""
    found = {row[:2]: row[2:] for row in query(tmp_path / "cmp", tmp_path / "d.parquet", asked)}
    shown = {
        (str(row.result.case["kernel"]), row.variant): row
        for row in comparison.rows
        if row.ratio is not None
    }
    assert set(found) == set(shown)
    for key, (ratio, low, high, p_value, time) in found.items():
        row = shown[key]
        assert ratio == pytest.approx(row.ratio)
        assert (low, high, p_value) == pytest.approx((row.low, row.high, row.p_value))
        assert time == pytest.approx(row.to_dict()["median_ns"])


def test_rows_of_a_comparison_say_what_was_compiled(comparison: Comparison, tmp_path: Path) -> None:
    rows = exported(tmp_path / "cmp")
    assert len(rows) == 9 * 4
    assert all(list(row) == CONFIGURATIONS.names() for row in rows)
    first, fast, _, off = rows[:4]
    assert (first["variant"], first["is_baseline"], first["speedup"]) == ("O3", True, 1.0)
    assert (fast["passes"], fast["source"], fast["spill_bytes"]) == ("fast", "compare", 24)
    assert (off["status"], off["failure"]) == ("failed_verification", "few_ulp")
    assert off["gain"] is None
    assert {row["static_hash"] for row in rows[:4]} == {f"{1000:016x}"}


def test_what_the_code_of_a_search_needs_is_found_again(tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", trials=60)
    best = json.loads((results / "best.json").read_text())
    (results / "best.json").write_text(
        json.dumps({**best, "device": {"name": "H200", "arch": "sm_90"}})
    )
    asked = """
        SELECT DISTINCT registers, spill_bytes, shared_bytes, occupancy FROM FILE
        WHERE verified AND trial >= 0 AND block_x * block_y * block_z = 256 ORDER BY ALL"""
    found = query(results, tmp_path / "data.parquet", asked)
    assert found == [
        (32, 0, 1024, 1.0),  # 8 blocks of 8 warps
        (40, 0, 1024, 0.75),
        (48, 0, 1024, 0.625),
        (64, 40, 1024, 0.5),
    ]


def test_results_of_earlier_versions_say_nothing_of_occupancy(tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", trials=4)
    trials = results / "trials.jsonl"
    lines = [json.loads(line) for line in trials.read_text().splitlines()]
    for line in lines:
        del line["result"]["spill_bytes"], line["result"]["shared_mem_usage"]
    trials.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = [row for row in exported(results) if row["trial"] >= 0]
    assert rows
    told = {(row["spill_bytes"], row["shared_bytes"], row["occupancy"]) for row in rows}
    assert told == {(None, None, None)}


def test_equal_code_is_neither_faster_nor_slower(tmp_path: Path) -> None:
    simulated = Simulated(has_equal_code=True)
    cases = make_cases(tmp_path / "rec", 2)
    compared(cases, VARIANTS[:2], simulated, tmp_path / "cmp")
    rows = [row for row in exported(tmp_path / "cmp") if not row["is_baseline"]]
    assert {(row["is_same_code"], row["gain"], row["p_value"]) for row in rows} == {
        (True, 1.0, None)
    }


def test_a_torn_line_of_a_comparison_is_left_out(comparison: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "cmp" / "kernels.jsonl"
    text = path.read_text()
    kept = text.splitlines()[:9]  # those behind them measured findings again
    path.write_text("\n".join(kept)[:-40])
    assert len(exported(tmp_path / "cmp")) == 8 * 4


def test_a_comparison_of_another_kind_is_named(comparison: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "cmp" / "kernels.jsonl"
    line = json.loads(path.read_text().splitlines()[0])
    line["outcomes"]["O2"]["code_bytes"] = "large"
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(ArtifactCorrupt, match="launch 1 .* its code_bytes is 'large'"):
        exported(tmp_path / "cmp")


def test_code_of_compared_recordings_is_looked_for(comparison: Comparison, tmp_path: Path) -> None:
    told: list[str] = []
    assert list(code_rows([], [tmp_path / "cmp"], tell=told.append)) == []
    # These records name no code.
    assert len(told) == 9


def test_the_numbers_of_a_report_are_found_again(tmp_path: Path) -> None:
    results = write_results(tmp_path / "results", trials=40)
    (shown,) = read_results(results)
    assert shown.winner is not None
    assert shown.gain is not None
    asked = """
        SELECT any_value(gain) FILTER (is_winner), any_value(trial) FILTER (is_winner),
            count(*) FILTER (verified AND trial >= 0), any_value(time_ns) FILTER (is_baseline)
        FROM FILE"""
    (found,) = query(results, tmp_path / "data.parquet", asked)
    verified = [one for one in shown.trials if one.is_verified]
    assert found[:3] == (shown.gain["ratio"], shown.winner.number, len(verified))
    assert shown.baseline is not None
    assert found[3] == shown.baseline.metric_ns
    times = (
        f"SELECT trial, list_median(samples_ns) FROM '{tmp_path / 'data.parquet'}' WHERE verified"
    )
    medians = dict(query(results, tmp_path / "data.parquet", times))
    assert {one.number: one.result["median_ns"] for one in verified} == pytest.approx(
        {number: median for number, median in medians.items() if number >= 0}, abs=0.5
    )
