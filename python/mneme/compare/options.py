"""How a comparison is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mneme.compare.variants import Variant
    from mneme.measure.tolerance import Tolerance

__all__ = ["CompareOptions"]

_FEWEST_ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How a comparison is made."""

    variants: Sequence[Variant]
    """The baseline first."""

    results_dir: Path
    """Receives results as they come."""

    device: str | None = None
    """What measures; None: all GPUs, else the CPU device."""

    rounds: int | None = None
    """Rounds in which each kernel's variants run in turn; None: as many as significance takes."""

    iterations: int | None = None
    """Measured launches of a variant in each round; None: five, and more of short kernels."""

    warmup: int = 1
    """Launches before those."""

    tolerances: Sequence[Tolerance] = ()
    """Allowed differences from the recorded memory."""

    timeout: float | None = None
    """Seconds that one replay may take."""

    compile_workers: int | None = None
    """Processes that compile."""

    compile_timeout: float = 60.0
    """Seconds that one compilation may take."""

    is_cold: bool = False
    """Whether caches are cold before each launch."""

    false_discovery: float = 0.05
    """The part of differences called significant that may be none."""

    restores_always: bool = False
    """Whether memory is restored before each launch even where a kernel does not read what it
    changes."""

    measures_equal: bool = False
    """Whether code that equals the baseline's is measured all the same."""

    resume: bool = False
    """Continue with what the directory holds."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InvalidArgument: If one is out of its range.
        """
        if self.rounds is not None and self.rounds < _FEWEST_ROUNDS:
            raise InvalidArgument(
                f"--rounds is {self.rounds}; an interval needs {_FEWEST_ROUNDS} or more"
            )
        if not 0 < self.false_discovery < 1:
            raise InvalidArgument(
                f"--fdr is {self.false_discovery:g}; it has to be between 0 and 1, such as 5%"
            )
        if (self.iterations is not None and self.iterations < 1) or self.warmup < 0:
            raise InvalidArgument(
                f"need --iterations >= 1 and --warmup >= 0, not {self.iterations} and {self.warmup}"
            )

    def identity(self, rounds: int, devices: Sequence[str]) -> dict[str, Any]:
        """Return what has to be the same for results to be compared, as plain JSON values."""
        return {
            "variants": [one.to_dict() for one in self.variants],
            "rounds": rounds,
            "iterations": self.iterations,
            "warmup": self.warmup,
            "tolerances": [one.to_text() for one in self.tolerances],
            "is_cold": self.is_cold,
            "restores_always": self.restores_always,
            "measures_equal": self.measures_equal,
            "devices": sorted(set(devices)),
        }
