"""A shell and a Python that stay open, so that the blocks of a page share what they set."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 300.0


@dataclass(frozen=True)
class Ran:
    """What came of one command."""

    code: int
    stdout: str
    stderr: str


class _Worker:
    """A process that is told on stdin what to do, and answers with an exit code on another pipe."""

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self._answers, self._answer = os.pipe()
        self._process = subprocess.Popen(
            [*command, str(self._answer)],
            stdin=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            pass_fds=[self._answer],
            text=True,
            start_new_session=True,
        )
        # Without this end, the death of the process is the end of the pipe.
        os.close(self._answer)

    def _ask(self, line: str) -> int:
        """Return the answer; -1 when there is none in time or the process is dead."""
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        if not select.select([self._answers], [], [], TIMEOUT)[0]:
            os.killpg(self._process.pid, signal.SIGKILL)
            return -1
        return int(os.read(self._answers, 100) or b"-1")

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(TIMEOUT)
        os.close(self._answers)


class Shell(_Worker):
    """A bash that runs commands one after the other."""

    def __init__(self, folder: Path, environment: Mapping[str, str], scratch: Path) -> None:
        """Start in `folder`; `scratch` is for files between this object and the shell."""
        super().__init__(["bash", "--noprofile", "--norc", "-s"], folder, environment)
        self._scratch = scratch

    def run(self, command: str) -> Ran:
        """Run one command to its end, as if it had been typed."""
        script, out, err = (self._scratch / name for name in ("command", "out", "err"))
        script.write_text(command + "\n")
        code = self._ask(f". '{script}' >'{out}' 2>'{err}' </dev/null; echo $? >&{self._answer}")
        return Ran(code, _text(out), _text(err))


class Python(_Worker):
    """An interpreter that runs pieces of a program in one namespace."""

    def __init__(self, folder: Path, environment: Mapping[str, str], scratch: Path) -> None:
        """Start in `folder`; what pieces print goes to files in `scratch`."""
        driver = Path(__file__).with_name("doc_python.py")
        super().__init__([sys.executable, str(driver)], folder, environment)
        self._scratch = scratch

    def run(self, text: str, page: str, first_line: int) -> Ran:
        """Run one piece, to be named in tracebacks as lines of a page."""
        out, err = (self._scratch / name for name in ("python-out", "python-err"))
        piece = {"text": text, "page": page, "line": first_line, "out": str(out), "err": str(err)}
        return Ran(self._ask(json.dumps(piece)), _text(out), _text(err))


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


def split_commands(text: str) -> Iterator[tuple[int, str]]:
    """Cut shell text into commands, each with the number of its first line, from 0."""
    waiting: list[str] = []
    start = 0
    for number, line in enumerate(text.splitlines()):
        if not waiting and (not line.strip() or line.lstrip().startswith("#")):
            continue
        start = start if waiting else number
        waiting.append(line)
        if _is_complete("\n".join(waiting)):
            yield start, "\n".join(waiting)
            waiting = []
    if waiting:
        yield start, "\n".join(waiting)


def _is_complete(command: str) -> bool:
    if command.endswith("\\"):
        return False
    done = subprocess.run(
        ["bash", "-n"], input=command, capture_output=True, text=True, check=False
    )
    # An open here-document is a warning only.
    return done.returncode == 0 and not done.stderr


@dataclass(frozen=True)
class Step:
    """One command of a page, and what the page shows of its output."""

    line: int
    command: str
    shown: tuple[str, ...] = ()


def bash_steps(text: str) -> list[Step]:
    """Return the commands of a `bash` block."""
    return [Step(line, command) for line, command in split_commands(text)]


def console_steps(text: str) -> list[Step]:
    """Return the commands of a `console` block, which stand behind `$ `, and what follows each."""
    steps: list[Step] = []
    is_open = False
    for number, line in enumerate(text.splitlines()):
        if line.startswith("$ "):
            steps.append(Step(number, line[2:]))
        elif is_open:
            last = steps.pop()
            steps.append(Step(last.line, f"{last.command}\n{line.removeprefix('> ')}"))
        else:
            assert steps, f"output without a command: {line}"
            last = steps.pop()
            steps.append(Step(last.line, last.command, (*last.shown, line)))
            continue
        is_open = not _is_complete(steps[-1].command)
    return steps
