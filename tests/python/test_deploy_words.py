"""What `mneme deploy` shows: gains of replays and gains in the program stand apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy_samples import best, write_result
from mneme.cli.deploy import _show
from mneme.deploy import DeployOptions, plan_deployment
from mneme.optimize.result import KernelResult, OptimizeResult, Ratio


def result_of(kernel: str) -> OptimizeResult:
    one = KernelResult(
        name=kernel,
        demangled_name="walk(int)",
        share=1.0,
        production=Ratio(ratio=2.205, low=2.1, high=2.3, rounds=6, is_interval=True),
    )
    return OptimizeResult(command=["app"], directory=Path(), kernels=[one])


@pytest.mark.parametrize(
    ("kernel", "in_program"), [("_Z4walki", "2.205 (2.100 to 2.300)"), ("_Z5otheri", "-")]
)
def test_measured_gain_stands_beside_that_of_replays(
    kernel: str, in_program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_deployment([write_result(tmp_path / "r", best())], DeployOptions(use_launch=True))
    _show(plan, tmp_path / "tuned.json", result_of(kernel), json=False)
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("│")] for line in lines if "│" in line]
    assert cells[0][4:6] == ["1.500 (1.490 to 1.510)", in_program]
    assert "gain in the program" in "\n".join(lines)


def test_gain_is_of_replays_where_nothing_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_deployment([write_result(tmp_path / "r", best())], DeployOptions(use_launch=True))
    _show(plan, tmp_path / "tuned.json", None, json=False)
    shown = capsys.readouterr().out
    assert "gain in replays" in shown
    assert "gain in the program" not in shown
