"""A kernel that goes wrong costs one replay; the next configuration is evaluated as usual."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpu import support
from gpu.fault_kernels import FAULTS, registers
from gpu.support import DEVICE, IS_GPU, launches
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.replay_executor import BaseExecutor
from mneme.mneme_types import ExperimentConfiguration

TIMEOUT_SECONDS = 5.0
FAILING = ["trap", "illegal address", "infinite loop", "local memory"]


@pytest.fixture(scope="module")
def launch(recording: Callable[[str], Path]) -> tuple[Path, str]:
    return next(launches(recording("vector_add")))


@pytest.fixture(scope="module")
def recorded(launch: tuple[Path, str]) -> ExperimentConfiguration:
    with BaseExecutor(*launch, device=DEVICE) as executor:
        return executor.recorded_configuration()


@pytest.fixture(scope="module")
def executor(
    launch: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AsyncReplayExecutor]:
    logs = tmp_path_factory.mktemp("logs")
    with AsyncReplayExecutor(
        *launch, 1, logs, 1, warmup=0, device=DEVICE, timeout=TIMEOUT_SECONDS
    ) as pool:
        yield pool


@pytest.mark.parametrize("fault", FAILING)
def test_a_fault_costs_one_configuration(
    fault: str, executor: AsyncReplayExecutor, recorded: ExperimentConfiguration
) -> None:
    if fault == "local memory" and not IS_GPU:
        pytest.skip("the CPU device has as much local memory as the machine has")
    executor.set_ir(FAULTS[fault])
    failed = executor.evaluate(recorded)
    executor.set_ir(None)
    after = executor.evaluate(recorded)
    assert failed.failed, failed
    assert not failed.verified
    assert failed.error
    assert after.verified, after.error


def test_too_many_registers_for_the_block_are_named(
    only_gpu: None, executor: AsyncReplayExecutor, recorded: ExperimentConfiguration
) -> None:
    wide = ExperimentConfiguration.from_dict(recorded.to_dict())
    wide.block.x = 1024
    executor.set_ir(registers())
    failed = executor.evaluate(wide)
    executor.set_ir(None)
    assert failed.failed, failed
    assert "register" in failed.error or "resources" in failed.error
    assert executor.evaluate(recorded).verified


def test_too_much_shared_memory_is_named(
    executor: AsyncReplayExecutor, recorded: ExperimentConfiguration
) -> None:
    greedy = ExperimentConfiguration.from_dict(recorded.to_dict())
    greedy.shared_mem = 1 << 30
    failed = executor.evaluate(greedy)
    assert failed.failed, failed
    assert failed.error
    assert executor.evaluate(recorded).verified


@pytest.mark.parametrize("fault", ["trap", "illegal address", "infinite loop"])
def test_the_command_says_what_went_wrong(
    fault: str, launch: tuple[Path, str], tmp_path: Path
) -> None:
    source = tmp_path / "fault.ll"
    source.write_text(FAULTS[fault])
    done = support.replay(*launch, "--timeout", "3", "--ir", str(source), "default<O1>")
    assert done.returncode == 7, done.stdout + done.stderr
    assert done.result["failed"]
    assert done.result["error"]
