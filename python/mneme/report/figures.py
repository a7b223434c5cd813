"""Figures of a report that Optuna does not draw, as Plotly data in the page's colours."""

from __future__ import annotations

import math
from collections import Counter
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mneme.report.results import Instance, Trial

__all__ = [
    "BLUE",
    "CARD",
    "GREEN",
    "INK",
    "TimeUnit",
    "distribution",
    "failures",
    "history",
    "log_labels",
    "status_words",
    "time_unit",
]

Figure = dict[str, Any]

# Variables of the page's style, which defines them for light and dark mode.
BLUE, ORANGE, GREEN, GREY, INK, CARD = "--blue", "--orange", "--green", "--soft", "--ink", "--card"
_STATUS_WORDS = {
    "verified": "verified",
    "invalid_launch": "launch refused",
    "invalid_config": "configuration refused",
    "compile_error": "not compiled",
    "runtime_error": "crashed or hung",
    "failed_verification": "wrong result",
    "internal_error": "internal error",
    "pruned": "given up as too slow",
}
# From this ratio of slowest to fastest on, a linear axis hides important differences.
_RATIO_FOR_LOG_AXIS = 4.0
_RATIO_FOR_FEW_LABELS = 50


class TimeUnit:
    """A unit that makes a time readable."""

    def __init__(self, nanoseconds: float) -> None:
        """Choose a unit for times of about this size."""
        units = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))
        self.name, self.factor = next((u for u in units if nanoseconds >= u[1]), ("ns", 1.0))

    def value(self, nanoseconds: float) -> float:
        """Return the number in this unit."""
        return nanoseconds / self.factor

    def text(self, nanoseconds: float | None) -> str:
        """Return number and unit."""
        return "\u2013" if nanoseconds is None else f"{self.value(nanoseconds):.4g} {self.name}"


def time_unit(instance: Instance) -> TimeUnit:
    """Return the unit for all times of one instance."""
    winner = instance.winner
    return TimeUnit(winner.metric_ns if winner and winner.metric_ns else 1.0)


def status_words(status: str) -> str:
    """Return a status in words."""
    return _STATUS_WORDS.get(status, status.replace("_", " ") or "unknown")


def history(instance: Instance, unit: TimeUnit) -> Figure | None:
    """Draw each trial's time, the best so far, the baseline, and where trials failed.

    None if there is no trial, or no time at all.
    """
    verified = [one for one in instance.trials if one.is_verified]
    failed = [one for one in instance.trials if not one.is_verified]
    times = [unit.value(one.metric_ns or 0.0) for one in verified]
    numbers = [one.number for one in verified]
    base = instance.baseline.metric_ns if instance.baseline else None
    if not instance.trials or not (times or base):
        return None
    data: list[Figure] = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "verified",
            "x": numbers,
            "y": times,
            "marker": {"color": BLUE, "size": 7 if len(times) < 1000 else 4, "opacity": 0.65},  # noqa: PLR2004
            "hovertemplate": f"trial %{{x}}: %{{y:.4g}} {unit.name}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "best so far",
            "x": numbers,
            "y": list(accumulate(times, min)),
            "line": {"shape": "hv", "color": ORANGE, "width": 2},
            "hoverinfo": "skip",
        },
    ]
    layout: Figure = {
        "xaxis": {"title": {"text": "trial"}, "zeroline": False},
        "yaxis": {"title": {"text": f"time [{unit.name}]"}},
        "legend": {"orientation": "h", "y": 1.12},
    }
    if base is not None:
        data.append(_baseline_line(instance.trials, unit.value(base)))
    if failed:
        data.append(_failed_strip(failed))
        layout["xaxis"]["anchor"] = "y2"
        layout["yaxis"]["domain"] = [0.14, 1.0]
        strip = {"domain": [0.0, 0.07], "visible": False, "range": [-1, 1], "fixedrange": True}
        layout["yaxis2"] = strip
    if times and max(times) > _RATIO_FOR_LOG_AXIS * min(times):
        layout["yaxis"].update(type="log", **log_labels(min(times), max(times)))
    return {"data": data, "layout": layout, "height": 400}


