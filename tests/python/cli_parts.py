"""Runs `mneme` in the process of the tests: to start one takes ten times as long as most commands."""

from __future__ import annotations

import faulthandler
import io
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from mneme.cli import main

SECONDS = 120.0


def mneme_here(
    *arguments: str | Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command; what native code and other processes write is not in the result.

    A command that does not end ends the process of the tests, with the places of its threads.
    """
    line = [str(one) for one in arguments]
    out, err = io.StringIO(), io.StringIO()
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            for name, value in environment.items():
                patch.setenv(name, value)
            if cwd is not None:
                patch.chdir(cwd)
            code = main(line)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return subprocess.CompletedProcess(line, code, out.getvalue(), err.getvalue())
