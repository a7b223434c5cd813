"""Recorded launches as an agent meets them: compiled, verified, measured against their build.

All of it happens in processes of their own: a compiler or kernel that crashes costs one episode.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.devices import choose_device, device_limits
from mneme.errors import MnemeError
from mneme.files.scratch import ScratchDirectory
from mneme.ir.features import code_features
from mneme.measure.suite_executor import SuiteExecutor, SuiteOptions
from mneme.mneme_types import ExperimentConfiguration

if TYPE_CHECKING:
    from mneme.compare.cases import Case
    from mneme.mneme_types import ExperimentResult

__all__ = ["Compiled", "Kernels", "Speedup"]

_COMPILERS: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A kernel, compiled with a pipeline."""

    features: dict[str, int]
    """As of `code_features`; empty if it could not be compiled."""

    error: str = ""
    """Why it could not be compiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speedup:
    """What a pipeline gives."""

    ratio: float | None
    """Time as built / time, the median over rounds; None if it did not work."""

    status: str = "verified"
    """verified, wrong or failed."""

    error: str = ""
    """Why there is no ratio."""


class Kernels:
    """Compiles and measures launches on one device."""

    def __init__(self, device: str | None, *, iterations: int, rounds: int) -> None:
        """Choose a device; processes start with the first request.

        Raises:
            InvalidArgument: If there is no such device.
            BackendUnavailable: If it is not available.
        """
        self.device = choose_device(device)
        """As in `--device`."""
        self._target = device_limits(self.device).target
        self._rounds = rounds
        self._logs = ScratchDirectory("gym")
        options = SuiteOptions(iterations=iterations, warmup=1, compile_workers=_COMPILERS)
        self._executor = SuiteExecutor([self.device], Path(self._logs.name), options)

    def close(self) -> None:
        """End the processes; further calls do nothing."""
        self._executor.shutdown(cancel=True)
        self._logs.cleanup()

    def compile(self, case: Case, pipeline: str) -> Compiled:
        """Compile a launch with a pipeline, and look at the IR after it."""
        config = self._configuration(case, pipeline)
        answer = self._executor.compile(
            _launch(case), config, self._target, wants_texts=True
        ).result()
        if answer.failure or not answer.ir:
            why = answer.failure or "the compiler crashed or took too long"
            return Compiled(features={}, error=why)
        return Compiled(features=code_features(answer.ir, case.record.kernel_name))

    def built_pipeline(self, case: Case) -> str:
        """Return the pipeline of the program's build."""
        return case.record.pipeline_on(self.device)[0]

    def speedup(self, case: Case, pipeline: str) -> Speedup:
        """Measure a pipeline and the program's build in turn, each verified."""
        configs = [self._configuration(case, one) for one in (self.built_pipeline(case), pipeline)]
        ratios = []
        for number in range(self._rounds):
            times, images = [0.0, 0.0], ["", ""]
            # Every other round is reversed, so that drift favours neither.
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                try:
                    result = self._executor.submit(0, _launch(case), configs[which])()
                except MnemeError as error:
                    return Speedup(ratio=None, status="failed", error=str(error))
                if told := _complaint(result):
                    return told
                times[which], images[which] = float(result.median_ns), result.image_hash
            if images[0] and images[0] == images[1]:
                return Speedup(ratio=1.0)  # of the same code, only chance would be measured
            ratios.append(times[0] / times[1])
        return Speedup(ratio=statistics.median(ratios))

    def _configuration(self, case: Case, pipeline: str) -> ExperimentConfiguration:
        case.record.require_ir("an environment")
        one = case.instance
        return ExperimentConfiguration(
            grid=one.grid_dim,
            block=one.block_dim,
            shared_mem=one.shared_mem,
            max_threads=0,
            min_blocks_per_sm=0,
            passes=pipeline,
            codegen_opt=case.record.pipeline_on(self.device)[1],
        )


def _launch(case: Case) -> tuple[str, str]:
    return str(case.record.path.absolute()), case.instance.dynamic_hash


def _complaint(result: ExperimentResult) -> Speedup | None:
    """Return why a result does not count; None if it does."""
    if result.verified and result.median_ns > 0:
        return None
    is_wrong = result.executed and not result.failed
    why = result.error or result.note or f"its result is {result.result_class or 'not verified'}"
    return Speedup(ratio=None, status="wrong" if is_wrong else "failed", error=why)
