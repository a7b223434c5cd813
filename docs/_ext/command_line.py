# ruff: noqa: INP001 - Sphinx imports it by name
"""The directive `command-line`: a verb of `mneme` and its options, from the parser itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from mneme.cli.app import make_app  # noqa: TID251 - describes the command line

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from typer.core import TyperCommand, TyperGroup

__all__ = ["CommandLine", "setup"]

# What the parser appends to a description: "[env var: MNEME_DEVICE; default: 4; x>=1]".
_NOTES = re.compile(r"\s*\[([^\[\]]*)\]$")
# Options and quoted words of a description are code.
_CODE = re.compile(r"(?<![\w-])(--?[a-z][a-z-]+)|'([^']+)'|`([^`]+)`")


class CommandLine(SphinxDirective):
    """Describe one verb, or the program itself where none is named, on a page in Markdown."""

    optional_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        """Return usage, description and every option."""
        command: Any = get_command(make_app())
        context = typer.Context(command, info_name="mneme")
        if self.arguments:
            verb = self.arguments[0]
            command = command.get_command(context, verb)
            if command is None:
                raise self.error(f"mneme has no verb '{verb}'")
            context = typer.Context(command, info_name=verb, parent=context)
        # Each description is written down on the page anew: it changes with the program.
        self.env.note_reread()
        container = nodes.container()
        lines = StringList(_describe(command, context).splitlines(), "the parser of mneme")
        self.state.nested_parse(lines, 0, container)
        return container.children


def _describe(command: TyperCommand | TyperGroup, context: typer.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    paragraphs = [f"```text\n{usage.replace('{', '').replace('}', '')}\n```"]
    paragraphs += [_marked_up(paragraph) for paragraph in (command.help or "").split("\n\n")]
    paragraphs.append(f"```{{program}} {context.command_path}\n```")
    group = None
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        names, description = record
        if (named := getattr(parameter, "rich_help_panel", None)) and named != group:
            group = named
            paragraphs.append(f"**{group}**")
        paragraphs.append(f"```{{option}} {names.replace(' / ', ', ')}\n{_entry(description)}\n```")
    return "\n\n".join(paragraphs)


def _entry(description: str) -> str:
    """Return the description of one option with defaults and variables as sentences."""
    sentences: list[str] = []
    while found := _NOTES.search(description):
        description = description[: found.start()]
        sentences = [_note(note) for note in found[1].split("; ")] + sentences
    return " ".join([_marked_up(description), *sorted(sentences)])


def _note(note: str) -> str:
    kind, _, value = note.partition(": ")
    if kind == "default":
        return f"Default: `{value}`."
    if kind == "env var":
        return f"Variable: `{value}`."
    return "Required." if kind == "required" else f"Range: `{note}`."


def _marked_up(text: str) -> str:
    """Return text of the help as Markdown."""
    parts: list[str] = []
    end = 0
    for found in _CODE.finditer(text):
        parts += [_escaped(text[end : found.start()]), f"`{found[1] or found[2] or found[3]}`"]
        end = found.end()
    return "".join([*parts, _escaped(text[end:])])


def _escaped(text: str) -> str:
    return re.sub(r"([<>*_\[\]`|])", r"\\\1", text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
