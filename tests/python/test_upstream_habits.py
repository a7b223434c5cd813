"""What scripts of existing tools do and expect, in small."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from mneme.cli import main
from mneme.cli.exit_codes import ExitCode
from mneme.errors import InvalidArgument
from mneme.measure import async_executor
from mneme.measure.eval_future import EvalFuture
from mneme.measure.replay_executor import BaseExecutor
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult, dim3
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.records import choose, first_of_alike
from mneme.search.params import BoolParam
from mneme.search.sample_strategy import RandomSamplingStrategy
from mneme.search.search_space import SearchSpace
from mneme.search.space_view import SpaceView
from mneme.session.trials import metric_value
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
# walk(int), launched with two values of its argument.
TWO = GOLDEN / "13326948811992799613.json"
ONE = GOLDEN / "16372073875777044691.json"


@pytest.mark.parametrize("most", [300.7, 1e300, float("inf"), float("nan"), -1, 2**40, None])
def test_bounds_that_are_off_are_nothing_to_the_runtime(most: Any) -> None:
    config = ExperimentConfiguration(max_threads=most, min_blocks_per_sm=0.5)  # type: ignore[arg-type]
    sent = json.loads(config.launch_text())
    assert (sent["max_threads"], sent["min_blocks_per_sm"]) == (0, 0)
    assert config.min_blocks_per_sm == 0.5, "the script's own object stays"


def test_bounds_that_are_on_are_sent() -> None:
    config = ExperimentConfiguration(set_launch_bounds=True, max_threads=np.int64(256))  # type: ignore[arg-type]
    assert json.loads(config.launch_text())["max_threads"] == 256
    config = ExperimentConfiguration(set_launch_bounds=True, max_threads=256.0)  # type: ignore[arg-type]
    assert '"max_threads": 256,' in config.launch_text()


def test_numbers_of_numpy_are_numbers() -> None:
    plain = ExperimentConfiguration(grid=dim3(4), codegen_opt=2)
    other = ExperimentConfiguration(grid=dim3(np.uint32(4)), codegen_opt=np.int32(2))  # type: ignore[arg-type]
    assert other.hash() == plain.hash()
    assert dim3.from_dict({"x": np.int64(4)}) == dim3(4)
    with pytest.raises(InvalidArgument, match="dimension x"):
        dim3.from_dict({"x": np.float64(4)})  # type: ignore[dict-item]
    reference = "afc197d35054b502a0e774177d5672d750becf2cf225be27b4fd2f7c4a959e0b"
    assert ExperimentConfiguration().hash() == reference


def test_switches_may_be_numbers() -> None:
    config = ExperimentConfiguration(specialize=1, prune=np.int64(0), specialize_dims=np.bool_(1))  # type: ignore[arg-type]
    sent = json.loads(config.launch_text())
    assert (sent["specialize"], sent["prune"], sent["specialize_dims"]) == (True, False, True)
    assert isinstance(sent["specialize"], bool)
    assert isinstance(sent["prune"], bool)
    assert config.specialize == 1
    assert json.loads(ExperimentConfiguration(prune=2).launch_text())["prune"] == 2  # refused there


@needs_native
@pytest.mark.compile
def test_the_id_of_a_record_may_be_a_number(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(ONE)
    (number,) = map(int, record)
    executor = async_executor.AsyncReplayExecutor(str(ONE), number, 1, str(tmp_path), 1)  # type: ignore[arg-type]
    launch = record[str(number)]
    config = ExperimentConfiguration(grid=launch.grid_dim, block=launch.block_dim, specialize=1)  # type: ignore[arg-type]
    result = executor.evaluate(config)
    executor.shutdown()
    assert result.verified, result.error


def test_an_error_may_be_a_text() -> None:
    future = EvalFuture(1, ExperimentConfiguration())
    future.set_error("the node went away")
    assert future.done()
    with pytest.raises(RuntimeError, match="the node went away"):
        future.result()


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="mode"):
        metric_value(ExperimentResult(exec_time=[1, 2, 3]), "mode", 2)
    assert metric_value(ExperimentResult(exec_time=[9, 1, 3]), "mean", 2) == 2


class Own(SearchSpace):
    """Draws by itself."""

    def dimensions(self) -> dict[str, Any]:
        return {"specialize": BoolParam("specialize")}

    def sample_random(self) -> ExperimentConfiguration:  # type: ignore[override]
        return ExperimentConfiguration(codegen_opt=1)


class OwnAndOurs(Own):
    """Asks us first."""

    def sample_random(self, rng: random.Random | None = None) -> ExperimentConfiguration:
        config = SearchSpace.sample_random(self, rng)
        config.codegen_opt = 0
        return config


class OwnParams(Own):
    """Gives parameters."""

    def sample_random(self) -> dict[str, Any]:  # type: ignore[override]
        return {"specialize": True}


class OwnTrial(Own):
    """Asks the study by itself."""

    def sample_optuna(self, study: Any) -> Any:
        trial = study.ask()
        return ExperimentConfiguration(codegen_opt=trial.suggest_int("level", 2, 2)), trial

    def sample_exhaustive(self) -> Any:
        yield ExperimentConfiguration(codegen_opt=3)


def test_samples_of_the_users_own_count() -> None:
    assert {one.codegen_opt for one in RandomSamplingStrategy(Own(), 4)} == {1}
    assert {one.codegen_opt for one in RandomSamplingStrategy(OwnAndOurs(), 4)} == {0}
    assert all(one.specialize for one in RandomSamplingStrategy(OwnParams(), 4))
    sample, trial = SpaceView.of(OwnTrial()).ask(optuna.create_study())
    assert (sample.config.codegen_opt, sample.params, trial.number) == (2, {"level": 2}, 0)
    assert [one.config.codegen_opt for one in SpaceView.of(OwnTrial()).samples()] == [3]


def test_more_workers_than_gpus_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = ["cuda:0", "cuda:1"]

    def by_number(number: int) -> str:
        if number >= len(gpus):
            message = "there is no such device"
            raise InvalidArgument(message)
        return gpus[number]

    monkeypatch.setattr(async_executor, "device_by_number", by_number)
    assert async_executor._devices(None, 2) == gpus
    with pytest.warns(RuntimeWarning, match="5 workers were asked for and there are 2 GPUs"):
        assert async_executor._devices(None, 5) == gpus


@needs_native
@pytest.mark.compile
def test_launches_that_differ_in_scalars_are_alike(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    record = tmp_path / TWO.name
    ids = sorted(json.loads(record.read_text())["instances"])
    for age, name in enumerate(reversed(ids)):
        (prologue,) = tmp_path.glob(f"*prologue.{TWO.stem}.{name}.mneme")
        os.utime(prologue, (age, age))
    assert first_of_alike(choose(record, None, None)) == ids[1]
    assert first_of_alike(choose(tmp_path / ONE.name, None, None)) is None
    data = json.loads(record.read_text())
    data["instances"][ids[0]]["BlockDims"]["x"] += 1
    data.pop("Checksum")
    record.write_text(json.dumps(data))
    assert first_of_alike(choose(record, None, None)) is None


def mneme(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mneme", *(str(one) for one in arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "MNEME_DEVICE": "cpu"},
    )


@needs_native
@pytest.mark.compile
def test_replay_takes_the_first_of_launches_that_are_alike(tmp_path: Path) -> None:
    done = mneme("replay", "-rdb", TWO, "default<O1>")
    assert done.returncode == ExitCode.OK, done.stderr
    assert "2 launches of" in done.stderr.splitlines()[0]
    assert "differ in scalar arguments only" in done.stderr
    json.loads(done.stdout)
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    data = json.loads((tmp_path / TWO.name).read_text())
    names = list(data["instances"])
    data["instances"][names[0]]["GridDims"]["y"] = 2
    data.pop("Checksum")
    (tmp_path / TWO.name).write_text(json.dumps(data))
    done = mneme("replay", "-rdb", tmp_path / TWO.name, "default<O1>")
    assert done.returncode == ExitCode.INVALID_CONFIGURATION
    assert all(name in done.stderr for name in names)


@needs_native
@pytest.mark.compile
def test_a_record_written_elsewhere_replays_and_leaves_the_recording_alone(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "recording")
    before = sorted((tmp_path / "recording").iterdir())
    mine = tmp_path / "mine" / "record.json"
    mine.parent.mkdir()
    RecordedExecution.from_json(tmp_path / "recording" / ONE.name).to_json(mine)
    assert "../recording/" in mine.read_text()
    for _ in ("relative", "absolute"):
        done = mneme("replay", "-rdb", mine, "default<O1>")
        assert done.returncode == ExitCode.OK, done.stderr
        mine.write_text(mine.read_text().replace("../recording", str(tmp_path / "recording")))
    assert mneme("clean", mine).returncode == ExitCode.INVALID_CONFIGURATION
    assert sorted((tmp_path / "recording").iterdir()) == before


@needs_native
def test_an_executor_does_not_choose() -> None:
    with pytest.raises(ValueError, match="Cannot infer record ID"):
        BaseExecutor(str(TWO)).open()


@needs_native
@pytest.mark.compile
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (["config", "prefix"], 0),
        (["ls", GOLDEN], 0),
        (["--help"], 0),
        (["nothing"], 2),
        (["show", "nowhere"], 4),
        (["replay", "-rdb", ONE, "default<O1>"], 0),
        (["replay", "-rdb", ONE, "no-such-pass"], 3),
        (["run", "--", "/bin/sh", "-c", "exit 7"], 7),
        (["run", "--", "/bin/sh", "-c", "kill -9 $$"], 137),
        (["run", "--", "/nowhere"], 127),
    ],
)
def test_main_returns_its_code(line: list[Any], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_DEVICE", "cpu")
    assert main([str(one) for one in line]) == code


@pytest.mark.parametrize("module", ["mneme", "mneme.cli"])
def test_the_command_is_a_module(module: str) -> None:
    words = [sys.executable, "-m", module, "config", "nothing"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == ExitCode.USAGE
    assert "nothing" in done.stderr


@needs_native
@pytest.mark.compile
@pytest.mark.parametrize("sampler", ["random", "tpe", "exhaustive"])
def test_tune_takes_spaces_of_no_base_class(sampler: str, tmp_path: Path) -> None:
    space = tmp_path / "space.py"
    space.write_text(
        "from mneme.search.params import IntRangeParam\n"
        "class Duck:\n"
        "    def __init__(self, kernel): self.seed, self.samples = 1, []\n"
        "    def dimensions(self): return {'codegen_opt': IntRangeParam('codegen_opt', 1, 2)}\n"
        "    def derived(self, params):\n"
        "        return {**params, 'grid': 1, 'block': 64, 'max_threads': 64.5}\n"
        "    def constraints(self, x): return True\n"
        "def make(kernel): return Duck(kernel)\n"
    )
    for number, name in enumerate(("Duck", "make")):
        results = tmp_path / f"results{number}"
        trials = [] if sampler == "exhaustive" else ["--trials", "2"]
        done = mneme(
            *("tune", "-rdb", ONE, "--space-module", f"{space}:{name}", "--results-dir", results),
            *("--sampler", sampler, *trials),
        )
        assert done.returncode == ExitCode.OK, done.stderr
        lines = (results / "trials.jsonl").read_text().splitlines()
        assert [json.loads(one)["status"] for one in lines] == ["verified"] * 2
