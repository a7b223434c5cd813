"""The command `mneme compare`, its exit codes and tables, with times that are drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from compare_samples import WRONG, Simulated, make_cases, variant
from mneme import compare as room
from mneme.cli import compare as command
from mneme.cli.app import run
from mneme.compare import BASELINE_NAME, CompareOptions, Comparison
from mneme.compare.limits import Limits, percentage
from mneme.measure.compile_pool import CompileAnswer
from native_parts import needs_native

pytestmark = needs_native
A, B, C = variant("a", "default<O1>"), variant("b", "default<O2>"), variant("c", "default<O3>")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Simulated:
    """What measures in the command."""
    made = Simulated(factors={"default<O0>": 1.25, "default<O2>": 0.8}, bursts=0.02)
    real = command._run

    def with_simulated(
        recordings: Sequence[Path], kernels: Sequence[str], options: CompareOptions, **more: Any
    ) -> Comparison:
        monkeypatch.setattr(
            room,
            "run_comparison",
            lambda cases, options, listener: room.session.run_comparison(
                cases, options, listener, make_executor=made
            ),
        )
        return real(recordings, kernels, options, **more)

    monkeypatch.setattr(command, "_run", with_simulated)
    return made


def compare(tmp_path: Path, *words: str) -> int:
    make_cases(tmp_path / "tree", 3)
    line = ("compare", str(tmp_path / "tree"), "--device", "cpu", "--rounds", "16")
    return run([*line, "--results-dir", str(tmp_path / "results"), *words])


FASTER, SLOWER = ("--variant", "new='default<O2>'"), ("--variant", "new='default<O0>'")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (SLOWER, 0),
        ((*SLOWER, "--fail-on", "regression=3%"), 9),
        ((*SLOWER, "--fail-on", "regression=0.5"), 0),
        ((*SLOWER, "--fail-on", "mean=10%"), 9),
        ((*FASTER, "--fail-on", "regression=0%", "--fail-on", "mean=0%"), 0),
        ((*FASTER, "--fail-on", "wrong", "--fail-on", "failed"), 0),
        ((*FASTER, "--fail-on", "nonsense"), 3),
        ((*FASTER, "--fail-on", "regression=much"), 3),
        ((*FASTER, "--fdr", "0"), 3),
        ((*FASTER, "--rounds", "3"), 3),
        ((*FASTER, "--kernels", "nosuch"), 4),
        (("--variant", "nameless"), 2),
        ((), 3),
    ],
)
def test_exit_codes(
    words: tuple[str, ...], code: int, simulated: Simulated, tmp_path: Path
) -> None:
    assert compare(tmp_path, *words) == code


def test_wrong_and_failed_variants_fail_where_asked_for(
    simulated: Simulated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated.failures = {"default<O2>": WRONG, "default<O3>": CompileAnswer(failure="no")}
    line = (*FASTER, "--variant", "worse='default<O3>'", "--variant", "base=")
    words = ("--variant", "first='default<O1>'", *line)
    assert compare(tmp_path, *words) == 0
    told = capsys.readouterr().err
    assert "new: wrong result for k0, k1, k2: out: element 3 is 1, not 2" in told
    assert "worse: not compiled for k0, k1, k2: no" in told
    assert compare(tmp_path, *words, "--resume", "--fail-on", "wrong") == 9
    assert "--fail-on: k1, new: wrong result" in capsys.readouterr().err
    assert compare(tmp_path, *words, "--resume", "--fail-on", "failed") == 9
    assert "--fail-on: k2, worse: not compiled" in capsys.readouterr().err


def test_nothing_to_compare_is_a_failure(simulated: Simulated, tmp_path: Path) -> None:
    simulated.failures = {"default<O3>": WRONG}
    assert compare(tmp_path, *FASTER) == 7


def test_resuming_needs_a_directory(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "nowhere", *FASTER, "--resume"]) == 3
    assert "--results-dir" in capsys.readouterr().err


def test_tables_fit_into_eighty_columns(
    simulated: Simulated,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ("--passes", "default<O1>", "--passes", "default<O0>", "--passes", "x" * 100)
    assert compare(tmp_path, *words) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "slower" in out


def test_many_rows_are_cut_to_those_that_differ(
    simulated: Simulated,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mneme.cli._compare_output._MOST_ROWS", 5)
    words = ("--passes", "default<O3>", "--passes", "default<O0>", "--passes", "default<O1>")
    assert compare(tmp_path, *words) == 0
    out = capsys.readouterr().out
    table, _, _ = out.partition("Over ")
    assert table.count("slower") == 3
    assert "3 more without a difference; --html and --json show all" in table


def test_json_is_all_there_is_on_stdout(
    simulated: Simulated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "tree" / "damaged" / "1.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text('{"Hash": "1", "inst')
    assert compare(tmp_path, *SLOWER, "--json", "--fail-on", "regression=3%") == 9
    out, err = capsys.readouterr()
    assert f"'{damaged}' is left out: " in err
    printed = json.loads(out)
    assert printed["baseline"] == BASELINE_NAME
    assert [one["name"] for one in printed["kernels"]] == ["k0", "k1", "k2"]
    new = printed["kernels"][0]["variants"]["new"]
    assert new["verdict"] == "slower"
    assert new["interval"][0] < new["ratio"] < new["interval"][1] < 1
    assert new["spill_bytes"] == 24
    assert len(printed["exceeded"]) == 3


def test_limits_are_read_as_percentages() -> None:
    assert percentage("3%", "x") == pytest.approx(0.03)
    assert percentage("0.03", "x") == pytest.approx(0.03)
    limits = Limits.parse(["regression=3%", "wrong"])
    assert (limits.regression, limits.mean, limits.is_wrong_allowed) == (0.03, None, False)
