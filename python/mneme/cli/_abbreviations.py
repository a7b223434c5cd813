"""Unambiguous abbreviations of options: `--record-data` for `--record-database`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["written_out"]

_END_OF_OPTIONS = "--"
# If several options fit, one of these is meant: scripts abbreviated them before the others existed.
_OLDEST = (
    *("--codegen-opt", "--config", "--help", "--iterations", "--max-threads", "--output-ll"),
    *("--shared-mem", "--trials"),
)


def written_out(arguments: Sequence[str], parameters: Iterable[Any]) -> list[str]:
    """Return the arguments with every abbreviated option written out.

    An argument that fits no option, or several, is unchanged: the parser reports it.

    Args:
        arguments: The arguments of one verb.
        parameters: The verb's parameters, in the parser's own types.
    """
    options = _options_by_name(parameters)
    result: list[str] = []
    values = 0
    for number, argument in enumerate(arguments):
        if argument == _END_OF_OPTIONS and not values:
            return [*result, *arguments[number:]]
        if values or not argument.startswith("-"):
            values = max(values - 1, 0)
            result.append(argument)
            continue
        name, equals, value = argument.partition("=")
        full = _full_name(name, options)
        values = 0 if equals or full not in options else options[full][1]
        result.append(f"{full}{equals}{value}")
    return result


def _options_by_name(parameters: Iterable[Any]) -> dict[str, tuple[object, int]]:
    """Return what each name means, and how many values follow it."""
    options: dict[str, tuple[object, int]] = {}
    for parameter in parameters:
        if parameter.param_type_name != "option":
            continue
        is_flag = parameter.is_flag or parameter.count
        for names, is_on in ((parameter.opts, True), (parameter.secondary_opts, False)):
            for name in names:
                options[name] = ((parameter.name, is_on), 0 if is_flag else parameter.nargs)
    return options


def _full_name(name: str, options: dict[str, tuple[object, int]]) -> str:
    if name in options or len(name.lstrip("-")) == 0:
        return name
    found = [known for known in options if known.startswith(name)]
    found = [known for known in found if known in _OLDEST] or found
    meanings = {options[known][0] for known in found}
    return found[0] if len(meanings) == 1 else name
