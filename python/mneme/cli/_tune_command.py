"""The parser of `mneme tune`: some options take several values."""

from __future__ import annotations

from typing import Any

from mneme.cli._abbreviations import written_out
from mneme.cli._help import GroupedCommand
from mneme.cli._tune_options import spread_lists

__all__ = ["TuneCommand"]


class TuneCommand(GroupedCommand):
    """A command whose lists may be written as `--passes A B C`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the parser's own type
        """Parse with a separate option for every value."""
        if not ctx.resilient_parsing:
            args = written_out(args, self.get_params(ctx))
        return list(super().parse_args(ctx, spread_lists(args)))
