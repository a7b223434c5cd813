"""Files that show what a run of a pass does, without the search."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

from mneme.bisect.pass_runs import first_runs
from mneme.files.publish import publish_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mneme.bisect.bisection import Culprit

__all__ = ["culprit_facts", "values_for_program", "write_reproducer"]


def culprit_facts(culprit: Culprit) -> dict[str, object]:
    """Return what was found as plain JSON values."""
    symptom = culprit.symptom
    answers = {"before": culprit.before, "after": culprit.after, "without": culprit.without}
    return {
        "symptom": symptom.value,
        "passes": culprit.passes,
        "run": culprit.number,
        "runs": culprit.runs,
        "pass": culprit.name.partition(" ")[0],
        "on": culprit.name.partition(" on ")[2],
        "is_missing": culprit.is_missing,
        "llvm": culprit.llvm,
        "ratio": culprit.ratio,
        **{name: answer.described(symptom) if answer else "" for name, answer in answers.items()},
    }


def write_reproducer(culprit: Culprit, directory: Path, replay: Sequence[str]) -> list[Path]:
    """Write the code before and after the run, and a script that replays both.

    Args:
        culprit: A run that was found.
        directory: Is made.
        replay: The command that replays the launch, without a pipeline.

    Returns:
        The files.
    """
    directory.mkdir(parents=True, exist_ok=True)
    facts = json.dumps(culprit_facts(culprit), indent=2) + "\n"
    contents = {"bisect.json": facts, "before.ll": culprit.ir_before, "replay.sh": ""}
    if culprit.ir_after:
        contents["after.ll"] = culprit.ir_after
    contents["replay.sh"] = _script(culprit, replay)
    for name, content in contents.items():
        publish_text(directory / name, content)
    (directory / "replay.sh").chmod(0o755)
    return [directory / name for name in contents]


def values_for_program(changes: Mapping[str, object], target: str) -> dict[str, object] | None:
    """Return the values of the template `replay` for a configuration; None if it has none.

    Args:
        changes: What differs from the recorded configuration.
        target: What the code is for.
    """
    known = {"specialize", "specialize_dims", "max_threads", "min_blocks_per_sm", "max_registers"}
    known |= {"codegen_opt", "llvm_options", "assembler_options", "set_launch_bounds"}
    values = {name: value for name, value in changes.items() if name in known}
    plugins = _paths(changes.get("pass_plugins", ""))
    others = set(changes) - known - {"pass_plugins"}
    if not target.startswith("sm_") or others or len(plugins) > 1:
        return None
    if not values.pop("set_launch_bounds", True):
        values.pop("max_threads", None)
    return {**values, "target": target, **({"pass_plugin": plugins[0]} if plugins else {})}


def _paths(plugins: object) -> list[str]:
    return [re.sub("@[0-9a-f]{16}$", "", one) for one in str(plugins).split(":") if one]


def _script(culprit: Culprit, replay: Sequence[str]) -> str:
    lines = ["#!/bin/sh", f"# Run {culprit.number} of '{culprit.passes}': {culprit.name}."]
    for count, words in ((culprit.number - 1, "Without"), (culprit.number, "With")):
        command = shlex.join([*replay, first_runs(culprit.passes, count)])
        lines += [f"# {words} this run as the last:", command]
    return "\n".join(lines) + "\n"
