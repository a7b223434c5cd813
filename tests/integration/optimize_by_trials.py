"""`mneme optimize` that does a certain amount of work: a busy machine makes less of a budget.

usage: optimize_by_trials.py TRIALS heavy|all ARGUMENTS...

Each launch is searched with that many trials: the heavy ones, as a clock says, or all. Six pairs of
runs, the fewest whose median has an interval, prove the gain. Kernels have one thread, which waits
for no other to get its turn.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from mneme.cli import main
from mneme.optimize import heavy, searches, session

if TYPE_CHECKING:
    from mneme.optimize.heavy import Target
    from mneme.session.options import TuneOptions


def limit_work(trials: int, launches: str) -> None:
    """Let searches end after so many trials; budgets are for the rest to be enough."""
    by_budget = searches.Searches._tuning

    def by_trials(self: searches.Searches, target: Target, seconds: float) -> TuneOptions:
        return replace(by_budget(self, target, seconds), trials=trials)

    searches.Searches._tuning = by_trials  # type: ignore[method-assign]
    if launches == "all":
        heavy._ENOUGH, heavy._TOO_LITTLE = math.inf, 0.0
    session._MOST_PAIRS = 6
    os.environ["MNEME_CPU_THREADS"] = "1"


if __name__ == "__main__":
    limit_work(int(sys.argv[1]), sys.argv[2])
    sys.exit(main(["optimize", *sys.argv[3:]]))
