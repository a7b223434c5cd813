"""Files that show what a run of a pass does, without the search."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from mneme.bisect.pass_runs import first_runs
from mneme.files.publish import publish_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mneme.bisect.bisection import Culprit

__all__ = ["culprit_facts", "write_reproducer"]


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


def _script(culprit: Culprit, replay: Sequence[str]) -> str:
    lines = ["#!/bin/sh", f"# Run {culprit.number} of '{culprit.passes}': {culprit.name}."]
    for count, words in ((culprit.number - 1, "Without"), (culprit.number, "With")):
        command = shlex.join([*replay, first_runs(culprit.passes, count)])
        lines += [f"# {words} this run as the last:", command]
    return "\n".join(lines) + "\n"
