"""Where a configuration stands between memory and arithmetic, by a device's hardware counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.mneme_types import ExperimentResult

__all__ = ["COUNTERS", "Standing", "standing_of"]

_BYTES = "dram__bytes.sum"
_BYTES_PEAK = "dram__bytes.sum.peak_sustained"
_MEMORY_CLOCK = "dram__cycles_elapsed.avg.per_second"
_CLOCK = "sm__cycles_elapsed.avg.per_second"
# By their letter in the names of instructions.
_PRECISIONS = {"f": "single", "d": "double", "h": "half"}
_FLOPS = {"add": 1, "mul": 1, "fma": 2}


def _executed(letter: str, operation: str) -> str:
    return f"smsp__sass_thread_inst_executed_op_{letter}{operation}_pred_on.sum"


def _peak(letter: str) -> str:
    return f"sm__sass_thread_inst_executed_op_{letter}fma_pred_on.sum.peak_sustained"


COUNTERS = (
    *(_BYTES, _BYTES_PEAK, _MEMORY_CLOCK, _CLOCK),
    *(_executed(letter, operation) for letter in _PRECISIONS for operation in _FLOPS),
    *(_peak(letter) for letter in _PRECISIONS),
)
"""The hardware counters that it takes."""

_NS = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What one configuration did on the device in one launch."""

    device: str
    dram_bytes: float
    """What went between caches and memory, in both directions."""
    flops: Mapping[str, float]
    """Additions and multiplications by precision, a fused one as two; without tensor cores."""
    bytes_per_second: float
    """In the median time of launches that are not counted, as the next."""
    flops_per_second: float
    """Those of the precision that is nearest to its peak."""
    precision: str
    """That precision."""
    peak_bytes_per_second: float
    peak_flops_per_second: float

    @property
    def memory_share(self) -> float:
        """How much of the peak of the memory it reached."""
        return _ratio(self.bytes_per_second, self.peak_bytes_per_second)

    @property
    def arithmetic_share(self) -> float:
        """How much of the peak of arithmetic it reached."""
        return _ratio(self.flops_per_second, self.peak_flops_per_second)

    @property
    def intensity(self) -> float | None:
        """Operations for each byte; None without a byte."""
        total = sum(self.flops.values())
        return total / self.dram_bytes if self.dram_bytes else None

    @property
    def ridge(self) -> float | None:
        """The intensity from which on arithmetic limits, not memory."""
        return _ratio(self.peak_flops_per_second, self.peak_bytes_per_second) or None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "device": self.device,
            "dram_bytes": self.dram_bytes,
            "flops": dict(self.flops),
            "precision": self.precision,
            "bytes_per_second": self.bytes_per_second,
            "flops_per_second": self.flops_per_second,
            "peak_bytes_per_second": self.peak_bytes_per_second,
            "peak_flops_per_second": self.peak_flops_per_second,
            "memory_share": self.memory_share,
            "arithmetic_share": self.arithmetic_share,
            "intensity": self.intensity,
            "ridge": self.ridge,
        }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def standing_of(result: ExperimentResult) -> Standing | None:
    """Return where a replay with `COUNTERS` stands; None if one of them is missing."""
    values = {name: result.counters.get(name) for name in COUNTERS}
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) < len(COUNTERS) or not result.median_ns:
        return None
    seconds = result.median_ns * _NS
    flops = {
        name: sum(known[_executed(letter, one)] * count for one, count in _FLOPS.items())
        for letter, name in _PRECISIONS.items()
    }
    peaks = {name: 2 * known[_peak(letter)] * known[_CLOCK] for letter, name in _PRECISIONS.items()}
    precision = max(flops, key=lambda name: _ratio(flops[name], peaks[name]))
    return Standing(
        device=result.device,
        dram_bytes=known[_BYTES],
        flops=flops,
        precision=precision,
        bytes_per_second=known[_BYTES] / seconds,
        flops_per_second=flops[precision] / seconds,
        peak_bytes_per_second=known[_BYTES_PEAK] * known[_MEMORY_CLOCK],
        peak_flops_per_second=peaks[precision],
    )
