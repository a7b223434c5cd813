"""The tables of a report, as texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.code_texts import maker_text, shown_text
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS
from mneme.report import figures
from mneme.report.results import BASELINE
from mneme.report.verdict import name_of

if TYPE_CHECKING:
    from mneme.report.figures import TimeUnit
    from mneme.report.results import Instance, Trial

__all__ = [
    "best_trials",
    "environment",
    "errors",
    "is_on_cpu",
    "launches",
    "launches_otherwise",
    "pareto",
    "resources",
    "series",
    "settings",
    "times",
]

# A dash where there is no value.
_NONE = "\u2013"
_BEST_TRIALS = 100
_ERROR_SENTENCES = 12
_LONGEST_SENTENCE = 300
# Readable names of settings, in the order of importance.
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
    **{one.key: one.label for one in CODE_NUMBERS},
    "specialized_args": "arguments that are specialised",
    **{one.key: one.label for one in CODE_TEXTS},
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


def settings(instance: Instance) -> list[dict[str, Any]]:
    """Return the configurations of the baseline and of the compared trial."""
    return _compared(instance, _SETTINGS, "config")


def resources(instance: Instance) -> list[dict[str, Any]]:
    """Return the resources of both binaries."""
    return _compared(instance, _RESOURCES, "result")


def pareto(instance: Instance) -> dict[str, Any] | None:
    """Return the trials that no other beats in every objective; None with one objective."""
    entries = instance.best.get("pareto")
    if not isinstance(entries, list) or not entries:
        return None
    objectives = [str(one) for one in instance.best.get("objectives") or ()]
    rows = [
        {
            "trial": one.get("trial"),
            "values": [_number(one.get("values", {}).get(name)) for name in objectives],
            "block": _text(one.get("config", {}).get("block", _NONE)),
            "passes": _maker(one.get("config", {})),
        }
        for one in entries
    ]
    return {"objectives": objectives, "rows": rows}


def launches(instance: Instance) -> list[dict[str, Any]]:
    """Return the launches that were tried to learn whether grid and block may change."""
    tried = instance.best.get("launches_tried")
    names = ("grid", "block", "rule", "verified", "reason")
    rows = [one for one in tried if isinstance(one, Mapping)] if isinstance(tried, list) else []
    return [{name: row.get(name, "") for name in names} for row in rows]


def launches_otherwise(instance: Instance) -> bool:
    """Whether the winner has another grid or block than was recorded."""
    new = instance.best.get("config")
    if instance.baseline is None or not isinstance(new, Mapping):
        return False
    old = instance.baseline.config
    return any(new.get(name) != old.get(name) for name in ("grid", "block"))


def is_on_cpu(instance: Instance) -> bool:
    """Whether the CPU device measured, so that the program runs tuned by `mneme run` only."""
    return instance.baseline is not None and instance.baseline.result.get("device") == "cpu"


def _maker(config: Mapping[str, Any]) -> str:
    return maker_text(str(config.get("passes", _NONE)), str(config.get("llvm", "")))


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) else _NONE


def errors(instance: Instance) -> list[tuple[str, str, int]]:
    """Return error messages with their number of occurrences."""
    counted = Counter(
        (
            figures.status_words(one.status),
            " ".join(_reason(one).split())[:_LONGEST_SENTENCE],
        )
        for one in instance.trials
        if not one.is_verified
    )
    return [(*key, count) for key, count in counted.most_common(_ERROR_SENTENCES)]


def _reason(trial: Trial) -> str:
    if trial.result.get("error"):
        return str(trial.result["error"])
    differing = trial.result.get("mismatches") or ()
    regions = sorted({str(one.get("region")) for one in differing if isinstance(one, Mapping)})
    return f"memory differs from what was recorded: {', '.join(regions)}" if regions else ""


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
    shown = instance.shown
    old = getattr(instance.baseline, part) if instance.baseline else {}
    new = getattr(shown, part) if shown else {}
    old, new = _effective(old), _effective(new)
    rows = []
    for key, label in names.items():
        if key not in old and key not in new:
            continue
        before, after = (_text(side[key]) if key in side else _NONE for side in (old, new))
        rows.append({"label": label, "old": before, "new": after, "is_changed": before != after})
    return rows


def _effective(side: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return values without those that have no effect; of code by no pipeline, what made it."""
    unknown = "reg_usage" if side.get("reg_usage") == 0 else ""  # the device does not say
    without_bounds = side.get("set_launch_bounds") is False
    idle = (unknown, *(("max_threads", "min_blocks_per_sm") if without_bounds else ()))
    values = {key: value for key, value in side.items() if key not in idle}
    return {**values, "passes": _maker(side)} if "passes" in values else values


def times(instance: Instance, unit: TimeUnit) -> list[dict[str, str]]:
    """Return run and compile times of the baseline and of the compared trial."""
    rows = []
    for name, (trial, _) in series(instance).items():
        if not trial.samples_ns:
            continue
        interval = trial.interval_ns
        rows.append(
            {
                "name": name,
                "metric": unit.text(trial.result.get("metric") or trial.metric_ns),
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


def best_trials(instance: Instance, unit: TimeUnit) -> list[dict[str, Any]]:
    """Return the fastest verified trials."""
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
                "registers": one.result.get("reg_usage") or _NONE,
                "passes": _maker(config),
                "settings": _flags(config),
            }
        )
    return rows


def _flags(config: Mapping[str, Any]) -> str:
    words = []
    if config.get("specialize"):
        some = config.get("specialized_args")
        words.append(f"arguments {some}" if some else "arguments")
    if config.get("specialize_dims"):
        words.append("dimensions")
    if config.get("set_launch_bounds"):
        words.append(
            f"bounds {config.get('max_threads')}, {config.get('min_blocks_per_sm')} per SM"
        )
    words.append(f"-O{config.get('codegen_opt', 3)}")
    words += [
        f"{one.label} {config[one.key]}"
        for one in CODE_NUMBERS
        if config.get(one.key, one.default) != one.default
    ]
    words += [
        f"{one.label} {shown_text(one, config[one.key])}"
        for one in CODE_TEXTS
        if config.get(one.key)
    ]
    return ", ".join(words)


def _device(instance: Instance) -> object:
    device = instance.best.get("device")
    if isinstance(device, Mapping) and device.get("name"):
        return f"{device['name']} ({device.get('id', '')})"
    return instance.baseline.result.get("device") if instance.baseline else None


def environment(instance: Instance) -> list[tuple[str, str]]:
    """Return the environment: versions, device and settings."""
    record, options = instance.record, instance.options
    base = instance.baseline
    rows = [
        ("kernel", instance.kernel_name),
        ("symbol", record.get("kernel_name")),
        ("record", record.get("record_database") or options.get("record_database")),
        ("record id", record.get("record_id") or options.get("record_id")),
        ("device", _device(instance)),
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


def series(instance: Instance) -> dict[str, tuple[Trial, str]]:
    """Return the trials that are compared launch by launch, by name, with their colours."""
    series = {}
    if instance.baseline and instance.baseline.samples_ns:
        series["baseline"] = (instance.baseline, figures.GREEN)
    shown = instance.shown
    if shown and shown.number != BASELINE and shown.samples_ns:
        series[name_of(instance)] = (shown, figures.BLUE)
    return series
