"""Output of `mneme optimize`: each step, searches as in `mneme tune`, a table, a summary."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mneme.cli import _console
from mneme.cli._tune_output import PlainOutput, QuietOutput, TerminalOutput
from mneme.deploy.tuned_variant import LOOKS_FASTER
from mneme.kernel_names import KernelName, names_in_tables
from mneme.optimize.events import OptimizeListener
from mneme.optimize.result import NO_TIME
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mneme.optimize.result import KernelResult, OptimizeResult
    from mneme.session.events import Outcome

__all__ = ["output_for"]

# From so many kernels without a search on, one sentence replaces their rows.
_FEWEST_FOLDED = 4


def output_for(*, is_quiet: bool, is_json: bool = False) -> QuietOutput:
    """Return the output for this kind of stderr; stdout may be reserved for JSON."""
    if is_json:
        return _Json()
    if is_quiet:
        return _Quiet()
    return _Terminal() if sys.stderr.isatty() else _Plain()


class _Quiet(QuietOutput, OptimizeListener):
    """Errors and the result."""

    def done(self, result: OptimizeResult) -> None:
        """Print the table and the sentence."""
        self.close()
        _show(result)


class _Json(QuietOutput, OptimizeListener):
    """Errors and the sentences of the result."""

    def done(self, result: OptimizeResult) -> None:
        """Print the sentences."""
        self.close()
        _say(result)


class _Steps(PlainOutput, OptimizeListener):
    """Prints each step, but only the progress of a search."""

    has_several_searches = True

    def step(self, sentence: str) -> None:
        """Print the next step."""
        self.close()
        _console.say(sentence)

    def detail(self, sentence: str) -> None:
        """Print it if the user asked for more output."""
        if _console.is_verbose():
            self.step(sentence)

    def started(self, kernel: str, record_id: str, directory: Path) -> None:
        """Print nothing: the step has been printed."""

    def final_round(self, done: int, total: int) -> None:
        """Print nothing: it is part of the search."""

    def finished(self, outcome: Outcome) -> None:
        """Print what the search found."""
        self.close()
        progress, gain = outcome.progress, outcome.gain
        if gain is None:
            return
        found = f"{gain.ratio:.3f}x in replays, expect [{gain.low:.3f}, {gain.high:.3f}]"
        if outcome.best is outcome.baseline:
            is_open = gain.ratio > LOOKS_FASTER
            found = f"nothing significantly faster: {found}" if is_open else "nothing faster"
        _console.say(f"  {progress.done} trials: {found}")
        if outcome.near is not None:
            _console.say(f"  {outcome.near.sentence()}")

    def done(self, result: OptimizeResult) -> None:
        """Print the table and the sentence."""
        self.close()
        self.show_nodes()
        _show(result)


class _Plain(_Steps):
    """Lines."""


class _Terminal(TerminalOutput, _Steps):
    """A bar while searching."""

    started = _Steps.started
    finished = _Steps.finished
    final_round = TerminalOutput.final_round


def _shown(kernels: Sequence[KernelResult]) -> tuple[list[KernelResult], str]:
    """Return the kernels of the table, and a sentence about those for which there was no time."""
    untried = [one for one in kernels if one.reason == NO_TIME]
    if len(untried) < _FEWEST_FOLDED:
        return list(kernels), ""
    most = 100 * max(one.share for one in untried)
    share = 100 * sum(one.share for one in untried)
    sentence = (
        f"the budget leaves no time for {len(untried)} more kernels with {share:.1f} % of the time "
        f"in kernels, {most:.1f} % or less each: a longer --budget tunes them, too"
    )
    return [one for one in kernels if one.reason != NO_TIME], sentence


def _show(result: OptimizeResult) -> None:
    shown, about_others = _shown(result.kernels)
    if shown:
        columns = (
            "kernel",
            "place",
            ">share",
            ">as built",
            ">as tuned",
            "~gain in the program",
            "~",
        )
        table = _console.table("", columns)
        kernels = [
            KernelName(demangled=one.demangled_name, label=one.label, place=one.place)
            for one in shown
        ]
        names = names_in_tables(kernels, has_parameters=False)
        places = places_in_tables([one.place for one in kernels])
        for name, place, one in zip(names, places, shown, strict=True):
            table.add_row(
                name,
                place,
                f"{100 * one.share:.1f} %",
                _console.format_ns(round(one.built_ns)),
                _console.format_ns(round(one.tuned_ns)) if one.is_kept else "-",
                one.production.text() if one.is_kept and one.production else "-",
                _remark(one),
            )
        _console.print_table(table)
    if about_others:
        _console.say(about_others)
    _say(result)


def _say(result: OptimizeResult) -> None:
    for note in result.notes:
        _console.say(note)
    _console.say(result.verdict)
    if result.output_rule and result.built_seconds:
        _console.say(f"output compared: {result.output_rule}")
    if result.page is not None:
        _console.say(f"all of it: {result.page}")
    if result.tuned_file is not None:
        _console.say(f"use it: {result.use}")


def _remark(one: KernelResult) -> str:
    return "; ".join(one.changes) if one.is_kept else one.reason
