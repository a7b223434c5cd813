"""Compiles a recorded kernel in a child process, which a pipeline may crash or keep for ever."""

from __future__ import annotations

import ctypes
import os
import signal
from multiprocessing import get_context
from typing import TYPE_CHECKING, cast

from mneme.errors import CompileFailed
from mneme.measure.compile_record import compile_record

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.measure.compile_record import CompiledKernel, CompileOptions

__all__ = ["compile_apart"]

# prctl(2): the signal this process gets when the thread that made it ends.
_PR_SET_PDEATHSIG = 1


def compile_apart(
    database: Path, record_id: str | None, options: CompileOptions, timeout: float | None = None
) -> CompiledKernel:
    """Compile in a child: some pipelines crash LLVM, and nobody waits for it after an interrupt.

    Some never end: the child goes with its parent, however that ends.

    Args:
        database: As of `compile_record`, like `record_id` and `options`.
        record_id: The launch.
        options: How to compile.
        timeout: Seconds until the child is killed; None: no limit.

    Raises:
        CompileFailed: If LLVM crashes or does not end in time; others as `compile_record`.
    """

    def compile_and_send() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            return
        try:
            sender.send(compile_record(database, record_id, options))
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            sender.send(error)

    parent = os.getpid()
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=compile_and_send)
    child.start()
    sender.close()
    try:
        if not receiver.poll(timeout):
            raise CompileFailed(f"LLVM did not end within {timeout:g} s on this pipeline")
        answer = receiver.recv()
    except EOFError:
        raise CompileFailed(
            "LLVM crashed on this pipeline; 'mneme bisect' finds the pass that crashes"
        ) from None
    finally:
        child.kill()
        child.join()
    if isinstance(answer, Exception):
        raise answer
    return cast("CompiledKernel", answer)
