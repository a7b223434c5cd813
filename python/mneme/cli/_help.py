"""Parsing and help of verbs: options in groups, abbreviations, an example."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from mneme.cli._abbreviations import written_out
from mneme.cli._help_groups import COMMON, GROUPS

__all__ = ["GroupedCommand", "GroupedVerbs"]

_ARGUMENTS = "Arguments"
_OTHERS = "Options"
_ALL = "--help-all"
# Characters: more than any first sentence has, so that none is cut.
_WHOLE_SENTENCE = 500


class GroupedCommand(TyperCommand):
    """A verb whose options may be abbreviated. Its help lists the usual ones, or all in groups."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - the parser's own types
        """Put the parameters into the order of their groups."""
        super().__init__(*args, **kwargs)
        groups = GROUPS.get(self.name or "", {})
        placed = {name: group for group, names in groups.items() for name in names}
        order = {name: place for place, name in enumerate(placed)}
        for parameter in self.params:
            if parameter.name in placed:
                parameter.rich_help_panel = placed[parameter.name]  # type: ignore[attr-defined]
        self.params.sort(key=lambda one: order.get(one.name or "", -1))

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - the parser's own types
        """Return the parameters, with --help and --help-all."""
        everything = TyperOption(
            param_decls=[_ALL],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="Show every option and exit.",
            hidden=self.name not in COMMON,
        )
        return [*super().get_params(ctx), everything]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the parser's own types
        """Parse with every option written out, except in a line that a shell completes."""
        if not ctx.resilient_parsing:
            args = written_out(args, self.get_params(ctx))
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - the parser's own types
        """Write the usual options, or those of each group; the ones without a group come first."""
        common = () if ctx.meta.get(_ALL) else COMMON.get(self.name or "", ())
        groups: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _OTHERS: []}
        left_out = 0
        for parameter in _in_order(self.get_params(ctx), common):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            is_argument = parameter.param_type_name == "argument"
            plain = _ARGUMENTS if is_argument else _OTHERS
            name = None if common else getattr(parameter, "rich_help_panel", None)
            if common and not is_argument and parameter.name not in (*common, *_HELPS):
                left_out += 1
                continue
            groups.setdefault(name or plain, []).append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)
        if left_out:
            formatter.write_paragraph()
            formatter.write(
                f"{ctx.command_path} {_ALL} lists {left_out} more options, in groups.\n"
            )

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Write the example as one line of any length."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"Example:  {self.epilog}\n")


_HELPS = ("help", "help_all")


def _in_order(parameters: list[Any], common: tuple[str, ...]) -> list[Any]:
    """Return arguments, then options in the order of `common`, then the other options."""
    order = {name: place for place, name in enumerate(common)}
    if not common:
        return parameters
    words = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name != "argument"]
    return words + sorted(options, key=lambda one: order.get(one.name, len(order)))


def _show_all(ctx: Any, parameter: Any, value: bool) -> None:  # noqa: ANN401 - the parser's own types
    del parameter
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class GroupedVerbs(TyperGroup):
    """The list of verbs, in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the verbs of each group, in the order in which they are declared."""
        groups: dict[str, list[tuple[str, str]]] = {}
        names = self.list_commands(ctx)
        width = max(map(len, names), default=0)
        for name in names:
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                group = getattr(command, "rich_help_panel", None) or "Commands"
                help_text = command.get_short_help_str(_WHOLE_SENTENCE)
                groups.setdefault(group, []).append((name.ljust(width), help_text))
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)
