"""Estimates the gain in production from the gain in replays.

Replays repeat one launch alone. Their interval shows how well they repeat, not what the launch
gains between other kernels, with the caches these leave, in another process. The stated interval is
wider, so that it holds there: it includes the gain with cold caches, and it grows with the share of
the launch's time that depends on caches and with the shortness of the launch.

The three numbers are from 35 tunings of kernels of 1 to 7000 us on an H200, of which 6 had the gain
of production in the interval of their replays, and 35 in the one made here (benchmarks/coverage.py;
coverage_before_h200.jsonl in benchmarks/results). So did 40 of 42 tunings after that, 18 of them of
other programs (coverage_h200.jsonl), and 40 of 40 on H100s once replays found in the cache what
programs find there (coverage_h100.jsonl).
"""

from __future__ import annotations

import math

__all__ = ["widened"]

# Covers other clocks, temperatures and memory addresses in another process.
_ANYWHERE = 0.008
# The gain may differ by this share of the extra time that a launch takes with cold caches.
_OF_CACHES = 0.2
# Begin and end of a launch vary by this much when others run before and after it.
_EDGE_NS = 100.0


def widened(
    low: float, high: float, *, warm_ns: float, cold_ns: float, fastest_ns: float
) -> tuple[float, float]:
    """Return the interval in which production's gain is expected.

    Args:
        low: Smallest gain in replays, with warm or with cold caches.
        high: Largest gain in replays.
        warm_ns: Time of the baseline with the caches as replays leave them.
        cold_ns: The same with cold caches.
        fastest_ns: Time of the faster of the two configurations.
    """
    caches = abs(math.log(cold_ns / warm_ns)) if cold_ns > 0 and warm_ns > 0 else 0.0
    edges = _EDGE_NS / fastest_ns if fastest_ns > 0 else 0.0
    factor = 1 + _ANYWHERE + _OF_CACHES * caches + edges
    return low / factor, high * factor
