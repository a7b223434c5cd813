"""The tuned-kernels file of `mneme tune` is the one that `mneme deploy` writes of its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.params import BoolParam
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, command, measured, recorded_launch, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]

SMALLER_BLOCKS = {"grid": {"x": 8, "y": 1, "z": 1}, "block": {"x": 128, "y": 1, "z": 1}}


class Blocks(Levels):
    """Specialised or not, in the recorded dimensions or in smaller blocks."""

    def dimensions(self) -> dict[str, Any]:
        return {"specialize": BoolParam("specialize"), "smaller": BoolParam("smaller")}

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        launch = SMALLER_BLOCKS if params["smaller"] else recorded_launch()
        return ExperimentConfiguration(**launch, specialize=params["specialize"])


def tuned(recording: Path, results: Path, *, specialized: int) -> dict[str, Any]:
    """Tune where smaller blocks take half the time, and a specialised kernel so much of 100."""

    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        time = 1_000 * (specialized if config.specialize else 100)
        return measured(config, [time // 2 if config.block.x == 128 else time] * 5)

    options = TuneOptions(record_database=recording, results_dir=results, sampler="exhaustive")
    executor = FakeExecutor(answer)
    session = TuningSession(options, space=Blocks(baseline_level=3), make_executor=executor)
    assert session.run() == 0
    best = json.loads((results / "best.json").read_text())
    assert best["config"]["block"]["x"] == 128
    content: dict[str, Any] = json.loads((results / "proteus_tuned_kernels.json").read_text())
    return content


def test_both_keep_the_dimensions_of_the_program(recording: Path, tmp_path: Path) -> None:
    results, file = tmp_path / "results", tmp_path / "tuned.json"
    (kernel,) = tuned(recording, results, specialized=60).values()
    assert kernel["SpecializeArgs"] is True
    assert "Launch" not in json.dumps(kernel).replace("LaunchBounds", "")
    done = command("deploy", results, "-o", file)
    assert done.returncode == 0, done.stderr
    assert file.read_bytes() == (results / "proteus_tuned_kernels.json").read_bytes()
    assert "with other dimensions it is 3.333 times as fast: --launch takes them" in done.stderr
    done = command("deploy", results, "-o", file, "--launch")
    assert done.returncode == 0, done.stderr
    assert '"Launch"' in file.read_text()


def test_both_say_so_where_only_other_dimensions_gain(recording: Path, tmp_path: Path) -> None:
    results, file = tmp_path / "results", tmp_path / "tuned.json"
    assert tuned(recording, results, specialized=100) == {}
    done = command("deploy", results, "-o", file)
    assert (done.returncode, file.exists()) == (1, False)
    sentence = (
        "nothing faster than the program as built was found with the recorded dimensions; "
        "with other dimensions it is 2.000 times as fast: --launch takes them"
    )
    assert sentence in done.stderr
    assert sentence in (results / "proteus_usage.txt").read_text()
