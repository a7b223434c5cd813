"""The options of `mneme tune`: parameters of its function, made from `TuneOptions`."""

from __future__ import annotations

from copy import copy
from dataclasses import MISSING, fields
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional, get_args

import typer

from mneme.cli._options import DeviceOption
from mneme.cli._recording import KernelArgument, RecordIdOption, RecordingArgument
from mneme.option import flag_of, option_of
from mneme.session.options import TuneOptions

if TYPE_CHECKING:
    from dataclasses import Field

    from mneme.option import Option

__all__ = ["FILE_OPTIONS", "spread_lists", "tune_parameters"]

_WORDS = {"recording": RecordingArgument, "kernel": KernelArgument}
_FILES = "Files of options"


def _under(panel: str, kind: Any) -> Any:  # noqa: ANN401 - what typer takes as a type
    """Return an option that verbs share, with the heading it has here."""
    base, told = get_args(kind)
    told = copy(told)
    told.rich_help_panel = panel
    return Annotated[base, told]


_SHARED = {
    "record_id": _under("Which launch", RecordIdOption),
    "device": _under("Measuring", DeviceOption),
}


def _file(name: str, text: str) -> Any:  # noqa: ANN401 - what typer takes as a type
    told = typer.Option(
        flag_of(name), help=text, metavar="FILE", rich_help_panel=_FILES, show_default=False
    )
    return Annotated[Optional[Path], told]


FILE_OPTIONS = {
    "config": _file("config", "JSON, YAML or TOML with these options; the command line wins."),
    "dump_config": _file("dump_config", "Write the options there and end."),
}
"""Options about the others, by their names."""


def tune_parameters() -> list[Parameter]:
    """Return one parameter for each option; its default None means that it was not given."""
    # Those of the table of knobs, which the class inherits, come last.
    own = sorted(fields(TuneOptions), key=lambda item: item.name not in TuneOptions.__annotations__)
    kinds = _WORDS | {item.name: _kind(item) for item in own if item.name not in _WORDS}
    kinds |= FILE_OPTIONS
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in kinds.items()
        if kind is not None
    ]


def _kind(item: Field[Any]) -> Any:  # noqa: ANN401 - what typer takes as a type
    """Return the type of a parameter; None for a field that the command line does not have."""
    told = option_of(item)
    if told is None:
        return _SHARED.get(item.name)
    return Annotated[Optional[_type_of(str(item.type))], _parsed(item.name, told, item.default)]


def _type_of(kind: str) -> Any:  # noqa: ANN401 - a type
    if kind == "str | Sequence[int] | None":
        return str
    if "Sequence" in kind:
        return list[str]
    if "Path" in kind:
        return Path
    words = {"bool": bool, "int": int, "float": float, "str": str}
    return words[kind.removesuffix(" | None")]


def _parsed(name: str, told: Option, default: object) -> Any:  # noqa: ANN401 - typer's own type
    flag = flag_of(name)
    usual = f"{flag}/--no-{flag[2:]}" if default is True else flag
    return typer.Option(
        *(told.names or (usual,)),
        help=_help(told, default),
        metavar="NAME" if told.choices else told.metavar,
        envvar=told.envvar,
        hidden=told.hidden,
        rich_help_panel=told.panel,
        show_default=False,
    )


def _help(told: Option, default: object) -> str:
    text = f"{', '.join(told.choices)}: {told.help}" if told.choices else told.help
    shown = _shown(default) if told.shown is None else told.shown
    return f"{text}  [default: {shown}]" if shown else text


def _shown(default: object) -> str:
    if default is MISSING or default in (None, False, "", ()):
        return ""
    return (
        "yes" if default is True else f"{default:g}" if isinstance(default, float) else str(default)
    )


def spread_lists(arguments: list[str]) -> list[str]:
    """Name a multi-valued option before each of its values: `--passes A B` means both."""
    lists = {flag_of(item.name) for item in fields(TuneOptions) if "Sequence" in str(item.type)}
    result: list[str] = []
    current = ""
    for argument in arguments:
        if argument.startswith("-"):
            current = argument if argument in lists else ""
            result.append(argument)
        elif current and result[-1] != current:
            result += [current, argument]
        else:
            result.append(argument)
    return result
