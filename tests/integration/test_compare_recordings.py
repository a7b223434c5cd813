"""`mneme compare` on recordings of the examples, on the CPU device."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import mneme

EXAMPLES = ("vector_add", "stencil2d", "reduction", "multi_unit")
LINE = ("--device", "cpu", "--rounds", "6", "--iterations", "1")
VARIANTS = ("--passes", "default<O1>", "--passes", "default<O0>", "--passes", "default<O1>,nosuch")


@pytest.fixture
def tree(recordings: dict[str, Path], tmp_path: Path) -> Path:
    """Recordings in directories below one."""
    for name in EXAMPLES:
        (tmp_path / "tree" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "tree" / name).symlink_to(recordings[name])
    return tmp_path / "tree"


def roots(tree: Path) -> list[Path]:
    return sorted(tree.iterdir())


def verdicts(kernels: list[dict[str, Any]], variant: str) -> set[str]:
    return {one["variants"][variant]["verdict"] for one in kernels}


def test_every_kernel_is_verified_and_measured(tree: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("c.html", "c.md", "c.xml", "c.json")]
    options = [
        word
        for option, file in zip(("--html", "--markdown", "--junit", "--lnt"), files, strict=True)
        for word in (option, file)
    ]
    results = ("--results-dir", tmp_path / "results", "--json")
    two = ("--device", "cpu,cpu")  # processes that measure, as on a node with two GPUs
    done = mneme("compare", *roots(tree), *LINE, *two, *VARIANTS, *results, *options)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "results" / "logs").glob("Worker-*.log"))) == 2
    kernels = json.loads(done.stdout)["kernels"]
    assert len(kernels) >= 4
    assert all(not one["problem"] and one["device"] == "cpu" for one in kernels)
    assert verdicts(kernels, "default<O0>") <= {"slower", "faster", "no difference"}
    assert verdicts(kernels, "default<O1>,nosuch") == {"invalid"}
    assert "nosuch" in kernels[0]["variants"]["default<O1>,nosuch"]["reason"]
    assert all(one["variants"]["default<O0>"]["code_bytes"] > 0 for one in kernels)
    assert all(file.stat().st_size for file in files)


def test_the_baseline_is_what_replay_runs(recordings: dict[str, Path], tmp_path: Path) -> None:
    recording = recordings["vector_add"]
    results = ("--results-dir", tmp_path / "results", "--json")
    done = mneme("compare", recording, *LINE, "--variant", "x=--codegen-opt 0", *results)
    assert done.returncode == 0, done.stderr
    (kernel,) = json.loads(done.stdout)["kernels"]
    replayed = mneme("replay", recording, "--device", "cpu")
    config = json.loads(replayed.stdout)["Replay-config"]
    assert kernel["variants"]["x"]["config"] == {**config, "codegen_opt": 0}
    assert kernel["variants"]["x"]["baseline"]["image_hash"] == replayed.result["image_hash"]


def test_equal_pipelines_give_the_same_code(tree: Path, tmp_path: Path) -> None:
    variants = ("--variant", "a='default<O2>'", "--variant", "b='default<O2>'")
    results = ("--results-dir", tmp_path / "results", "--json")
    done = mneme("compare", *roots(tree), *LINE, *variants, *results, "--fail-on", "regression=0%")
    assert done.returncode == 0, done.stderr
    assert verdicts(json.loads(done.stdout)["kernels"], "b") == {"same code"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_was_finished_is_not_measured_again(
    number: signal.Signals, tree: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    line = [*roots(tree), "--device", "cpu", "--rounds", "60", "--passes", "default<O1>"]
    line += ["--results-dir", results]
    command = [sys.executable, "-m", "mneme", "compare", *map(str, line)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        lines = results / "kernels.jsonl"
        deadline = time.monotonic() + 60
        while not (lines.exists() and lines.read_bytes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
    first = lines.read_bytes()
    if number == signal.SIGINT and process.returncode != 0:
        assert process.returncode == 130
        assert "--resume continues" in told
    done = mneme("compare", *line, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert lines.read_bytes().startswith(first)
    printed = json.loads(done.stdout)
    kept = [json.loads(one)["case"]["record_id"] for one in lines.read_text().splitlines()]
    assert len(set(kept)) == len(printed["kernels"])
    assert all(kept.count(one) <= 2 for one in kept)  # twice: found, and measured again
    again = mneme("compare", *line[:-4], "--passes", "default<O2>", *line[-2:], "--resume")
    assert again.returncode == 3
    assert "other variants" in again.stderr


def test_a_crash_costs_one_variant_of_one_kernel(
    recordings: dict[str, Path], tmp_path: Path
) -> None:
    # A block of no kernel's: its launch is refused, and the kernel still has its other variant.
    results = ("--results-dir", tmp_path / "results", "--json")
    variants = ("--variant", "huge=--block-dim-x 4096", "--variant", "O1='default<O1>'")
    first = ("--variant", "base=")
    done = mneme("compare", recordings["vector_add"], *LINE, *first, *variants, *results)
    assert done.returncode == 0, done.stderr
    (kernel,) = json.loads(done.stdout)["kernels"]
    assert kernel["variants"]["huge"]["verdict"] in ("launch refused", "crashed or hung")
    assert "4096" in kernel["variants"]["huge"]["reason"]
    assert kernel["variants"]["O1"]["ratio"] > 0
    assert not any(os.path.exists(one) for one in Path(".").glob("core.*"))
