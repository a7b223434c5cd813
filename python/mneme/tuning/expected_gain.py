"""What production may show of a gain that replays show.

Replays repeat one launch alone, so that their own interval says how well they repeat, and not what
the launch gains between other kernels, on what these left in the caches, in another process. What
is stated is wider, so that it holds there: it takes in the gain with cold caches, and it is wider
the more of the launch's time depends on caches and the shorter the launch is.

The three numbers are from 35 tunings of kernels of 1 to 7000 us on an H200, of which 6 had the gain
of production in the interval of their replays, and 35 in the one made here (benchmarks/coverage.py;
coverage_before_h200.json in benchmarks/results). Of 42 tunings after that, 18 of them of other
programs, 40 did (coverage_h200.json), and on H100s 40 of 40 once replays found in the cache what
programs find there (coverage_h100.json).
"""

from __future__ import annotations

import math

__all__ = ["widened"]

# Other clocks, temperatures and places in memory of another process.
_ANYWHERE = 0.008
# Of how much longer a launch takes with cold caches, the part its gain may differ by.
_OF_CACHES = 0.2
# Launches begin and end this much earlier or later when others run around them.
_EDGE_NS = 100.0


def widened(
    low: float, high: float, *, warm_ns: float, cold_ns: float, fastest_ns: float
) -> tuple[float, float]:
    """Return where production's gain is expected.

    Args:
        low: Smallest gain that replays show, with warm or with cold caches.
        high: Largest one.
        warm_ns: Time of the baseline with what replays leave in the caches.
        cold_ns: The same with cold caches.
        fastest_ns: Time of the faster of the two that are compared.
    """
    caches = abs(math.log(cold_ns / warm_ns)) if cold_ns > 0 and warm_ns > 0 else 0.0
    edges = _EDGE_NS / fastest_ns if fastest_ns > 0 else 0.0
    factor = 1 + _ANYWHERE + _OF_CACHES * caches + edges
    return low / factor, high * factor
