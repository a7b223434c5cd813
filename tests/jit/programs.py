"""What the tests of code compiled at run time share: building small programs, running them cold and warm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mneme.install import paths as _paths

ROOT = Path(__file__).resolve().parents[2]
_CONFIG = _paths.config()
COMPILER = Path(_CONFIG["llvmdir"]) / "bin" / "clang++"


@dataclass(frozen=True)
class Run:
    """What a program said."""

    lines: list[str]
    """Output of the program itself."""

    traces: list[str]
    """Lines about compiling, in their order."""

    statistics: list[str]
    """Lines at the end."""

    errors: str

    def count(self, cache: str, label: str = "JitEngineHost") -> tuple[int, int]:
        """Hits and accesses of a cache."""
        pattern = rf"\[proteus\]\[{label}\] {cache} rank 0 hits (\d+) accesses (\d+)$"
        for line in self.statistics:
            if found := re.match(pattern, line):
                return int(found[1]), int(found[2])
        pytest.fail(f"no line about {cache}")

    def specializations(self) -> list[str]:
        """Lines about values, without their beginning."""
        return [
            line.removeprefix("[ArgSpec] Replaced Function ")
            for line in self.traces
            if line.startswith(("[ArgSpec]", "[LambdaSpec]"))
        ]


def build(source: Path, program: Path, *options: str, marks: bool = True) -> Path:
    """Compile a program, with or without the plugin that reads marks."""
    program.write_bytes(_built(source, source.stat().st_mtime_ns, options, marks=marks))
    program.chmod(0o755)
    return program


@cache
def _built(source: Path, _written_ns: int, options: tuple[str, ...], *, marks: bool) -> bytes:
    """Return a program that several tests want."""
    words = _CONFIG["cflags"].split() if marks else []
    command = [COMPILER, "-std=c++20", f"-I{ROOT / 'include'}", *words, *options]
    libraries = [*_CONFIG["ldflags"].split(), "-ldl", "-pthread"]
    with TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        done = subprocess.run(
            [*map(str, command), str(source), "-o", str(program), *libraries],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return program.read_bytes()


def run(
    program: Path,
    *arguments: str,
    cache: Path,
    trace: str = "specialization;cache-stats",
    on_cpu_device: bool = False,
    fails: bool = False,
    **variables: str,
) -> Run:
    """Run a program to its end."""
    starter = [sys.executable, "-m", "mneme", "run", "--device", "cpu", "--"]
    done = subprocess.run(
        [*(starter if on_cpu_device else []), str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={
            **os.environ,
            "PROTEUS_CACHE_DIR": str(cache),
            "PROTEUS_TRACE_OUTPUT": trace,
            **variables,
        },
    )
    assert (done.returncode != 0) is fails, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    traces = [line for line in lines if re.match(r"\[[A-Z]\w+\] ", line)]
    statistics = [line for line in lines if line.startswith("[proteus]")]
    own = [line for line in lines if line not in traces and line not in statistics]
    return Run(own, traces, statistics, done.stderr)
