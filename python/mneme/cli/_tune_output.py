"""Output of `mneme tune`: progress on a terminal, occasional lines elsewhere, a summary."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

from mneme.cli import _console
from mneme.cli._node_table import NodeTable
from mneme.code_texts import maker_text, shown_text
from mneme.kernel_names import KernelName, names_in_tables
from mneme.knobs import CODE_TEXTS
from mneme.mneme_types import dim3
from mneme.search.configurations import shape_text
from mneme.session.events import TuneListener
from mneme.source_place import places_in_tables

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress as RichProgress

    from mneme.errors import MnemeError
    from mneme.session.events import NodeReport, Outcome, Progress, Summary
    from mneme.session.final_round import Gain
    from mneme.session.options import TuneOptions
    from mneme.session.trials import CompletedCandidate

__all__ = ["PlainOutput", "QuietOutput", "TerminalOutput", "listener_for"]

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_FRAMES = 0.1
# Longest printed value in characters; a pipeline may have thousands.
_LONGEST = 200
_REASONS = {
    "failed_verification": "wrong result",
    "few_ulp": "a few ULP off",
    "rounding": "rounded otherwise",
    "invalid_launch": "launch refused",
    "invalid_config": "invalid",
    "compile_error": "not compiled",
    "runtime_error": "crashed or hung",
    "internal_error": "lost",
}


def listener_for(options: TuneOptions) -> QuietOutput:
    """Return the output for the options and the kind of stderr."""
    if options.quiet:
        return QuietOutput()
    found = TerminalOutput() if sys.stderr.isatty() else PlainOutput()
    found.has_several_searches = options.all
    return found


class QuietOutput(TuneListener):
    """Errors only."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __init__(self) -> None:
        """Say nothing yet."""
        self._warnings: Counter[str] = Counter()

    def close(self) -> None:
        """End the display."""
        for sentence, count in self._warnings.items():
            if count > 1:
                _console.say(f"{count} times: {sentence}")
        self._warnings.clear()

    def warn(self, sentence: str) -> None:
        """Show a warning; repetitions are counted and reported at the end."""
        shown = " ".join(sentence.split())
        self._warnings[shown] += 1
        if self._warnings[shown] == 1:
            _console.say(shown)

    def failed(self, sentence: str, error: MnemeError | None = None) -> None:
        """Show why there is no result."""
        self.close()
        if error is None:
            _console.say(" ".join(sentence.split()))
        else:
            _console.say_error(error)

    def space(self, description: dict[str, Any], candidates: list[dict[str, Any]]) -> None:
        """Print the search space."""
        content = {"search_space": description}
        _console.print_json({**content, "configurations": candidates} if candidates else content)


class PlainOutput(QuietOutput):
    """Lines on stderr, one every few seconds."""

    has_several_searches = False
    """Whether one table of nodes at the end is for all searches."""

    def __init__(self) -> None:
        """Say nothing yet."""
        super().__init__()
        self._last = time.monotonic()
        self._nodes = NodeTable()

    def __exit__(self, *_: object) -> None:
        """End the display."""
        super().__exit__()
        self.show_nodes()

    def nodes(self, found: NodeReport) -> None:
        """Add to the table of nodes."""
        self._nodes.add(found)
        if not self.has_several_searches:
            self.show_nodes()

    def show_nodes(self) -> None:
        """Print the table of nodes, if there is something in it."""
        lines = self._nodes.take_lines()
        if lines:
            self.close()
        for line in lines:
            _console.say(line)

    def note(self, sentence: str) -> None:
        """Show a sentence."""
        _console.say(sentence)

    def started(self, kernel: str, record_id: str, directory: Path) -> None:
        """Print what is tuned."""
        _console.say(f"tuning {kernel}, instance {record_id}; results in {directory}")

    def baseline(self, done: CompletedCandidate) -> None:
        """Print the time of the baseline."""
        passes = _value(_code_of(done), "baseline.json")
        _console.say(f"baseline {_time(done.metric)} ({passes}) on {done.result.device}")

    def as_built(self, done: CompletedCandidate) -> None:
        """Print what gains are relative to."""
        _console.say(f"as built {_time(done.metric)} ({_code_of(done)}): gains are over that")

    def progress(self, progress: Progress) -> None:
        """Print the state of the search from time to time."""
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            _console.say(_line(progress))

    def final_round(self, done: int, total: int) -> None:
        """Print that the final measurements begin."""
        if done == 1:
            _console.say(f"measuring the best again, in turn with the baseline, {total} rounds")

    def finished(self, outcome: Outcome) -> None:
        """Print the summary."""
        self.close()
        for line in summary(outcome):
            _console.say(line)

    def finished_all(self, summary: Summary) -> None:
        """Print a table of all launches."""
        self.close()
        columns = ("kernel", "place", ">launches", ">share", ">baseline", ">best", "~gain", "in")
        table = _console.table(f"Results in {summary.directory}", columns)
        kernels = [
            KernelName(
                demangled=one["demangled_name"],
                label=one["label"].rpartition("/")[2],
                place=one["place"],
            )
            for one in summary.instances
        ]
        names = names_in_tables(kernels, has_parameters=False)
        places = places_in_tables([one.place for one in kernels])
        for name, place, one in zip(names, places, summary.instances, strict=True):
            table.add_row(
                name,
                place,
                str(one["occurrences"]),
                f"{100 * one['weight']:.1f} %",
                _time(one["baseline_ns"]),
                _time(one["best_ns"]),
                _gain_text(one["gain"]),
                one["directory"],
            )
        _console.print_table(table)
        self.show_nodes()
        if summary.tuned_file is not None:
            count = summary.launched_otherwise
            line = f"mneme deploy {summary.directory} -o tuned.json --launch"
            others = f"; other dimensions, which it leaves out, are best for {count}: {line}"
            _console.say(f"tuned kernels: {summary.tuned_file}{others if count else ''}")


