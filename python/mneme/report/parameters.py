"""Figures about parameters by Optuna: importance, parallel coordinates and slices."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from mneme.errors import Unsupported
from mneme.install.hints import package_hint
from mneme.report.figures import BLUE, CARD, INK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import optuna
    from optuna.distributions import BaseDistribution

    from mneme.report.figures import Figure, TimeUnit
    from mneme.report.results import Trial

__all__ = ["ParameterFigures", "draw_parameters"]

_LONGEST_LABEL = 26
# A parameter with more texts, such as random pipelines, is useless in a figure.
_MOST_TEXTS = 40
# Number of points that a browser can draw without delay.
_MOST_POINTS = 1000
# Trials above this share of the times have the faintest colour.
_FAINTEST = 0.9
_FEWEST_TRIALS = 2
# Colours for fast or late and for slow or early, visible in light and dark mode and with any colour
# vision.
_STRONG, _FAINT = (213, 94, 0), (147, 178, 204)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterFigures:
    """Figures, if the trials allow any, and how to read them."""

    figures: Mapping[str, Figure]
    labels: Mapping[str, Mapping[str, str]]
    """For each parameter with long texts: the text of each short label."""

    notes: Sequence[str]


def draw_parameters(trials: Sequence[Trial], unit: TimeUnit) -> ParameterFigures:
    """Draw the figures about parameters from verified trials.

    Raises:
        Unsupported: If Plotly is not installed.
    """
    verified = [one for one in trials if one.is_verified]
    names = sorted({name for one in verified for name in one.params})
    columns = {
        name: _Column(name, [one.params[name] for one in verified if name in one.params])
        for name in names
    }
    told = {name: column for name, column in columns.items() if column.is_told}
    if len(verified) < _FEWEST_TRIALS or not told:
        return ParameterFigures(figures={}, labels={}, notes=[])
    notes = [
        f"{name} has {column.count} different values and is not drawn."
        for name, column in columns.items()
        if column.is_text and column.count > _MOST_TEXTS
    ]
    thinned = _thin(verified)
    if len(thinned) < len(verified):
        notes.append(
            f"Parallel coordinates and slices show {len(thinned)} of {len(verified)} verified "
            "trials: the fastest, and every so many of the others."
        )
    return ParameterFigures(
        figures=_figures(_study(verified, told, unit), _study(thinned, told, unit), unit),
        labels={name: column.long_labels for name, column in told.items() if column.long_labels},
        notes=notes,
    )


class _Column:
    """The values of one parameter over all trials, and their labels."""

    def __init__(self, name: str, values: Sequence[object]) -> None:
        kinds = {type(value) for value in values}
        self.is_text = not kinds <= {int, float}
        self._low, self._high = 0.0, 0.0
        texts = sorted({_text(value) for value in values}, key=_natural)
        self.count = len(texts)
        self.is_told = self.count > 1 and not (self.is_text and self.count > _MOST_TEXTS)
        long = [text for text in texts if len(text) > _LONGEST_LABEL]
        names = {text: f"{name} {index}" for index, text in enumerate(long, 1)}
        self._labels = {text: escape(names.get(text, text), quote=False) for text in texts}
        self.long_labels = {label: text for text, label in names.items()}
        self._is_whole = kinds == {int}
        if not self.is_text:
            numbers = [float(str(value)) for value in values]
            self._low, self._high = min(numbers), max(numbers)

    def distribution(self) -> BaseDistribution:
        from optuna import distributions  # noqa: PLC0415 - slow to import

        if self.is_text:
            return distributions.CategoricalDistribution(list(self._labels.values()))
        if self._is_whole:
            return distributions.IntDistribution(int(self._low), int(self._high))
        return distributions.FloatDistribution(self._low, self._high)

    def value(self, value: object) -> object:
        return self._labels[_text(value)] if self.is_text else value


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a sort key that puts 64x4 before 128x1."""
    parts = re.findall(r"\d+|\D+", text)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _thin(verified: Sequence[Trial]) -> Sequence[Trial]:
    if len(verified) <= _MOST_POINTS:
        return verified
    ranked = sorted(verified, key=lambda one: one.metric_ns or 0.0)
    half = _MOST_POINTS // 2
    rest = ranked[half:]
    step = -(-len(rest) // half)
    kept = [*ranked[:half], *rest[::step]]
    return sorted(kept, key=lambda one: one.number)


def _study(trials: Sequence[Trial], columns: Mapping[str, _Column], unit: TimeUnit) -> optuna.Study:
    import optuna  # noqa: PLC0415 - slow to import

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(direction="minimize")
        distributions = {name: column.distribution() for name, column in columns.items()}
        study.add_trials(
            optuna.trial.create_trial(
                value=unit.value(one.metric_ns or 0.0),
                params={n: c.value(one.params[n]) for n, c in columns.items() if n in one.params},
                distributions={n: d for n, d in distributions.items() if n in one.params},
            )
            for one in trials
        )
    finally:
        optuna.logging.set_verbosity(verbosity)
    return study


def _figures(study: optuna.Study, thinned: optuna.Study, unit: TimeUnit) -> dict[str, Figure]:
    from optuna import importance, visualization  # noqa: PLC0415 - slow to import

    if not visualization.is_available():
        raise Unsupported(f"a report needs Plotly: {package_hint('plotly')}")
    target = f"time [{unit.name}]"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the evaluator is marked experimental
        evaluator = importance.PedAnovaImportanceEvaluator()
        figures = {}
        if importance.get_param_importances(study, evaluator=evaluator):
            figures["importance"] = _plain(
                visualization.plot_param_importances(study, evaluator=evaluator), 0
            )
        parallel = visualization.plot_parallel_coordinate(thinned, target_name=target)
        figures["parallel"] = _recoloured(_plain(parallel, 460), is_strong_low=True)
        slices = visualization.plot_slice(thinned, target_name=target)
        figures["slices"] = _recoloured(_plain(slices, 340), is_strong_low=False)
    if "importance" in figures:
        bars = len(study.trials[0].params)
        figures["importance"]["height"] = 110 + 34 * bars
        layout = figures["importance"]["layout"]
        layout["showlegend"] = False
        layout["yaxis"].pop("title", None)
        for trace in figures["importance"]["data"]:
            trace["marker"] = {"color": BLUE}
        layout["xaxis"]["title"] = {"text": "share"}
    figures["slices"]["width"] = 250 * len({n for one in thinned.trials for n in one.params}) + 150
    return figures


def _plain(figure: Any, height: int) -> Figure:  # noqa: ANN401 - Plotly's types are its own
    """Return the figure without settings that the page makes."""
    data = json.loads(figure.to_json(), object_hook=_unquoted)
    ours = ("template", "title", "width", "height")
    layout = {key: value for key, value in data["layout"].items() if key not in ours}
    return {"data": data["data"], "layout": layout, "height": height}


def _recoloured(figure: Figure, *, is_strong_low: bool) -> Figure:
    """Return a figure in colours that also work in dark mode; Optuna's are for white."""
    ends = (_STRONG, _FAINT) if is_strong_low else (_FAINT, _STRONG)
    scale = [[place, f"rgb{end}"] for place, end in zip((0, 1), ends, strict=True)]
    lines = [trace for trace in figure["data"] if trace.get("mode") == "lines"]
    # The first axis is the time, from 0 to 1. A few slow trials must not make all others alike.
    places = sorted(trace["y"][0] for trace in lines)
    faintest = (places[int(_FAINTEST * (len(places) - 1))] if places else 0.0) or 1.0
    for trace in figure["data"]:
        for part in (trace.get("marker"), trace.get("line")):
            if part and "colorscale" in part:
                part.update(colorscale=scale, reversescale=False)
            if lines and part and "cmax" in part:
                part["cmax"] = part["cmin"] + faintest * (part["cmax"] - part["cmin"])
    for trace in lines:
        place = min(1.0, trace["y"][0] / faintest)
        mixed = [round(a + (b - a) * place) for a, b in zip(*ends, strict=True)]
        trace["line"]["color"] = f"rgb({mixed[0]}, {mixed[1]}, {mixed[2]})"
    for axis in figure["layout"].values():
        if isinstance(axis, dict) and "categoryarray" in axis:
            axis["categoryarray"].sort(key=_natural)
    for note in figure["layout"].get("annotations", ()):
        note.update(bgcolor=CARD, font={**note.get("font", {}), "color": INK})
    return figure


def _unquoted(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a figure with plain texts instead of Python's quoted ones."""
    for axis in ("x", "ticktext", "categoryarray"):
        values = part.get(axis)
        if isinstance(values, list):
            part[axis] = [
                one[1:-1] if isinstance(one, str) and one[:1] == one[-1:] == "'" else one
                for one in values
            ]
    return part
