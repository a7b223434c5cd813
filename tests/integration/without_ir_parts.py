"""A kernel and a program that loads its code, whatever that is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from mneme import _native
from mneme.deploy.tuned_file import TunedKernel, write_tuned_file
from mneme.deploy.tuned_kernels import make_variant
from mneme.deploy.tuned_variant import LaunchOverride
from mneme.deploy.tuning_results import match_of
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recording.launch_facts import launch_facts

LOADER = Path(__file__).resolve().with_name("image_loader.cpp")
KERNEL = """
struct Job { const double* in; double* out; long count; double factor; };
__device__ double bias = 0.5;
extern "C" __global__ void scale(Job job, unsigned long long step, int rounds) {
  const long at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= job.count)
    return;
  double number = job.in[at * step % job.count];
  for (int round = 0; round < rounds; ++round)
    number = number * job.factor + bias;
  job.out[at] = number;
}
"""
SUMS = "183853468.75, 183853468.75, 275782703.12\n"


def write_tuned(
    path: Path,
    record: Path,
    record_id: str,
    arch: str,
    *,
    rule: str = "",
    grid: dim3 = dim3(16),  # noqa: B008
    block: dim3 = dim3(64),  # noqa: B008
    **configured: Any,
) -> Path:
    """Write a file that tunes a recorded launch, as a search might have found it."""
    facts = launch_facts(record, record_id)
    config, cubin = ExperimentConfiguration(**configured), b""
    if "codegen_opt" in configured or "assembler_options" in configured:
        code = _native.RecordedCode(record)
        cubin = code.assembled(arch, json.dumps(config.to_dict()))
    variant = replace(
        make_variant(config, match_of(facts, arch=arch)),
        tuned_max_threads=config.max_threads if config.set_launch_bounds else -1,
        cubin=cubin,
        guards=("Arch",),
        launch=LaunchOverride(rule=rule, grid=grid, block=block) if rule else None,
        static_hash=facts["static_hash"],
        code_form=facts["code_form"],
    )
    write_tuned_file(path, {facts["kernel_name"]: TunedKernel(variants=(variant,))})
    return path


def write_results(folder: Path, record: Path, record_id: str, arch: str, **configured: Any) -> Path:
    """Write results as if a search had found this configuration of a recorded launch."""
    facts = launch_facts(record, record_id)
    launch = {"grid": dim3.from_dict(facts["grid"]), "block": dim3.from_dict(facts["block"])}
    config = ExperimentConfiguration(**launch, shared_mem=facts["shared_mem"], **configured)
    gain = {"ratio": 1.5, "low": 1.4, "high": 1.6, "significant": True}
    found = {"trial": 1, "config": config.to_dict(), "gain": gain}
    content = {
        **found,
        "best_metric": 1000.0,
        "baseline_metric": 1500.0,
        "same_launch": {**found, "metric": 1000.0},
        "facts": facts,
        "record": {"record_database": str(record), "record_id": record_id},
        "device": {"id": arch, "name": "tested", "arch": arch},
    }
    folder.mkdir(parents=True)
    (folder / "best.json").write_text(json.dumps(content))
    return folder
