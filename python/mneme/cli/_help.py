"""Parsing and help of verbs: options in groups, abbreviations, an example."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from mneme.cli._abbreviations import written_out

__all__ = ["GroupedCommand", "GroupedVerbs"]

_ARGUMENTS = "Arguments"
_OTHERS = "Options"


class GroupedCommand(TyperCommand):
    """A verb whose options are listed in groups and may be abbreviated."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the parser's own types
        """Parse with every option written out, except in a line that a shell completes."""
        if not ctx.resilient_parsing:
            args = written_out(args, self.get_params(ctx))
        return list(super().parse_args(ctx, args))

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - the parser's own types
        """Write the options of each group; options without a group come first."""
        groups: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _OTHERS: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                plain = _ARGUMENTS if parameter.param_type_name == "argument" else _OTHERS
                name = getattr(parameter, "rich_help_panel", None) or plain
                groups.setdefault(name, []).append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Write the example as one line of any length."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write(f"Example:  {self.epilog}\n")


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
                help_text = command.get_short_help_str(formatter.width - 6 - width)
                groups.setdefault(group, []).append((name.ljust(width), help_text))
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)
