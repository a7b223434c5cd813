"""`mneme scaffold`: ready-to-run files from templates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.cli import _console
from mneme.cli._help import GroupedCommand
from mneme.cli._options import JsonOption
from mneme.cli._passwords import warn_of_visible_password
from mneme.cli._recording import (
    DatabaseOption,
    RecordIdOption,
    chosen_launch,
    names_several,
    tell_apart,
    words_named,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.scaffold.rendering import Template

__all__ = ["ScaffoldCommand", "scaffold"]


class ScaffoldCommand(GroupedCommand):
    """A verb that leaves unknown options among its words: they belong to the template."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the parser's own type
        """Parse the options that the verb knows."""
        ctx.ignore_unknown_options = True
        ctx.allow_extra_args = True
        # The template's name comes first, so that an option's value is not mistaken for it.
        return list(super().parse_args(ctx, args))


def scaffold(
    template: Annotated[
        Optional[str],
        typer.Argument(
            metavar="NAME", help="The template, before its options.", show_default=False
        ),
    ] = None,
    words: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="[RECORDING] [KERNEL]",
            help="What the files are fitted to, as for 'mneme replay'; and the template's options.",
            autocompletion=words_named,
            show_default=False,
        ),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="List the templates with their options.")
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the files go; made if missing.")
    ] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    json: JsonOption = False,
) -> None:
    """Write ready-to-run files, most of them fitted to a recorded launch.

    Templates have options of their own, which --list shows.
    """
    from mneme.scaffold import rendering as scaffolding  # noqa: PLC0415

    if list_all:
        _list(scaffolding.list_templates(), json=json)
        return
    if template is None:
        raise typer.BadParameter("say which template; 'mneme scaffold --list' lists them")
    loaded = scaffolding.load_template(template)
    values, named = _told_apart(loaded, words or ())
    warn_of_visible_password(str(values.get("storage", "")), "--storage")
    record_file = record_database
    if (named or record_database is not None) and loaded.recording != "none":
        launch = tell_apart(*named, database=record_database)
        record_file = launch.recording
        if loaded.recording != "whole" or not names_several(launch, record_id):
            record_file, record_id = chosen_launch(launch, record_id)
    elif named:
        raise typer.BadParameter(f"'{named[0]}' is not an option of template {loaded.name}")
    request = scaffolding.ScaffoldRequest(
        template=loaded,
        out=out,
        values=values,
        record_database=record_file,
        record_id=record_id,
    )
    made = scaffolding.render(request)
    paths = scaffolding.write(made, force=force)
    if json:
        _console.print_json({"files": [str(path) for path in paths], "next": made.next_steps})
        return
    for path in paths:
        _console.say(f"wrote '{path}'")
    if made.next_steps:
        _console.print_text(made.next_steps)


def _told_apart(
    template: Template, arguments: Sequence[str]
) -> tuple[dict[str, object], list[str]]:
    """Return the template's own options, and the other words.

    Options are `--name value`, `--name=value`, `--flag` and `--no-flag`.
    """
    flags = {one.option for one in template.parameters if isinstance(one.default, bool)}
    values: dict[str, object] = {}
    words: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        option, has_value, value = word.partition("=")
        if not word.startswith("-"):
            words.append(word)
        elif not option.startswith("--"):
            raise typer.BadParameter(f"'{option}' is not an option of template {template.name}")
        elif not has_value and option in flags:
            values[_name(option)] = True
        elif not has_value and option.startswith("--no-") and f"--{option[5:]}" in flags:
            values[_name(option[5:])] = False
        elif has_value:
            values[_name(option)] = value
        elif waiting and not waiting[0].startswith("--"):
            values[_name(option)] = waiting.pop(0)
        elif option in {one.option for one in template.parameters}:
            raise typer.BadParameter(f"{option} needs a value")
        else:
            values[_name(option)] = ""
    return values, words


def _name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def _list(templates: Sequence[Template], *, json: bool) -> None:
    if json:
        _console.print_json([_as_json(one) for one in templates])
        return
    needs = {
        "required": "Needs a recording.",
        "whole": "Needs a recording.",
        "optional": "Recording optional.",
        "none": "",
    }
    content = _console.table("templates", ("name", "option", "what it is", "default"))
    for one in templates:
        content.add_row(
            one.name, "", f"{one.description.rstrip('.')}. {needs[one.recording]}".strip(), ""
        )
        for item in one.parameters:
            choices = f" ({', '.join(item.choices)})" if item.choices else ""
            content.add_row("", item.option, item.help + choices, str(item.default))
    _console.print_table(content)


def _as_json(template: Template) -> dict[str, Any]:
    parameters = {
        one.name: {"help": one.help, "default": one.default, "choices": list(one.choices)}
        for one in template.parameters
    }
    return {
        "name": template.name,
        "description": template.description,
        "recording": template.recording,
        "parameters": parameters,
    }
