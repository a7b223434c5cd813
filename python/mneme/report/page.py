"""Puts a report together: what is shown of each tuned launch, and the page around it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme import __version__
from mneme.errors import Unsupported
from mneme.report import figures
from mneme.report.differences import compare
from mneme.report.parameters import draw_parameters
from mneme.report.results import read_results

if TYPE_CHECKING:
    from mneme.report.differences import Difference
    from mneme.report.figures import TimeUnit
    from mneme.report.results import Instance, Trial

__all__ = ["write_report"]

# A dash where there is no value.
_NONE = "\u2013"
_BEST_TRIALS = 100
_ERROR_SENTENCES = 12
_LONGEST_SENTENCE = 300
# Names of a configuration as people say them, in the order of importance.
_SETTINGS = {
    "grid": "grid",
    "block": "block",
    "shared_mem": "dynamic shared memory [B]",
    "passes": "passes",
    "codegen_opt": "code generation level",
    "specialize": "arguments specialised",
    "specialize_dims": "dimensions specialised",
    "set_launch_bounds": "launch bounds",
    "max_threads": "most threads of a block",
    "min_blocks_per_sm": "fewest blocks per multiprocessor",
    "prune": "pruned",
    "internalize": "internalised",
}
_RESOURCES = {
    "reg_usage": "registers per thread",
    "local_mem_usage": "local memory per thread, spills included [B]",
    "const_mem_usage": "constant memory [B]",
    "static_shared_mem": "static shared memory [B]",
    "obj_size": "binary [B]",
}
_TIMES = {"preprocess_ir_time": "IR", "opt_time": "passes", "codegen_time": "code generation"}


def write_report(directory: Path, output: Path | None = None) -> Path:
    """Write the report of a results directory.

    Args:
        directory: Results of `mneme tune`, also of one that still runs or was killed, or the
            directory above several.
        output: The file, replaced if it exists; None means report.html in the directory.

    Returns:
        The file.

    Raises:
        NotFound: If there are no results.
        ArtifactCorrupt: If a file of the results cannot be understood.
        Unsupported: If Plotly is not installed.
    """
    output = output or directory / "report.html"
    instances = read_results(directory)
    name = directory.resolve().name
    html = _render(name, [_describe(one, number) for number, one in enumerate(instances)])
    partial = output.with_name(f"{output.name}.{os.getpid()}.partial")
    try:
        partial.write_text(html, encoding="utf-8")
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
    return output


def _render(name: str, instances: Sequence[Mapping[str, Any]]) -> str:
    import jinja2  # noqa: PLC0415 - slow to import
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]  # noqa: PLC0415

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mneme.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    light, dark = (HtmlFormatter(style=style) for style in ("default", "github-dark"))
    return environment.get_template("report.html.j2").render(
        title=name,
        instances=instances,
        made=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        plotly=_plotly(),
        light_code=light.get_style_defs(".code"),
        dark_code=dark.get_style_defs(".code"),
    )


def _plotly() -> str:
    try:
        from plotly.offline import (  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
            get_plotlyjs,
        )
    except ImportError as error:
        raise Unsupported("a report needs Plotly: pip install plotly") from error
    return str(get_plotlyjs())


def _describe(instance: Instance, number: int) -> dict[str, Any]:
    unit = figures.time_unit(instance)
    parameters = draw_parameters(instance.trials, unit)
    drawn = {
        "history": figures.history(instance, unit) if instance.trials else None,
        "failures": figures.failures(instance),
        "distribution": figures.distribution(_series(instance), unit),
        **parameters.figures,
    }
    return {
        "id": f"k{number}",
        "kernel": instance.kernel_name,
        "directory": instance.directory.name,
        "verdict": _verdict(instance, unit),
        "counts": _counts(instance),
        "figures": {name: figure for name, figure in drawn.items() if figure},
        "labels": parameters.labels,
        "figure_notes": parameters.notes,
        "notes": instance.notes,
        "errors": _errors(instance),
        "settings": _compared(instance, _SETTINGS, "config"),
        "resources": _compared(instance, _RESOURCES, "result"),
        "times": _times(instance, unit),
        "best_trials": _best_trials(instance, unit),
        "unit": unit.name,
        "differences": _differences(instance),
        "environment": _environment(instance),
        "is_finished": bool(instance.best),
    }


def _series(instance: Instance) -> dict[str, tuple[Trial, str]]:
    series = {}
    if instance.baseline and instance.baseline.samples_ns:
        series["baseline"] = (instance.baseline, figures.GREEN)
    winner = instance.winner
    if winner and winner.number >= 0 and winner.samples_ns:
        series["best"] = (winner, figures.BLUE)
    return series


def _verdict(instance: Instance, unit: TimeUnit) -> dict[str, Any]:
    """Return what the reader wants to know first."""
    winner, base = instance.winner, instance.baseline
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
        "rounds": gain.get("rounds") if gain else None,
        "trial": winner.number if winner else None,
        "baseline": unit.text(base_ns),
        "best": unit.text(winner.metric_ns if winner else None),
        "same_launch": _same_launch(instance, unit),
        "launch_rule": instance.best.get("launch_rule") or "",
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


def _counts(instance: Instance) -> list[tuple[str, int]]:
    verified = sum(one.is_verified for one in instance.trials)
    counts = [("trials", len(instance.trials)), ("verified", verified)]
    images = {one.result.get("image_hash") for one in instance.trials if one.is_verified}
    distinct = len(images - {None, ""})
    return [*counts, ("distinct binaries", distinct)] if distinct else counts


def _errors(instance: Instance) -> list[tuple[str, str, int]]:
    """Return how often which sentence was the reason."""
    counted = Counter(
        (
            figures.status_words(one.status),
            " ".join(str(one.result.get("error") or "").split())[:_LONGEST_SENTENCE],
        )
        for one in instance.trials
        if not one.is_verified
    )
    return [(*key, count) for key, count in counted.most_common(_ERROR_SENTENCES)]


def _text(value: object) -> str:
    if isinstance(value, Mapping) and {"x", "y", "z"} <= set(value):
        return "\u00d7".join(str(value[axis]) for axis in "xyz")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _compared(instance: Instance, names: Mapping[str, str], part: str) -> list[dict[str, Any]]:
    """Return rows of baseline and best; rows that both lack are left out."""
    winner = instance.winner
    old = getattr(instance.baseline, part) if instance.baseline else {}
    new = getattr(winner, part) if winner else {}
    old, new = _effective(old), _effective(new)
    rows = []
    for key, label in names.items():
        if key not in old and key not in new:
            continue
        before, after = (_text(side[key]) if key in side else _NONE for side in (old, new))
        rows.append({"label": label, "old": before, "new": after, "is_changed": before != after})
    return rows


def _effective(side: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return values without those that have no effect."""
    without_bounds = side.get("set_launch_bounds") is False
    idle = ("max_threads", "min_blocks_per_sm") if without_bounds else ()
    return {key: value for key, value in side.items() if key not in idle}


