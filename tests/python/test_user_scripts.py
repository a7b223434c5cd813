"""Scripts written from the documented names alone run unchanged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mneme.pipelines.structurizing import with_what_structurizecfg_needs
from native_parts import needs_native

SCRIPTS = Path(__file__).parent / "user_scripts"
PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"
ELEMENTS = 16384

pytestmark = [pytest.mark.compile, needs_native]


def run(*line: str | Path) -> str:
    words = [sys.executable, *(str(one) for one in line)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


def script(name: str, record: Path, results: Path) -> Any:
    return json.loads(run(SCRIPTS / name, record, results).splitlines()[-1])


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert PROGRAM.is_file(), f"{PROGRAM} is not built: run scripts/test"
    path = tmp_path_factory.mktemp("recording")
    run("-m", "mneme", "record", "-rdb", path, "--device", "cpu", "--", PROGRAM, str(ELEMENTS))
    (file,) = path.glob("*.json")
    return file


def kernel_name(record: Path) -> str:
    return str(json.loads(record.read_text())["KernelName"])


def test_every_admitted_combination_is_evaluated_once(record: Path, tmp_path: Path) -> None:
    results = tmp_path / "not" / "there" / "yet"
    said = script("exhaustive.py", record, results)
    log = json.loads((results / "log.json").read_text())
    configs = [entry["config"] for entry in log]
    points = {(c["block"]["x"], c["passes"], c["codegen_opt"], c["specialize"]) for c in configs}
    # 64, 128 and 256 threads; O1 with 1, O3 with 1 and 3; both kinds of arguments.
    assert points == {
        (block, passes, codegen, specialize)
        for block in (64, 128, 256)
        for passes, codegen in (("default<O1>", 1), ("default<O3>", 1), ("default<O3>", 3))
        for specialize in (True, False)
    }
    assert said["tried"] == len(points) == len(log)
    assert all(c["grid"]["x"] * c["block"]["x"] == ELEMENTS for c in configs)
    assert all(entry["result"]["verified"] for entry in log)
    assert {entry["samples"] for entry in log} == {5}  # three, and two to warm up
    best = min(log, key=lambda entry: entry["time_ns"])
    assert said["best"] == best["config"]
    entry = json.loads((results / "tuned.json").read_text())[kernel_name(record)]
    assert entry["Pipeline"] == best["config"]["passes"]
    assert entry["CodeGenOptLevel"] == best["config"]["codegen_opt"]


def test_optuna_chooses_launch_bounds_and_pipelines(record: Path, tmp_path: Path) -> None:
    said = script("tpe_launch_bounds.py", record, tmp_path)
    assert {name: len(states) for name, states in said["states"].items()} == {
        "launch-bounds-maximize": 8,
        "launch-bounds-minimize": 8,
    }
    assert {state for states in said["states"].values() for state in states} == {"COMPLETE"}
    for config in said["configs"]:
        block = config["block"]["x"]
        assert config["grid"]["x"] == -(-ELEMENTS // block)
        assert block % 32 == 0
        if config["set_launch_bounds"]:
            assert block <= config["max_threads"] <= 2 * block
        else:
            assert (config["max_threads"], config["min_blocks_per_sm"]) in {(1024, 1), (0, 0)}
    assert len({config["passes"] for config in said["configs"]}) > 1
    assert {config["set_launch_bounds"] for config in said["configs"]} == {True, False}
    assert said["speedup"] > 0
    assert said["time_ns"] > 0
    assert said["passes_known"] > 50
    for name in ("tuned.json", "exported.json"):
        entry = json.loads((tmp_path / name).read_text())[kernel_name(record)]
        # The file is for any tool of LLVM.
        assert entry["Pipeline"] == with_what_structurizecfg_needs(said["best"]["passes"])
        assert entry["LaunchBounds"] is said["best"]["set_launch_bounds"]
        assert entry["SpecializeDims"] is True
    assert "PROTEUS_TUNED_KERNELS" in (tmp_path / "usage.txt").read_text()


def test_futures_of_two_workers_all_end(record: Path, tmp_path: Path) -> None:
    said = script("futures.py", record, tmp_path)
    assert said["first_missing"]
    assert (said["left"], said["workers"]) == (0, 2)
    assert (said["iterations"], said["warmup"]) == (2, 1)
    assert said["drawn"] == 3
    results = said["results"]
    assert len(results) == 14
    assert all(one["round_trip"] for one in results)
    (unknown,) = (one for one in results if one["passes"] == "no-such-pass")
    assert unknown["failed"]
    assert not unknown["executed"]
    assert "no-such-pass" in unknown["error"]
    verified = [one for one in results if one["verified"]]
    assert len(verified) == 12
    assert {one["samples"] for one in verified} == {3}
    (short,) = (one for one in results if one["executed"] and not one["verified"])
    assert short["block"]["x"] == 32
    logs = {path.name for path in tmp_path.glob("Worker-*.log")}
    assert logs == {"Worker-0.log", "Worker-1.log"}


def test_codegen_method_of_older_scripts_is_accepted(record: Path, tmp_path: Path) -> None:
    said = script("old_codegen_method.py", record, tmp_path)
    assert [config["block"]["x"] for config, _ in said] == [128, 256]
    assert all("codegen_method" not in config for config, _ in said)
    assert [verified for _, verified in said] == [True, True]


def test_spaces_may_have_any_names_and_any_base(record: Path, tmp_path: Path) -> None:
    said = script("odd_space.py", record, tmp_path)
    counts = {"exhaustive": 16, "random": 3, "own": 3, "duck": 12, "duck random": 2}
    assert {name: len(found) for name, found in said["classes"].items()} == {
        **counts,
        "duck optuna": 3,
    }
    assert {one for found in said["classes"].values() for one in found} == {"verified"}
    assert set(said["threads"]["own"]) == {128}
    assert max(said["threads"]["duck"]) < 256
    assert max(said["max_threads"]) > 2**32, "launch bounds that are off are any number"
    assert said["timed"]
    assert said["described"] == "mine"
    assert (said["dimensions"], said["params"]) == (["bounds", "slack", "warps"], 16)


def test_numbers_may_be_those_of_numpy(record: Path, tmp_path: Path) -> None:
    said = script("numpy_numbers.py", record, tmp_path)
    assert said["threads"] == [64, 128, 192, 256]
    assert said["samples"] == [2] * 4  # one, and one to warm up
    assert said["verified"] == [True] * 4
    assert (said["iterations"], said["warmup"]) == (1, 1)


def test_a_record_may_be_read_and_edited_by_hand(record: Path, tmp_path: Path) -> None:
    said = script("record_by_hand.py", record, tmp_path)
    assert (said["address_digits"], said["size"]) == (16, 4 << 30)
    assert said["missing"] == []
    assert said["kernel"] == kernel_name(record)
    assert said["specializable"] == [3, 4]
    assert said["arguments"] == 5
    assert (said["verified"], said["samples"]) == (True, 3)


def test_a_replay_by_hand_gives_what_was_recorded(record: Path, tmp_path: Path) -> None:
    said = script("modules.py", record, tmp_path)
    assert said["sizes"]["optimized"] < said["sizes"]["linked"]
    assert said["bounds"]
    assert (said["before"], said["verified"]) == (False, True)
    assert len(said["times"]) == 4
    assert min(said["times"]) > 0
    assert said["devices"] >= 1
    assert said["method"] in ("rtc", "serial")
