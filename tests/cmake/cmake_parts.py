"""What the build integration tests share: one moved install prefix, and a way to configure and build."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("MNEME_BUILD_DIR", ROOT / "build")).resolve()


@dataclass(frozen=True)
class Finished:
    """A finished command."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def words(self) -> str:
        """All output on one line; CMake breaks its sentences anywhere."""
        return " ".join((self.stdout + self.stderr).split())


def run_command(*command: str | Path, cwd: Path | None = None, **environment: str) -> Finished:
    """Run a command to its end; environment variables that are empty are taken away."""
    merged = {**os.environ, **environment}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
        cwd=cwd,
        env={name: value for name, value in merged.items() if value},
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def run_here(prefix: Path, *arguments: str | Path, **environment: str) -> Finished:
    """Run the command `mneme` of one prefix, with nothing of another in the environment."""
    # The interpreter is that of the tests: an installed `mneme` uses the first on the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = prefix / "bin" / "mneme"
    if not command.exists():
        # In a wheel the prefix is the package, and the command that of its environment.
        command = prefix.parents[3] / "bin" / "mneme"
    return run_command(
        command, *arguments, PATH=path, MNEME_BUILD_DIR="", PYTHONPATH="", **environment
    )


def configure(source: Path, build: Path, prefix: Path, *options: str) -> Finished:
    """Configure a project with the options `mneme config cmake-args` of a prefix prints."""
    given = run_here(prefix, "config", "cmake-args")
    assert given.returncode == 0, given.stderr
    return run_command(
        *("cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        *given.stdout.split(),
        *options,
        MNEME_BUILD_DIR="",
    )


def build(directory: Path, *options: str) -> Finished:
    """Build everything, and fail with the compiler's words if that fails."""
    done = run_command("cmake", "--build", directory, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def recorded_kernels(prefix: Path, program: Path, directory: Path) -> set[str]:
    """Record a program on the CPU device; names of the recorded kernels, without parameters."""
    done = run_here(prefix, "record", "-rdb", directory, "--device", "cpu", "--", program)
    assert "PASSED" in done.stdout, done.stdout + done.stderr
    listed = run_here(prefix, "ls", "--json", directory)
    assert listed.returncode == 0, listed.stderr
    kernels = json.loads(listed.stdout)["kernels"]
    return {kernel["demangled_name"].split("(")[0] for kernel in kernels}


def added(prefix: Path, told: Path, *arguments: str, tool: str = "mneme-cxx") -> list[str]:
    """What the wrapper adds behind arguments that have to arrive as they are."""
    variable = "MNEME_CLANG" if tool in ("mneme-cc", "mneme-clang") else "MNEME_CLANGXX"
    done = run_command(prefix / "bin" / tool, *arguments, cwd=told.parent, **{variable: str(told)})
    assert (done.returncode, done.stderr) == (3, "a word\n")
    lines = done.stdout.splitlines()
    assert lines[: len(arguments)] == list(arguments)
    rest = lines[len(arguments) :]
    if rest:
        assert (rest[0], rest[-1]) == ("--start-no-unused-arguments", "--end-no-unused-arguments")
    return rest[1:-1]
