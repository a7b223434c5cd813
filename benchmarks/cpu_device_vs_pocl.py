"""Kernel times of the CPU device beside PoCL's, on the same algorithms and sizes.

Needs PoCL (Debian: pocl-opencl-icd) and pyopencl (PyPI).
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from common import BUILD, ROOT, mneme, publish

SOURCE = ROOT / "benchmarks" / "cpu_device_vs_pocl.cl"
REPEATS = 60


class Pocl:
    """One queue on PoCL's CPU device, compiled as CUDA on our CPU device is: no fast math."""

    def __init__(self) -> None:
        """Build the OpenCL C twins of the examples."""
        platforms = [p for p in cl.get_platforms() if p.name == "Portable Computing Language"]
        self.version = platforms[0].version
        self.context = cl.Context(platforms[0].get_devices())
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        self.queue = cl.CommandQueue(self.context, properties=profiling)
        self.program = cl.Program(self.context, SOURCE.read_text()).build()

    def buffer(self, content: np.ndarray) -> cl.Buffer:
        """Device memory that holds `content`."""
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.context, flags, hostbuf=content)

    def fastest(
        self, name: str, size: tuple[int, ...], block: tuple[int, ...], *arguments: object
    ) -> float:
        """Shortest execution of one kernel in microseconds, by the events' own clock."""
        kernel = cl.Kernel(self.program, name)
        times = []
        for _ in range(REPEATS):
            event = kernel(self.queue, size, block, *arguments)
            event.wait()
            times.append((event.profile.end - event.profile.start) / 1e3)
        return min(times)


def ours(folder: Path, program: str, kernel: str, *arguments: str) -> float:
    """Shortest replay of one kernel of an example in microseconds."""
    recording = folder / program
    mneme(
        "record",
        "-rdb",
        recording,
        "--device",
        "cpu",
        "--",
        BUILD / "examples" / program,
        *arguments,
    )
    for path in recording.glob("*.json"):
        if kernel in path.read_text():
            done = mneme(
                "replay",
                "-rdb",
                path,
                "--device",
                "cpu",
                "--iterations",
                str(REPEATS),
                "default<O3>",
            )
            return float(min(json.loads(done.stdout)["Result"]["exec_time"])) / 1e3
    message = f"{program} recorded no kernel named like {kernel}"
    raise SystemExit(message)


def pocl_stencil(pocl: Pocl, edge: int) -> float:
    """examples/stencil2d."""
    grid = np.zeros((edge, edge), np.float32)
    grid[edge // 4 : edge // 2, edge // 4 : edge // 2] = 100
    source, target = pocl.buffer(grid), pocl.buffer(grid)
    size = -(-edge // 16) * 16
    numbers = (np.int32(edge), np.int32(edge), np.float32(0.2))
    return pocl.fastest("diffuse", (size, size), (16, 16), source, target, *numbers)


def pocl_nbody(pocl: Pocl, bodies: int) -> float:
    """examples/nbody."""
    index = np.arange(bodies)
    angle = np.float32(0.1) * index
    columns = [np.cos(angle) * index, np.sin(angle) * index, index % 13, np.ones(bodies)]
    position = np.stack(columns, axis=1).astype(np.float32)
    source, target = pocl.buffer(position), pocl.buffer(position)
    speed = pocl.buffer(np.zeros_like(position))
    gravity = pocl.buffer(np.array([6.674e-1, 0.999], np.float32))
    step = np.zeros(1, [("dt", "f4"), ("softening", "f4"), ("bodies", "i4"), ("drift", "f4", 3)])
    step[0] = (0.01, 1e-3, bodies, (1e-4, 0, -1e-4))
    arguments = (source, target, speed, gravity, step[0])
    return pocl.fastest("integrate", (-(-bodies // 128) * 128,), (128,), *arguments)


def main() -> None:
    """Time both on both devices and publish the table."""
    os.environ.setdefault("POCL_AFFINITY", "1")
    pocl = Pocl()
    numbers: dict[str, Any] = {"PoCL": pocl.version}
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for edge in (256, 2048):
            shape = f"stencil2d diffuse, {edge} x {edge}"
            times = (
                ours(folder / str(edge), "stencil2d", "diffuse", str(edge), "1"),
                pocl_stencil(pocl, edge),
            )
            add(numbers, shape, *times)
        times = (
            ours(folder, "nbody", "integrate", "4096", "1"),
            pocl_nbody(pocl, 4096),
        )
        add(numbers, "nbody integrate, 4096 bodies", *times)
    publish("cpu_device_vs_pocl", f"fastest of {REPEATS} kernel executions", numbers)


def add(numbers: dict[str, Any], shape: str, own: float, other: float) -> None:
    """Enter one row of the table."""
    numbers[f"{shape}: mneme CPU device (us)"] = round(own, 1)
    numbers[f"{shape}: PoCL (us)"] = round(other, 1)
    numbers[f"{shape}: mneme over PoCL"] = round(own / other, 2)


if __name__ == "__main__":
    main()
