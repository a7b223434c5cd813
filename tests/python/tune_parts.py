"""What the tests of `mneme tune` share: a tiny recording, and an executor that needs no kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import optuna
import pytest

from mneme.measure.eval_future import EvalFuture
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.params import BoolParam, CategoricalParam, IntRangeParam
from mneme.search.search_space import SearchSpace

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"


def command(*arguments: str | Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        line_of(*arguments), capture_output=True, text=True, check=False, timeout=timeout
    )


def line_of(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "mneme", *(str(one) for one in arguments)]


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of one launch of 4 blocks."""
    assert PROGRAM.is_file(), f"{PROGRAM} is not built: run scripts/test"
    path = tmp_path_factory.mktemp("recording")
    done = command("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "1024")
    assert done.returncode == 0, done.stderr
    return path


class Levels(SearchSpace):
    """16 configurations; codegen_opt is what counts, see `steady`."""

    def __init__(self, kernel: Any = None, baseline_level: int = 0) -> None:
        self._kernel = kernel
        self._level = baseline_level

    def dimensions(self) -> dict[str, Any]:
        return {
            "codegen_opt": IntRangeParam("codegen_opt", 0, 3),
            "specialize": BoolParam("specialize"),
            "passes": CategoricalParam("passes", ["default<O3>", "default<O1>"]),
        }

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        return ExperimentConfiguration(**recorded_launch(), **params)

    def baseline(self) -> ExperimentConfiguration:
        return ExperimentConfiguration(
            **recorded_launch(), codegen_opt=self._level, max_threads=0, min_blocks_per_sm=0
        )


class Failing(Levels):
    """One configuration that works, and one of every kind that cannot."""

    changes: ClassVar[dict[str, dict[str, Any]]] = {
        "fine": {},
        "no such pass": {"passes": "no-such-pass"},
        "too many threads": {"block": {"x": 4096, "y": 1, "z": 1}},
        "too much shared memory": {"shared_mem": 1 << 30},
        "bounds below the block": {"set_launch_bounds": True, "max_threads": 8},
        "too few blocks": {"grid": {"x": 1, "y": 1, "z": 1}},
    }

    def dimensions(self) -> dict[str, Any]:
        return {"what": CategoricalParam("what", list(self.changes))}

    def derived(self, params: dict[str, Any]) -> ExperimentConfiguration:
        return ExperimentConfiguration(**{**recorded_launch(), **self.changes[params["what"]]})


def recorded_launch() -> dict[str, Any]:
    return {"grid": {"x": 4, "y": 1, "z": 1}, "block": {"x": 256, "y": 1, "z": 1}}


def steady(config: ExperimentConfiguration) -> ExperimentResult:
    """100 µs at level 0, 20 µs less for each level, and 1 µs less where specialised."""
    time = 100_000 - 20_000 * config.codegen_opt - 1_000 * config.specialize
    return measured(config, [time] * 5)


def study_of(results: Path) -> optuna.Study:
    """Return the study in the journal of a results directory."""
    backend = optuna.storages.journal.JournalFileBackend(str(results / "study.journal"))
    storage = optuna.storages.JournalStorage(backend)
    return optuna.load_study(study_name="mneme", storage=storage)


def measured(config: ExperimentConfiguration, times: list[int]) -> ExperimentResult:
    return ExperimentResult(
        exec_time=[9_999_999, 9_999_999, *times],
        iterations_used=len(times),
        median_ns=sorted(times)[len(times) // 2] if times else 0,
        verified=True,
        executed=True,
        device="cpu",
        obj_size=1000 + config.codegen_opt,
        reg_usage=32 - config.codegen_opt,
        image_hash=config.hash()[:16],
        start_time="2026-01-01T00:00:00+00:00",
        end_time="2026-01-01T00:00:01+00:00",
    )


class FakeExecutor:
    """Answers at once, with what a function says."""

    capacity = 2
    can_pin = True

    def __init__(
        self, answer: Callable[[ExperimentConfiguration], ExperimentResult] = steady
    ) -> None:
        self.answer = answer
        self.submitted: list[ExperimentConfiguration] = []
        self.wishes: list[dict[str, Any]] = []
        self.limits: list[int] = []
        self.options: dict[str, Any] = {}
        self.arguments: tuple[Any, ...] = ()
        self.is_cancelled = False

    def __call__(self, *arguments: Any, **options: Any) -> FakeExecutor:
        self.arguments, self.options = arguments, options
        return self

    def submit(self, config: ExperimentConfiguration, **wishes: Any) -> EvalFuture:
        self.submitted.append(config)
        self.wishes.append(wishes)
        future = EvalFuture(len(self.submitted), config)
        future.set_result(self.answer(config))
        return future

    def tighten(self, stop_above_ns: int) -> None:
        self.limits.append(stop_above_ns)

    def shutdown(self, *, cancel: bool = False) -> None:
        self.is_cancelled = self.is_cancelled or cancel

    @property
    def searched(self) -> list[ExperimentConfiguration]:
        """What was submitted for the search, the last rounds and tries of launches apart."""
        return [
            config
            for config, wishes in zip(self.submitted, self.wishes, strict=True)
            if "fresh" not in wishes and wishes["measuring"].max_iterations != 1000
        ]
