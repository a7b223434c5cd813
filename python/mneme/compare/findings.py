"""Which differences of a comparison are more than chance.

A difference is found in the first rounds, among all tests together. Then it is measured again,
later and in an order that is drawn anew. It counts only if that says the same.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme.compare.statistics import discoveries, is_confirmed, sign_test
from mneme.session.rounds import FEWEST_ROUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.compare.results import CaseResult

__all__ = ["Findings", "find"]

Key = tuple[int, str]
"""Number of a launch among the results, and the name of a variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What tests say about all launches and variants."""

    p_values: dict[Key, float]
    """By the sign test over the first rounds, where there are enough of them."""
    found: set[Key]
    """The differences that are more than chance, as far as is known."""
    unconfirmed: set[Key]
    """Those of them that were not measured again."""


def find(results: Sequence[CaseResult], level: float) -> Findings:
    """Return what differs.

    Args:
        results: All launches.
        level: The part of chance among what differs, at most.
    """
    outcomes = {
        (number, name): outcome
        for number, result in enumerate(results)
        for name, outcome in result.outcomes.items()
        if len(outcome.ratios) >= FEWEST_ROUNDS
    }
    p_values = {key: sign_test(one.ratios) for key, one in outcomes.items()}
    found, unconfirmed = set(), set()
    for key in discoveries(p_values, level):
        one = outcomes[key]
        if statistics.median(one.ratios) == 1:
            continue  # what differs is less than the timer can tell
        if not one.again:
            unconfirmed.add(key)
        elif not is_confirmed(one.ratios, one.again):
            continue
        found.add(key)
    return Findings(p_values=p_values, found=found, unconfirmed=unconfirmed)
