"""`mneme compile` compiles in a child: a pipeline that LLVM crashes on is a sentence."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from mneme.errors import CompileFailed, InvalidArgument
from mneme.measure.compile_apart import compile_apart
from mneme.measure.compile_record import CompileOptions

COMPILE = "mneme.measure.compile_apart.compile_record"


def crash(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(*_: Any) -> None:
    raise InvalidArgument("there is no pass 'x'")


def hang(*_: Any) -> None:
    time.sleep(600)


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_waits_for_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILE, hang)
    before = signal.signal(signal.SIGALRM, interrupt)
    began = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            compile_apart(Path("x.json"), None, CompileOptions())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 120


def test_a_crash_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILE, crash)
    with pytest.raises(CompileFailed, match="LLVM crashed on this pipeline"):
        compile_apart(Path("x.json"), None, CompileOptions())


def test_other_errors_are_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPILE, refuse)
    with pytest.raises(InvalidArgument, match="there is no pass 'x'"):
        compile_apart(Path("x.json"), None, CompileOptions())


def test_a_compiler_that_never_ends_goes_with_its_parent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "child"

    def tell_and_hang(*_: Any) -> None:
        told.write_text(f"{os.getpid()}\n")
        time.sleep(600)

    monkeypatch.setattr(COMPILE, tell_and_hang)
    parent = os.fork()
    if parent == 0:
        try:
            compile_apart(Path("x.json"), None, CompileOptions())
        finally:
            os._exit(1)
    deadline = time.monotonic() + 120
    while not (told.exists() and told.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    child = Path("/proc", told.read_text().strip(), "stat")
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


def is_running(stat: Path) -> bool:
    """Whether there is a process; one that nobody waited for yet has ended, too."""
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
