"""How replayed launches are measured."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.measure.tolerance import Tolerance

__all__ = ["HowToReplay", "Measuring", "is_counter"]

_COUNTER = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)+", re.ASCII)


def is_counter(name: str) -> bool:
    """Whether a name may be that of a hardware counter: a metric and how it is summed up.

    `dram__bytes.sum`, `sm__throughput.avg.pct_of_peak_sustained_elapsed`: the names of NVIDIA's
    Nsight Compute.
    """
    return _COUNTER.fullmatch(name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """When measuring a configuration ends, and the state of caches.

    The time of a kernel is the median of its measured launches. The ends of its 95 % confidence
    interval are two order statistics, whose ranks follow from the binomial distribution for any
    distribution of the times (J.-Y. Le Boudec, Performance Evaluation of Computer and Communication
    Systems, chapter 2; T. Hoefler and R. Belli, Scientific Benchmarking of Parallel Computing
    Systems, SC15). It takes at least six launches.
    """

    confidence: float = 0.0
    """Measure until half the interval is at most this share of the median, 0.02 for 2 %; 0: measure
    `iterations` launches."""

    min_iterations: int = 0
    """With `confidence`: smallest number of launches; 0: `iterations`."""

    max_iterations: int = 1000
    """With `confidence`: largest number of launches. At least 1."""

    time_budget: float = 0.0
    """Seconds after which measuring ends, with the launch under way; 0: no limit."""

    stop_above_ns: int = 0
    """Nanoseconds. Measuring ends once the interval lies above, or, before there is an interval,
    while every launch takes more than twice as long; 0: never."""

    cold_cache: bool = False
    """Replace the content of the device's caches before every launch."""

    classify_wrong: bool = True
    """Launch a binary with another result a few times more, to distinguish wrong from
    nondeterministic. False if the kernel is known to be deterministic: other results are then
    wrong, and not measured.
    """

    in_series: bool = False
    """Without `confidence`: queue launches of short kernels in a row, which keeps a GPU at work."""

    probes_in_place: bool = False
    """Instead of measuring, find out whether a kernel leaves the same on memory that was not
    restored, whatever is where it writes: `ExperimentResult.in_place_ns`."""

    in_place: bool = False
    """Restore memory before the first launch only, which is verified. Only for kernels that do not
    read what they change."""

    counters: tuple[str, ...] = ()
    """Hardware counters to read, in launches of their own behind the measured ones; each as
    `is_counter` says."""

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        for name in self.counters:
            if not is_counter(name):
                raise InvalidArgument(
                    f"'{name}' is not the name of a hardware counter, as dram__bytes.sum is"
                )
        for name in ("confidence", "min_iterations", "time_budget", "stop_above_ns"):
            value = getattr(self, name)
            if not value >= 0 or math.isinf(value):
                raise InvalidArgument(f"'{name}' has to be zero or more, not {value}")
        if self.max_iterations < 1:
            raise InvalidArgument(f"need max_iterations >= 1, got {self.max_iterations}")

    def to_options(self) -> dict[str, Any]:
        """Return the options of the runtime that differ from its defaults."""
        return {key: value for key, value in asdict(self).items() if value != _DEFAULTS[key]}


_DEFAULTS: dict[str, Any] = {
    name: Measuring.__dataclass_fields__[name].default for name in Measuring.__dataclass_fields__
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HowToReplay:
    """What all replays have in common."""

    iterations: int = 3
    """Measured launches."""

    warmup: int = 2
    """Launches before those."""

    device: str | None = None
    """What replays; None: the first GPU, or what each process of a pool finds."""

    timeout: float | None = None
    """Limit for one launch in seconds; None: 1000 times the recorded time, at least 60 s."""

    tolerances: Sequence[Tolerance] = ()
    """Allowed differences from the recorded memory."""

    measuring: Measuring | None = None
    """How launches are measured; None: `iterations` of them."""
