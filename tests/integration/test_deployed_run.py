"""From a recording to a production run: tune, deploy, check, run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished, example, instances, mneme, records


def tuned(recording: Path, out: Path, **config: Any) -> Path:
    """Tune for a moment, and claim that one configuration was significantly faster.

    What is found in microseconds on a busy machine is noise; what is deployed has to be certain.
    """
    (record, *_) = records(recording)
    line = ["tune", "-rdb", record, "-rid", instances(record)[0], "--trials", "1", "--quiet"]
    line += ["--space-preset", "quick", "--results-dir", out]
    done = mneme(*line, MNEME_DEVICE="cpu")
    assert done.returncode == 0, done.stderr
    path = out / "best.json"
    best = json.loads(path.read_text())
    best["trial"] = 1
    best["config"].update(config)
    best["gain"] = {"ratio": 1.5, "low": 1.4, "high": 1.6, "significant": True, "rounds": 12}
    path.write_text(json.dumps(best))
    return out


def run(tuned_file: Path, program: Path, *arguments: str) -> Finished:
    return mneme(
        *("run", "--device", "cpu", "--", program, *arguments),
        PROTEUS_TUNED_KERNELS=str(tuned_file),
        PROTEUS_CACHE_DIR=str(tuned_file.parent / "cache"),
        PROTEUS_TRACE_OUTPUT="kernel-trace",
    )


def deploy(results: Path, *options: str) -> Path:
    file = results.parent / "tuned.json"
    done = mneme("deploy", results, "-o", file, *options)
    assert done.returncode == 0, done.stderr
    return file


def test_production_runs_take_what_is_deployed(recordings: dict[str, Path], tmp_path: Path) -> None:
    results = tuned(
        recordings["stencil2d"], tmp_path / "results", passes="default<O1>", specialize=True
    )
    file = deploy(results)
    program = example("stencil2d")
    done = mneme("deploy", "--check", file, program)
    assert done.returncode == 0, done.stdout
    done = run(file, program)
    assert "PASSED" in done.stdout
    assert "variant 0, fits this launch" in done.stderr


def test_production_runs_take_other_dimensions(recordings: dict[str, Path], tmp_path: Path) -> None:
    other = {"grid": {"x": 8192, "y": 1, "z": 1}, "block": {"x": 128, "y": 1, "z": 1}}
    results = tuned(recordings["vector_add"], tmp_path / "results", **other)
    file = deploy(results, "--launch")
    done = run(file, example("vector_add"))
    assert "PASSED" in done.stdout
    assert "launched <<<8192x1x1, 128x1x1>>>" in done.stderr
    # The rule says that they are right for the recorded launch.
    done = run(file, example("vector_add"), "1000")
    assert "PASSED" in done.stdout
    assert "launched <<<" not in done.stderr


def test_production_runs_take_another_number_of_blocks(
    recordings: dict[str, Path], tmp_path: Path
) -> None:
    """The recorded launch: 32 blocks of 128 threads, whatever the size of the problem."""
    other = {"grid": {"x": 7, "y": 1, "z": 1}, "block": {"x": 96, "y": 1, "z": 1}}
    pipeline = "function(mneme-unroll<4>),default<O2>"
    results = tuned(recordings["spmv_cg"], tmp_path / "results", passes=pipeline, **other)
    path = results / "best.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "launch_rule": "agnostic"}))
    file = deploy(results, "--launch")
    (kernel,) = json.loads(file.read_text()).values()
    assert kernel["Pipeline"] == "default<O2>"
    (variant,) = kernel["Mneme"]["Variants"]
    assert variant["Pipeline"] == pipeline
    assert variant["Launch"] == {"Rule": "agnostic", "GridDim": other["grid"],
                                 "BlockDim": other["block"]}  # fmt: skip
    # Nothing is known about another number of rows.
    for edge, is_other in (("64", True), ("48", False)):
        done = run(file, example("spmv_cg"), edge)
        assert "PASSED" in done.stdout
        assert ("launched <<<7x1x1, 96x1x1>>>" in done.stderr) is is_other
        assert not [line for line in done.stderr.splitlines() if "cannot" in line]


@pytest.mark.parametrize("guards", [["--guard", "launch"], ["--guard", "args"]])
def test_guards_keep_other_launches_untuned(
    recordings: dict[str, Path], tmp_path: Path, guards: list[str]
) -> None:
    results = tuned(recordings["vector_add"], tmp_path / "results")
    done = run(deploy(results, *guards), example("vector_add"), "1000")
    assert "PASSED" in done.stdout
    assert "variant 0" not in done.stderr


def test_changed_program_runs_as_it_was_built(recordings: dict[str, Path], tmp_path: Path) -> None:
    file = deploy(tuned(recordings["vector_add"], tmp_path / "results"))
    content = json.loads(file.read_text())
    (kernel,) = content.values()
    kernel["Mneme"]["StaticHash"] = "0" * 16
    for variant in kernel["Mneme"]["Variants"]:
        variant["CodeHash"] = "0" * 16
    file.write_text(json.dumps(content))
    program = example("vector_add")
    done = mneme("deploy", "--check", file, program)
    assert (done.returncode, "stale" in done.stdout) == (1, True)
    done = run(file, program)
    assert "PASSED" in done.stdout
    assert "variant 0" not in done.stderr
