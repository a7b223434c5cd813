"""What optimizing a program tells whoever watches. Nothing here prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.tuning.events import TuneListener

if TYPE_CHECKING:
    from mneme.optimize.result import OptimizeResult

__all__ = ["OptimizeListener"]


class OptimizeListener(TuneListener):
    """Hears of every step, those of searches too; does nothing."""

    def step(self, sentence: str) -> None:
        """What is done from now on."""

    def done(self, result: OptimizeResult) -> None:
        """All is over."""
