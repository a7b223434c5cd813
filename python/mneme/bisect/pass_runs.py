"""Pipelines of which only some passes run, by the compiler's `mneme-opt-bisect`.

Optional passes are numbered from 1 in the order in which they would run, as LLVM's option
-opt-bisect-limit numbers them: a pass that runs on ten functions has ten numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EVERY_RUN", "PassRuns", "first_runs", "without_run"]

EVERY_RUN = 2**32 - 1
"""More runs than a pipeline has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRuns:
    """What a limited pipeline ran."""

    count: int
    """Numbers given, of passes that ran and of those that did not."""

    last: str
    """The last that ran, as "instcombine on function f"; empty: none."""

    next: str
    """The first behind it that did not run; empty: none."""

    @classmethod
    def from_statistics(cls, statistics: Mapping[str, Any]) -> PassRuns:
        """Return what the compiler's statistics say of a limited pipeline."""
        runs = statistics["pass_runs"]
        return cls(count=int(runs["count"]), last=str(runs["last"]), next=str(runs["next"]))


def first_runs(passes: str, count: int) -> str:
    """Return the pipeline that ends after this many runs of passes."""
    return _limited(passes, f"1-{count}" if count else "0")


def without_run(passes: str, number: int) -> str:
    """Return the pipeline that leaves out one run."""
    before = f"1-{number - 1};" if number > 1 else ""
    return _limited(passes, f"{before}{number + 1}-{EVERY_RUN}")


def _limited(passes: str, intervals: str) -> str:
    return f"mneme-opt-bisect<{intervals}>,{passes}"
