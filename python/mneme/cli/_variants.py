"""Variants of a comparison as people write them: options of `mneme replay`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mneme.cli._configuration import changes_of, is_of_configuration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.compare.variants import Variant

__all__ = ["variant_of", "variants_in", "variants_with_passes"]

_PASSES = "--passes"
# The words of `mneme replay` that are not options; one is a pipeline here.
_WORDS = ("recording", "kernel", "passes")


def variant_of(text: str) -> Variant:
    """Return the variant that `NAME=OPTIONS` describes.

    Raises:
        typer.BadParameter: If it has no name, or `mneme replay` has no such option.
    """
    name, equals, options = text.partition("=")
    if not equals or name.lstrip().startswith("-") or not name.strip():
        raise typer.BadParameter(
            f"the variant '{text}' has no name; write --variant NAME=\"OPTIONS\", as in "
            "--variant fast=\"--passes 'default<O3>'\""
        )
    return _variant(name.strip(), options)


def variants_with_passes(pipelines: Sequence[str]) -> list[Variant]:
    """Return a variant for each pipeline, which it is called by."""
    from mneme.kernel_names import shortened  # noqa: PLC0415 - `--help` stays light

    names = shortened(list(pipelines), 40, are_functions=False)
    return [
        _variant(name, f"{_PASSES} {shlex.quote(passes)}")
        for name, passes in zip(names, pipelines, strict=True)
    ]


def variants_in(file: Path) -> list[Variant]:
    """Return the variants of a file: a map from names to options, JSON or YAML by its name.

    Options are a string as on the command line, a list of words, or a map from options to values.

    Raises:
        InvalidArgument: If it cannot be understood.
        IoFailed: If it cannot be read.
        typer.BadParameter: If `mneme replay` has no such option.
    """
    from mneme.errors import InvalidArgument  # noqa: PLC0415 - `--help` stays light
    from mneme.session.option_files import read_map  # noqa: PLC0415

    found = []
    for name, options in read_map(file).items():
        if isinstance(options, str) or options is None:
            text = options or ""
        elif isinstance(options, list):
            text = shlex.join(map(str, options))
        elif isinstance(options, Mapping):
            text = shlex.join(word for pair in options.items() for word in _words_of(*pair))
        else:
            raise InvalidArgument(
                f"'{file}' gives the variant '{name}' {options!r}; write options as a string, a "
                "list or a map"
            )
        found.append(_variant(str(name), text))
    return found


def _words_of(name: object, value: object) -> list[str]:
    flag = str(name).lstrip("-").replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    values = value if isinstance(value, list) else [value]
    return [f"--{flag}={one}" for one in values if one is not None]


def _variant(name: str, options: str) -> Variant:
    from mneme.compare.variants import Variant  # noqa: PLC0415 - `--help` stays light

    try:
        words = shlex.split(options)
    except ValueError as error:
        raise typer.BadParameter(
            f"the options of the variant '{name}' cannot be split into words "
            f"as a shell does ({error}): {options}"
        ) from error
    words, pipelines = _without_passes(name, words)
    given = _parsed(name, words)
    pipelines += [str(given[one]) for one in _WORDS if given.get(one) is not None]
    if len(pipelines) > 1:
        raise typer.BadParameter(
            f"the variant '{name}' has several pipelines ({', '.join(pipelines)}); quote one "
            "with blanks, and name the kernels with --kernels"
        )
    passes = pipelines[0] if pipelines else None
    changes = changes_of({**given, "passes": passes})
    return Variant(name=name, options=options.strip(), changes=changes)


def _without_passes(name: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take `--passes` out, which is a word without an option in `mneme replay`."""
    others: list[str] = []
    pipelines: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option != _PASSES:
            others.append(word)
        elif equals:
            pipelines.append(value)
        elif rest:
            pipelines.append(rest.pop(0))
        else:
            raise typer.BadParameter(f"the variant '{name}' has no pipeline after {_PASSES}")
    return others, pipelines


def _parsed(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Parse with the options that `mneme replay` has, and refuse those of measuring."""
    from mneme.cli.app import command_of  # noqa: PLC0415 - the application imports this

    if "--help" in words or "--help-all" in words:
        raise typer.BadParameter("'mneme replay --help-all' lists the options of variants")
    try:
        context = command_of("replay").make_context("replay", list(words))
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        sentence = " ".join(error.format_message().split()).rstrip(".")
        raise typer.BadParameter(
            f"the variant '{name}' is not understood: {sentence}; options are those of "
            "'mneme replay --help-all'"
        ) from error
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        is_given = getattr(source, "name", "") == "COMMANDLINE"
        is_word = parameter.name in _WORDS
        if is_given and not is_word and not is_of_configuration(str(parameter.name)):
            raise typer.BadParameter(
                f"the variant '{name}' has {parameter.opts[-1]}, which does not change how a "
                "kernel is compiled or launched"
            )
    given: dict[str, Any] = context.params
    return given
