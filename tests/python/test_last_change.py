"""Searching for where something becomes bad."""

from __future__ import annotations

import random

import pytest

from mneme.bisect.last_change import first_bad, last_change
from mneme.bisect.pass_runs import EVERY_RUN, PassRuns, first_runs, without_run


@pytest.mark.parametrize("last", [1, 2, 3, 7, 100, 1023])
def test_the_one_change_is_found(last: int) -> None:
    for change in {1, min(2, last), max(1, last // 2), last}:
        asked: list[int] = []

        def is_bad(count: int, change: int = change, asked: list[int] = asked) -> bool:
            asked.append(count)
            return count >= change

        assert last_change(is_bad, last) == change
        assert len(asked) <= 2 * last.bit_length() + 1
        assert all(0 <= one <= last for one in asked)


def test_of_many_changes_one_is_found() -> None:
    """Where code is slow before it is optimised, the run is one after which it stays slow."""
    chance = random.Random(1)
    for _ in range(200):
        answers = [chance.random() < 0.5 for _ in range(chance.randint(1, 60))] + [True]
        found = last_change(answers.__getitem__, len(answers) - 1)
        if found is None:
            assert answers[0]
        else:
            assert answers[found]
            assert not answers[found - 1]


def test_slow_at_both_ends() -> None:
    assert last_change(lambda count: count < 10 or count >= 90, 100) == 90


def test_nothing_is_good() -> None:
    assert last_change(lambda _: True, 100) is None
    assert first_bad(lambda _: True) is None


@pytest.mark.parametrize("change", [1, 2, 3, 64, 65, 1000])
def test_without_an_end(change: int) -> None:
    asked: list[int] = []

    def is_bad(count: int) -> bool:
        asked.append(count)
        return count >= change

    assert first_bad(is_bad) == change
    assert max(asked) < 2 * change + 1


def test_pipelines() -> None:
    assert first_runs("default<O3>", 7) == "mneme-opt-bisect<1-7>,default<O3>"
    assert first_runs("sroa", 0) == "mneme-opt-bisect<0>,sroa"
    assert without_run("sroa", 1) == f"mneme-opt-bisect<2-{EVERY_RUN}>,sroa"
    assert without_run("sroa", 5) == f"mneme-opt-bisect<1-4;6-{EVERY_RUN}>,sroa"


def test_statistics() -> None:
    told = {"pass_runs": {"count": 3, "ran": 1, "last": "sroa on function f", "next": "dce"}}
    assert PassRuns.from_statistics(told) == PassRuns(
        count=3, last="sroa on function f", next="dce"
    )
