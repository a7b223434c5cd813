"""A replay executor that serves requests of another process."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mneme.errors import MnemeError
from mneme.executors.child_process import answer_channel, read_settings
from mneme.executors.compile_worker import exit_with_parent
from mneme.executors.replay_executor import BaseExecutor
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Channel", "TuneWorker", "main"]


class Channel(Protocol):
    """One end of a queue between processes."""

    def get(self) -> Any:  # noqa: ANN401 - whatever was put
        """Wait for the next object."""

    def put(self, item: Any) -> None:  # noqa: ANN401
        """Hand an object over."""


class TuneWorker(BaseExecutor):
    """An executor that serves requests of another process."""

    def process_payload(self, ir: object, config: ExperimentConfiguration) -> ExperimentResult:
        """Evaluate one request; errors are in the result."""
        try:
            return self.evaluate(config, ir)
        except MnemeError as error:
            return ExperimentResult(failed=True, error=str(error), gpu_id=self.device_id)

    def serve(self, requests: Channel, responses: Channel) -> None:
        """Answer requests until one is None.

        Responses are `("ready", code target)`, `("broken", class name, sentence)`, or
        `("result", job id, result as a dictionary)` for a request `(job id, IR, configuration as a
        dictionary)`.
        """
        try:
            self.open()
        except MnemeError as error:
            responses.put(("broken", type(error).__name__, str(error)))
            return
        responses.put(("ready", self._opened().code_target()))
        while (request := requests.get()) is not None:
            job_id, ir, config = request
            result = self.process_payload(ir, ExperimentConfiguration.from_dict(config))
            responses.put(("result", job_id, result.to_dict()))

    def serve_texts(self, read: Callable[[], Any], answer: Callable[[object], None]) -> None:
        """Answer requests until there are no more.

        A request is `("build" or "run", configuration, options, number of the IR, that IR if it is
        a new one)`, the first two as JSON. Answers are `("ready", code target)` or `("broken",
        class name, sentence)` at first, then for each request `("built", statistics)`,
        `("result", result)`, both as JSON, or `("failed", sentence)`.
        """
        try:
            self.open()
        except MnemeError as error:
            answer(("broken", type(error).__name__, str(error)))
            return
        session = self._opened()
        answer(("ready", session.code_target()))
        known_number, known_ir = 0, b""
        while (request := read()) is not None:
            verb, config, options, number, ir = request
            if number != known_number:
                known_number, known_ir = number, ir
            try:
                if verb == "build":
                    answer(("built", session.build(config, options, known_ir)))
                else:
                    answer(("result", session.run(config, options, known_ir)[0]))
            except MnemeError as error:
                answer(("failed", str(error)))

    @staticmethod
    def run(  # noqa: PLR0913, PLR0917 - documented signature
        request_q: Channel,
        response_q: Channel,
        record_db: str | Path,
        record_id: str | None,
        device_id: int,
        iterations: int,
        results_db_dir: str | Path,
        state: object = None,
        warmup: int = 2,
        environment: Mapping[str, str] | None = None,
        parent: int | None = None,
        **options: Any,  # noqa: ANN401 - the keywords of the constructor
    ) -> None:
        """Serve the requests of a queue; the main function of a process of your own.

        What kernels print goes to `<results_db_dir>/Worker-<device_id>.log`. `state` is accepted
        from older callers and not used. `environment` is added to that of the process, which
        ends soon after the process `parent`, if there is one.
        """
        del state
        # Interrupts of the terminal are for the process that asks.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.environ.update(environment or {})
        if parent is not None:
            exit_with_parent(parent)
        _redirect_output(Path(results_db_dir) / f"Worker-{device_id}.log")
        worker = TuneWorker(record_db, record_id, iterations, device_id, warmup, **options)
        try:
            worker.serve(request_q, response_q)
        except (EOFError, BrokenPipeError):
            # The process that asked is gone or stops; nobody is left to tell.
            return
        finally:
            worker.close()


def main() -> None:
    """Serve the process that started this one: see `TuneWorker.serve_texts`.

    The first message are settings: "parent" (process id), "record_db", "record_id", "device_id",
    "device".
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What kernels print belongs to the log, not between the answers.
    answer = answer_channel()
    settings = read_settings()
    exit_with_parent(int(settings.pop("parent")))
    worker = TuneWorker(**settings)
    try:
        worker.serve_texts(_read, answer)
    except BrokenPipeError:
        return
    finally:
        worker.close()


def _read() -> Any:  # noqa: ANN401 - a request, or None at the end
    try:
        return pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent
    except EOFError:
        return None


def _redirect_output(log: Path) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
