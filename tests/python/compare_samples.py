"""Comparisons without a device: cases, and an executor whose times are drawn."""

# ruff: noqa: ARG002 - the interface is that of `SuiteExecutor`

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self

from mneme.compare import Case, CompareListener, CompareOptions, Comparison, Variant, run_comparison
from mneme.errors import BackendUnavailable, MnemeError, OutOfMemory
from mneme.measure.compile_pool import CompileAnswer
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ConfigurationChanges, ExperimentConfiguration, ExperimentResult
from mneme.recording.recorded_execution import RecordedExecution
from record_samples import record_data

__all__ = ["WRONG", "Simulated", "compared", "make_cases", "variant"]


WRONG = ExperimentResult(
    executed=True,
    result_class="wrong",
    image_hash="w",
    mismatches=[
        {
            "region": "out",
            "element": 3,
            "actual": "1",
            "expected": "2",
            "differing": 4,
            "elements": 9,
        }
    ],
)


def variant(name: str, passes: str | None = None) -> Variant:
    """A variant that is its pipeline."""
    values = {} if passes is None else {"passes": passes}
    return Variant(
        name=name,
        options="" if passes is None else f"--passes '{passes}'",
        changes=ConfigurationChanges(values=values),
    )


def make_cases(directory: Path, count: int) -> list[Case]:
    """Launches of kernels called k0, k1, ..."""
    cases = []
    for number in range(count):
        place = directory / f"r{number // 3}"
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{1000 + number}.json"
        data = {
            **record_data(str(2000 + number)),
            "StaticHash": 1000 + number,
            "DemangledName": f"k{number}(float*, int)",
        }
        path.write_text(json.dumps(data))
        record = RecordedExecution.from_json(path)
        (instance,) = record.values()
        cases.append(Case(record=record, instance=instance, recording=place.name, number=1))
    return cases


