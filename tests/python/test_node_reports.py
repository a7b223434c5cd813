"""What listeners are told of hosts and of failures, and the table that users see."""

from __future__ import annotations

from typing import Any

import pytest

from mneme.cli._node_table import NodeTable
from mneme.errors import MnemeError, NotFound
from mneme.measure.statistics import NodeStatistics
from mneme.session.events import NodeReport, TuneListener
from mneme.session.options import TuneOptions
from mneme.session.session import TuningSession


def report(busy: float, left_out: dict[str, str]) -> NodeReport:
    node = NodeStatistics(processes=2, finished=8, failures=1, device_busy_seconds=busy)
    return NodeReport(hosts={"node1": node}, left_out=left_out, seconds=10.0)


def test_searches_are_added_up_by_host() -> None:
    table = NodeTable()
    table.add(report(10.0, {"tcp://b": "node2: has no GPU"}))
    table.add(report(0.0, {}))
    assert table.take_lines() == [
        "host   processes  configurations  failed  busy",
        "node1          2              16       2  25 %",
        "left out: tcp://b: node2: has no GPU",
    ]
    assert table.take_lines() == []


class OfOld(TuneListener):
    """A listener as users wrote it before errors were given to it."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def failed(self, sentence: str) -> None:  # type: ignore[override]
        self.told.append(sentence)


class OfNow(OfOld):
    """As they write it now."""

    def failed(self, sentence: str, error: MnemeError | None = None) -> None:
        self.told += [sentence, type(error)]


class Forwarding(OfOld):
    """One that hands on whatever it gets."""

    def failed(self, *given: Any) -> None:
        self.told += [given[0], type(given[1])]


@pytest.mark.parametrize("kind", [OfOld, OfNow, Forwarding])
def test_listeners_of_old_hear_of_failures_too(kind: type[OfOld]) -> None:
    listener = kind()
    session = TuningSession(TuneOptions(record_database="nowhere", trials=1), listener)
    assert session.run() != 0
    assert listener.told == [session.error, NotFound][: 1 if kind is OfOld else 2]
