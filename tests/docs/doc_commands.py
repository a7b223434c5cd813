"""What can be said of commands of mneme without running them: that the verb and its options exist."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import Any

import typer
from doc_blocks import ROOT
from typer.main import get_command

from mneme.cli.app import make_app
from mneme.errors import MnemeError
from mneme.scaffold.rendering import list_templates

_SEPARATORS = set("();|&")
_OPERATORS = _SEPARATORS | set("<>")
_OPTION = re.compile(r"(?<![\w./=-])--?[A-Za-z][\w-]*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_COMMAND = re.compile(
    r"(?:python3? -m )?mneme(?: -v \w+)? (?P<verb>[a-z]+|--\w+)(?P<rest>[^\w=].*)?"
)
_SCRIPT = re.compile(r"(?<![\w./-])scripts/[\w./-]+\w")


@cache
def _group() -> Any:
    return get_command(make_app())


def verbs() -> list[str]:
    """Return every verb of the command line."""
    return list(_group().list_commands(typer.Context(_group())))


@cache
def options_of(verb: str) -> frozenset[str]:
    """Return every spelling of every option of a verb.

    Raises:
        AssertionError: If there is no such verb.
    """
    group = _group()
    command = group.get_command(typer.Context(group), verb)
    assert command, f"'mneme {verb}' does not exist"
    own = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return frozenset(
        {*own, "--help", "--help-all", *(_template_options() if verb == "scaffold" else ())}
    )


@cache
def _template_options() -> frozenset[str]:
    names = [parameter.name for each in list_templates() for parameter in each.parameters]
    spelled = [name.replace("_", "-") for name in names]
    return frozenset(f"--{prefix}{name}" for prefix in ("", "no-") for name in spelled)


def example_of(verb: str) -> str:
    """Return the command that ends the help of a verb."""
    group = _group()
    return str(group.get_command(typer.Context(group), verb).epilog)


def synopsis_error(text: str) -> str:
    """Say what is wrong with the verb or an option of one line of usage or a command in prose."""
    match = _COMMAND.fullmatch(text)
    if not match or match["verb"].startswith("--"):
        return ""
    try:
        known = options_of(match["verb"])
    except AssertionError as error:
        return str(error)
    given = _QUOTED.sub("", f" {match['rest'] or ''} ").split(" -- ")[0]
    unknown = [name for name in _OPTION.findall(given) if name not in known]
    return f"'mneme {match['verb']}' has no {', '.join(unknown)}" if unknown else ""


def calls_of_mneme(command: str) -> Iterator[list[str]]:
    """Yield the arguments of each call of mneme in shell text."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words = [*lexer]
    for index, word in enumerate(words):
        is_module = word == "mneme" and index > 0 and words[index - 1] == "-m"
        is_first = index == 0 or words[index - 1][0] in _SEPARATORS or "=" in words[index - 1]
        if is_module or (is_first and (word == "mneme" or word.endswith("/bin/mneme"))):
            rest = words[index + 1 :]
            end = next((i for i, one in enumerate(rest) if set(one) <= _OPERATORS), len(rest))
            yield rest[:end]


def call_error(arguments: list[str]) -> str:
    """Say what the parser of the command line has against a call; nothing is run."""
    verb = next((word for word in arguments if not word.startswith("-")), "")
    if not verb:
        return ""
    rest = arguments[arguments.index(verb) + 1 :]
    group = _group()
    try:
        options_of(verb)
        if verb == "scaffold":
            return synopsis_error(f"mneme {' '.join(arguments)}")
        context = group.make_context("mneme", list(arguments))
        group.get_command(context, verb).make_context(verb, rest, parent=context)
    except (AssertionError, MnemeError, *_usage_errors()) as error:
        return f"mneme {' '.join(arguments)}: {getattr(error, 'message', error)}"
    return ""


def _usage_errors() -> tuple[type[Exception], ...]:
    # The base of the parser's own errors, wherever this release of Typer keeps it.
    return (next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"),)


def script_errors(text: str) -> list[str]:
    """Say what is wrong with the scripts of this repository that a text speaks of."""
    return [error for name in _SCRIPT.findall(text) if (error := _script_error(name))]


@cache
def _script_error(name: str) -> str:
    path = ROOT / name
    if not path.exists():
        return f"'{name}' does not exist"
    if path.is_dir() or not path.read_text().startswith("#!/usr/bin/env bash"):
        return ""
    return subprocess.run(
        ["bash", "-n", str(path)], capture_output=True, text=True, check=False
    ).stderr
