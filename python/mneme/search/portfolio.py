"""Chooses what to try next by several methods; the more a method finds, the more it is used.

Methods ("operators") are chosen by a bandit whose credit is the area under the curve of an
operator's successes, recent ones counting more (J. Ansel et al., OpenTuner: An Extensible Framework
for Program Autotuning, PACT 2014). Asking costs well below a millisecond, so that the pool that
compiles never waits.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mneme.errors import InvalidArgument
from mneme.pipelines.mutation import mutate
from mneme.search.conditions import assign, sampling_order
from mneme.search.likelihood import Likelihood
from mneme.search.operator_credit import Operator
from mneme.search.params import ABSENT, sample_random_param
from mneme.search.pipeline_param import PipelineParam
from mneme.search.starting_points import starting_points

if TYPE_CHECKING:
    import random
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from mneme.pipelines.pass_options import ConcretePass
    from mneme.search.params import BaseParam
    from mneme.search.space_view import Sample, SpaceView

__all__ = ["Portfolio", "Proposal"]

_ELITE: Final = 12
_TOURNAMENT: Final = 3
# How much the bandit explores.
_EXPLORE: Final = 0.12
# Credit for a new best, and for another configuration among the best few.
_CREDIT_BEST: Final = 1.0
_CREDIT_GOOD: Final = 0.3
_GOOD: Final = 5
_LEAST_GAIN: Final = 0.999
# Number of passes in a sequence of its own.
_SEQUENCE: Final = (40, 140)
_BASES: Final = ("default<O0>", "default<O3>", "")
# Simplifies code after a few passes.
_AGAIN: Final = "default<O3>"
# Limit of whole pipelines in a pipeline: more take too long to compile.
_MOST_WHOLE: Final = 4
_ATTEMPTS: Final = 20
# Number of proposals that were tried before until an operator loses credit, and until one is drawn.
_ATTEMPTS_AT_NEW: Final = 8
_MOST_ATTEMPTS: Final = 200
# With more trials running, there are fewer attempts in proportion: what is likely runs already.
_FEW_RUNNING: Final = 64
_FEWEST_ATTEMPTS: Final = 8
# After the operators had nothing new, as many again as the results that came since are of those
# that run.
_ATTEMPTS_AFTER_NONE: Final = 2
# Patience: trials without a better one, and as a multiple of the trials it took to find the best.
_PATIENCE: Final = 2000
_PATIENCE_FACTOR: Final = 3.0

Params = dict[str, Any]


class Proposal(NamedTuple):
    """A configuration to try, and what chose it."""

    sample: Sample
    operator: str = ""
    """Name of the operator; empty: none of ours."""
    step: int = -1
    """Which of the single changes it is; -1: none."""
    is_repeated: bool = False
    """Whether it was tried before: nothing new was found."""


class Portfolio:
    """Proposes members of a space; learns from the results of its own proposals and of others.

    Trials have numbers. What runs counts as tried, and as not good: proposals keep away from it.
    """

    def __init__(self, space: SpaceView, rng: random.Random, seeds: Iterable[Params] = ()) -> None:
        """Prepare for a complete space. Seeds come directly after the usual configuration."""
        self._space = space
        self._rng = rng
        self._dimensions = space.dimensions()
        self._order = sampling_order(space.name, self._dimensions)
        self._pipeline = next(
            (one for one in self._dimensions.values() if isinstance(one, PipelineParam)), None
        )
        self._usual, *points = starting_points(self._dimensions)
        self._first = deque([self._usual, *seeds])
        # Single changes start from this member until results are known.
        self._promising = self._first[min(1, len(self._first) - 1)]
        self._changes = [
            {name: value for name, value in point.items() if value != self._usual[name]}
            for point in points
        ]
        self._single_changes = dict(enumerate(self._changes))
        self._running: dict[int, Proposal] = {}
        self._proposed: dict[Hashable, Sample] = {}
        self._tried: Counter[Hashable] = Counter()
        self._lost: set[Hashable] = set()
        self._metrics: dict[Hashable, float | None] = {}
        self._turns = 0
        self._elite: list[tuple[float, object, Params]] = []
        self._trials = 0
        self._trials_of_best = 0
        # How many results were known when the operators had nothing new.
        self._trials_of_none: int | None = None
        listed = {
            name: list(param.values())
            for name, param in self._dimensions.items()
            if param.is_finite
        }
        self._likelihood = Likelihood(listed, rng)
        self._operators = {
            "draw": Operator(self._draw),
            "likely": Operator(self._likely),
            "change": Operator(self._change),
            "combine": Operator(self._combine),
        }
        self._passes: list[ConcretePass] = []
        self._extensions: list[tuple[str, str]] = []
        if self._pipeline is not None:
            self._passes = self._pipeline.pass_manager.get_concrete_passes()
            self._operators["sequence"] = Operator(self._sequence)
            self._operators["mutate"] = Operator(self._mutate)
            self._operators["splice"] = Operator(self._splice)
            self._operators["extend"] = Operator(self._extend)
            self._operators["shorten"] = Operator(self._shorten)

    @property
    def is_exhausted(self) -> bool:
        """Whether more trials are not expected to find anything better."""
        return self.idle > max(_PATIENCE, _PATIENCE_FACTOR * self._trials_of_best)

    @property
    def idle(self) -> int:
        """Trials since the best was found."""
        return self._trials - self._trials_of_best

    @property
    def uses(self) -> dict[str, int]:
        """How often each operator was used lately."""
        return {name: len(one.uses) for name, one in self._operators.items()}

    def is_running(self, number: int) -> bool:
        """Whether a trial has begun and has no result yet."""
        return number in self._running

    def sample_of(self, number: int) -> Sample:
        """Return what a running trial tries."""
        return self._running[number].sample

    def is_repeated(self, number: int) -> bool:
        """Whether a running trial tries what was tried before it."""
        return self._running[number].is_repeated

    def is_tried(self, sample: Sample) -> bool:
        """Whether a configuration was tried, or runs."""
        return self._tried[sample.key] > 0

    def foreseen(self) -> Iterator[Sample]:
        """Yield the proposals that depend neither on results nor on chance.

        Proposals after the first and the seeds alternate with random ones, and change another
        member once that is better.
        """
        while not (found := self._propose(0)).operator:
            self.begin(len(self._running), found)
            yield found.sample

    def propose(self, number: int) -> Proposal:
        """Begin the trial with this number; return what to try, new if possible.

        Raises:
            InvalidArgument: If the space is empty, or its own functions failed.
        """
        for attempt in range(1, self._most_attempts() + 1):
            found = self._propose(self._turns + attempt - 1)
            if not self.is_tried(found.sample):
                break
            if attempt % _ATTEMPTS_AT_NEW == 0:
                self._meet_again(found)
        else:
            self._trials_of_none = self._trials
            found = self._drawn()
        self._proposed[_values_of(found.sample.params)] = found.sample
        self.begin(number, found)
        return found

    def _most_attempts(self) -> int:
        running = len(self._running)
        most = max(_FEWEST_ATTEMPTS, _MOST_ATTEMPTS * _FEW_RUNNING // max(_FEW_RUNNING, running))
        if self._trials_of_none is None:
            return most
        news = self._trials - self._trials_of_none
        return min(most, max(_ATTEMPTS_AFTER_NONE, most * news // max(1, running)))

    def _meet_again(self, proposal: Proposal) -> None:
        """Note that an operator has nothing new: it is used less, and this known one counts more.

        What is proposed again and again has values of good members.
        """
        sample, operator, *_ = proposal
        self._operators[operator].add(0.0)
        key = sample.key
        if key in self._metrics:
            self._likelihood.learn(sample.params, self._metrics[key])

    def _drawn(self) -> Proposal:
        for _ in range(_ATTEMPTS):
            sample = self._space.draw_params(self._rng, self._order)
            if not self.is_tried(sample):
                return Proposal(sample, "draw")
        return Proposal(sample, "draw", is_repeated=True)

    def begin(self, number: int, proposal: Proposal) -> None:
        """Note that a trial runs, which this portfolio or another one proposed."""
        self._running[number] = proposal
        self._turns += _takes_turn(proposal)
        self._tried[proposal.sample.key] += 1
        self._single_changes.pop(proposal.step, None)
        self._likelihood.begin(proposal.sample.params)
        if proposal.operator in self._operators:
            self._operators[proposal.operator].running += 1

    def retract(self, number: int) -> None:
        """Forget that a trial began; what is tried in any case is tried by another one."""
        proposal = self._end(number)
        sample, operator, step, _ = proposal
        self._turns -= _takes_turn(proposal)
        self._tried[sample.key] -= 1
        if step >= 0:
            self._single_changes[step] = self._changes[step]
        elif not operator:
            self._first.appendleft(sample.params)

    def lose(self, number: int) -> None:
        """Note that a trial ended without a result; its configuration is tried once more."""
        sample = self._running[number].sample
        key = sample.key
        self.retract(number)
        if self.is_tried(sample):
            return
        if key in self._lost:  # it may be what ends processes
            self._tried[key] += 1
        else:
            self._lost.add(key)
            self._first.appendleft(sample.params)

    def _end(self, number: int) -> Proposal:
        proposal = self._running.pop(number)
        self._likelihood.end(proposal.sample.params)
        if proposal.operator in self._operators:
            self._operators[proposal.operator].running -= 1
        return proposal

    def _propose(self, turn: int) -> Proposal:
        while self._first:
            sample = self.member(self._first.popleft())
            if sample is not None and not self.is_tried(sample):
                return Proposal(sample)
        # Alternates with the operators: in some spaces no single change helps.
        if turn % 2 == 0 and (change := self._next_change()) is not None:
            return change
        name = self._choose()
        for _ in range(_ATTEMPTS):
            params = self._operators[name].propose()
            sample = None if params is None else self.member(params)
            if sample is not None:
                return Proposal(sample, name)
        return Proposal(self._space.draw_params(self._rng, self._order), "draw")

    def _next_change(self) -> Proposal | None:
        """A good member with another of the first values of a parameter."""
        good = self._parent() or self._promising
        for step, change in list(self._single_changes.items()):
            del self._single_changes[step]
            if change.items() <= good.items():
                continue
            sample = self.member({**good, **change})
            if sample is not None and not self.is_tried(sample):
                return Proposal(sample, step=step)
        return None

    def learn(self, number: int, metric: float | None, identity: object) -> None:
        """Take in the result of a trial that has begun.

        Args:
            number: The trial.
            metric: Smaller is better; None: it does not work.
            identity: Equal for configurations that are the same code and launch.
        """
        sample, operator, *_ = self._end(number)
        self._trials += 1
        self._metrics[sample.key] = metric
        self._likelihood.learn(sample.params, metric)
        credit = 0.0 if metric is None else self._rank(metric, identity, dict(sample.params))
        if operator in self._operators:
            self._operators[operator].add(credit)

    def _rank(self, metric: float, identity: object, params: Params) -> float:
        best = self._elite[0][0] if self._elite else math.inf
        for index, (known, same, _) in enumerate(self._elite):
            if same == identity:
                is_shorter = self._length(params) < self._length(self._elite[index][2])
                if metric < known or (metric == known and is_shorter):
                    self._elite[index] = (metric, identity, params)
                    self._elite.sort(key=lambda one: one[0])
                return 0.0
        self._elite.append((metric, identity, params))
        self._elite.sort(key=lambda one: one[0])
        place = next(i for i, one in enumerate(self._elite) if one[1] == identity)
        del self._elite[_ELITE:]
        if metric < _LEAST_GAIN * best:
            self._trials_of_best = self._trials
            return _CREDIT_BEST
        return _CREDIT_GOOD if place < _GOOD else 0.0

    def _length(self, params: Params) -> int:
        return 0 if self._pipeline is None else len(self._pipeline_of(params))

    def _choose(self) -> str:
        uses = {name: len(one.uses) + one.running for name, one in self._operators.items()}
        total = sum(uses.values()) + 1
        unused = [name for name, count in uses.items() if not count]
        if unused:
            return self._rng.choice(unused)

        span = 2 * math.log(total)

        def score(name: str) -> float:
            explore = _EXPLORE * math.sqrt(span / uses[name])
            return self._operators[name].credit + explore

        # Several are requested before the first result: a random term makes them differ.
        return max(self._operators, key=lambda name: score(name) * self._rng.uniform(0.7, 1.3))

    def member(self, params: Mapping[str, Any]) -> Sample | None:
        """Return the member with these values, missing ones drawn; None if it is not allowed."""
        found = assign(
            self._space.name,
            self._dimensions,
            lambda param: self._value(param, params),
            self._order,
        )
        # Most of what is proposed late in a search was tried before.
        known = self._proposed.get(_values_of(found))
        if known is not None:
            return known
        sample = self._space.sample_of(found)
        return sample if self._space.allows(sample, "parameters") else None

    def _value(self, param: BaseParam, params: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of the parameter
        given = params.get(param.name, ABSENT)
        # A placeholder for an inactive parameter is not a value of an active one.
        is_missing = given is ABSENT or (given == param.otherwise and not param.contains(given))
        return sample_random_param(param, self._rng) if is_missing else given

    def _parent(self) -> Params | None:
        if not self._elite:
            return None
        among = [self._rng.choice(self._elite) for _ in range(_TOURNAMENT)]
        return dict(min(among, key=lambda one: one[0])[2])

    def _draw(self) -> Params | None:
        return {}

    def _likely(self) -> Params | None:
        """Values that good members have more often than others."""
        return self._likelihood.propose() if self._likelihood.is_ready else None

    def _change(self) -> Params | None:
        """A good member with one or two new values and its pipeline."""
        parent = self._parent()
        if parent is None:
            return None
        free = [
            name
            for name in parent
            if name in self._dimensions and not isinstance(self._dimensions[name], PipelineParam)
        ]
        for name in self._rng.sample(free, min(len(free), self._rng.randint(1, 2))):
            del parent[name]
        return parent

    def _combine(self) -> Params | None:
        """The code of one good member, the launch of another."""
        one, other = self._parent(), self._parent()
        if one is None or other is None or one == other:
            return None
        of_code = {"passes", "unroll", "codegen_opt"}
        if self._pipeline is not None:
            of_code.add(self._pipeline.name)
        if not of_code & one.keys():
            of_code = {name for name in one if self._rng.random() < 0.5}  # noqa: PLR2004
        kept = {name: value for name, value in other.items() if name not in of_code}
        return {**kept, **{name: one[name] for name in of_code if name in one}}

    def _sequence(self) -> Params | None:
        """A long random sequence of passes, with a good launch or the recorded one."""
        assert self._pipeline is not None  # noqa: S101 - for the type checker
        count = self._rng.randint(*_SEQUENCE)
        manager = self._pipeline.pass_manager
        drawn = manager.to_string([self._rng.choice(self._passes) for _ in range(count)])
        base, end = self._rng.choice(_BASES), self._rng.choice(("", _AGAIN))
        return self._with_pipeline(",".join(part for part in (base, drawn, end) if part))

    def _mutate(self) -> Params | None:
        """The pipeline of a good member with a few passes changed."""
        parent = self._parent()
        text = "" if parent is None else self._pipeline_of(parent)
        if not text or self._pipeline is None:
            return None
        changes = 1 + int(self._rng.expovariate(0.5))
        changed = mutate(text, self._pipeline.pass_manager, self._rng, changes)
        return self._with_pipeline(changed, parent)

    def _splice(self) -> Params | None:
        """The beginning of one pipeline, the end of another."""
        one, other = self._parent(), self._parent()
        if one is None or other is None or self._pipeline is None:
            return None
        manager = self._pipeline.pass_manager
        parts = [manager.from_string(self._pipeline_of(each)) for each in (one, other)]
        if min(map(len, parts)) < 2:  # noqa: PLR2004 - nothing to cut
            return None
        cuts = [self._rng.randint(1, len(each) - 1) for each in parts]
        return self._with_pipeline(
            manager.to_string([*parts[0][: cuts[0]], *parts[1][cuts[1] :]]), one
        )

    def _extend(self) -> Params | None:
        """One more pass, before or after a good pipeline: each pass once, then again."""
        parent = self._parent()
        text = "" if parent is None else self._pipeline_of(parent)
        if not text or self._pipeline is None:
            return None
        if not self._extensions:
            added = [self._pipeline.pass_manager.to_string([one]) for one in self._passes]
            self._extensions = [
                *((one, "") for one in added),
                *(("", one) for one in added),
                *(("", f"{one},{_AGAIN}") for one in added),
            ]
            self._rng.shuffle(self._extensions)
        front, behind = self._extensions.pop()
        found = ",".join(part for part in (front, text, behind) if part)
        return self._with_pipeline(found, parent) if _is_short(found) else None

    def _shorten(self) -> Params | None:
        """A good pipeline without some consecutive passes, at most half of them."""
        parent = self._parent()
        if parent is None or self._pipeline is None:
            return None
        manager = self._pipeline.pass_manager
        passes = manager.from_string(self._pipeline_of(parent))
        if len(passes) < 2:  # noqa: PLR2004 - nothing would be left
            return None
        count = self._rng.randint(1, len(passes) // 2)
        start = self._rng.randint(0, len(passes) - count)
        del passes[start : start + count]
        return self._with_pipeline(manager.to_string(passes), parent)

    def _pipeline_of(self, params: Params) -> str:
        assert self._pipeline is not None  # noqa: S101
        text = params.get(self._pipeline.name) or params.get("passes", "")
        return str(text)

    def _with_pipeline(self, text: str, parent: Params | None = None) -> Params | None:
        """Return parameters with this pipeline; the others are those of a good member."""
        assert self._pipeline is not None  # noqa: S101
        if not isinstance(self._pipeline.when, dict):
            raise InvalidArgument(f"'{self._pipeline.name}' has no condition that can be met")
        base = parent or self._parent() or {}
        return {**base, **self._pipeline.when, self._pipeline.name: text}


def _is_short(pipeline: str) -> bool:
    return pipeline.count("default<") <= _MOST_WHOLE


def _values_of(params: Mapping[str, Any]) -> Hashable:
    """Return what is equal for equal parameters; 1 and True are not."""
    return (*params, *params.values(), *map(type, params.values()))


def _takes_turn(proposal: Proposal) -> bool:
    """Whether it is a single change or of an operator, which alternate."""
    return bool(proposal.operator) or proposal.step >= 0
