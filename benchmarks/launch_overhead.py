"""Cost of a launch through libmneme_rt with nothing active, over the plain launch (budget 0.3 us)."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from common import BUILD, ROOT, publish

SOURCE = ROOT / "benchmarks" / "launch_overhead.cu"
RUNTIME = ROOT / "benchmarks" / "launch_overhead_runtime.cpp"


def build_and_time(folder: Path, name: str, flags: list[str]) -> float:
    """Build one variant and return its nanoseconds per launch."""
    program = folder / name
    compiler = str(BUILD / "bin" / "mneme-cxx")
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
    return min(
        json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout)[
            "best"
        ]
        for _ in range(3)
    )


def main() -> None:
    """Build both variants against a runtime that does nothing and compare."""
    config = json.loads((BUILD / "config.json").read_text())
    flags = (config["cflags"] + " " + config["ldflags"]).replace("{prefix}", str(BUILD)).split()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        library = [
            "clang++-22",
            "-O2",
            "-shared",
            "-fPIC",
            str(RUNTIME),
            "-o",
            str(folder / "libfakeruntime.so"),
        ]
        subprocess.run(library, check=True)
        plain = build_and_time(folder, "plain", [])
        instrumented = build_and_time(folder, "instrumented", flags)
    publish(
        "launch_overhead",
        "ns per launch, vendor function empty, nothing active",
        {
            "plain launch (ns)": round(plain, 2),
            "launch through libmneme_rt (ns)": round(instrumented, 2),
            "overhead (ns)": round(instrumented - plain, 2),
            "budget (ns)": 300,
        },
    )


if __name__ == "__main__":
    main()
