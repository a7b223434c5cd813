"""The main function of a compile worker: a process without a device that fills the compile cache.

It imports no more than it needs, as many of them start at once.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import sys
import threading
import time
from typing import IO, Any

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

    The only argument is JSON: "parent" (process id), "record", "record_id". Requests are pickled
    `(configuration as JSON, code target, IR or nothing)`. Answers are lines of JSON:
    `["ready", ""]` at first, then `["done", ""]` or `["failed", sentence]` for each request;
    `["broken", sentence]` if there will be none.
    """
    settings = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    exit_with_parent(int(settings["parent"]))
    # What LLVM and the assembler print belongs to the log, not between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        _serve(sys.stdin.buffer, answers, settings)
    except BrokenPipeError:
        return


def _serve(requests: IO[bytes], answers: IO[str], settings: dict[str, Any]) -> None:
    def answer(kind: str, sentence: str) -> None:
        json.dump([kind, sentence], answers)
        answers.write("\n")
        answers.flush()

    from mneme import _native  # noqa: PLC0415 - after the watch has begun
    from mneme.errors import MnemeError  # noqa: PLC0415

    try:
        code = _native.RecordedCode(settings["record"], settings["record_id"])
        _native.compiler_version()  # loads the compiler
    except MnemeError as error:
        answer("broken", str(error))
        return
    answer("ready", "")
    while True:
        try:
            configuration, target, ir = pickle.load(requests)  # noqa: S301 - from our parent
        except EOFError:
            return
        try:
            code.compile(configuration, target, ir=ir or b"")
        except MnemeError as error:
            answer("failed", str(error))
        else:
            answer("done", "")