def log_labels(low: float, high: float) -> Figure:
    """Return labels at each power of ten, or at 1, 2 and 5 times that where there are few."""
    if high > _RATIO_FOR_FEW_LABELS * low:
        return {"dtick": 1}
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [step * 10.0**exponent for exponent in exponents for step in (1, 2, 5)]
    return {"tickvals": values, "ticktext": [f"{value:g}" for value in values]}


def _failed_strip(failed: Sequence[Trial]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "failed",
        "x": [one.number for one in failed],
        "y": [0] * len(failed),
        "yaxis": "y2",
        "text": [status_words(one.status) for one in failed],
        "marker": {"symbol": "x-thin-open", "color": GREY, "size": 7},
        "hovertemplate": "trial %{x}: %{text}<extra></extra>",
    }


def _baseline_line(trials: Sequence[Trial], value: float) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "baseline",
        "x": [trials[0].number - 0.5, trials[-1].number + 0.5],
        "y": [value, value],
        "line": {"color": GREEN, "width": 2, "dash": "dash"},
        "hovertemplate": "baseline: %{y:.4g}<extra></extra>",
    }


def failures(instance: Instance) -> Figure | None:
    """Draw the number of trials by status; None if all are verified."""
    counts = Counter(status_words(one.status) for one in instance.trials if not one.is_verified)
    if not counts:
        return None
    rows = sorted(counts.items(), key=lambda row: row[1])
    data = {
        "type": "bar",
        "orientation": "h",
        "y": [escape(word) for word, _ in rows],
        "x": [count for _, count in rows],
        "text": [str(count) for _, count in rows],
        "marker": {"color": ORANGE},
        "hoverinfo": "skip",
    }
    layout = {"xaxis": {"title": {"text": "trials"}}, "yaxis": {"automargin": True}}
    return {"data": [data], "layout": layout, "height": 110 + 36 * len(rows)}


def distribution(series: Mapping[str, tuple[Trial, str]], unit: TimeUnit) -> Figure | None:
    """Draw every measured launch, and the median with its interval, one row a name.

    Args:
        series: A trial and its colour for each name.
        unit: Unit of the axis.
    """
    data: list[Figure] = []
    for name, (trial, colour) in series.items():
        samples = [unit.value(one) for one in trial.samples_ns]
        if not samples:
            continue
        data.append(
            {
                "type": "box",
                "name": name,
                "x": samples,
                "y": [name] * len(samples),
                "orientation": "h",
                "boxpoints": "all",
                "jitter": 0.5,
                "pointpos": -1.6,
                "marker": {"color": colour, "size": 5, "opacity": 0.6},
                "line": {"color": colour},
                "hovertemplate": f"%{{x:.5g}} {unit.name}<extra>{name}</extra>",
            }
        )
        if trial.interval_ns:
            data.append(_interval(name, trial, unit))
    if not data:
        return None
    layout = {
        "xaxis": {"title": {"text": f"time of one launch [{unit.name}]"}},
        "yaxis": {"automargin": True, "autorange": "reversed"},
        "showlegend": False,
    }
    return {"data": data, "layout": layout, "height": 120 + 90 * len(series)}


def _interval(name: str, trial: Trial, unit: TimeUnit) -> Figure:
    low, high = trial.interval_ns or (0.0, 0.0)
    middle = trial.result.get("median_ns") or (low + high) / 2
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [unit.value(middle)],
        "y": [name],
        "marker": {"symbol": "diamond", "size": 10, "color": INK},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [unit.value(high - middle)],
            "arrayminus": [unit.value(middle - low)],
            "color": INK,
            "thickness": 2,
            "width": 8,
        },
        "hovertemplate": f"median %{{x:.5g}} {unit.name}<br>95 % between {unit.value(low):.5g} "
        f"and {unit.value(high):.5g}<extra>{name}</extra>",
    }
