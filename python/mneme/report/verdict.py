"""The summary at the top of a report: the gain, and how certain it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mneme.session.near import Near

if TYPE_CHECKING:
    from mneme.report.figures import TimeUnit
    from mneme.report.results import Instance, Trial

__all__ = ["counts", "name_of", "rejected", "verdict"]


def verdict(instance: Instance, unit: TimeUnit) -> dict[str, Any]:
    """Return the summary."""
    winner, shown, base = instance.winner, instance.shown, instance.baseline
    base_ns = base.metric_ns if base else None
    gain = instance.gain
    ratio = None
    if gain:
        ratio = float(gain["ratio"])
    elif winner and winner.metric_ns and base_ns:
        ratio = base_ns / winner.metric_ns
    interval = None
    if gain and gain.get("low") and gain.get("high"):
        interval = (float(gain["low"]), float(gain["high"]))
    return {
        "kind": _kind(instance, winner, ratio),
        "ratio": ratio,
        "interval": interval,
        "is_seen": float((gain or {}).get("replayed_low") or 0.0) > 1.0,
        "rounds": gain.get("rounds") if gain else None,
        "trial": shown.number if shown else None,
        "baseline": unit.text(base_ns),
        "best": unit.text(shown.metric_ns if shown else None),
        "same_launch": _same_launch(instance, unit),
        "launch_rule": instance.best.get("launch_rule") or "",
        "near": _near(instance),
        "values": _values(instance),
    }


def _kind(instance: Instance, winner: Trial | None, ratio: float | None) -> str:
    if winner is None:
        return "nothing"
    if instance.gain is None:
        return "unfinished" if not instance.best else "unconfirmed"
    if not instance.gain.get("significant") or winner.number < 0 or (ratio or 0.0) <= 1.0:
        return "no-gain"
    return "gain"


def _same_launch(instance: Instance, unit: TimeUnit) -> dict[str, Any] | None:
    same = instance.best.get("same_launch")
    if not isinstance(same, Mapping) or same.get("trial") == instance.best.get("trial"):
        return None
    gain = same.get("gain") or {}
    ratio = gain.get("ratio") if isinstance(gain, Mapping) else None
    metric = same.get("metric")
    return {
        "trial": same.get("trial"),
        "metric": unit.text(float(metric)) if isinstance(metric, (int, float)) else "",
        "ratio": ratio,
        "is_significant": bool(isinstance(gain, Mapping) and gain.get("significant")),
    }


def _near(instance: Instance) -> str:
    """Return what a tolerance would gain; empty if nothing."""
    near = Near.found(instance.best)
    return near.sentence() if near else ""


def _values(instance: Instance) -> list[tuple[str, str]]:
    """Return what other objectives than time came to: of the program as built, of the winner."""
    found = instance.best.get("values")
    pairs = found.items() if isinstance(found, Mapping) else ()
    return [
        (str(name), " → ".join("unknown" if one is None else f"{one:.6g}" for one in values))
        for name, values in pairs
        if isinstance(values, list) and all(one is None or _is_number(one) for one in values)
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def rejected(instance: Instance) -> list[str]:
    """Return messages about candidates that the final round rejected."""
    left_out = instance.best.get("rejected")
    found = left_out.items() if isinstance(left_out, Mapping) else ()
    return [f"Trial {trial} was left out of the final round: {why}." for trial, why in found]


def counts(instance: Instance) -> list[tuple[str, int]]:
    """Return the number of trials by kind."""
    verified = sum(one.is_verified for one in instance.trials)
    numbers = [("trials", len(instance.trials)), ("verified", verified)]
    images = {one.result.get("image_hash") for one in instance.trials if one.is_verified}
    distinct = len(images - {None, ""})
    return [*numbers, ("distinct binaries", distinct)] if distinct else numbers


def name_of(instance: Instance) -> str:
    """Return the name of the trial next to the baseline."""
    winner, shown = instance.winner, instance.shown
    if shown is None or winner is None or winner.number == shown.number:
        return "best"
    return f"trial {shown.number}"
