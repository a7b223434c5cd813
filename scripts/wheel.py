"""Build wheels that other machines can install, and the source distribution.

Run by scripts/wheel, which installs what is needed. Every wheel is built from the checkout with
the compiler cache, so that another Python costs a minute, and named by auditwheel after the oldest
C library it works with.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".setup" / "wheel"
MOST_BYTES = 60 << 20
COMPILER = re.compile(r"^CMAKE_(C|CXX)_COMPILER:\w+=(/.*)$", re.MULTILINE)
REQUIRES = re.compile(r"^requires = \[(.*)\]$", re.MULTILINE)


def environment(jobs: int) -> dict[str, str]:
    """Variables of a build: our own tools first."""
    result = dict(os.environ)
    result["PATH"] = f"{Path(sys.executable).parent}:{result['PATH']}"
    result["CMAKE_BUILD_PARALLEL_LEVEL"] = str(jobs)
    for name in ("MNEME_BUILD_DIR", "PYTHONPATH"):  # they would name another mneme
        result.pop(name, None)
    return result


def settings(build: Path) -> list[str]:
    """Options of pip for a build in this directory: with the compiler cache where there is one.

    Variables would count in a new directory only.
    """
    named: dict[str, str | Path] = {"build-dir": build}
    if shutil.which("ccache"):
        named["cmake.define.CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
        named["cmake.define.CMAKE_CXX_COMPILER_LAUNCHER"] = ROOT / "scripts" / "with-ccache"
    return [f"--config-settings={name}={value}" for name, value in named.items()]


def drop_build_of_other_compilers(build: Path, variables: dict[str, str]) -> None:
    """Remove a build that other compilers made.

    CMake would begin it again with all settings lost: with g++, without static libraries.
    """
    cache = build / "CMakeCache.txt"
    used = dict(COMPILER.findall(cache.read_text())) if cache.exists() else {}
    for name, variable, default in (("C", "CC", "clang-22"), ("CXX", "CXX", "clang++-22")):
        wanted = shutil.which(variables.get(variable, default), path=variables["PATH"])
        if used.get(name, wanted) != wanted:
            shutil.rmtree(build)
            return


def run(log: Path, command: list[str], variables: dict[str, str]) -> None:
    """Run a command; if it fails, end with the end of what it said."""
    with log.open("a") as file:
        done = subprocess.run(
            command, cwd=ROOT, env=variables, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        print(*log.read_text().splitlines()[-30:], sep="\n", file=sys.stderr)
        sys.exit(f"mneme: '{' '.join(command)}' failed (whole log: {log})")


def builder(python: Path, work: Path, log: Path, variables: dict[str, str]) -> Path:
    """Return an interpreter like `python` that has the build backend."""
    if python == Path(sys.executable):
        return python
    found = REQUIRES.search((ROOT / "pyproject.toml").read_text())
    assert found, "pyproject.toml names the build backend on one line"
    backend = ["pip>=23", *re.findall(r'"([^"]+)"', found[1])]
    made = work / "venv" / "bin" / "python"
    stamp = work / "venv" / "backend"  # written last: what it names is installed
    if not stamp.exists() or stamp.read_text() != "\n".join(backend):
        run(log, [str(python), "-m", "venv", "--clear", str(work / "venv")], variables)
        run(log, [str(made), "-m", "pip", "install", "-q", "-U", *backend], variables)
        stamp.write_text("\n".join(backend))
    return made


def build_wheel(python: Path, output: Path, variables: dict[str, str]) -> Path:
    """Build one wheel into `output`."""
    query = "import sys; print(sys.implementation.cache_tag)"
    tag = subprocess.check_output([python, "-c", query], text=True).strip()
    work = WORK / tag
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:  # one build at a time in a directory
        fcntl.flock(lock, fcntl.LOCK_EX)
        return build_wheel_in(work, python, output, variables)


def build_wheel_in(work: Path, python: Path, output: Path, variables: dict[str, str]) -> Path:
    """Build one wheel in the directory `work`, which nobody else uses, into `output`."""
    shutil.rmtree(work / "raw", ignore_errors=True)
    log = work / "log"
    log.unlink(missing_ok=True)
    interpreter = builder(python, work, log, variables)
    drop_build_of_other_compilers(work / "build", variables)
    pip = [str(interpreter), "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-v"]
    run(log, [*pip, "-w", str(work / "raw"), *settings(work / "build")], variables)
    (raw,) = (work / "raw").glob("*.whl")
    auditwheel = [sys.executable, "-m", "auditwheel", "repair", "-w", str(work / "repaired")]
    shutil.rmtree(work / "repaired", ignore_errors=True)
    run(log, [*auditwheel, str(raw)], variables)
    (repaired,) = (work / "repaired").glob("*.whl")
    size = repaired.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"mneme: {repaired} has {size} bytes, more than the {MOST_BYTES} a wheel may have")
    output.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(repaired, output))


def build_sdist(output: Path, variables: dict[str, str]) -> Path:
    """Build the source distribution into `output`."""
    WORK.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", str(output), "."]
    (WORK / "sdist.log").unlink(missing_ok=True)
    run(WORK / "sdist.log", command, variables)
    return max(output.glob("mneme_gpu-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def main() -> None:
    """Build what is asked for and name it, one path a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, action="append")
    parser.add_argument("--no-sdist", action="store_true")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    variables = environment(arguments.jobs)
    output = arguments.output.absolute()
    if not arguments.no_sdist:
        print(build_sdist(output, variables))
    for python in arguments.python or [Path(sys.executable)]:
        print(build_wheel(python.absolute(), output, variables), flush=True)


if __name__ == "__main__":
    main()
