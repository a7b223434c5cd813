"""Cost of a launch through libmneme_rt over the plain launch: nothing active, and of tuned kernels.

The vendor's functions do nothing, nor do those that launch tuned kernels.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import BUILD, ROOT, publish

SOURCE = ROOT / "benchmarks" / "launch_overhead.cu"
RUNTIME = ROOT / "benchmarks" / "launch_overhead_runtime.cpp"
KERNEL = "_Z5emptyPfi"


def variant(value: int) -> dict[str, Any]:
    """One that was found for launches with this argument."""
    argument = {"Index": 1, "Type": "i32", "Bytes": value.to_bytes(4, "little").hex()}
    return {"Match": {"Args": [argument]}}


# What the tuned-kernels file says, and how many values the kernel's argument has.
TUNED: dict[str, tuple[dict[str, Any], int]] = {
    "of another kernel than the tuned one": ({"other": {}}, 256),
    "of a tuned kernel": ({KERNEL: {}}, 256),
    "of a tuned kernel, its argument fixed": ({KERNEL: {"SpecializeArgs": True}}, 1),
    "of a tuned kernel, 8 fixed values in turn": ({KERNEL: {"SpecializeArgs": True}}, 8),
    "of a tuned kernel, nearest of 2 variants, 256 values in turn": (
        {KERNEL: {"Mneme": {"Variants": [variant(10), variant(100)]}}},
        256,
    ),
}


def build(folder: Path, name: str, flags: list[str]) -> Path:
    """Build one variant of the program."""
    program = folder / name
    compiler = str(BUILD / "bin" / "mneme-clang++")
    command = [
        compiler,
        "-O2",
        "--offload-arch=sm_90",
        str(SOURCE),
        "-o",
        str(program),
        f"-L{folder}",
        f"-Wl,-rpath,{folder}",
        "-lfakeruntime",
        *flags,
    ]
    subprocess.run(command, check=True)
    return program


def time_launch(program: Path, values: int = 256, **environment: str) -> float:
    """Nanoseconds per launch, the best of three runs."""
    command = [str(program), "40000", "256", str(values)]
    return min(
        json.loads(
            subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, **environment},
            ).stdout
        )["best"]
        for _ in range(3)
    )


def check_tuned(program: Path, values: int, **environment: str) -> None:
    """End the benchmark if a launch of a tuned kernel runs as it was built."""
    done = subprocess.run(
        [str(program), "1", "256", str(values)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment, "PROTEUS_TRACE_OUTPUT": "cache-stats"},
    )
    if " 0 of tuned kernels as built" not in done.stderr:
        sys.exit(f"not every launch was tuned:\n{done.stderr}")


def time_tuned(folder: Path, program: Path) -> dict[str, float]:
    """Nanoseconds per launch with each of the tuned-kernels files."""
    times = {}
    for name, (content, values) in TUNED.items():
        file = folder / "tuned.json"
        file.write_text(json.dumps(content))
        environment = {
            "PROTEUS_TUNED_KERNELS": str(file),
            "PROTEUS_CACHE_DIR": str(folder / "cache"),
        }
        check_tuned(program, values, **environment)
        times[f"launch {name} (ns)"] = round(time_launch(program, values, **environment), 2)
    return times


def main() -> None:
    """Build the program with and without libmneme_rt, and compare."""
    config = json.loads((BUILD / "config.json").read_text())
    flags = (config["cflags"] + " " + config["ldflags"]).replace("{prefix}", str(BUILD)).split()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        library = [
            "clang++-22",
            "-O2",
            "-shared",
            "-fPIC",
            f"-I{ROOT}",
            str(RUNTIME),
            "-o",
            str(folder / "libfakeruntime.so"),
        ]
        subprocess.run(library, check=True)
        plain = time_launch(build(folder, "plain", []))
        program = build(folder, "instrumented", flags)
        instrumented = time_launch(program)
        tuned = time_tuned(folder, program)
    publish(
        "launch_overhead",
        "ns per launch; the functions of vendor and device do nothing",
        {
            "plain launch (ns)": round(plain, 2),
            "launch through libmneme_rt (ns)": round(instrumented, 2),
            "overhead (ns)": round(instrumented - plain, 2),
            "budget (ns)": 300,
            **tuned,
        },
    )


if __name__ == "__main__":
    main()
