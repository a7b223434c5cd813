"""A replay executor that serves requests of another process."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mneme.errors import MnemeError
from mneme.measure.replay_executor import BaseExecutor
from mneme.measure.serving import exit_with_parent, serve
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mneme.measure.serving import Handler

__all__ = ["Channel", "TuneWorker", "main"]


class Channel(Protocol):
    """One end of a queue between processes."""

    def get(self) -> Any:  # noqa: ANN401 - whatever was put
        """Wait for the next object."""

    def put(self, item: Any) -> None:  # noqa: ANN401
        """Send an object."""


class TuneWorker(BaseExecutor):
    """An executor that serves requests of another process."""

    def process_payload(
        self, ir: object, config: ExperimentConfiguration | dict[str, Any]
    ) -> ExperimentResult:
        """Evaluate one request; errors, also of the configuration, are in the result."""
        try:
            if isinstance(config, dict):
                config = ExperimentConfiguration.from_dict(config)
            return self.evaluate(config, ir)
        except MnemeError as error:
            return ExperimentResult(failed=True, error=str(error), gpu_id=self.device_id)

    def serve(self, requests: Channel, responses: Channel) -> None:
        """Answer requests until one is None.

        Responses are `("ready", code target)`, `("broken", class name, sentence)`, or
        `("result", job id, result as a dictionary)` for a request `(job id, IR, configuration)`.
        """
        try:
            self.open()
        except MnemeError as error:
            responses.put(("broken", type(error).__name__, str(error)))
            return
        responses.put(("ready", self._opened().code_target()))
        while (request := requests.get()) is not None:
            job_id, ir, config = request
            result = self.process_payload(ir, config)
            responses.put(("result", job_id, result.to_dict()))

    @contextmanager
    def serving(self) -> Iterator[tuple[object, Handler]]:
        """Open the recording; yield its code target and the function that answers requests.

        A message is `("build" or "run", configuration, options)`, both as JSON; its content
        replaces the recorded IR. Answers are `("built", statistics)` or `("result", result)`, both
        as JSON.
        """
        with self:
            session = self._opened()

            def answer(message: tuple[str, str, str], ir: bytes) -> tuple[str, object]:
                verb, config, options = message
                if verb == "build":
                    return "built", session.build(config, options, ir)
                return "result", session.run(config, options, ir)[0]

            yield session.code_target(), answer

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
        """Serve the requests of a queue; the main function of a caller's process.

        What kernels print goes to `<results_db_dir>/Worker-<device_id>.log`. `state` is accepted
        from older callers and not used. `environment` is added to that of the process, which
        ends soon after the process `parent`, if there is one.
        """
        del state
        # Interrupts of the terminal are for the requesting process.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.environ.update(environment or {})
        if parent is not None:
            exit_with_parent(parent)
        _redirect_output(Path(results_db_dir) / f"Worker-{device_id}.log")
        worker = TuneWorker(record_db, record_id, iterations, device_id, warmup, **options)
        try:
            worker.serve(request_q, response_q)
        except (EOFError, BrokenPipeError):
            # The requesting process has ended or is stopping.
            return
        finally:
            worker.close()


def main() -> None:
    """Serve the process that started this one: see `TuneWorker.serving`.

    Settings are "record_db", "record_id", "device_id" and "device".
    """
    serve(lambda **settings: TuneWorker(**settings).serving())


def _redirect_output(log: Path) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
