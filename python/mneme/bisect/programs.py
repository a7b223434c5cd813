"""Programs with the code before a run of a pass and after it, which need no mneme."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.bisect.pass_runs import first_runs
from mneme.errors import MnemeError
from mneme.option import flag_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mneme.bisect.bisection import Culprit
    from mneme.recording.recorded_execution import KernelInstance
    from mneme.scaffold.rendering import Scaffold

__all__ = ["Programs", "write_programs"]

# Nobody asks for the programs, so they take little room.
_MOST_MEBIBYTES = 256
_MEBIBYTE = 1 << 20
_KNOWN = {
    *("specialize", "specialize_dims", "max_registers", "codegen_opt"),
    *("llvm_options", "assembler_options"),
}


@dataclass(frozen=True, slots=True)
class Programs:
    """What came of the programs."""

    directory: Path | None = None
    """It has `before` and `after`; None: there are no programs."""
    why_none: str = ""
    """A sentence."""


def write_programs(  # noqa: PLR0913 - what is compiled, and for what
    culprit: Culprit,
    directory: Path,
    *,
    database: Path,
    instance: KernelInstance,
    changes: Mapping[str, object],
    target: str,
) -> Programs:
    """Write the programs; they share the files with the launch's memory.

    Args:
        culprit: A run that was found.
        directory: Is made.
        database: The record file of the launch.
        instance: The launch.
        changes: What differs from the recorded configuration.
        target: What the code is for.
    """
    if why := _why_none(culprit, changes, target):
        return Programs(why_none=why)
    values = {**_values(changes), "target": target}
    named = {"record_database": database, "record_id": instance.dynamic_hash}
    pipelines = {
        name: first_runs(culprit.passes, count)
        for name, count in (("before", culprit.number - 1), ("after", culprit.number))
    }
    try:
        if (size := _mebibytes(instance)) > _MOST_MEBIBYTES:
            values = {**values, "passes": pipelines["after"], "max_mebibytes": size}
            return Programs(
                why_none=f"the launch sees {size} MiB, more than the {_MOST_MEBIBYTES} MiB that "
                f"are written unasked; run {_command(database, instance, values, directory)}"
            )
        first: Scaffold | None = None
        for name, passes in pipelines.items():
            first = _write({**values, "passes": passes}, directory / name, named, first)
    except MnemeError as error:
        return Programs(why_none=str(error))
    return Programs(directory)


def _why_none(culprit: Culprit, changes: Mapping[str, object], target: str) -> str:
    others = sorted(set(changes) - _KNOWN - {"pass_plugins"})
    plugins = _plugins(changes)
    if not target.startswith("sm_"):
        return f"programs are for NVIDIA GPUs, and the code is for {target}"
    if not culprit.ir_after:
        return "the compiler leaves no code after the run"
    if others:
        return f"programs are made with mneme's own LLVM, without {', '.join(map(flag_of, others))}"
    if len(plugins) > 1:
        return f"a program takes one pass plugin, and --pass-plugin names {len(plugins)}"
    return ""


def _values(changes: Mapping[str, object]) -> dict[str, object]:
    """Return the values of the template `replay`."""
    values = {name: value for name, value in changes.items() if name in _KNOWN}
    plugins = _plugins(changes)
    return {**values, **({"pass_plugin": plugins[0]} if plugins else {})}


def _plugins(changes: Mapping[str, object]) -> list[str]:
    named = str(changes.get("pass_plugins", "")).split(":")
    return [re.sub("@[0-9a-f]{16}$", "", one) for one in named if one]


def _mebibytes(instance: KernelInstance) -> int:
    """Return how much memory the launch sees, rounded up."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    size = sum(int(one["size"]) for one in _native.Snapshot(instance.prologue.fn).regions())
    return -(-size // _MEBIBYTE)


def _command(
    database: Path, instance: KernelInstance, values: Mapping[str, object], directory: Path
) -> str:
    words = ["mneme", "scaffold", "replay", "-rdb", str(database), "-rid", instance.dynamic_hash]
    words += ["--out", str(directory / "after")]
    words += [flag_of(one) if on is True else f"{flag_of(one)}={on}" for one, on in values.items()]
    return shlex.join(words)


def _write(
    values: dict[str, object], out: Path, named: dict[str, Any], first: Scaffold | None
) -> Scaffold:
    """Write a program; what the first one has, too, is not written again but linked."""
    from mneme.scaffold import rendering  # noqa: PLC0415 - for the end only

    made = rendering.render(
        rendering.ScaffoldRequest(
            template=rendering.load_template("replay"), out=out, values=values, **named
        )
    )
    twins = {one.path.name: one for one in first.files if _is_memory(one.path)} if first else {}
    linked = {
        file.path
        for file in made.files
        if _is_memory(file.path)
        and (twin := twins.get(file.path.name)) is not None
        and twin.content == file.content
        and _is_linked(twin.path, file.path)
    }
    left = tuple(one for one in made.files if one.path not in linked)
    rendering.write(rendering.Scaffold(files=left, next_steps=""), force=True)
    return made


def _is_memory(path: Path) -> bool:
    return path.parent.name == "memory"


def _is_linked(old: Path, new: Path) -> bool:
    """Make a hard link; return whether the file system has them."""
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        os.link(old, new)
    except OSError:
        return False
    return True