def _times(instance: Instance, unit: TimeUnit) -> list[dict[str, str]]:
    rows = []
    for name, trial in (("baseline", instance.baseline), ("best", instance.winner)):
        if trial is None or not trial.samples_ns:
            continue
        interval = trial.interval_ns
        rows.append(
            {
                "name": name,
                "metric": unit.text(trial.metric_ns),
                "interval": " \u2013 ".join(map(unit.text, interval)) if interval else _NONE,
                "launches": str(len(trial.samples_ns)),
                "timer": str(trial.result.get("timer") or _NONE),
                "compile": ", ".join(
                    f"{label} {float(trial.result[key]):.3g} s"
                    for key, label in _TIMES.items()
                    if trial.result.get(key)
                ),
            }
        )
    return rows


def _best_trials(instance: Instance, unit: TimeUnit) -> list[dict[str, Any]]:
    verified = [one for one in instance.trials if one.is_verified]
    verified.sort(key=lambda one: one.metric_ns or 0.0)
    base = instance.baseline.metric_ns if instance.baseline else None
    rows = []
    for one in verified[:_BEST_TRIALS]:
        time = one.metric_ns or 1.0
        config = one.config
        rows.append(
            {
                "trial": one.number,
                "time": unit.value(time),
                "speedup": base / time if base else None,
                "block": _text(config.get("block", _NONE)),
                "grid": _text(config.get("grid", _NONE)),
                "registers": one.result.get("reg_usage", 0),
                "passes": str(config.get("passes", _NONE)),
                "settings": _flags(config),
            }
        )
    return rows


def _flags(config: Mapping[str, Any]) -> str:
    words = []
    if config.get("specialize"):
        words.append("arguments")
    if config.get("specialize_dims"):
        words.append("dimensions")
    if config.get("set_launch_bounds"):
        words.append(
            f"bounds {config.get('max_threads')}, {config.get('min_blocks_per_sm')} per SM"
        )
    words.append(f"-O{config.get('codegen_opt', 3)}")
    return ", ".join(words)


def _differences(instance: Instance) -> list[tuple[str, Difference]]:
    found = []
    for kind, title in (("ll", "Optimised IR"), ("s", "Assembly")):
        old = instance.artifacts.get(("baseline", kind))
        new = instance.artifacts.get(("best", kind))
        if old is not None and new is not None:
            found.append((title, compare(old, new, _language(kind, old))))
    return found


def _language(kind: str, text: str) -> str:
    if kind == "ll":
        return "llvm"
    return "ptx" if ".visible .entry" in text or ".address_size" in text else "gas"


def _environment(instance: Instance) -> list[tuple[str, str]]:
    record, options = instance.record, instance.options
    base = instance.baseline
    rows = [
        ("kernel", instance.kernel_name),
        ("symbol", record.get("kernel_name")),
        ("record", record.get("record_database") or options.get("record_database")),
        ("record id", record.get("record_id") or options.get("record_id")),
        ("device", base.result.get("device") if base else None),
        ("timer", base.result.get("timer") if base else None),
        ("measured from", base.result.get("start_time") if base else None),
    ]
    rows += [(str(k), v) for k, v in dict(instance.summary.get("environment") or {}).items()]
    names = (
        "space_preset",
        "sampler",
        "trials",
        "seed",
        "metric",
        "iterations",
        "warmup",
        "workers",
    )
    rows += [(name.replace("_", " "), options.get(name)) for name in names]
    home = str(Path.home())
    return [
        (name, str(value).replace(home, "~")) for name, value in rows if value not in (None, "")
    ]
