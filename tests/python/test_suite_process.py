"""A process that goes from recording to recording says what it could not open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mneme.errors import DeviceFailed
from mneme.measure.suite_process import SuiteProcess, Task


class Child:
    """A process that says and does what the test wants."""

    def __init__(self, _loop: Any, _spec: Any, answered: Any, ended: Any) -> None:
        self.pid = 100
        self._answered, self._ended = answered, ended
        CHILDREN.append(self)

    def says(self, *message: Any) -> None:
        self._answered(self, message)

    def ends(self, code: int) -> None:
        self._ended(self, code)

    def send(self, message: object) -> None: ...

    def finish(self) -> None: ...

    def kill(self) -> None: ...


CHILDREN: list[Child] = []


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SuiteProcess]:
    monkeypatch.setattr("mneme.measure.worker.ChildProcess", Child)
    CHILDREN.clear()
    loop = asyncio.new_event_loop()
    yield SuiteProcess(loop, "cpu", log=tmp_path / "log", timeout=None, environment={})
    loop.close()


@pytest.mark.parametrize(
    ("happens", "sentence"),
    [
        (lambda child: child.ends(11), r"Worker crashed \(exit code: 11\)"),
        (lambda child: child.says("failed", "no room"), "no room"),
    ],
)
def test_a_launch_is_not_open_that_a_process_did_not_open(
    process: SuiteProcess, happens: Callable[[Child], None], sentence: str
) -> None:
    opens, closes = Task(message=("open",)), Task(message=("close",))
    process.ask(opens)
    process.ask(closes)
    CHILDREN[0].says("ready", None)
    happens(CHILDREN[0])
    with pytest.raises(DeviceFailed, match=sentence):
        opens.future.result(0)
    serving = CHILDREN[-1]
    if serving is not CHILDREN[0]:
        serving.says("ready", None)
    serving.says("done", None)
    assert closes.future.result(0) is None
