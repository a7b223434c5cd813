"""Which run of which pass makes a pipeline wrong, slower or larger."""

from mneme.bisect.bisection import Bisection, BisectOptions, Culprit
from mneme.bisect.symptom import Symptom

__all__ = ["BisectOptions", "Bisection", "Culprit", "Symptom"]
