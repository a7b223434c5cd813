"""Replays configurations for their place in a roofline, and words that place."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import MnemeError
from mneme.measure.measuring import Measuring
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions
from mneme.why.standing import COUNTERS, standing_of

if TYPE_CHECKING:
    from mneme.mneme_types import ExperimentResult
    from mneme.why.build import Build
    from mneme.why.comparison import Why

__all__ = ["measured", "standing_text"]

_ITERATIONS = 20
# Above this share of its peak, a resource decides how long a kernel takes.
_NEAR = 0.6


def standing_text(build: Build) -> str:
    """Return where a configuration stands in a roofline, or why that is not known."""
    one = build.standing
    if one is None:
        return f"no roofline: {build.not_measured}" if build.not_measured else ""
    memory, arithmetic = one.memory_share, one.arithmetic_share
    shares = (
        f"{100 * memory:.0f} % of the memory's peak ({one.bytes_per_second / 1e9:.4g} of "
        f"{one.peak_bytes_per_second / 1e9:.4g} GB/s), {100 * arithmetic:.1f} % of that of "
        f"{one.precision} precision ({one.flops_per_second / 1e9:.4g} of "
        f"{one.peak_flops_per_second / 1e9:.4g} GFLOP/s)"
    )
    if max(memory, arithmetic) >= _NEAR:
        bound = "memory" if memory >= arithmetic else "arithmetic"
        return f"{shares}: limited by {bound}"
    if memory + arithmetic == 0:
        return f"{shares}: neither is used"
    return f"{shares}: neither is near, so latency or too little work limits it"


def measured(why: Why, device: str, *, timeout: float | None = None) -> Why:
    """Return the same with each configuration replayed on a device, and its counters read.

    Args:
        why: What the compiler says.
        device: What replays.
        timeout: Seconds for one replay.

    Raises:
        BackendUnavailable: If nothing can be measured on the device.
    """
    record = why.record.path
    measuring = Measuring(in_series=True, counters=COUNTERS)
    options = SuiteOptions(iterations=_ITERATIONS, timeout=timeout, measuring=measuring)
    with (
        tempfile.TemporaryDirectory(prefix="mneme-explain-") as logs,
        SuiteExecutor([device], Path(logs), options) as executor,
    ):
        launch = str(record.absolute()), why.record_id
        waits = [executor.submit(0, launch, one.configuration) for one in why.builds]
        builds = []
        for one, wait in zip(why.builds, waits, strict=True):
            try:
                builds.append(_with_standing(one, wait()))
            except MnemeError as error:
                builds.append(replace(one, not_measured=str(error)))
    return replace(why, builds=builds)


def _with_standing(build: Build, result: ExperimentResult) -> Build:
    reason = result.error or result.counters_error
    if not reason and not result.verified:
        reason = f"its result is {result.result_class}"
    standing = None if reason else standing_of(result)
    time_ns = float(result.median_ns) if result.verified and result.median_ns else None
    if standing is None and not reason:
        reason = "the device did not say all that it takes"
    reason = " ".join(reason.split())
    return replace(build, time_ns=time_ns, standing=standing, not_measured=reason)
