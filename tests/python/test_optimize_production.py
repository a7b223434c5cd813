"""Runs with tuned kernels: what they print is compared with what the program as built prints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.errors import InvalidArgument
from mneme.optimize import application
from mneme.optimize.application import Application, Disturbance, Run
from mneme.optimize.as_built import observe
from mneme.optimize.events import OptimizeListener
from mneme.optimize.keeping import Keeper
from mneme.optimize.options import OptimizeOptions
from mneme.optimize.outputs import ExactCheck
from mneme.optimize.production import Production
from mneme.optimize.profile import KernelTime, Profile
from mneme.optimize.result import KernelResult, OptimizeResult
from mneme.optimize.session import OptimizeSession
from mneme.process_groups import end_group
from native_parts import needs_native

_WAITS_FOR_A_STOP = """
import signal, time
goes_on = []
signal.signal(signal.SIGCONT, lambda *_: goes_on.append(True))
end = time.monotonic() + 60
while not goes_on and time.monotonic() < end:
    time.sleep(0.001)
print("went on" if goes_on else "was not stopped")
"""


class Printing:
    """A program that prints what it is told to, and notes how it is run."""

    def __init__(
        self, *, tuned: str, built: list[str], slow: str, delayed: str = "", apart: bool = False
    ) -> None:
        self.apart = apart
        self.tuned, self.built, self.slow, self.delayed = tuned, built, slow, delayed
        self.runs: list[str] = []
        self.delays: list[str] = []

    def run(
        self,
        *,
        tuned: Path | None = None,
        disturbed: Disturbance = Disturbance(),  # noqa: B008 - it is constant
        **_: Any,
    ) -> Run:
        how = "tuned" if tuned else "slow" if disturbed.is_stopped else "built"
        if disturbed.delays:
            how = "delayed"
            self.delays.append(disturbed.delays.read_text())
        self.runs.append(how)
        texts = {"tuned": self.tuned, "slow": self.slow, "delayed": self.delayed}
        text = texts.get(how) or self.built.pop(0)
        return Run(seconds=1.0, code=0, output=text.encode(), error=b"")

    def production(self, folder: Path) -> Production:
        output = b"sum 1.5\ntime 2 s\n"
        run = Run(seconds=1.0, code=0, output=output, error=b"")
        profile = Profile()
        if self.delayed:
            profile.kernels["_Z1kv"] = KernelTime(name="_Z1kv", launches=4, total_ns=4000)
        built: Any = SimpleNamespace(runs=[run], measures_apart=self.apart, profile=profile)
        program: Any = self
        return Production(program, built, ExactCheck([output] * 3), folder)


_SAME = "sum 1.5\ntime 2 s\n"


@pytest.mark.parametrize(
    ("tuned", "built", "slow", "delayed", "runs", "fault"),
    [
        (_SAME, "", "", "", "", ""),
        ("sum 1.5\ntime 0 s\n", _SAME, "sum 1.5\ntime 6 s\n", "", "built slow", ""),
        ("sum 1.6\ntime 2 s\n", "sum 1.7\ntime 2 s\n", "", "", "built", ""),
        ("sum 1.5\ntime 0 s\n", _SAME, _SAME, "sum 1.5\ntime 4 s\n", "built slow delayed", ""),
        ("sum 1.6\ntime 2 s\n", _SAME, _SAME, _SAME, "built slow delayed", "'1.6'"),
        ("sum 1.6\ntime 0 s\n", _SAME, "sum 1.5\ntime 6 s\n", "", "built slow", "'1.6'"),
        ("sum 1.6\ntime 0 s\n", _SAME, "sum 1.5\ntime 6 s\nslow\n", "", "built slow", "'1.6'"),
        # What looks like a time is given a second chance.
        (
            *("sum 1.5\ntime 0 s\n", _SAME, _SAME, _SAME),
            *("built slow delayed delayed built slow delayed", "'0'"),
        ),
    ],
)
def test_what_looks_wrong_is_looked_at_again(
    tmp_path: Path, tuned: str, built: str, slow: str, delayed: str, runs: str, fault: str
) -> None:
    program = Printing(tuned=tuned, built=[built] * 2, slow=slow, delayed=delayed)
    _, found = program.production(tmp_path).try_out(tmp_path / "tuned.json")
    assert (fault in found) if fault else not found
    assert program.runs == ["tuned", *runs.split()]


def test_a_run_that_went_wrong_is_not_made_good_by_the_next(tmp_path: Path) -> None:
    """Where times of kernels are measured apart, a pair has two runs as tuned."""
    program = Printing(tuned="sum 9\ntime 2 s\n", built=[_SAME] * 9, slow=_SAME, apart=True)
    production = program.production(tmp_path)
    whole = program.run
    tuned = iter(["sum 9\ntime 2 s\n", _SAME])

    def run(**how: Any) -> Run:
        if how.get("tuned"):
            program.tuned = next(tuned)
        return whole(**how)

    program.run = run  # type: ignore[method-assign]
    assert "'9'" in production.compare(tmp_path / "tuned.json", 1).fault


def test_launches_are_delayed_by_what_their_kernels_take(tmp_path: Path) -> None:
    program = Printing(tuned="sum 9\ntime 0 s\n", built=[_SAME] * 2, slow=_SAME, delayed=_SAME)
    program.production(tmp_path).try_out(tmp_path / "tuned.json")
    assert program.delays == ["1000 3000 _Z1kv\n"]


def test_a_program_that_is_wrong_is_not_looked_at_for_ever(tmp_path: Path) -> None:
    same = "sum 1.5\ntime 2 s\n"
    program = Printing(tuned="sum 9\ntime 2 s\n", built=[same] * 20, slow=same)
    production = program.production(tmp_path)
    for _ in range(9):
        assert production.try_out(tmp_path / "tuned.json")[1]
    assert program.runs.count("slow") == 3


def test_more_than_three_pairs_are_run_while_there_is_time_for_another(tmp_path: Path) -> None:
    pairs: dict[int, list[str]] = {}
    for fits in (0, 4):
        same = "sum 1.5\ntime 2 s\n"
        program = Printing(tuned=same, built=[same] * 20, slow=same)
        asked: list[float] = []

        def has_time(seconds: float, asked: list[float] = asked, fits: int = fits) -> bool:
            asked.append(seconds)
            return len(asked) <= fits

        found = program.production(tmp_path).compare(tmp_path / "tuned.json", 12, has_time)
        assert all(0 < one < 1 for one in asked)
        assert found.seconds_of_a_pair < 1
        pairs[fits] = program.runs
    assert [len(one) for one in pairs.values()] == [6, 14]


@needs_native
def test_a_run_is_timed_to_its_end(tmp_path: Path) -> None:
    application = Application(["sleep", "0.07"], "cpu", tmp_path)
    # Polling every 50 ms would see it end after 114. One of ten runs finds the machine idle.
    assert 0.07 <= min(application.run().seconds for _ in range(10)) < 0.1


@needs_native
def test_what_a_run_printed_is_not_left_behind(tmp_path: Path) -> None:
    run = Application(["/bin/sh", "-c", "echo out; echo err >&2"], "cpu", tmp_path / "runs").run()
    assert (run.output, run.error) == (b"out\n", b"err\n")
    assert not list((tmp_path / "runs").iterdir())


@needs_native
def test_a_slow_run_is_stopped_now_and_then(tmp_path: Path) -> None:
    stopped = Disturbance(is_stopped=True)
    program = [sys.executable, "-c", _WAITS_FOR_A_STOP]
    run = Application(program, "cpu", tmp_path).run(disturbed=stopped)
    assert (run.code, run.output) == (0, b"went on\n")
    assert (
        Application(["/bin/sh", "-c", "exit 7"], "cpu", tmp_path).run(disturbed=stopped).code == 7
    )


@needs_native
@pytest.mark.parametrize(
    ("first_line", "why"),
    [("echo no interpreter is named", "Exec format error"), ("#!/not/there", "No such file")],
)
def test_a_script_that_cannot_be_started_is_one_sentence(
    tmp_path: Path, first_line: str, why: str
) -> None:
    script = tmp_path / "script"
    script.write_text(first_line + "\n")
    script.chmod(0o755)
    session = OptimizeSession(
        OptimizeOptions(command=(str(script),), directory=tmp_path / "out", device="cpu")
    )
    with pytest.raises(InvalidArgument, match=f"script' cannot be executed: {why}.*#!"):
        session.run()
    assert session.result.status == "failed"


@needs_native
def test_what_an_earlier_run_left_running_writes_into_no_later_output(tmp_path: Path) -> None:
    first, go, wrote = (tmp_path / name for name in ("first", "go", "wrote"))
    script = f"""
    if [ -e {first} ]; then
      touch {go}
      while [ ! -e {wrote} ]; do sleep 0.01; done
    else
      touch {first}
      (while [ ! -e {go} ]; do sleep 0.01; done; echo late; touch {wrote}) &
    fi
    echo now
    """
    program = Application(["/bin/sh", "-c", script], "cpu", tmp_path / "runs")
    assert program.run().output == b"now\n"
    assert program.run().output == b"now\n"


@needs_native
@pytest.mark.parametrize(
    ("script", "is_told"), [("sleep 60 & echo $! >> pids", True), ("sleep 0.01 & wait", False)]
)
def test_what_runs_leave_running_is_told_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, is_told: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    notes: list[str] = []
    listener = OptimizeListener()
    monkeypatch.setattr(listener, "note", notes.append)
    program = Application(["/bin/sh", "-c", script], "cpu", tmp_path / "runs")
    observe(program, tmp_path, listener, short=30.0)
    assert any("leaves processes running" in one for one in notes) is is_told
    if is_told:
        for pid in (tmp_path / "pids").read_text().split():
            os.kill(int(pid), signal.SIGKILL)  # it is still there


@needs_native
@pytest.mark.parametrize(("budget", "longest"), [(10, 10.5), (100, 20.5), (600, 120.5)])
def test_a_run_that_hangs_leaves_some_of_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: float, longest: float
) -> None:
    waited: list[float] = []

    def hangs(_child: object, seconds: float, **_how: bool) -> int:
        waited.append(seconds)
        raise subprocess.TimeoutExpired("app", seconds)

    program = Application(["/bin/true"], "cpu", tmp_path)
    program.give_up_after(budget)
    program.expect(0.1)
    monkeypatch.setattr(application, "_wait", hangs)
    assert program.run().is_hung
    assert waited == [longest]


@pytest.mark.parametrize(("kernels", "runs"), [(1, 1), (3, 4)])
def test_the_only_kernel_is_to_blame(tmp_path: Path, kernels: int, runs: int) -> None:
    program = Printing(tuned="sum 9\n", built=["sum 1.5\ntime 2 s\n"] * 9, slow="slow\n")
    result = OptimizeResult(command=["./app"], directory=tmp_path)
    result.kernels = [
        KernelResult(name=f"k{number}", demangled_name=f"k{number}", share=0.1, is_kept=True)
        for number in range(kernels)
    ]
    production = program.production(tmp_path)
    Keeper(production, tmp_path / "tuned.json", result, OptimizeListener()).try_out()
    assert not any(one.is_kept for one in result.kernels)
    assert all("the program goes wrong" in one.reason for one in result.kernels)
    assert program.runs.count("tuned") == runs


@needs_native
def test_a_program_that_outlasts_the_budget_is_ended(tmp_path: Path) -> None:
    stays = "trap 'exit 0' TERM; while :; do sleep 0.01; done"
    options = OptimizeOptions(
        command=("/bin/sh", "-c", stays), directory=tmp_path / "out", device="cpu", budget=1.0
    )
    with pytest.raises(InvalidArgument, match="ended after 1 s: at least six runs"):
        OptimizeSession(options).run()


def test_a_program_that_has_ended_already_ends_no_interrupt() -> None:
    child = subprocess.Popen(["/bin/sh", "-c", "exit 7"], start_new_session=True)
    child.wait()
    assert end_group(child) == 7


def test_a_program_does_not_outlive_a_second_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    stays = "trap '' TERM; echo ready; sleep 600"
    command = ["/bin/sh", "-c", stays]
    child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"

    def interrupted(_timeout: float | None = None) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as impatient:
        impatient.setattr(child, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            end_group(child)
    assert child.wait(60) == -signal.SIGKILL
    child.stdout.close()
