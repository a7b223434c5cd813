"""Where a replay stands in a roofline, by hardware counters."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import Self

from mneme.machine_code.facts import CodeFacts
from mneme.mneme_types import ExperimentResult
from mneme.why import roofline
from mneme.why.comparison import Why
from mneme.why.roofline import standing_text
from mneme.why.standing import COUNTERS, standing_of

BYTES, BYTES_PEAK, MEMORY_CLOCK, CLOCK = COUNTERS[:4]


def counted(**more: float) -> ExperimentResult:
    """A kernel of 1 ms that moves 2 GB and does a million operations of single precision."""
    values = dict.fromkeys(COUNTERS, 0.0)
    values |= {BYTES: 2e9, BYTES_PEAK: 1000.0, MEMORY_CLOCK: 4e9, CLOCK: 1e9}
    values |= {name: 1000.0 for name in COUNTERS if name.endswith("peak_sustained")}
    values["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = 0.5e6
    return ExperimentResult(
        verified=True,
        result_class="exact",
        device="gpu:0",
        median_ns=1_000_000,
        counters={**values, **more},
    )


def text_of(result: ExperimentResult, reason: str = "") -> str:
    build: Any = SimpleNamespace(standing=standing_of(result), not_measured=reason)
    return standing_text(build)


def test_bytes_and_operations_are_set_against_their_peaks() -> None:
    found = standing_of(counted())
    assert found is not None
    assert found.flops == {"single": 1e6, "double": 0.0, "half": 0.0}
    assert (found.bytes_per_second, found.peak_bytes_per_second) == (2e12, 4e12)
    assert (found.flops_per_second, found.peak_flops_per_second) == (1e9, 2e12)
    assert (found.memory_share, found.arithmetic_share) == (0.5, 0.0005)
    assert (found.intensity, found.ridge) == (1e6 / 2e9, 0.5)


def test_the_precision_that_is_nearest_to_its_peak_counts() -> None:
    double = "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"
    slow = "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained"
    found = standing_of(counted(**{double: 0.9e6, slow: 1.0}))
    assert found is not None
    assert (found.precision, found.flops_per_second) == ("double", 0.9e9)
    assert found.peak_flops_per_second == 2e9


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({}, "neither is near, so latency or too little work limits it"),
        ({BYTES: 3e9}, "limited by memory"),
        ({"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 1.9e9}, "limited by arithmetic"),
        ({BYTES: 0.0, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 0.0}, "is used"),
    ],
)
def test_what_limits_is_said_in_words(more: dict[str, float], end: str) -> None:
    assert text_of(counted(**more)).endswith(end)


def test_numbers_stand_behind_the_words() -> None:
    expected = (
        "50 % of the memory's peak (2000 of 4000 GB/s), 0.1 % of that of single precision "
        "(1 of 2000 GFLOP/s)"
    )
    assert text_of(counted()).startswith(expected)


def test_a_missing_counter_is_not_guessed() -> None:
    result = counted()
    assert standing_of(replace(result, counters={**result.counters, CLOCK: None})) is None
    assert standing_of(replace(result, counters={})) is None
    assert text_of(replace(result, counters={}), "not for you") == "no roofline: not for you"
    assert text_of(replace(result, counters={})) == ""


class Replaying:
    """Replays each configuration with the next result, or the next error."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def __call__(self, devices: list[str], *_: object) -> Replaying:
        assert devices == ["gpu:0"]
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, *_: object) -> Any:
        answer = self.answers.pop(0)
        return lambda: answer


def test_each_configuration_is_replayed(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from mneme.why.build import Build  # noqa: PLC0415

    nothing: Any = {}
    build = Build(
        name="A",
        configuration=nothing,
        target="sm_90",
        figures={},
        features={},
        code=CodeFacts(ptx=None, resources=None),
        opcodes=None,
        residency=None,
        remarks=[],
        remarks_left_out=0,
        passes=[],
        loops=[],
        statistics=None,
        seconds={},
        compiled=nothing,
    )
    record: Any = SimpleNamespace(path=tmp_path / "1.json")
    why = Why(record=record, record_id="1", target="sm_90", builds=[build] * 3, failed=[])
    refused = replace(counted(), counters={}, counters_error="not for you")
    wrong = replace(counted(), verified=False, result_class="wrong")
    monkeypatch.setattr(roofline, "SuiteExecutor", Replaying(counted(), refused, wrong))
    good, secret, bad = roofline.measured(why, "gpu:0").builds
    assert (good.time_ns, good.not_measured) == (1e6, "")
    assert good.standing == standing_of(counted())
    assert (secret.time_ns, secret.standing, secret.not_measured) == (1e6, None, "not for you")
    assert (bad.time_ns, bad.standing, bad.not_measured) == (None, None, "its result is wrong")
    monkeypatch.setattr(roofline, "SuiteExecutor", Replaying(counted(), refused, wrong))
    rows = {row.label: row.values for row in roofline.measured(why, "gpu:0").standings}
    assert rows["time [µs]"] == [1000.0, 1000.0, None]
    assert rows["% of its peak"] == [50.0, None, None]
