"""Asks how a pipeline does: by replays in a worker process, or by compiling alone."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.bisect.symptom import Symptom
from mneme.errors import CompileFailed, MnemeError
from mneme.files.scratch import ScratchDirectory
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.compile_apart import compile_apart
from mneme.measure.compile_record import CompileOptions
from mneme.session.trials import measured_times

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

    from mneme.measure.compile_record import CompiledKernel
    from mneme.measure.tolerance import Tolerance
    from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

__all__ = ["Answer", "Probe"]

_LOG_WORDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a pipeline does."""

    failure: str = ""
    """Why there is no result; empty if there is one."""

    is_wrong: bool = False
    """The memory left behind is not the recorded one."""

    number: float = 0.0
    """Nanoseconds, bytes or registers, as the symptom has it; 0 where it compares none."""

    image_hash: str = ""
    """Equal for equal code; empty if that is unknown."""

    def described(self, symptom: Symptom) -> str:
        """Return the answer in a few words."""
        if self.failure:
            return f"failed: {self.failure[:_LOG_WORDS]}"
        if self.is_wrong:
            return "wrong"
        if symptom is Symptom.SLOWER:
            return f"{self.number / 1000:.1f} µs"
        return f"{self.number:g}" if symptom.compares else "right"


class Probe:
    """Answers for pipelines of one recorded launch; keeps answers. A context manager."""

    def __init__(  # noqa: PLR0913 - by name only
        self,
        *,
        database: Path,
        record_id: str,
        configuration: ExperimentConfiguration,
        symptom: Symptom | None,
        device: str | None,
        target: str,
        iterations: int,
        timeout: float,
        tolerances: Sequence[Tolerance],
    ) -> None:
        """Make it; a process is started with the first replay.

        Args:
            database: The record.
            record_id: The launch.
            configuration: Everything but the pipeline.
            symptom: What is asked; None: whether kernels fail or are wrong, and their times.
            device: Where kernels run.
            target: What is compiled for where nothing runs.
            iterations: Launches whose median counts.
            timeout: Seconds for a compilation, and for a launch.
            tolerances: Allowed differences from the recorded memory.
        """
        self.symptom = symptom
        self._database = database
        self._id = record_id
        self._configuration = configuration
        self._device = device
        self._target = target
        self._iterations = iterations
        self._timeout = timeout
        self._tolerances = tolerances
        self._logs = ScratchDirectory("bisect")
        self._executor: AsyncReplayExecutor | None = None
        self._answers: dict[tuple[str, int], Answer] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel=error is not None)
        self._logs.cleanup()

    def ask(self, passes: str) -> Answer:
        """Return how a pipeline does."""
        key = (passes, self._launches)
        if key not in self._answers:
            symptom = self.symptom
            self._answers[key] = (
                self._replayed(passes)
                if symptom is None or symptom.needs_device
                else self._compiled(passes, symptom.statistic)
            )
        return self._answers[key]

    def time(self, passes: str) -> float:
        """Return the nanoseconds of a launch, measured now; 0 if there is no time."""
        return self._replayed(passes, fresh=True).number

    def compile(self, passes: str, *, want_ir: bool = False) -> CompiledKernel:
        """Compile in a process of its own.

        Raises:
            CompileFailed: If LLVM refuses, crashes or does not end in time.
        """
        configuration = self._with(passes)
        options = CompileOptions.of(configuration, target=self._target, want_ir=want_ir)
        return compile_apart(self._database, self._id, options, self._timeout)

    @property
    def _launches(self) -> int:
        """How many launches are measured: none counts where nobody asks for times."""
        return self._iterations if self.symptom in {None, Symptom.SLOWER} else 1

    def _with(self, passes: str) -> ExperimentConfiguration:
        configuration = self._configuration.copy()
        configuration.passes = passes
        return configuration

    def _compiled(self, passes: str, statistic: str) -> Answer:
        try:
            told: dict[str, Any] = self.compile(passes).statistics
        except CompileFailed as error:
            return Answer(failure=str(error))
        return Answer(number=float(told[statistic]))

    def _replayed(self, passes: str, *, fresh: bool = False) -> Answer:
        try:
            result = (
                self._pool()
                .submit(self._with(passes), iterations=self._launches, fresh=fresh)
                .result()
            )
        except MnemeError as error:
            return Answer(failure=str(error))
        if result is None:  # pragma: no cover - nothing limits the wait
            raise AssertionError
        return self._answer(result)

    def _answer(self, result: ExperimentResult) -> Answer:
        if result.failed or not result.executed:
            return Answer(failure=result.error or "the kernel did not run to its end")
        times = measured_times(result)
        return Answer(
            is_wrong=not result.verified,
            number=float(statistics.median(times)) if times else 0.0,
            image_hash=result.image_hash,
        )

    def _pool(self) -> AsyncReplayExecutor:
        if self._executor is None:
            self._executor = AsyncReplayExecutor(
                self._database,
                self._id,
                self._iterations,
                self._logs.name,
                1,
                device=self._device,
                timeout=self._timeout,
                tolerances=self._tolerances,
                compile_workers=1,
                compile_timeout=self._timeout,
            )
        return self._executor
