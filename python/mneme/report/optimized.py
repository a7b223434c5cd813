"""The page for a result of `mneme optimize`."""

from __future__ import annotations

import shlex
import statistics
from typing import TYPE_CHECKING, Any

from mneme.files.publish import publish_own_text
from mneme.report.rendering import rendered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["write_optimized_page"]

_UNKNOWN = "\N{EN DASH}"
_LEFT, _RIGHT = 90.0, 710.0
_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


def write_optimized_page(result: Mapping[str, Any], path: Path) -> Path:
    """Write the page.

    Args:
        result: The content of `optimize.json`.
        path: The file, replaced if it exists.

    Raises:
        IoFailed: If the operating system refuses.
    """
    gain = result["application"]
    is_certain = gain is not None and gain["low"] > 1 and gain["is_interval"]
    is_gain = is_certain and result["tuned_file"] is not None
    html = rendered(
        "optimized.html.j2",
        title=shlex.join(result["command"]),
        kind="gain" if is_gain else "unfinished" if result["status"] != "completed" else "no-gain",
        headline=f"{gain['ratio']:.2f} times as fast" if is_gain else "",
        interval=_interval(gain) if is_gain else "",
        verdict=result["verdict"],
        facts=_facts(result),
        notes=result["notes"],
        use=result["use"],
        output_rule=result["output_rule"],
        **_runs(result["built_seconds"], result["tuned_seconds"]),
        kernels=[_kernel(one) for one in result["kernels"]],
    )
    publish_own_text(path, html)
    return path


def _interval(gain: Mapping[str, Any]) -> str:
    kind = "95 %" if gain["is_interval"] else f"{gain['rounds']} pairs of runs"
    return f"{kind}: {gain['low']:.3f} to {gain['high']:.3f}"


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [("device", result["device"])]
    for name, key in (("as built", "built_seconds"), ("as tuned", "tuned_seconds")):
        if result[key]:
            facts.append((name, f"{statistics.median(result[key]):.4g} s"))
    if result["first_seconds"]:
        facts.append(("first tuned run, which compiles", f"{result['first_seconds']:.4g} s"))
    if result["kernel_share"] is not None:
        facts.append(("time in kernels, as built", f"{100 * result['kernel_share']:.0f} %"))
    facts.append(("all of this took", f"{result['seconds']:.0f} s"))
    return facts


def _runs(built: Sequence[float], tuned: Sequence[float]) -> dict[str, Any]:
    """Return dots on a line of seconds that begins at 0."""
    if not built or not tuned:
        return {"dots": [], "ticks": []}
    most = max(*built, *tuned)

    def place(seconds: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * seconds / most, 1)

    rows = (("as built", "built", 16, built), ("as tuned", "tuned", 44, tuned))
    return {
        "dots": [
            {"name": name, "css": css, "y": y, "places": [place(one) for one in seconds]}
            for name, css, y, seconds in rows
        ],
        "ticks": [
            {"x": place(most * part / 4), "text": f"{most * part / 4:.3g} s"} for part in range(5)
        ],
    }


def _kernel(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": one["demangled_name"],
        "label": one.get("label", ""),
        "place": one.get("place", ""),
        "directories": one["directories"],
        "is_kept": one["is_kept"],
        "share": f"{100 * one['share']:.1f} %",
        "launches": one["launches"] or _UNKNOWN,
        "built": _time(one["built_ns"]),
        "tuned": _time(one["tuned_ns"]),
        "production": _ratio(one["production"]),
        "replay": _ratio(one["replay"]),
        "what": "\n".join(one["changes"]) if one["is_kept"] else one["reason"],
    }


def _time(nanoseconds: float) -> str:
    if nanoseconds <= 0:
        return _UNKNOWN
    unit, factor = next((one for one in _UNITS if nanoseconds >= one[1]), _UNITS[-1])
    return f"{nanoseconds / factor:.2f} {unit}"


def _ratio(gain: Mapping[str, Any] | None) -> str:
    if gain is None:
        return _UNKNOWN
    return f"{gain['ratio']:.3f} ({gain['low']:.3f} to {gain['high']:.3f})"
