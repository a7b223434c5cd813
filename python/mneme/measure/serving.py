"""The main loop of a process that answers requests of any kind.

It imports no more than it needs, because many such processes start at once.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.measure.content import Content, Kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

__all__ = ["LENGTH", "Handler", "answer_channel", "exit_with_parent", "read_settings", "serve"]

LENGTH = struct.Struct("<I")
"""The length before each answer."""

if TYPE_CHECKING:
    Handler = Callable[[Any, bytes], tuple[str, object]]
    """Takes a message and the content that came with it, if any; returns the answer."""

_SECONDS_BETWEEN_LOOKS = 0.5


def serve(open_: Callable[..., AbstractContextManager[tuple[object, Handler]]]) -> None:
    """Answer the requests on standard input until it ends: the main function of a process.

    The first message contains the keyword arguments of `open_`, which returns the content of the
    ready message and the handler of requests. Answers are `("ready", content)` or `("broken", class
    name, sentence)` at first, then for each request, in order, what the handler returns, or
    `("failed", sentence)` of the `MnemeError` it raises.

    A request is `(message, name of its content, that content if it is a new one)`.
    """
    # Interrupts of the terminal are for the requesting process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer = answer_channel()
    settings = read_settings()
    exit_with_parent(int(settings.pop("parent")))
    with suppress(BrokenPipeError):  # nobody is left to tell
        try:
            with open_(**settings) as (ready, handle):
                answer(("ready", ready))
                _answer_all(answer, handle)
        except MnemeError as error:
            answer(("broken", type(error).__name__, str(error)))


def _answer_all(answer: Callable[[object], None], handle: Handler) -> None:
    kept = Kept()
    while True:
        try:
            message, name, data = pickle.load(sys.stdin.buffer)  # noqa: S301 - our parent
        except EOFError:
            return
        content = Content(name, data)
        if name:
            content = kept.use(content) or content
        try:
            answered = handle(message, content.data)
        except MnemeError as error:
            answered = ("failed", str(error))
        answer(answered)


def read_settings() -> dict[str, Any]:
    """Return the settings that this process was started with."""
    settings: dict[str, Any] = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent
    return settings


def answer_channel() -> Callable[[object], None]:
    """Return the function that sends an answer; redirects further output to the log."""
    descriptor = os.dup(1)
    os.dup2(2, 1)

    def answer(message: object) -> None:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        data = LENGTH.pack(len(data)) + data
        while data:
            data = data[os.write(descriptor, data) :]

    return answer


def exit_with_parent(parent: int) -> None:
    """End this process, and its group if it leads one, soon after `parent` ends.

    Also works while native code runs without end, when the end of a pipe would not be noticed.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="mneme-watch", daemon=True).start()