class TerminalOutput(PlainOutput):
    """A progress bar."""

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__()
        self._bar: RichProgress | None = None
        self._task: Any = None

    def close(self) -> None:
        """Remove the bar."""
        self._hide()
        super().close()

    def _hide(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def progress(self, progress: Progress) -> None:
        """Move the bar."""
        is_last = progress.total is not None and progress.done >= progress.total
        if time.monotonic() - self._last < _SECONDS_BETWEEN_FRAMES and not is_last:
            return
        self._last = time.monotonic()
        self._show(progress.done, progress.total, _line(progress, has_bar=True))

    def final_round(self, done: int, total: int) -> None:
        """Move the bar of the final measurements."""
        self._show(done, total, "measuring the best again, in turn with the baseline")

    def warn(self, sentence: str) -> None:
        """Show a warning above the bar."""
        self._hide()
        super().warn(sentence)

    def _show(self, done: int, total: int | None, text: str) -> None:
        if self._bar is None:
            from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 - slow

            columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
            self._bar = Progress(*columns, console=_console.stderr_console(), transient=True)
            self._task = self._bar.add_task("", total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, description=text)


def _line(progress: Progress, *, has_bar: bool = False) -> str:
    total = "" if progress.total is None else f"/{progress.total}"
    parts = [f"{progress.done}{total} trials"]
    if progress.best is not None and progress.best.metric:
        speedup = progress.best.speedup or 1.0
        parts.append(f"best {_time(progress.best.metric)} ({speedup:.2f}x)")
    else:
        parts.append("nothing faster yet")
    parts.append(f"{progress.rate:.1f}/s")
    if progress.failures:
        parts.append(_failures(progress.failures))
    if progress.eta is not None:
        parts.append(f"{_duration(progress.eta)} left")
    return (" · " if has_bar else ", ").join(parts)


def _failures(failures: dict[str, int]) -> str:
    return ", ".join(f"{count} {_REASONS.get(name, name)}" for name, count in failures.items())


def _most_frequent_error(progress: Progress) -> list[str]:
    """Return why trials failed, if no trial is right."""
    failures = {name: count for name, count in progress.failures.items() if name in progress.errors}
    if not failures or sum(progress.failures.values()) < progress.done:
        return []
    name = max(failures, key=lambda one: failures[one])
    return [f"no trial is right; the first that was {_REASONS[name]}: {progress.errors[name]}"]


def summary(outcome: Outcome) -> list[str]:
    """Return the lines that end a session."""
    progress = outcome.progress
    lines: list[str] = []
    if progress.done:
        told = f"; {_failures(progress.failures)}" if progress.failures else ""
        same = (
            f", {progress.reused} of them with the binary of an earlier one"
            if progress.reused
            else ""
        )
        lines.append(f"{progress.done} trials{same}{told}")
        if progress.note:
            lines.append(progress.note)
        lines += _most_frequent_error(progress)
        if progress.done_now:
            busy = progress.busy_share
            part = "" if busy is None else f", device busy {100 * busy:.0f} % of the time"
            lines.append(f"{progress.rate:.1f} trials a second{part}")
    if progress.left_out:
        lines.append(
            f"{progress.left_out} more left out: no launch with their block shapes was right"
        )
    if outcome.status == "interrupted":
        lines.append(
            f"interrupted; go on with: mneme tune --resume --results-dir {outcome.directory}"
        )
        return lines
    baseline, best, gain = outcome.baseline, outcome.best, outcome.gain
    if baseline is not None and outcome.status == "baseline_only":
        return [*lines, f"results: {outcome.directory}"]
    if baseline is None or best is None or gain is None:
        return lines
    lines += _comparison(outcome, baseline, best, gain)
    if outcome.near is not None:
        lines.append(outcome.near.sentence())
    lines.append(f"results: {outcome.directory}")
    lines.append(f"look at them: mneme report {outcome.directory}")
    if best is baseline or (_values(outcome) and not gain.significant):
        return lines  # files of tuned kernels are about time
    return [*lines, *_how_to_use(outcome, baseline, best, gain)]


def _comparison(
    outcome: Outcome, baseline: CompletedCandidate, best: CompletedCandidate, gain: Gain
) -> list[str]:
    """Return how the winner compares with the program as built."""
    if best is baseline:
        said = f": {gain.ratio:.3f}x, 95 % [{gain.low:.3f}, {gain.high:.3f}]" if gain.rounds else ""
        return [f"no significant gain over {_compared_with(baseline)}{said}", *_values(outcome)]
    base = baseline.metric or 0.0
    times = (
        f"{_compared_with(baseline).removeprefix('the ')} {_time(base)}, best "
        f"{_time(base / gain.ratio)} (trial {best.candidate.trial})"
    )
    changed = (f"  {text}" for text in differences(baseline, best))
    return [times, *_values(outcome), _gain_line(gain), *changed]


def _gain_line(gain: Gain) -> str:
    expected = f"[{gain.low:.3f}, {gain.high:.3f}] with 95 % confidence"
    if gain.significant:
        return f"gain {gain.ratio:.3f}x, in production {expected}"
    return f"{gain.ratio:.3f}x in replays, no significant gain in production: {expected}"


def _values(outcome: Outcome) -> list[str]:
    """Return what other objectives than time came to."""
    found = outcome.details.get("values") or {}
    return [f"{name}: {_number(old)} -> {_number(new)}" for name, (old, new) in found.items()]


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6g}"


