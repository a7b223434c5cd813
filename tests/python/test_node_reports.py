"""What listeners are told of hosts and of failures, and the table that users see."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.cli._node_table import NodeTable
from mneme.errors import IoFailed, MnemeError, NotFound
from mneme.measure.statistics import NodeStatistics
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.session.events import NodeReport, TuneListener
from mneme.session.options import TuneOptions
from mneme.session.session import TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, recording, steady

__all__ = ["recording"]


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


class OnNodes(FakeExecutor):
    """Measures on a node of a cluster."""

    def __init__(self, end: BaseException | None, *, is_right: bool = True) -> None:
        super().__init__(self._answer)
        self._end, self._is_right = end, is_right
        self.nodes = {"node1": NodeStatistics(processes=1)}
        self.left_out: dict[str, str] = {}
        self.statistics = SimpleNamespace(wall_seconds=1.0)

    def _answer(self, config: ExperimentConfiguration) -> ExperimentResult:
        if self._end is not None:
            raise self._end
        result = steady(config)
        result.verified = self._is_right
        return result


class OfNodes(TuneListener):
    """Counts what it gets."""

    def __init__(self, *, is_cut: bool) -> None:
        self.told: list[str] = []
        self._is_cut = is_cut

    def nodes(self, found: NodeReport) -> None:
        self.told += found.hosts
        if self._is_cut:
            raise KeyboardInterrupt


@needs_native
@pytest.mark.parametrize(
    ("end", "is_right", "is_cut", "code"),
    [
        (None, True, False, 0),
        (None, False, False, 1),
        (None, True, True, 130),
        (IoFailed("the disk is full"), True, False, 8),
        (KeyboardInterrupt(), True, False, 130),
    ],
)
def test_nodes_are_reported_once_however_a_search_ends(
    recording: Path,
    tmp_path: Path,
    end: BaseException | None,
    is_right: bool,
    is_cut: bool,
    code: int,
) -> None:
    listener = OfNodes(is_cut=is_cut)
    session = TuningSession(
        TuneOptions(
            record_database=recording,
            results_dir=tmp_path / "results",
            baseline_only=end is None,
            trials=None if end is None else 4,
            device="cpu",
            knowledge=False,
        ),
        listener,
        make_executor=OnNodes(end, is_right=is_right),
    )
    assert session.run() == code
    assert listener.told == ["node1"]
