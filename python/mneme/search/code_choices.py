"""What searches choose of pass plugins, and of options of LLVM and ptxas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.search.pass_choices import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "PIPELINE",
    "check_llvm_options",
    "option_choices",
    "options_of_plugins",
    "passes_of",
    "plugin_choices",
    "plugin_llvm",
    "plugin_llvms",
    "with_plugin_passes",
]

PIPELINE: Final = "*"
"""Stands for the rest of the pipeline."""

_LEVELS: Final = (
    "{}",
    "cgscc({})",
    "function({})",
    "function(loop({}))",
    "function(loop-mssa({}))",
)
# What mneme_add_pass_plugin() writes into a plugin.
_PASSES_IN_FILE: Final = re.compile(rb"mneme-passes:([ -~]*)\0")


def passes_of(plugins: str) -> list[str]:
    """Return the passes that plugins say they have, without loading them.

    Args:
        plugins: As in configurations.
    """
    found: list[str] = []
    for one in plugins.split(":"):
        path = Path(re.sub("@[0-9a-f]{16}$", "", one))
        said = _PASSES_IN_FILE.search(path.read_bytes()) if path.is_file() else None
        found += _split(said[1].decode()) if said else []
    return found


def plugin_llvm(plugins: str, llvms: Iterable[str]) -> str:
    """Return the first LLVM that loads plugins, or else mneme's own, ""; see `plugin_llvms`."""
    return next(iter(plugin_llvms(plugins, llvms)), "")


def plugin_llvms(plugins: str, llvms: Iterable[str]) -> list[str]:
    """Return those of these LLVMs that load plugins; none if there are no plugins.

    A wheel's own LLVM loads none.

    Args:
        plugins: As in configurations; empty for none.
        llvms: As in configurations, in the order in which they are tried.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    found = []
    for llvm in llvms if plugins else ():
        try:
            _native.check_passes("", plugins, "", llvm)
        except (BackendUnavailable, InvalidArgument):
            continue
        found.append(llvm)
    return found


def plugin_choices(plugins: str, passes: Iterable[str], llvm: str = "") -> list[str]:
    """Return what a search chooses of plugins: texts with PIPELINE in the place of the pipeline.

    Each pass stands before or behind the pipeline; a text that has PIPELINE stands as it is. The
    first choice is empty: no plugin. If no pass is known, the plugins are loaded or not: some add
    passes to LLVM's pipelines.

    Args:
        plugins: As in configurations; empty for none.
        passes: The passes to choose from; those that the plugins say if there are none.
        llvm: What loads the plugins.

    Raises:
        InvalidArgument: If neither LLVM nor a plugin knows a pass.
        BackendUnavailable: If a plugin cannot be loaded.
    """
    told = list(passes)
    if not plugins:
        if told:
            raise InvalidArgument(
                f"--plugin-passes has '{told[0]}', but no plugin is named with --pass-plugin"
            )
        return [""]
    choices = [""]
    for text in told or passes_of(plugins):
        if PIPELINE in text:
            _check(text, plugins, llvm)
            choices.append(text)
        else:
            nested = _nested(text, plugins, llvm)
            choices += [f"{nested},{PIPELINE}", f"{PIPELINE},{nested}"]
    if len(choices) == 1:
        _check(PIPELINE, plugins, llvm)
        choices.append(PIPELINE)
    return list(dict.fromkeys(choices))


def with_plugin_passes(pipeline: str, choice: str) -> str:
    """Return a pipeline with one of `plugin_choices`."""
    if not choice:
        return pipeline
    if not pipeline.strip():
        return choice.replace(f",{PIPELINE}", "").replace(f"{PIPELINE},", "").replace(PIPELINE, "")
    return choice.replace(PIPELINE, pipeline)


def option_choices(option: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the choices of an option of LLVM or ptxas by its name; the first, "", leaves it out.

    Args:
        option: What says them on the command line.
        texts: "name=value,value..", or "name" for one that is there or not.

    Raises:
        InvalidArgument: If a text has no name, a value is empty, or a name comes twice.
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, values = text.strip().partition("=")
        listed = [one.strip() for one in values.split(",")]
        bare = name.lstrip("-")
        if not bare or (equals and not all(listed)) or re.search(r"\s", text.strip()):
            raise InvalidArgument(
                f"{option} is '{text}'; it is a name with values: unroll-threshold=100,300"
            )
        if bare in found:
            raise InvalidArgument(f"{option} names '{bare}' twice; list its values behind one '='")
        found[bare] = ["", *(f"{name}={one}" for one in listed)] if equals else ["", name]
    return found


def check_llvm_options(options: Iterable[str], plugins: str, llvm: str = "") -> None:
    """Refuse options that LLVM, with the plugins, does not have.

    Raises:
        InvalidArgument: Naming the first.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    for option in options:
        if option:
            _native.check_passes("", plugins, option, llvm if plugins else "")


def options_of_plugins(options: Iterable[str], plugins: str) -> set[str]:
    """Return those words of options that LLVM has only with the plugins.

    A configuration without plugins cannot have them.
    """
    found: set[str] = set()
    if plugins:
        for word in {word for option in options for word in option.split()}:
            try:
                check_llvm_options([word], "")
            except InvalidArgument:
                found.add(word)
    return found


def _split(passes: str) -> list[str]:
    """Split at commas that stand in no parentheses or angle brackets."""
    parts, depth = [""], 0
    for letter in passes:
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [one.strip() for one in parts if one.strip()]


def _check(text: str, plugins: str, llvm: str) -> None:
    from mneme import _native  # noqa: PLC0415 - loads native code

    _native.check_passes(with_plugin_passes(LEVELS[0], text), plugins, "", llvm)


def _nested(text: str, plugins: str, llvm: str) -> str:
    """Return a pass within what it has to stand in: function(my-pass)."""
    first: InvalidArgument | None = None
    for level in _LEVELS:
        nested = level.format(text)
        try:
            _check(f"{nested},{PIPELINE}", plugins, llvm)
        except InvalidArgument as error:
            first = first or error
        else:
            return nested
    raise first or InvalidArgument(text)
