"""The life of a process that answers requests, with processes that do nothing of use."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from executor_parts import is_gone
from mneme.measure.child import ChildSpec
from mneme.measure.content import Content, Kept
from mneme.measure.worker import Lifecycle, Refusal, Request, Worker

SERVED = """
import os, subprocess, sys, time
from contextlib import nullcontext
from mneme.errors import InvalidArgument, NotFound
from mneme.measure.serving import serve

def answer(message, content):
    if message == "die":
        os._exit(3)
    if message == "hang":
        helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(helper.pid, flush=True)
        time.sleep(600)
    if message == "refuse":
        raise InvalidArgument("not this")
    return "answer", (message, len(content))

def opened(greeting):
    if greeting == "broken":
        raise NotFound("nothing there")
    return nullcontext((greeting, answer))

serve(opened)
"""
BOUND_SECONDS = 30.0


class Echo(Worker[str]):
    """Keeps what it is told."""

    def __init__(self, log: Path, greeting: str = "hello", **life: Any) -> None:
        super().__init__(Lifecycle(**{"attempts": 2, "grace_seconds": 5.0, **life}))
        self.log, self.greeting, self.command = log, greeting, SERVED
        self.heard: list[tuple[Any, ...]] = []

    def ask(
        self, message: str, content: Content | None = None, seconds: float | None = None
    ) -> None:
        self.send(Request(subject=message, message=message, content=content, seconds=seconds))

    def _child_spec(self) -> ChildSpec:
        return ChildSpec(command=self.command, settings={"greeting": self.greeting}, log=self.log)

    def _on_ready(self, content: Any) -> None:
        self.heard.append(("ready", content))

    def _on_answer(self, request: Request[str], kind: str, content: Any) -> None:
        self.heard.append((request.subject, kind, content))

    def _on_lost(self, request: Request[str], code: int, *, is_late: bool) -> None:
        self.heard.append((request.subject, "lost", code, is_late))

    def _on_refusal(self, requests: list[Request[str]], refusal: Refusal) -> None:
        self.heard.append(("refused", [one.subject for one in requests], refusal))

    def _on_gone(self) -> None:
        self.heard.append(("gone",))


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def run(loop: asyncio.AbstractEventLoop) -> Callable[[Echo, int], list[tuple[Any, ...]]]:
    def until(worker: Echo, count: int) -> list[tuple[Any, ...]]:
        """Start the worker unless it has been, and wait until it heard so much."""
        worker.run_in(loop)
        worker.start()
        end = time.monotonic() + BOUND_SECONDS
        while len(worker.heard) < count and time.monotonic() < end:
            loop.run_until_complete(asyncio.sleep(0.01))
        return worker.heard

    return until


Run = Callable[[Echo, int], list[tuple[Any, ...]]]


def test_a_content_is_sent_once_to_each_process(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Echo(tmp_path / "log")
    run(worker, 1)
    assert worker._child is not None
    sent: list[tuple[Any, ...]] = []
    send = worker._child.send
    monkeypatch.setattr(
        worker._child, "send", lambda message: (sent.append(message), send(message))
    )
    first, second = Content.of(b"1" * 1000), Content.of(b"2" * 2000)
    for content in (first, second, first, None, second):
        worker.ask("has", content)
    assert [heard[2][1] for heard in run(worker, 6)[1:]] == [1000, 2000, 1000, 0, 2000]
    assert [len(data) for _, _, data in sent] == [1000, 2000, 0, 0, 0]
    worker.ask("die", first)
    worker.ask("has", first)
    assert run(worker, 9)[-1] == ("has", "answer", ("has", 1000))
    worker.close()
    run(worker, 10)


def test_both_ends_forget_the_same_contents() -> None:
    here, there = Kept(), Kept()
    contents = [Content.of(bytes([number % 11])) for number in range(0, 400, 7)]
    for content in contents:
        is_sent = here.use(content) is None
        known = there.use(Content(content.name, content.data if is_sent else b""))
        assert is_sent == (known is None)
        assert is_sent or (known is not None and known.data == content.data)
    assert len(here._contents) == len(there._contents) < 11


def test_a_request_that_costs_the_process_costs_no_other(run: Run, tmp_path: Path) -> None:
    worker = Echo(tmp_path / "log")
    for message in ("one", "die", "two", "refuse", "die", "three"):
        worker.ask(message)
    heard = [one for one in run(worker, 9) if one[0] != "ready"]
    assert heard == [
        ("one", "answer", ("one", 0)),
        ("die", "lost", 3, False),
        ("two", "answer", ("two", 0)),
        ("refuse", "failed", "not this"),
        ("die", "lost", 3, False),
        ("three", "answer", ("three", 0)),
    ]
    assert worker.restarts == 2
    worker.close()
    assert run(worker, 10)[-1] == ("gone",)
    assert worker.pid is None


def test_who_takes_too_long_is_ended_with_what_it_started(run: Run, tmp_path: Path) -> None:
    worker = Echo(tmp_path / "log")
    worker.ask("hang", seconds=2.0)
    worker.ask("after", seconds=BOUND_SECONDS)
    heard = [one for one in run(worker, 4) if one[0] != "ready"]
    assert heard == [("hang", "lost", -signal.SIGKILL, True), ("after", "answer", ("after", 0))]
    assert is_gone(int((tmp_path / "log").read_text()))
    worker.close(kill=True)
    run(worker, 5)


def test_a_stopped_process_is_ended(run: Run, tmp_path: Path) -> None:
    worker = Echo(tmp_path / "log")
    run(worker, 1)
    os.kill(worker.pid or 0, signal.SIGSTOP)
    worker.ask("one", seconds=0.2)
    assert run(worker, 3)[1:] == [("one", "lost", -signal.SIGKILL, True), ("ready", "hello")]
    worker.close(kill=True)
    run(worker, 4)


def test_interrupts_are_for_the_owner(run: Run, tmp_path: Path) -> None:
    worker = Echo(tmp_path / "log")
    run(worker, 1)
    assert os.getpgid(worker.pid or 0) == worker.pid
    os.kill(worker.pid or 0, signal.SIGINT)
    worker.ask("one")
    assert run(worker, 2)[-1] == ("one", "answer", ("one", 0))
    worker.close()
    run(worker, 3)


@pytest.mark.parametrize(
    ("life", "greeting", "command", "refusal"),
    [
        ({}, "broken", SERVED, Refusal("NotFound", "nothing there")),
        ({}, "", "raise SystemExit(5)", Refusal("", "it ended with exit code 5")),
        (
            {"start_seconds": 0.3},
            "",
            "import time; time.sleep(600)",
            Refusal("", "no answer within 0.3 s"),
        ),
    ],
)
def test_what_does_not_start_is_given_up(
    life: dict[str, float], greeting: str, command: str, refusal: Refusal, run: Run, tmp_path: Path
) -> None:
    worker = Echo(tmp_path / "log", greeting, **life)
    worker.command = command
    worker.ask("one")
    assert run(worker, 1) == [("refused", ["one"], refusal)]
    assert (worker.load, worker.pid) == (0, None)
    # Whatever it was may have passed.
    worker.command, worker.greeting = SERVED, "again"
    worker._lifecycle = Lifecycle(attempts=2, grace_seconds=5.0)
    assert run(worker, 2)[-1] == ("ready", "again")
    worker.close(kill=True)
    run(worker, 3)


@pytest.mark.parametrize("closed", ["0", "1", "0, 1, 2"])
def test_owners_without_standard_descriptors_have_workers(closed: str, tmp_path: Path) -> None:
    script = f"""
import asyncio, os, sys
for descriptor in ({closed},):
    os.close(descriptor)
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_processes import Echo

loop = asyncio.new_event_loop()
worker = Echo(Path({str(tmp_path)!r}) / "log")
worker.run_in(loop)
worker.start()
worker.ask("one")
async def wait():
    while len(worker.heard) < 2:
        await asyncio.sleep(0.01)
    worker.close()
    while len(worker.heard) < 3:
        await asyncio.sleep(0.01)
loop.run_until_complete(wait())
Path({str(tmp_path)!r}, "heard").write_text(repr(worker.heard))
"""
    subprocess.run([sys.executable, "-c", script], timeout=BOUND_SECONDS, check=False)
    heard = [("ready", "hello"), ("one", "answer", ("one", 0)), ("gone",)]
    assert (tmp_path / "heard").read_text() == repr(heard)
