"""What gains are stated over: the program as built, whatever trials are compared with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mneme.deploy.tuning_results import read_result
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.report.results import read_results
from mneme.search.params import IntRangeParam
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, measured, recording

__all__ = ["recording"]

pytestmark = [pytest.mark.compile, needs_native]


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_what_is_slower_than_the_program_as_built_is_no_gain(
    recording: Path, tmp_path: Path
) -> None:
    def answer(config: ExperimentConfiguration) -> ExperimentResult:
        is_built = config.codegen_opt == 3 and not config.specialize
        return measured(config, [30_000 if is_built else 40_000 - config.codegen_opt] * 5)

    class Slower(Levels):
        def dimensions(self) -> dict[str, Any]:
            return {"codegen_opt": IntRangeParam("codegen_opt", 0, 2)}

    for resume in (False, True):
        executor = FakeExecutor(answer)
        options = TuneOptions(
            record_database=recording, results_dir=tmp_path, sampler="exhaustive", resume=resume
        )
        tuning = TuningSession(options, space=Slower(), make_executor=executor)
        assert tuning.run() == 0
        best = read(tmp_path / "best.json")
        assert best["trial"] == -1, "the baseline is slower than what was found"
        assert best["config"]["codegen_opt"] == 3
        assert best["best_metric"] == best["as_built_metric"] == 30_000
        assert best["speedup"] == pytest.approx(40 / 30)
        assert read(tmp_path / "proteus_tuned_kernels.json") == {}
        stored = read(tmp_path / "baseline.json")
        assert (stored["metric"], stored["as_built"]["metric"]) == (40_000, 30_000)
    assert not [one for one in executor.wishes if "fresh" not in one], "what is known stays known"


def test_deployment_and_report_are_over_the_program_as_built(
    recording: Path, tmp_path: Path
) -> None:
    options = TuneOptions(record_database=recording, results_dir=tmp_path, sampler="exhaustive")
    tuning = TuningSession(options, space=Levels(), make_executor=FakeExecutor())
    assert tuning.run() == 0
    assert read(tmp_path / "baseline.json")["metric"] == 100_000
    found = read_result(tmp_path)
    assert (found.baseline_ns, found.best.metric_ns) == (40_000, pytest.approx(39_000))
    (shown,) = read_results(tmp_path)
    assert shown.baseline is not None
    assert shown.baseline.metric_ns == 40_000
