"""The credit of a way to search: the area under the curve of its successes.

As in J. Ansel et al., OpenTuner: An Extensible Framework for Program Autotuning, PACT 2014.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Operator"]

# Number of uses that are remembered.
_WINDOW: Final = 300


@dataclass(slots=True)
class Operator:
    """A way to search, and what it found lately."""

    propose: Callable[[], dict[str, Any] | None]
    """Returns parameters; None if it has none."""
    uses: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    """How successful each was, 0 to 1, as far as they are remembered."""
    running: int = 0
    """Uses whose results are not known yet."""
    credit: float = 0.0
    """Area under the curve of successes, 0 to 1; recent ones count more."""
    area: float = 0.0
    """Each success times its place among the uses."""
    successes: float = 0.0
    """All of them added up."""

    def add(self, success: float) -> None:
        """Add a use."""
        if len(self.uses) == _WINDOW:  # the first is forgotten, the others move to its place
            self.area -= self.successes
            self.successes -= self.uses[0]
        self.uses.append(success)
        count = len(self.uses)
        self.area += count * success
        self.successes += success
        self.credit = 2 * self.area / (count * (count + 1))
