"""Replays of a real recording: in this process, in workers, from the command line."""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mneme
from mneme.cli import _leave
from mneme.cli._retry import open_or_retry
from mneme.errors import AddressUnavailable, ArtifactCorrupt, InvalidArgument, NotFound
from mneme.measure.async_executor import AsyncReplayExecutor
from mneme.measure.job import Job
from mneme.measure.measuring import Measuring
from mneme.measure.replay_executor import BaseExecutor
from mneme.measure.tune_worker import TuneWorker
from mneme.measure.worker import Request
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.recording.directory import Recording
from mneme.recording.inventory import describe_record, find_record
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"

pytestmark = [pytest.mark.compile, needs_native]


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mneme", *(str(one) for one in arguments)]
    # Not the environment of C, into which readline, once it is loaded, puts COLUMNS=80.
    environment = dict(os.environ)
    return subprocess.run(
        line, capture_output=True, text=True, check=False, timeout=120, env=environment
    )


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of one small launch."""
    assert PROGRAM.is_file(), f"{PROGRAM} is not built: run scripts/test"
    path = tmp_path_factory.mktemp("recording")
    done = command("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "65536")
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="session")
def record(directory: Path) -> RecordedExecution:
    return find_record(directory)


@pytest.fixture(scope="session")
def config(record: RecordedExecution) -> ExperimentConfiguration:
    (instance,) = record.values()
    return ExperimentConfiguration(
        grid=instance.grid_dim, block=instance.block_dim, shared_mem=instance.shared_mem
    )


def test_load_opens_directories_and_files(directory: Path, record: RecordedExecution) -> None:
    recording = mneme.load(directory)
    assert isinstance(recording, Recording)
    assert list(recording) == [record.static_hash]
    assert recording.kernel("vectorAdd").kernel_name == record.kernel_name
    with pytest.raises(NotFound, match="has no kernel 'nothing'; it has vectorAdd"):
        recording.kernel("nothing")


def test_arguments_are_shown_by_name_and_value(record: RecordedExecution) -> None:
    (instance,) = describe_record(record).instances
    values = {one.name: one.value for one in instance.args}
    assert values["n"] == "65536"
    assert values["a"].startswith("0x")


def test_states_compare_by_content(record: RecordedExecution) -> None:
    (instance,) = record.values()
    with instance.prologue as before, instance.epilogue as after:
        assert before == before  # noqa: PLR0124 - equality is what is tested
        assert before != after
        assert before.num_args == len(record.arg_names)


def test_recorded_code_is_an_llvmlite_module(record: RecordedExecution) -> None:
    assert record.kernel_name in str(record.link_llvm_modules())


def test_executor_verifies_and_measures(record: RecordedExecution) -> None:
    with BaseExecutor(record.path, iterations=2, warmup=1, device="cpu") as executor:
        recorded = executor.recorded_configuration()
        output = executor.replay(recorded, want_ir=True, want_assembly=True)
    assert output.result.verified, output.result
    assert output.result.result_class == "exact"
    assert len(output.result.exec_time) == 3
    assert "define" in output.ir
    assert output.assembly


def test_executor_takes_edited_code(record: RecordedExecution, tmp_path: Path) -> None:
    with BaseExecutor(record.path, iterations=1, warmup=0, device="cpu") as executor:
        recorded = executor.recorded_configuration()
        module = executor.link_ir()
        wrong = str(module).replace("fmul", "fadd")
        (tmp_path / "wrong.ll").write_text(wrong)
        assert executor.evaluate(recorded, module).verified
        for ir in (wrong, tmp_path / "wrong.ll", wrong.encode()):
            result = executor.evaluate(recorded, ir)
            assert not result.verified
            assert result.result_class == "wrong"
            assert result.mismatches


def test_bad_code_is_a_failed_result(record: RecordedExecution) -> None:
    with BaseExecutor(record.path, iterations=1, warmup=0, device="cpu") as executor:
        recorded = executor.recorded_configuration()
        result = executor.evaluate(recorded, "no\nIR")
        assert (result.failed, result.verified) == (True, False)
        assert result.error
        with pytest.raises(NotFound, match=r"no\.ll"):
            executor.evaluate(recorded, "no.ll")


def test_worker_puts_errors_into_results(record: RecordedExecution, tmp_path: Path) -> None:
    worker = TuneWorker(record.path, device="cpu")
    result = worker.process_payload(tmp_path / "no.ll", ExperimentConfiguration())
    worker.close()
    assert result.failed
    assert "no.ll" in result.error


def test_a_pool_stays_where_it_was_made(
    record: RecordedExecution,
    config: ExperimentConfiguration,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(record.path.parent)
    logs = os.path.relpath(tmp_path / "logs")
    with AsyncReplayExecutor(record.path.name, None, 1, logs, 1, device="cpu") as pool:
        monkeypatch.chdir("/")
        assert pool.evaluate(config).verified
        os.kill(pool.workers[0].pid or 0, signal.SIGKILL)
        assert [pool.evaluate(config, fresh=True).verified for _ in range(2)][-1]
    assert (tmp_path / "logs" / "Worker-0.log").is_file()


def test_requests_of_a_worker_have_configurations_or_dictionaries(
    record: RecordedExecution,
) -> None:
    instance = next(iter(record.values()))
    config = ExperimentConfiguration(grid=instance.grid_dim, block=instance.block_dim)
    requests: queue.Queue[Any] = queue.Queue()
    responses: queue.Queue[Any] = queue.Queue()
    for number, asked in enumerate((config, config.to_dict(), {"grid": dim3()})):
        requests.put((number, None, asked))
    requests.put(None)
    with TuneWorker(record.path, iterations=1, device="cpu") as worker:
        worker.serve(requests, responses)
    results = [responses.get() for _ in range(4)][1:]
    assert [result["verified"] for _, _, result in results] == [True, True, False]
    assert "block" in results[2][2]["error"]


def test_pool_evaluates_in_order_of_submission(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with AsyncReplayExecutor(record.path, None, 1, tmp_path, 2, device="cpu") as pool:
        futures = []
        for passes in ("default<O0>", "default<O2>", "no-such-pass"):
            config.passes = passes
            futures.append(pool.submit(config))
        config.passes = "default<O3>"
        results = [future.result() for future in futures]
        assert pool.evaluate(config).verified
    assert [future.config.passes for future in futures][2] == "no-such-pass"
    assert [result.verified for result in results if result] == [True, True, False]
    assert (tmp_path / "Worker-0.log").is_file()
    with pytest.raises(InvalidArgument, match="shut down"):
        pool.submit(config)


def test_pool_replays_other_code(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    wrong = str(record.link_llvm_modules()).replace("fmul", "fadd")
    with AsyncReplayExecutor(record.path, None, 1, tmp_path, 1, device="cpu") as pool:
        pool.set_ir(wrong)
        assert not pool.evaluate(config).verified
        pool.set_ir(None)
        assert pool.evaluate(config).verified


def test_crashed_worker_is_replaced(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with AsyncReplayExecutor(record.path, None, 5_000_000, tmp_path, 1, device="cpu") as pool:
        assert pool.evaluate(config, iterations=1).verified
        future = pool.submit(config)
        assert future.result(timeout=0.5) is None
        pid = pool.workers[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        crashed = future.result()
        assert crashed is not None
        assert (crashed.failed, crashed.executed) == (True, False)
        assert crashed.error == "Worker crashed (exit code: -9) running on device cpu"
        config_without_code = ExperimentConfiguration.from_dict(
            {**config.to_dict(), "passes": "no-such-pass"}
        )
        assert "no-such-pass" in pool.evaluate(config_without_code).error
        assert pool.workers[0].pid != pid


def test_worker_is_replaced_when_its_device_became_unusable(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    with AsyncReplayExecutor(record.path, None, 1, tmp_path, 1, device="cpu") as pool:
        (worker,) = pool.workers
        assert pool.evaluate(config).verified
        pid = worker.pid
        answered = worker._on_answer
        broken = ExperimentResult(failed=True, error="illegal address", device_usable=False)

        def answer(request: Request[Job], kind: str, text: str) -> None:
            del text
            worker._on_answer = answered  # type: ignore[method-assign]
            answered(request, kind, json.dumps(broken.to_dict()))

        worker._on_answer = answer  # type: ignore[method-assign]
        assert pool.evaluate(config, fresh=True) == broken
        assert pool.evaluate(config, fresh=True).verified
        assert worker.pid not in (None, pid)


def test_measuring_is_reported(record: RecordedExecution) -> None:
    adaptive = Measuring(confidence=0.5, min_iterations=6, max_iterations=50, cold_cache=True)
    with BaseExecutor(record.path, device="cpu", warmup=1, measuring=adaptive) as executor:
        result = executor.evaluate(executor.recorded_configuration())
    assert result.cold_cache
    assert result.timer == "host clock"
    assert 6 <= result.iterations_used <= 50
    assert len(result.exec_time) == 1 + result.iterations_used
    low, high = result.time_ci_ns
    assert low <= result.median_ns <= high
    slow = Measuring(stop_above_ns=1)
    with BaseExecutor(record.path, iterations=1000, device="cpu", measuring=slow) as executor:
        result = executor.evaluate(executor.recorded_configuration())
    assert result.verified
    assert (result.stopped_early, result.iterations_used) == (True, 1)


@pytest.mark.parametrize(
    "values", [{"confidence": -1.0}, {"time_budget": math.inf}, {"max_iterations": 0}]
)
def test_measuring_refuses_what_cannot_be_meant(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Measuring(**values)


def wait_for_kernel(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has loaded the code of a kernel, and launches it."""
    end = time.monotonic() + 60
    while "memfd:mneme-kernel" not in Path(f"/proc/{process.pid}/maps").read_text():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.1)


