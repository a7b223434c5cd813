"""An interrupt waits for what belongs together; it comes at any moment of the interpreter."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from mneme.interrupts import _Handlers, interrupts_wait, interrupts_wait_often
from mneme.measure.eval_future import EvalFuture
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.session.result_store import read_trials
from mneme.session.session import TuneOptions, TuningSession
from native_parts import needs_native
from tune_parts import FakeExecutor, Levels, recording

__all__ = ["recording"]


def test_an_interrupt_comes_when_the_block_is_over() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - what is left out says it
        with interrupts_wait():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("all of it")
        done.append("too much")
    assert done == ["all of it"]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_interrupts_wait_as_well_where_that_costs_little() -> None:
    before = signal.getsignal(signal.SIGINT)
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt), interrupts_wait_often():  # noqa: PT012 - as above
        for number in range(3):
            with interrupts_wait(), interrupts_wait():
                if number == 1:
                    os.kill(os.getpid(), signal.SIGINT)
                done.append(number)
    assert done == [0, 1]
    with pytest.raises(KeyboardInterrupt), interrupts_wait_often():  # noqa: PT012 - as above
        os.kill(os.getpid(), signal.SIGINT)
        done.append(9)
    assert done == [0, 1]
    assert signal.getsignal(signal.SIGINT) == before


class _Twice(_Handlers):
    """A second interrupt comes while a block ends."""

    is_armed = False

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "_depth" and value == 0 and self.is_armed:
            self.is_armed = False
            os.kill(os.getpid(), signal.SIGINT)


def test_a_second_interrupt_while_a_block_ends_leaves_none_for_later() -> None:
    handlers = _Twice()
    handlers.install()
    try:
        with pytest.raises(KeyboardInterrupt), handlers:  # noqa: PT012 - as above
            handlers.is_armed = True
            os.kill(os.getpid(), signal.SIGINT)
        with handlers:
            pass
    except KeyboardInterrupt:
        pytest.fail("the first one came once more")
    finally:
        handlers.remove()


def test_other_threads_have_nothing_to_wait_for() -> None:
    done: list[bool] = []

    def work() -> None:
        with interrupts_wait():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


@pytest.mark.compile
@needs_native
def test_an_interrupt_while_a_trial_is_written_leaves_files_that_agree(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    sent: list[int] = []

    def interrupted(descriptor: int, data: bytes) -> int:
        written = write(descriptor, data)
        if b'"trial": 2' in bytes(data) and not sent:
            sent.append(signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        return written

    monkeypatch.setattr(os, "write", interrupted)
    options = TuneOptions(
        record_database=recording, results_dir=tmp_path / "results", sampler="grid"
    )
    tuning = TuningSession(options, space=Levels(), make_executor=FakeExecutor())
    assert tuning.run() == 130, tuning.error
    lines = (tmp_path / "results" / "trials.jsonl").read_bytes().count(b"\n")
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    # A result that had come by then is kept, too.
    assert summary["num_trials_completed"] == lines == 4


class _Interrupting(EvalFuture):
    """An interrupt comes when its result is taken."""

    def result(self, timeout: float | None = None) -> ExperimentResult | None:
        os.kill(os.getpid(), signal.SIGINT)
        return super().result(timeout)


class _Interrupted(FakeExecutor):
    """The result of the fourth configuration comes with an interrupt."""

    def submit(self, config: ExperimentConfiguration, **wishes: Any) -> EvalFuture:
        done = super().submit(config, **wishes)
        if len(self.submitted) != 4:
            return done
        future = _Interrupting(0, config)
        future.set_result(self.answer(config))
        return future


@pytest.mark.compile
@needs_native
def test_an_interrupt_while_a_result_is_taken_does_not_lose_it(
    recording: Path, tmp_path: Path
) -> None:
    options = TuneOptions(
        record_database=recording, results_dir=tmp_path / "results", sampler="grid"
    )
    executor = _Interrupted()
    tuning = TuningSession(options, space=Levels(), make_executor=executor)
    assert tuning.run() == 130, tuning.error
    taken = executor.submitted[3].key()
    assert taken in {one.candidate.config.key() for one in read_trials(tmp_path / "results")}