@dataclass
class Simulated:
    """Times are those of a pipeline, times noise that is the same in every run."""

    factors: Mapping[str, float] = field(default_factory=dict)
    """Time of a pipeline, of 1."""
    failures: Mapping[str, ExperimentResult | CompileAnswer] = field(default_factory=dict)
    """Results of pipelines that fail."""
    unopened: Mapping[str, MnemeError] = field(default_factory=dict)
    """Why launches cannot be opened, by the name of their record file."""
    unavailable: Sequence[int] = ()
    """Devices that do not work."""
    seed: int = 0
    noise: float = 0.02
    bursts: float = 0.1
    """How many of the replays other load disturbs."""
    has_equal_code: bool = False
    """Whether the code of all pipelines is the same."""
    in_place: Sequence[str] = ()
    """Pipelines whose launches need not be restored."""
    period: Sequence[float] = (1.0,)
    """What disturbs launches by turns."""
    launched: list[str] = field(default_factory=list)
    """Pipelines, in the order in which they were measured."""
    measured: list[Measuring | None] = field(default_factory=list)
    """How launches were measured, in the same order."""
    asked: list[tuple[int, str, int | None]] = field(default_factory=list)
    """Numbers of devices, record files and launches, in the same order."""
    refused: list[int] = field(default_factory=list)
    """Devices that did not work when they were asked."""
    too_large: Sequence[str] = ()
    """Record files of launches that cannot be open beside others."""
    opened: list[tuple[int, int, str]] = field(default_factory=list)
    """Devices, lanes and record files of what was opened ahead."""
    alone: list[int] = field(default_factory=list)
    """Devices on which one launch had the memory for itself."""
    on_open: Callable[[int], None] = lambda _: None
    """Called with the number of a device while a launch is opened there."""
    present: dict[tuple[int, int], str] = field(default_factory=dict)
    """Record files of what is open, by device and lane."""
    late: list[tuple[int, int, str]] = field(default_factory=list)
    """Devices, lanes and record files of what was opened by a replay."""

    def __call__(self, devices: Sequence[str], logs: Path, options: Any) -> Self:
        self._random = random.Random(self.seed)
        self.devices = list(devices)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def prepare(self) -> None:
        pass

    def finish(self) -> None:
        pass

    def idle_seconds(self, device: int, lane: int = 0) -> float:
        return 0.0

    def open(
        self,
        device: int,
        launch: tuple[str, str],
        prologue: str,
        *,
        lane: int = 0,
        most_part: float = 0.0,
    ) -> Callable[[], None]:
        def wait() -> None:
            self._check(device)
            self.on_open(device)
            self.present.pop((device, lane), None)
            if (name := Path(launch[0]).name) in self.too_large:
                raise OutOfMemory("no room for two")
            self.opened.append((device, lane, name))
            self.present[device, lane] = name

        return wait

    def _check(self, device: int) -> None:
        if device in self.unavailable:
            self.refused.append(device)
            raise BackendUnavailable("it fell off the bus")

    def close_others(self, device: int, lane: int) -> None:
        self.alone.append(device)
        for other in [one for one in list(self.present) if one[0] == device and one[1] != lane]:
            self.present.pop(other, None)

    def close(self, device: int, lane: int) -> None:
        self.present.pop((device, lane), None)

    def compile(
        self, launch: tuple[str, str], config: ExperimentConfiguration, target: str
    ) -> Future[CompileAnswer]:
        future: Future[CompileAnswer] = Future()
        failure = self.failures.get(config.passes)
        statistics = {"target": "sm_90"}
        answer = CompileAnswer(statistics=json.dumps(statistics))
        future.set_result(failure if isinstance(failure, CompileAnswer) else answer)
        return future

    def submit(
        self,
        device: int,
        launch: tuple[str, str],
        config: ExperimentConfiguration,
        *,
        lane: int = 0,
        iterations: int | None = None,
        measuring: Measuring | None = None,
    ) -> Callable[[], ExperimentResult]:
        def wait() -> ExperimentResult:
            self._check(device)
            name = Path(launch[0]).name
            if name in self.unopened:
                raise self.unopened[name]
            if self.present.get((device, lane)) != name:
                self.present[device, lane] = name
                self.late.append((device, lane, name))
            together = [one for (of, _), one in list(self.present.items()) if of == device]
            if len(together) > 1 and set(together) & set(self.too_large):
                raise OutOfMemory("no room for two")
            return result

        self.launched.append(config.passes)
        self.measured.append(measuring)
        self.asked.append((device, Path(launch[0]).name, iterations))
        # A burst of load now and then, as on real machines.
        drift = 1.5 if self._random.random() < self.bursts else 1.0
        drift *= self.period[len(self.launched) % len(self.period)]
        factor = self.factors.get(config.passes, 1.0)
        times = [
            round(1e5 * factor * drift * (1 + abs(self._random.gauss(0, self.noise))))
            for _ in range(5)
        ]
        probes = measuring is not None and measuring.probes_in_place
        code = "same" if self.has_equal_code else config.passes
        failure = self.failures.get(config.passes)
        result = ExperimentResult(
            verified=True,
            executed=True,
            exec_time=times,
            in_place_ns=times if probes and config.passes in self.in_place else [],
            iterations_used=5,
            result_class="exact",
            reg_usage=32,
            spill_bytes=24,
            shared_mem_usage=64,
            obj_size=2048,
            opt_time=0.01,
            image_hash=code,
            device=self.devices[device],
            open_time=0.25,
            launched_ns=1000,
        )
        if isinstance(failure, ExperimentResult):
            result = failure
        return wait


def compared(
    cases: Sequence[Case],
    variants: Sequence[Variant],
    simulated: Simulated,
    results: Path,
    listener: CompareListener | None = None,
    **more: Any,
) -> Comparison:
    """The result of a comparison."""
    options = CompareOptions(
        variants=list(variants),
        results_dir=results,
        **{"device": "cpu", "rounds": 16, **more},
    )
    return run_comparison(cases, options, listener, make_executor=simulated)