def test_interrupt_ends_a_replay_that_never_ends(record: RecordedExecution, tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    line = ("replay", "-rdb", record.path, "--device", "cpu", "-it", "1000000000", "default<O1>")
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "mneme", *map(str, line)], stdout=errors, stderr=errors
        )
        wait_for_kernel(process)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT


def test_late_worker_is_replaced(
    record: RecordedExecution, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    options = {"device": "cpu", "timeout": 1.0}
    with AsyncReplayExecutor(record.path, None, 1_000_000, tmp_path, 1, **options) as pool:  # type: ignore[arg-type]
        start = time.monotonic()
        result = pool.evaluate(config)
        assert result.failed
        assert "timed out after 1.0 s" in result.error
        assert time.monotonic() - start < 30


def test_pool_refuses_what_cannot_work(record: RecordedExecution, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        NotFound, match=r"workers' logs, '.*file/no', cannot be made: Not a directory"
    ):
        AsyncReplayExecutor(record.path, None, 1, tmp_path / "file/no", 1)
    with pytest.raises(InvalidArgument, match="num_workers"):
        AsyncReplayExecutor(record.path, None, 1, tmp_path, 0)
    with pytest.raises(NotFound, match="no instance 1"):
        AsyncReplayExecutor(record.path, "1", 1, tmp_path, 1)


def test_worker_that_cannot_open_the_recording_says_why(
    directory: Path, config: ExperimentConfiguration, tmp_path: Path
) -> None:
    assert command("copy", directory, tmp_path / "copy").returncode == 0
    (snapshot,) = (tmp_path / "copy").glob("DeviceState.prologue.*")
    snapshot.write_bytes(b"")
    with (
        AsyncReplayExecutor(tmp_path / "copy", None, 1, tmp_path, 1, device="cpu") as pool,
        pytest.raises(ArtifactCorrupt, match="prologue"),
    ):
        pool.evaluate(config)


def test_command_prints_only_json_on_stdout(record: RecordedExecution, tmp_path: Path) -> None:
    done = command(
        *("replay", "-rdb", record.path, "-slb", "-co", "2", "-it", "2", "--device", "cpu"),
        *("-ol", tmp_path / "out.ll", "--output-asm", tmp_path / "out.s", "default<O1>"),
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert done.stdout == json.dumps(printed, indent=2) + "\n"
    assert list(printed) == ["Replay-config", "Result"]
    config = ExperimentConfiguration.from_dict(printed["Replay-config"])
    assert (config.codegen_opt, config.passes) == (2, "default<O1>")
    assert config.set_launch_bounds
    assert config.max_threads == config.block.volume
    assert len(ExperimentResult.from_dict(printed["Result"]).exec_time) == 4
    assert "verified: exact" in done.stderr
    assert (tmp_path / "out.ll").read_text()
    assert (tmp_path / "out.s").read_text()


def test_command_tells_wrong_code(record: RecordedExecution, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.ll"
    wrong.write_text(str(record.link_llvm_modules()).replace("fmul", "fadd"))
    line = ("replay", "-rdb", record.path, "--ir", wrong, "--device", "cpu", "default<O2>")
    done = command(*line)
    assert done.returncode == 1
    assert not json.loads(done.stdout)["Result"]["verified"]
    assert "NOT verified: wrong" in done.stderr
    assert "expected" in done.stderr
    tolerant = command(*line, "--tolerance", "1e30")
    assert tolerant.returncode == 0, tolerant.stderr
    assert "within tolerance" in tolerant.stderr


def test_command_tells_a_bad_pipeline_from_a_bad_kernel(record: RecordedExecution) -> None:
    done = command("replay", "-rdb", record.path, "--device", "cpu", "no-such-pass")
    assert done.returncode == 3
    assert "no-such-pass" in done.stderr
    assert "Traceback" not in done.stderr


def test_files_go_and_come_together(directory: Path, tmp_path: Path) -> None:
    assert command("copy", directory, tmp_path / "a").returncode == 0
    (copied,) = (tmp_path / "a").glob("*.json")
    assert command("move", copied, tmp_path / "b").returncode == 0
    assert list((tmp_path / "a").iterdir()) == []
    (moved,) = (tmp_path / "b").glob("*.json")
    assert command("replay", "-rdb", moved, "--device", "cpu", "default<O1>").returncode == 0
    assert command("clean", moved).returncode == 0
    assert list((tmp_path / "b").iterdir()) == []


def test_flipped_bit_in_a_record_is_damage(directory: Path, tmp_path: Path) -> None:
    assert command("copy", directory, tmp_path / "copy").returncode == 0
    (record,) = (tmp_path / "copy").glob("*.json")
    record.write_text(record.read_text().replace("65536", "65537").replace("sm_90", "sm_80"))
    for verb in ("ls", "show"):
        done = command(verb, record if verb == "show" else record.parent)
        assert done.returncode == 4
        assert "is damaged" in done.stderr


def test_taken_addresses_are_tried_again_in_a_new_process(
    record: RecordedExecution, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = BaseExecutor(record.path, device="cpu")
    started: list[list[str]] = []

    def refuse() -> None:
        message = "taken"
        raise AddressUnavailable(message)

    monkeypatch.setattr(executor, "open", refuse)
    monkeypatch.setattr(_leave, "_is_own_process", True)
    monkeypatch.setattr(os, "execv", lambda _, line: started.append(line))
    monkeypatch.delenv("MNEME_REPLAY_ATTEMPT", raising=False)
    open_or_retry(executor)
    open_or_retry(executor)
    assert [line[1:] for line in started] == [sys.orig_argv[1:]] * 2
    with pytest.raises(AddressUnavailable):
        open_or_retry(executor)


def test_show_prints_everything_as_json(directory: Path) -> None:
    shown = json.loads(command("show", "--json", directory).stdout)
    (instance,) = shown["instances"]
    assert instance["prologue"]["stored_bytes"] > 0
    assert [one["name"] for one in instance["args"]][-1] == "n"
    table = command("show", directory).stdout
    assert instance["record_id"] in table
    assert "vectorAdd" in command("ls", directory).stdout
