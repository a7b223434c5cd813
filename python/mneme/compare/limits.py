"""What a comparison must not find: `--fail-on`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme.compare.summary import SLOWER, median_of
from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.compare.summary import Comparison, Row

__all__ = ["Limits", "percentage"]

_KINDS = "regression=3%, mean=1%, wrong or failed"


def percentage(text: str, option: str) -> float:
    """Return a part of one that is written as "3%" or "0.03".

    Raises:
        InvalidArgument: If it is neither.
    """
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1:
        raise InvalidArgument(f"{option} is '{text}'; write a percentage, as 3%")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a comparison must not find."""

    regression: float | None = None
    """The part by which a launch may take longer."""
    mean: float | None = None
    """The part by which a variant may be slower in the geometric mean."""
    is_wrong_allowed: bool = True
    is_failure_allowed: bool = True

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Limits:
        """Read the values of `--fail-on`.

        Raises:
            InvalidArgument: If one is not understood.
        """
        parts: dict[str, float] = {}
        for text in texts:
            name, equals, value = text.partition("=")
            is_part = name in ("regression", "mean")
            if (not is_part and text not in ("wrong", "failed")) or (is_part and not equals):
                raise InvalidArgument(f"--fail-on is '{text}'; it takes {_KINDS}")
            parts[name] = percentage(value, f"--fail-on {name}") if is_part else 0.0
        return cls(
            regression=parts.get("regression"),
            mean=parts.get("mean"),
            is_wrong_allowed="wrong" not in parts,
            is_failure_allowed="failed" not in parts,
        )

    def is_exceeded_by(self, row: Row) -> str:
        """Return in which way one variant of one launch is too much; empty if it is not."""
        if row.is_wrong and not self.is_wrong_allowed:
            return row.verdict
        is_failed = not row.outcome.is_verified and not row.is_wrong
        if is_failed and not row.result.problem and not self.is_failure_allowed:
            return row.verdict
        if self.regression is None or row.verdict != SLOWER or not row.ratio:
            return ""
        # What was only just found looks larger in the rounds that found it than it is.
        again = median_of(row.outcome.again) or 0.0
        longer = 1 / max(row.ratio, again) - 1
        return f"takes {100 * longer:.1f} % longer" if longer > self.regression else ""

    def exceeded(self, comparison: Comparison) -> list[str]:
        """Return a sentence for everything that was found and must not be."""
        told = [
            f"{row.name}, {row.variant}: {why}"
            for row in comparison.rows
            if (why := self.is_exceeded_by(row))
        ]
        for one in comparison.summaries if self.mean is not None else ():
            # Certainly slower: not even the end of the interval is within the limit.
            if one.mean is not None and self.mean is not None and 1 / one.mean.high - 1 > self.mean:
                slower = 100 * (1 / one.mean.ratio - 1)
                told.append(f"{one.name}: {slower:.1f} % slower in the geometric mean")
        return told
