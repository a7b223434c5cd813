"""The main function of a compile worker: a process without a device that fills the compile cache.

It imports no more than it needs, as many of them start at once.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["exit_with_parent", "main"]

_SECONDS_BETWEEN_LOOKS = 0.5


def exit_with_parent(parent: int) -> None:
    """Let this process, and the processes of its group if it leads one, die soon after `parent`.

    Works while native code runs without end; a pipe that closes would not be read then.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="mneme-watch", daemon=True).start()


def main() -> None:
    """Compile what standard input asks for until it ends.

    The first message are settings: "parent" (process id), "record", "record_id". Requests are
    `(configuration as JSON, code target, number of the IR, that IR if it is a new one)`. Answers
    are `("ready", "")` at first, then for each request `("done", statistics as JSON)` or
    `("failed", sentence)`; `("broken", sentence)` if there will be none.
    """
    from mneme.executors.child_process import answer_channel, read_settings  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What LLVM and the assembler print belongs to the log, not between the answers.
    answer = answer_channel()
    settings = read_settings()
    exit_with_parent(int(settings["parent"]))
    try:
        _serve(answer, settings)
    except BrokenPipeError:
        return


def _serve(answer: Callable[[object], None], settings: dict[str, Any]) -> None:
    from mneme import _native  # noqa: PLC0415 - after the watch has begun
    from mneme.errors import MnemeError  # noqa: PLC0415

    try:
        code = _native.RecordedCode(settings["record"], settings["record_id"])
        _native.compiler_version()  # loads the compiler
    except MnemeError as error:
        answer(("broken", str(error)))
        return
    answer(("ready", ""))
    known_number, known_ir = 0, b""
    while True:
        try:
            text, target, number, ir = pickle.load(sys.stdin.buffer)  # noqa: S301 - our parent
        except EOFError:
            return
        if number != known_number:
            known_number, known_ir = number, ir
        try:
            compiled = code.compile(text, target, ir=known_ir)
        except MnemeError as error:
            answer(("failed", str(error)))
        else:
            answer(("done", compiled["statistics"]))
