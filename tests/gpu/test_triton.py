"""Kernels of Triton and torch.compile: their IR is recorded, beside the code that ran.

MNEME_TEST_TORCH_PYTHON names a Python that has torch and triton; else it is python3.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import mneme, run_command, without_ir
from mneme.devices import device_limits
from mneme.recording.directory import Recording
from mneme.recording.recorded_execution import RecordedExecution

PYTHON = os.environ.get("MNEME_TEST_TORCH_PYTHON", "python3")
PROGRAM = Path(__file__).resolve().with_name("triton_program.py")
OWN = ("scale_kernel", "softmax_kernel", "layer_norm_kernel", "matmul_kernel")
# A process of its own for each of many replays would take long.
SECONDS = 300

pytestmark = pytest.mark.skipif(not support.IS_GPU, reason="Triton makes code for GPUs only")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if run_command(PYTHON, "-c", "import torch, triton").returncode != 0:
        pytest.skip(f"'{PYTHON}' cannot import torch and triton; MNEME_TEST_TORCH_PYTHON names one")
    folder: Path = tmp_path_factory.mktemp("triton")
    caches = {
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
    }
    alone = run_command(PYTHON, PROGRAM, timeout=SECONDS, **caches)
    assert alone.returncode == 0, alone.stderr
    done = mneme(
        *("record", "-rdb", folder / "db", "-mr", "1", "--device", support.DEVICE),
        *("--kernels", f"^({'|'.join(OWN)})$|^triton_", "--", PYTHON, PROGRAM),
        timeout=SECONDS,
        **caches,
    )
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    return folder / "db"


def _kernels(recording: Path) -> dict[str, RecordedExecution]:
    return {one.kernel_name: one for one in Recording(recording).values()}


def test_kernels_have_ir_ptx_and_cubin(recording: Path) -> None:
    found = _kernels(recording)
    assert set(OWN) <= set(found)
    assert any(name.startswith("triton_") for name in found), "none of torch.compile"
    for name, record in found.items():
        assert record.code_form == "", f"{name} was not found in a cache"
        assert set(record.images) == {"cubin", "ptx"}
        assert record.producer.startswith("Triton")


@pytest.mark.parametrize("code", ["recorded", "ptx"])
def test_code_that_ran_and_ptx_replay_exactly(recording: Path, code: str) -> None:
    done = mneme("replay", recording, "--all", "--llvm", code, "--device", support.DEVICE,
                 timeout=SECONDS)  # fmt: skip
    told = re.search(r"(\d+) of (\d+) launch", done.stderr)
    assert told is not None, done.stderr
    assert told[1] == told[2], done.stderr


@pytest.mark.parametrize("kernel", OWN)
def test_pipelines_of_ours_replay(recording: Path, kernel: str) -> None:
    for pipeline in ("default<O3>", "default<O0>"):
        done = mneme("replay", recording, f"{kernel}@1", pipeline, "--device", support.DEVICE)
        assert done.result["result_class"] in ("exact", "few_ulp"), done.stderr


def test_ptxas_takes_options_and_levels(recording: Path) -> None:
    where = ("replay", recording, "softmax_kernel@1", "--llvm", "ptx", "--device", support.DEVICE)
    for words in (
        ("--codegen-opt", "1"),
        ("--ptxas=--def-load-cache=cg",),
        ("--max-registers", "24"),
    ):
        done = mneme(*where, *words)
        assert done.result["result_class"] == "exact", (words, done.stderr)
        assert done.result["reg_usage"] > 0


def test_an_elementwise_kernel_runs_on_the_cpu_device(recording: Path) -> None:
    # Hardware approximates functions otherwise than the CPU device.
    options = ("--device", "cpu", "--tolerance", "1e-5")
    done = mneme("replay", recording, "scale_kernel@1", *options)
    assert done.result["result_class"] in ("exact", "within_tolerance"), done.stderr


def test_tune_and_compare(recording: Path, tmp_path: Path) -> None:
    name = "softmax_kernel@1"
    for number, words in enumerate(((), ("--llvm", "ptx"))):
        results = tmp_path / str(number)
        done = mneme(
            *("tune", recording, name, "--trials", "6", "--results-dir", results, *words),
            *("--device", support.DEVICE),
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        trials = [json.loads(one) for one in (results / "trials.jsonl").read_text().splitlines()]
        assert any(one["status"] == "verified" for one in trials)
    done = mneme(
        *("compare", recording, "--kernel", "softmax_kernel", "--rounds", "6", "--json"),
        *("--variant", "own=--llvm recorded", "--variant", "ptx=--llvm ptx"),
        *("--device", support.DEVICE, "--results-dir", tmp_path / "compared"),
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    for kernel in json.loads(done.stdout)["kernels"]:
        for one in kernel["variants"].values():
            assert one["verdict"] not in ("wrong", "failed", "invalid"), one


def _deployed(recording: Path, folder: Path) -> Path:
    """Deploy other code of three kernels: by our LLVM, with constants, and by ptxas."""
    found: dict[str, dict[str, Any]] = {
        "softmax_kernel": {"passes": "default<O2>"},
        "scale_kernel": {"passes": "default<O1>", "specialize": True},
        "layer_norm_kernel": {"llvm": "ptx", "codegen_opt": 2},
    }
    arch = device_limits(support.DEVICE).target
    for kernel, configured in found.items():
        record = _kernels(recording)[kernel].path
        (launch,) = json.loads(Path(record).read_text())["instances"]
        results = without_ir.write_results(
            folder / kernel, Path(record), launch, arch, **configured
        )
        done = mneme("deploy", results, "-o", folder / "tuned.json", "--merge")
        assert done.returncode == 0, done.stderr
    return folder / "tuned.json"


def _run(recording: Path, tuned: Path | str, cache: Path | None = None) -> list[str]:
    """Run the program, and return its lines and those of the trace."""
    done = mneme(
        *("run", "--device", support.DEVICE, "--", PYTHON, PROGRAM),
        timeout=SECONDS,
        TRITON_CACHE_DIR=str(cache or recording.parent / "cache"),
        TORCHINDUCTOR_CACHE_DIR=str(recording.parent / "inductor"),
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_TRACE_OUTPUT="kernel-trace",
    )
    assert done.returncode == 0, done.stderr
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def test_what_was_found_is_deployed(recording: Path, tmp_path: Path) -> None:
    alone = [float(line) for line in _run(recording, "")[:5]]
    lines = _run(recording, _deployed(recording, tmp_path))
    assert [float(line) for line in lines[:5]] == pytest.approx(alone, rel=1e-5)
    traced = [line for line in lines if "[kernel-trace]" in line]
    for kernel in ("softmax_kernel", "scale_kernel", "layer_norm_kernel"):
        (line,) = (one for one in traced if f"] {kernel} " in one)
        assert line.endswith("variant 0, fits this launch"), traced
    assert not any("not used" in line for line in lines), lines


def test_code_that_triton_makes_anew_is_the_same(recording: Path, tmp_path: Path) -> None:
    lines = _run(recording, _deployed(recording, tmp_path), tmp_path / "empty")
    assert sum(line.endswith("variant 0, fits this launch") for line in lines) == 3, lines
