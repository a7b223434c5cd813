"""Compile workers beside the workers that replay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mneme.errors import InvalidArgument
from mneme.measure.async_executor import AsyncReplayExecutor, as_completed
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.inventory import find_record
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
# Minutes of work.
ENDLESS = ",".join(["default<O3>"] * 5000)

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RecordedExecution:
    path = tmp_path_factory.mktemp("recording")
    line = ("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "4096")
    subprocess.run([sys.executable, "-m", "mneme", *map(str, line)], check=True, timeout=60)
    return find_record(path)


@pytest.fixture(scope="module")
def config(record: RecordedExecution) -> ExperimentConfiguration:
    (instance,) = record.values()
    return ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, passes="default<O1>"
    )


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MNEME_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def make_pool(
    record: RecordedExecution,
    logs: Path,
    workers: int = 1,
    timeout: float = 60.0,
    iterations: int = 1,
) -> AsyncReplayExecutor:
    return AsyncReplayExecutor(
        record.path,
        None,
        iterations,
        logs,
        1,
        0,
        device="cpu",
        compile_workers=workers,
        compile_timeout=timeout,
    )


def compiler_pids(pool: AsyncReplayExecutor) -> list[int]:
    deadline = time.monotonic() + 30
    while not pool.compiler_pids and time.monotonic() < deadline:
        time.sleep(0.01)
    return pool.compiler_pids


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z" and os.getppid() != pid:
            return True
        time.sleep(0.05)
    return False


def test_replays_find_what_the_pool_compiled(
    record: RecordedExecution, config: ExperimentConfiguration, cache: Path, tmp_path: Path
) -> None:
    pipelines = ["default<O1>", "default<O2>", "default<O3>", "default<O1>"]
    with make_pool(record, tmp_path, 2) as pool:
        assert pool.compile_workers == 2
        futures = [pool.submit(replace(config, passes=passes)) for passes in pipelines]
        results = [future.result() for future in futures]
    assert all(result is not None and result.verified for result in results)
    assert len(list(cache.glob("*.mnemec"))) == 3


@pytest.mark.parametrize("workers", [0, 2])
def test_equal_binaries_are_measured_once(
    workers: int, record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    # What comes after the optimiser changes nothing.
    pipelines = ["default<O2>", "default<O2>,adce", "default<O2>,adce,dse"]
    configs = [replace(config, passes=passes) for passes in pipelines]
    with make_pool(record, tmp_path, workers) as pool:
        results = [future.result() for future in [pool.submit(one) for one in configs]]
        other_launch = pool.evaluate(replace(configs[0], shared_mem=64))
        longer = pool.evaluate(configs[1], iterations=7)
        fresh = pool.evaluate(configs[2], fresh=True)
        wrong = str(record.link_llvm_modules()).replace("fmul", "fadd")
        pool.set_ir(wrong)
        other_code = pool.evaluate(configs[0])
        statistics = pool.statistics
    done = [result for result in results if result is not None]
    assert {result.image_hash for result in done} == {done[0].image_hash}
    assert [result.verified for result in done] == [True] * 3
    assert sorted(result.reused for result in done) == [False, True, True]
    assert len({tuple(result.exec_time) for result in done}) == 1
    assert [result.launches > 0 for result in done] == [not result.reused for result in done]
    apart = [other_launch, longer, fresh, other_code]
    assert not any(result.reused for result in apart)
    assert longer.iterations_used == 7
    assert fresh.image_hash == done[0].image_hash
    assert not other_code.verified
    assert (statistics.submitted, statistics.measured, statistics.reused) == (7, 5, 2)
    assert statistics.device_busy_seconds > 0


def test_a_worker_can_be_chosen_and_results_come_as_they_are_done(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with AsyncReplayExecutor(record.path, None, 1, tmp_path, 2, 0, device="cpu") as pool:
        assert all(pool.evaluate(config, worker=number).verified for number in range(2))
        slow_worker = pool.workers[0].pid
        assert slow_worker is not None
        os.kill(slow_worker, signal.SIGSTOP)
        slow = pool.submit(config, worker=0, fresh=True)
        behind = pool.submit(config, worker=0, fresh=True)
        beside = [pool.submit(config, worker=1, fresh=True) for _ in range(3)]
        beside[-1].add_done_callback(lambda _: os.kill(slow_worker, signal.SIGCONT))
        order = list(as_completed([slow, behind, *beside], timeout=60))
        assert pool.capacity >= 2
        for worker in (-1, 2):
            with pytest.raises(InvalidArgument, match="worker below 2"):
                pool.submit(config, worker=worker)
    # Those that are done at the same time come in any order.
    assert set(order[:3]) == set(beside)
    assert set(order[3:]) == {slow, behind}
    adaptive = Measuring(stop_above_ns=1, classify_wrong=False)
    with make_pool(record, tmp_path, 0, iterations=1000) as pool:
        stopped = pool.evaluate(config, measuring=adaptive)
        again = pool.evaluate(replace(config, passes="default<O1>,adce"), measuring=adaptive)
        whole = pool.evaluate(config)
        pool.tighten(1)
        patient = replace(adaptive, stop_above_ns=10**12)
        late = pool.evaluate(config, measuring=patient, fresh=True)
        last = pool.evaluate(config, fresh=True)
    assert (late.stopped_early, late.iterations_used) == (True, 1)
    assert (last.stopped_early, last.iterations_used) == (False, 1000)
    assert (stopped.stopped_early, stopped.launches, stopped.iterations_used) == (True, 1, 1)
    assert again.reused
    assert (whole.reused, whole.iterations_used) == (False, 1000)


def test_launch_dimensions_and_values_are_those_of_the_replay(
    record: RecordedExecution, config: ExperimentConfiguration, cache: Path, tmp_path: Path
) -> None:
    changed = replace(
        config, specialize=True, specialize_dims=True, set_launch_bounds=True, max_threads=1024
    )
    with make_pool(record, tmp_path) as pool:
        assert pool.evaluate(changed).verified
        # Neither the code nor its place in the cache depends on what only the launch uses.
        assert pool.evaluate(replace(config, shared_mem=1024)).verified
        assert pool.evaluate(config).verified
    assert len(list(cache.glob("*.mnemec"))) == 2


def test_what_cannot_be_compiled_is_a_failed_result(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with make_pool(record, tmp_path) as pool:
        failed = pool.evaluate(replace(config, passes="no-such-pass"))
        assert pool.evaluate(config).verified
    assert (failed.failed, failed.verified, failed.result_class) == (True, False, "failed")
    assert failed.device == "cpu"
    assert "no-such-pass" in failed.error


@pytest.mark.alone
def test_endless_compilation_costs_itself(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with make_pool(record, tmp_path, timeout=1.0) as pool:
        late = pool.submit(replace(config, passes=ENDLESS))
        (pid,) = compiler_pids(pool)
        after = pool.evaluate(config)
        result = late.result()
    assert result is not None
    assert result.error == "Compiling took longer than 1 s"
    assert after.verified, after.error
    assert is_gone(pid)


def test_crash_of_the_compiler_costs_itself(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with make_pool(record, tmp_path) as pool:
        assert pool.evaluate(config).verified
        future = pool.submit(replace(config, passes=ENDLESS))
        (pid,) = compiler_pids(pool)
        assert future.result(timeout=0.3) is None
        os.kill(pid, signal.SIGABRT)
        crashed = future.result()
        assert crashed is not None
        assert crashed.error.startswith("The compiler crashed (signal 6) on this configuration")
        assert pool.evaluate(replace(config, passes="default<O2>")).verified
        assert pool.compiler_pids not in ([], [pid])


@pytest.mark.alone
@pytest.mark.parametrize("workers", [0, 1])
def test_crash_of_a_worker_costs_one_configuration(
    workers: int, record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with make_pool(record, tmp_path, workers, iterations=20_000) as pool:
        pipelines = ["default<O1>", "default<O2>", "default<O3>"]
        futures = [pool.submit(replace(config, passes=passes)) for passes in pipelines]
        assert futures[0].result() is not None
        os.kill(pool.workers[0].pid or 0, signal.SIGKILL)
        results = [future.result() for future in futures]
    assert [result.failed for result in results if result] == [False, True, False]
    assert results[1] is not None
    assert results[1].error == "Worker crashed (exit code: -9) running on device cpu"


def test_without_a_cache_there_is_one_for_the_time_being(
    record: RecordedExecution, config: ExperimentConfiguration, cache: Path, tmp_path: Path
) -> None:
    cache.write_text("not a directory")
    with make_pool(record, tmp_path) as pool:
        assert pool._own_cache is not None
        own = Path(pool._own_cache.name)
        assert pool.evaluate(config).verified
        assert len(list(own.glob("*.mnemec"))) == 1
    assert not own.exists()


def test_worker_that_does_not_start_leaves_compiling_to_the_replay(
    record: RecordedExecution,
    config: ExperimentConfiguration,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mneme.measure.compile_pool._COMMAND", "raise SystemExit(3)")
    with make_pool(record, tmp_path) as pool:
        assert pool.evaluate(config).verified


def test_interrupt_drops_what_is_queued(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    futures = []
    with pytest.raises(KeyboardInterrupt), make_pool(record, tmp_path) as pool:  # noqa: PT012
        assert pool.evaluate(config).verified
        futures = [pool.submit(replace(config, passes=ENDLESS)) for _ in range(20)]
        pids = [*compiler_pids(pool), pool.workers[0].pid or 0]
        raise KeyboardInterrupt
    for future in futures:
        with pytest.raises(InvalidArgument, match="shut down"):
            future.result(timeout=0)
    assert all(is_gone(pid) for pid in pids)


def test_processes_do_not_outlive_the_one_that_made_them(
    record: RecordedExecution, tmp_path: Path
) -> None:
    script = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from dataclasses import replace
from pathlib import Path
from test_compile_pool import ENDLESS, compiler_pids, make_pool
from mneme.mneme_types import ExperimentConfiguration
from mneme.recording.recorded_execution import RecordedExecution

if __name__ == "__main__":
    record = RecordedExecution.from_json({str(record.path)!r})
    (one,) = record.values()
    config = ExperimentConfiguration(grid=one.grid_dim, block=one.block_dim)
    pool = make_pool(record, Path({str(tmp_path)!r}))
    assert pool.evaluate(config).verified
    pool.submit(replace(config, passes=ENDLESS))
    time.sleep(0.5)
    print(pool.workers[0].pid, *compiler_pids(pool), flush=True)
    time.sleep(60)
"""
    (tmp_path / "script.py").write_text(script)
    line = [sys.executable, str(tmp_path / "script.py")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        process.kill()
    assert len(pids) == 2
    assert all(is_gone(pid) for pid in pids)


def test_pool_refuses_what_cannot_be_meant(record: RecordedExecution, tmp_path: Path) -> None:
    for workers, timeout in ((-1, 60.0), (1, 0.0)):
        with pytest.raises(InvalidArgument, match="compile_workers"):
            make_pool(record, tmp_path, workers, timeout)
