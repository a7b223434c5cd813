"""Assembles a report: the parts for each tuned launch, and the page around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.errors import Unsupported
from mneme.files.publish import publish_own_text, publish_text
from mneme.install.hints import package_hint
from mneme.report import figures, tables, verdict
from mneme.report.differences import compare, language_of
from mneme.report.parameters import draw_parameters
from mneme.report.rendering import rendered
from mneme.report.results import BASELINE, read_results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mneme.report.differences import Difference
    from mneme.report.results import Instance

__all__ = ["write_report"]


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
        IoFailed: If the operating system refuses.
    """
    instances = read_results(directory)
    name = directory.resolve().name
    html = _render(name, [_describe(one, number) for number, one in enumerate(instances)])
    if output is not None:
        publish_text(output, html)
        return output
    own = directory / "report.html"
    publish_own_text(own, html)
    return own


def _render(name: str, instances: Sequence[Mapping[str, Any]]) -> str:
    return rendered("report.html.j2", title=name, instances=instances, plotly=_plotly())


def _plotly() -> str:
    try:
        from plotly.offline import (  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
            get_plotlyjs,
        )
    except ImportError as error:
        raise Unsupported(f"a report needs Plotly: {package_hint('plotly')}") from error
    return str(get_plotlyjs())


def _describe(instance: Instance, number: int) -> dict[str, Any]:
    unit = figures.time_unit(instance)
    parameters = draw_parameters(instance.trials, unit)
    drawn = {
        "history": figures.history(instance, unit),
        "failures": figures.failures(instance),
        "distribution": figures.distribution(tables.series(instance), unit),
        **parameters.figures,
    }
    return {
        "id": f"k{number}",
        "kernel": instance.kernel_name,
        "place": instance.fact("place"),
        "label": instance.fact("label"),
        "shown": verdict.name_of(instance),
        "directory": instance.directory.name,
        "launches_otherwise": tables.launches_otherwise(instance),
        "is_on_cpu": tables.is_on_cpu(instance),
        "verdict": verdict.verdict(instance, unit),
        "counts": verdict.counts(instance),
        "figures": {name: figure for name, figure in drawn.items() if figure},
        "labels": parameters.labels,
        "figure_notes": parameters.notes,
        "notes": [*instance.notes, *verdict.rejected(instance)],
        "launches": tables.launches(instance),
        "pareto": tables.pareto(instance),
        "errors": tables.errors(instance),
        "settings": tables.settings(instance),
        "resources": tables.resources(instance),
        "times": tables.times(instance, unit),
        "best_trials": tables.best_trials(instance, unit),
        "unit": unit.name,
        "metric": str(instance.options.get("metric") or "time"),
        "differences": _differences(instance),
        "environment": tables.environment(instance),
    }


def _differences(instance: Instance) -> list[tuple[str, Difference]]:
    found: list[tuple[str, Difference]] = []
    winner = instance.winner
    if winner is None or winner.number == BASELINE:
        return found
    for kind, title in (("ll", "Optimised IR"), ("s", "Assembly")):
        old = instance.artifacts.get(("baseline", kind))
        new = instance.artifacts.get(("best", kind))
        if old is not None and new is not None:
            found.append((title, compare(old, new, _language(kind, old))))
    return found


def _language(kind: str, text: str) -> str:
    return "llvm" if kind == "ll" else language_of(text)
