"""Events that optimizing a program sends to its listener. Nothing here prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.session.events import TuneListener

if TYPE_CHECKING:
    from mneme.optimize.result import OptimizeResult

__all__ = ["OptimizeListener"]


class OptimizeListener(TuneListener):
    """Receives every step, including those of searches; this one does nothing."""

    def step(self, sentence: str) -> None:
        """The next step."""

    def detail(self, sentence: str) -> None:
        """A detail for users who want more output."""

    def done(self, result: OptimizeResult) -> None:
        """Everything is done."""
