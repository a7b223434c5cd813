"""The verdict: one sentence about the result."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mneme.optimize.result import OptimizeResult

__all__ = ["verdict"]


def verdict(result: OptimizeResult, *, again: str = "") -> str:
    """Return the sentence; it names no gain that runs of the program did not show.

    Args:
        result: What was found.
        again: The command that goes on with it.
    """
    kept = [one for one in result.kernels if one.is_kept]
    if result.status == "interrupted":
        if kept and result.application is None:
            count = "1 kernel" if len(kept) == 1 else f"{len(kept)} kernels"
            return (
                f"interrupted: {count} tuned, not measured in the program yet; go on with: {again}"
            )
        return f"interrupted before anything was proved; go on with: {again}"
    if not kept:
        return _nothing(result)
    gain = result.application
    count = "1 tuned kernel" if len(kept) == 1 else f"{len(kept)} tuned kernels"
    # If the times of kernels in the program are unknown, only replays show a gain.
    where = "" if any(one.production for one in kept) else " in replays"
    if gain is None:
        return f"with {count} its kernels are faster{where}; the whole program was not measured"
    if not gain.is_certain:
        shown = "not measurably" if gain.is_interval else "not significantly"
        whole = f"the whole program {shown} ({gain.text()})"
        return f"with {count} its kernels are faster{where}, {whole}"
    built = statistics.median(result.built_seconds)
    tuned = statistics.median(result.tuned_seconds)
    return f"with {count} it runs {gain.text()} as fast: {built:.3g} s → {tuned:.3g} s"


def _nothing(result: OptimizeResult) -> str:
    if result.kernels and not any(one.is_searched for one in result.kernels):
        return f"no kernel could be tuned: {result.kernels[0].reason or 'none was recorded'}"
    return "the program stays as it is: no kernel is faster in it when tuned"