def _how_to_use(
    outcome: Outcome, baseline: CompletedCandidate, best: CompletedCandidate, gain: Gain
) -> list[str]:
    line = f"mneme deploy {outcome.directory} -o tuned.json"
    lines = []
    if _launches_otherwise(baseline, best):
        line += " --launch"
        lines = [_about_dimensions(outcome)]
    if gain.significant:
        return [*lines, f"use them:     {line}"]
    return [
        *lines,
        "short launches, and those whose data stays in caches, may gain more or less; to find out:",
        f"              {line} --measure -- PROGRAM [ARGUMENTS]...",
    ]


def _launches_otherwise(baseline: CompletedCandidate, best: CompletedCandidate) -> bool:
    old, new = baseline.candidate.config, best.candidate.config
    return (old.grid, old.block) != (new.grid, new.block)


def _about_dimensions(outcome: Outcome) -> str:
    """Return how other dimensions were checked, what proves them and what takes them."""
    tried = outcome.details.get("launches_tried") or ()
    right = sum(bool(one.get("verified")) for one in tried)
    checked = f", and {right} more launches by replays" if right else ""
    file = outcome.tuned_file
    told = f"; '{file.name}' keeps the program's" if file is not None else ""
    return (
        f"the other dimensions were checked on the recorded launch{checked} (rule: "
        f"{outcome.details.get('launch_rule', 'exact')}): --launch takes them, and "
        f"--measure -- PROGRAM proves them in the program{told}"
    )


def _compared_with(baseline: CompletedCandidate) -> str:
    is_other = baseline.metric != baseline.baseline_metric
    return "the program as built" if is_other else "the baseline"


def differences(baseline: CompletedCandidate, best: CompletedCandidate) -> list[str]:
    """Return how the winner differs from the baseline, one line per difference."""
    old, new = baseline.candidate.config, best.candidate.config
    # Not from to_dict(), which leaves out fields without effect.
    pairs = {one.name: (getattr(old, one.name), getattr(new, one.name)) for one in fields(new)}
    texts = {one.key: partial(shown_text, one) for one in CODE_TEXTS}
    shown = {name: texts.get(name, _value) for name in pairs}
    return [
        f"{name}: {shown[name](before)} -> {shown[name](after)}"
        for name, (before, after) in pairs.items()
        if before != after
    ]


def _gain_text(gain: dict[str, Any] | None) -> str:
    if gain is None:
        return "not searched"
    if not gain["significant"]:
        return "none"
    return f"{gain['ratio']:.3f}x [{gain['low']:.3f}, {gain['high']:.3f}]"


def _code_of(done: CompletedCandidate) -> str:
    config = done.candidate.config
    return maker_text(config.passes, config.llvm)


def _value(value: object, file: str = "best.json") -> str:
    if isinstance(value, dim3):
        return shape_text(value)
    text = str(value).lower() if isinstance(value, bool) else str(value) or "all"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... (all of it: {file})"


def _time(nanoseconds: float | None) -> str:
    return _console.format_ns(round(nanoseconds or 0))


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d} min"
