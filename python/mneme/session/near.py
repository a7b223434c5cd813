"""Configurations that are not verified, but only a few units in the last place (ULP) off."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mneme.session.trials import FEW_ULP, metric_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.session.trials import CompletedCandidate

__all__ = ["Near", "fastest_near", "tolerance_options"]

# Smaller speedups are not reported: times of a search are less certain than those of the final
# rounds.
_WORTH_TELLING = 1.05
_OPTION = "--tolerance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """The configuration that would win if a few ULP were accepted."""

    trial: int
    """Number in the results."""
    speedup: float
    """Time as built / its time, as the search measured them."""
    max_ulp: int
    """How far it is off, in units in the last place."""
    tolerance: str
    """Options that accept it, as on the command line."""

    @property
    def rules(self) -> list[str]:
        """The rules in these options."""
        return [one for one in shlex.split(self.tolerance) if one != _OPTION]

    def sentence(self, command: str = "") -> str:
        """Return a message with its speedup and the command, or the options, to accept it."""
        how = command or self.tolerance
        return f"{self.speedup:.3g}x if {self.max_ulp} ULP is acceptable: {how}"

    @classmethod
    def found(cls, best: Mapping[str, Any]) -> Near | None:
        """Return the one in a `best.json`; None if there is none, or another version wrote it."""
        near = best.get("near")
        if not isinstance(near, Mapping):
            return None
        try:
            offer = cls(
                trial=int(near["trial"]),
                speedup=float(near["speedup"]),
                max_ulp=int(near["max_ulp"]),
                tolerance=str(near["tolerance"]),
            )
            has_rules = bool(offer.rules)
        except (KeyError, TypeError, ValueError):
            return None
        return offer if has_rules else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return asdict(self)


def fastest_near(
    trials: Sequence[CompletedCandidate],
    *,
    metric: str,
    built_ns: float | None,
    best_ns: float | None,
) -> Near | None:
    """Return the fastest trial that is a few ULP off, if it is faster than the winner.

    Args:
        trials: Those of the search.
        metric: As for `metric_value`.
        built_ns: Time of the kernel as built.
        best_ns: Time of the winner.
    """
    found: list[tuple[float, CompletedCandidate]] = []
    for done in trials:
        if done.failure == FEW_ULP and done.result.suggestion and not done.result.stopped_early:
            nanoseconds = metric_value(done.result, metric)
            if nanoseconds:
                found.append((nanoseconds, done))
    if not found or not built_ns or not best_ns:
        return None
    nanoseconds, done = min(found, key=lambda one: (one[0], one[1].candidate.trial))
    if nanoseconds * _WORTH_TELLING > best_ns:
        return None
    return Near(
        trial=done.candidate.trial,
        speedup=built_ns / nanoseconds,
        max_ulp=done.result.max_ulp,
        tolerance=tolerance_options(done.result.suggestion),
    )


def tolerance_options(suggestion: str) -> str:
    """Return the rules of a result's `suggestion` as options, quoted for a shell."""
    return " ".join(f"{_OPTION} {shlex.quote(rule)}" for rule in suggestion.split())
