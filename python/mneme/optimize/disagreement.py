"""Explains, in one sentence, why a program may not show the gain that replays show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.files.json_object import read_json_object

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mneme.optimize.result import KernelResult

__all__ = ["why_otherwise"]

# Times or gains that differ by this factor count as different.
_OTHER_TIME = 1.25
_OTHER_GAIN = 1.02


def why_otherwise(kernel: KernelResult, directories: Iterable[Path]) -> str:
    """Return why the program shows less of a kernel's gain than replays, as far as known.

    Args:
        kernel: The kernel, as measured in the program.
        directories: The results of the searches for its launches.

    Returns:
        A part of a sentence; empty if replays show no more than the program.
    """
    shown = kernel.production
    found = [one for one in map(_best, directories) if one]
    gains = [gain for one in found if (gain := _number(one, "gain", "ratio"))]
    if shown is None or not gains or max(gains) < shown.ratio * _OTHER_GAIN:
        return ""
    said = f"replays show {max(gains):.3f}x"
    cold = [one for best in found if (one := _number(best, "gain", "cold_ratio"))]
    if cold and min(cold) < _OTHER_GAIN:
        return (
            f"{said}, but with cold caches {min(cold):.3f}x: in the program other kernels "
            "fill the caches in between"
        )
    replayed = [one for best in found if (one := _number(best, "as_built_metric"))]
    if replayed and kernel.built_ns and _is_other(kernel.built_ns, replayed):
        return (
            f"{said} of a launch that takes {_span(replayed)}, and launches in the program take "
            f"{_time(kernel.built_ns)} on average: they have other arguments, or find other "
            "caches and clock rates"
        )
    return f"{said}{_excluded(cold, replayed)}; clock rates in the program may differ"


def _excluded(cold: list[float], replayed: list[float]) -> str:
    """Return the explanations that measurements have ruled out."""
    parts = [f"also with cold caches ({min(cold):.3f}x)"] if cold else []
    if replayed:
        parts.append("of launches that take as long as those in the program")
    return f", {' and '.join(parts)}" if parts else ""


def _is_other(nanoseconds: float, replayed: list[float]) -> bool:
    return not min(replayed) / _OTHER_TIME <= nanoseconds <= max(replayed) * _OTHER_TIME


def _best(directory: Path) -> dict[str, Any]:
    try:
        return read_json_object(directory / "best.json")
    except MnemeError:
        return {}


def _number(content: dict[str, Any], *names: str) -> float:
    """Return a number from a file; 0 if an older version did not write it."""
    value: Any = content
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else 0.0


def _span(times: list[float]) -> str:
    low, high = _time(min(times)), _time(max(times))
    return low if low == high else f"{low} to {high}"


def _time(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.2f} {unit}"
    return f"{nanoseconds:.0f} ns"
