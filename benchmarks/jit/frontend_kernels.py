"""How fast kernels of the frontends are, beside templates compiled ahead of time and NVRTC.

usage: frontend_kernels.py [--device cpu|cuda:0] [--runs N] [--output FILE] [PROGRAM]
       frontend_kernels.py --build PROGRAM

PROGRAM is frontend_kernels.cu, built where clang is with --build; it is built for this run if none is
named. Prints a table and writes JSON. On a machine without clang the clang frontend is given what
clang made of the same text when the program was built: its first launch has no time of clang in it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from common import BUILD, RESULTS, write_results  # noqa: E402

FORMS = ("template", "nvrtc", "dsl", "ir", "clang", "nvcc")
INSTANCES = """
#include "bodies.cuh"
template __global__ void stencilOf<4, 4096>(const float*, float*, int);
template __global__ void polynomialOf<12>(const double*, double*, int);
template __global__ void productsOf<8, 65536>(const float*, const float*, float*);
template __global__ void forcesOf<32, 262144>(const float*, const int*, float*);
"""
# In the place of clang++: writes IR that is there already.
STORED = """#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in
  -o) output=$2 ;;
  -MF) rule=$2 ;;
  esac
  shift
done
: >"$rule"
exec '{program}' --ir >"$output"
"""

Rows = dict[str, dict[str, dict[str, float]]]


def build(program: Path) -> None:
    """Build the program, with the IR that clang makes of its kernels in it."""
    options = ["-O3", "-x", "cuda", "--offload-arch=sm_90"]
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as text:
        source, ir = Path(text) / "instances.cu", Path(text) / "instances.ll"
        source.write_text(INSTANCES)
        only_ir = ["--offload-device-only", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
        compiler = BUILD / "bin" / "mneme-clang++"
        subprocess.run(
            [compiler, "-std=c++17", *options, *only_ir, f"-I{HERE}", source, "-o", ir], check=True
        )
        subprocess.run(
            [BUILD / "bin" / "mneme-cxx", "-std=c++20", *options, f"-I{HERE.parents[1] / 'include'}",
             f'-DIR_FILE="{ir}"', HERE / "frontend_kernels.cu", "-o", program, "-lcudart",
             "-lmneme_frontend"],
            check=True,
        )  # fmt: skip


def run(program: Path, device: str, folder: Path) -> Rows:
    """One run with empty caches: kernel, form, numbers."""
    variables = {
        "PROTEUS_CACHE_DIR": str(folder / "jit"),
        "MNEME_CACHE_DIR": str(folder / "device"),
    }
    command = [str(program)]
    if device == "cpu":
        # The others leave code for GPUs only.
        command = [sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", *command]
        command += ["small", "template", "dsl", "ir", "clang"]
    if not any(shutil.which(name) for name in ("clang++", "clang++-22")):
        stored = folder / "stored-clang++"
        stored.write_text(STORED.format(program=program))
        stored.chmod(0o755)
        variables["PROTEUS_CLANGXX_BIN"] = str(stored)
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(f"'{program}' ended with {done.returncode}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row.pop("kernel"): row for row in rows}


def medians(runs: list[Rows]) -> dict[str, Any]:
    """Return the medians of each kernel and form, with the ratio to the template's time."""
    result: dict[str, Any] = {}
    for kernel, forms in runs[0].items():
        result[kernel] = {
            form: {key: statistics.median(one[kernel][form][key] for one in runs) for key in forms[form]}
            for form in forms
        }  # fmt: skip
        ahead = result[kernel]["template"]["us"]
        for numbers in result[kernel].values():
            numbers["over template"] = round(numbers["us"] / ahead, 3)
    return result


def show(result: dict[str, Any]) -> None:
    """A line a kernel: microseconds; then milliseconds until the first launch was done."""
    print(f"{'microseconds of a launch':26}" + "".join(f"{form:>12}" for form in FORMS))
    for key, width in (("us", 2), ("over template", 3), ("first_ms", 1)):
        for kernel, forms in result.items():
            cells = [f"{forms[form][key]:.{width}f}" if form in forms else "-" for form in FORMS]
            print(f"{kernel + ', ' + key:26}" + "".join(f"{cell:>12}" for cell in cells))


def main() -> None:
    """Build, or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output", type=Path, default=RESULTS / "jit_frontend_kernels.jsonl")
    parser.add_argument("program", nargs="?", type=Path)
    options = parser.parse_args()
    if options.build:
        build(options.build)
        return
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        program = options.program.resolve() if options.program else folder / "frontend_kernels"
        if not options.program:
            build(program)
        runs = []
        for number in range(options.runs):
            (folder / str(number)).mkdir()
            runs.append(run(program, options.device, folder / str(number)))
    result = medians(runs)
    show(result)
    write_results(
        options.output,
        "kernels with values known at run time, made by each frontend, by NVRTC, and as C++ "
        "templates ahead of time: microseconds of a launch by events, milliseconds until the first "
        f"was done, empty caches; benchmarks/jit/frontend_kernels.py, medians of {options.runs} runs",
        (
            {"kernel": kernel, "form": form, **one}
            for kernel, forms in result.items()
            for form, one in forms.items()
        ),
        device=options.device,
    )
    print(f"written to {options.output}")


if __name__ == "__main__":
    main()
