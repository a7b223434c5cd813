"""Install mneme and its example with the Spack on the PATH, and run their smoke tests.

Spack builds the last commit of this checkout. Compiler, LLVM, CMake and libraries are the machine's;
Python packages and, without CUDA_HOME, the CUDA toolkit are those of the environment this runs in.
Everything Spack writes is in one folder, which is left for a look:

    .venv/bin/python scripts/try_spack.py [--spec 'mneme+cuda'] [--jobs 2] FOLDER

It prints the commands and what they said, as in docs/spack.md; the builds' logs are in FOLDER/logs.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
PYTHON_PACKAGES = ("jinja2", "optuna", "plotly", "pybind11", "pyyaml", "rich", "typer")
LLVM_TARGETS = {"AArch64": "aarch64", "AMDGPU": "amdgpu", "NVPTX": "nvptx", "X86": "x86"}


class TrialError(Exception):
    """Something is missing or a step failed; the message says which."""


def answer(*command: str | Path) -> str:
    """What a program of the machine prints."""
    program = shutil.which(command[0])
    if program is None:
        raise TrialError(f"'{command[0]}' is not on the PATH; scripts/test installs what is needed")
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def prefix_of(program: str) -> str:
    """The folder above the `bin` a program is in; its name may be a link to somewhere else."""
    found = shutil.which(program)
    if found is None:
        raise TrialError(f"'{program}' is not on the PATH")
    return str(Path(found).parents[1])


def number(text: str) -> str:
    """The first version number in a text."""
    found = re.search(r"\d+(\.\d+)+", text)
    if found is None:
        raise TrialError(f"no version number in '{text}'")
    return found[0]


def external(spec: str, prefix: str | Path, **more: object) -> dict[str, Any]:
    """A package Spack shall take from where it is, and not build."""
    return {"buildable": False, "externals": [{"spec": spec, "prefix": str(prefix), **more}]}


def llvm(major: str) -> dict[str, Any]:
    """LLVM with clang, lld and the targets it was built with."""
    config = f"llvm-config-{major}"
    names = answer(config, "--targets-built").split()
    targets = ",".join(sorted(LLVM_TARGETS[one] for one in names if one in LLVM_TARGETS))
    version = answer(config, "--version")
    spec = f"llvm@{version} +clang +lld ~lldb ~flang +llvm_dylib targets={targets}"
    return external(spec, answer(config, "--prefix"))


def cuda() -> dict[str, Any]:
    """The CUDA toolkit in CUDA_HOME, or that of this environment's Python packages."""
    named = os.environ.get("CUDA_HOME")
    wheels = sorted(Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/cu1*"))
    if not named and not wheels:
        raise TrialError("no CUDA toolkit: set CUDA_HOME")
    root = Path(named) if named else wheels[-1]
    text = (root / "include" / "cuda.h").read_text(errors="replace")
    found = re.search(r"#define CUDA_VERSION (\d+)", text)
    if found is None:
        raise TrialError(f"{root}/include/cuda.h names no CUDA_VERSION")
    return external(f"cuda@{int(found[1]) // 1000}.{int(found[1]) % 1000 // 10}", root)


def boost_version() -> str:
    """Boost has no pkg-config file; its header knows."""
    text = Path("/usr/include/boost/version.hpp").read_text(encoding="utf-8")
    found = re.search(r'BOOST_LIB_VERSION "(\d+)_(\d+)', text)
    if found is None:
        raise TrialError("boost/version.hpp names no version")
    return f"{found[1]}.{found[2]}.0"


def packages(major: str, *, with_dependencies: bool) -> dict[str, Any]:
    """The section `packages` of this machine."""
    python = f"python@{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    on_python = {"dependencies": [{"spec": python, "deptypes": ["build", "run"]}]}
    compilers = {"c": shutil.which("gcc"), "cxx": shutil.which("g++")}
    gcc = f"gcc@{answer('gcc', '-dumpfullversion')} languages='c,c++'"
    found = {
        "gcc": external(gcc, prefix_of("gcc"), extra_attributes={"compilers": compilers}),
        "llvm": llvm(major),
        "cuda": cuda(),
        "python": external(python, sys.base_prefix),
        "boost": external(f"boost@{boost_version()} +context +pic", "/usr"),
        "pkgconf": {"buildable": False},
    }
    for spack_name, program in (
        *(("cmake", "cmake"), ("ninja", "ninja"), ("gmake", "make")),
        *(("pkg-config", "pkg-config"), ("ccache", "ccache")),
    ):
        if shutil.which(program):
            version = number(answer(program, "--version"))
            found[spack_name] = external(f"{spack_name}@{version}", prefix_of(program))
    for spack_name, module in (
        *(("zstd", "libzstd"), ("xxhash", "libxxhash")),
        ("nlohmann-json", "nlohmann_json"),
    ):
        version = answer("pkg-config", "--modversion", module)
        found[spack_name] = external(f"{spack_name}@{version}", "/usr")
    for name in PYTHON_PACKAGES:
        spec = f"py-{name}@{metadata.version(name)}"
        found[f"py-{name}"] = external(spec, sys.prefix, **(on_python if with_dependencies else {}))
    return found


class Trial:
    """One Spack, one folder."""

    def __init__(self, folder: Path, major: str, jobs: int) -> None:
        self.folder = folder.resolve()
        self.logs = self.folder / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        # Whatever configures our own builds must not reach Spack's.
        own = ("MNEME_", "PYTHON", "CUDA_", "VIRTUAL_ENV", "SPACK_DISABLE_LOCAL_CONFIG")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(own)}
        self.environment["SPACK_USER_CONFIG_PATH"] = str(self.folder / "config")
        self.environment["SPACK_USER_CACHE_PATH"] = str(self.folder / "cache")
        self.version = self.run("spack --version", quiet=True)
        release = tuple(int(part) for part in self.version.split(".")[:2])
        self.is_today = release >= (1, 0)
        self.write("packages", packages(major, with_dependencies=release >= (1, 1)))
        self.write(
            "config",
            {
                "install_tree": {"root": str(self.folder / "store")},
                "build_stage": [str(self.folder / "stage")],
                "build_jobs": jobs,
                "ccache": shutil.which("ccache") is not None,
            },
        )
        # A copy, whose branch `main` is what is checked out here, whatever that is called.
        copy = self.folder / "mneme"
        if not copy.exists():
            answer("git", "clone", "--quiet", ROOT, copy)
        answer("git", "-C", copy, "fetch", "--quiet", ROOT, "HEAD")
        answer("git", "-C", copy, "checkout", "--quiet", "-B", "main", "FETCH_HEAD")
        repository = copy / "spack-repo"
        today = repository / "spack_repo" / "mneme"
        self.write("repos", {"mneme": str(today)} if self.is_today else [str(repository)])

    def write(self, section: str, content: object) -> None:
        """Write a section of Spack's configuration."""
        path = self.folder / "config" / f"{section}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({section: content}, sort_keys=False), encoding="utf-8")

    def run(self, command: str, *, load: str = "", quiet: bool = False) -> str:
        """Run a command, with a package loaded, and print it and its last lines."""
        if not quiet:
            print(f"$ {command}", flush=True)
        line = f'eval "$(spack load --sh {load})" && {command}' if load else command
        began = time.monotonic()
        log = self.logs / f"{re.sub(r'[^a-z0-9]+', '-', command)[:60]}.txt"
        with log.open("w") as output:
            done = subprocess.run(
                ["bash", "-c", f"set -e; {line}"],
                env=self.environment,
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        said = log.read_text(encoding="utf-8", errors="replace").strip()
        seconds = time.monotonic() - began
        if not quiet:
            print("\n".join(said.splitlines()[-60:]))
            print(f"[{seconds:.0f} s]", flush=True)
        if done.returncode != 0:
            raise TrialError(f"`{command}` ended with {done.returncode}; all it said: {log}")
        return said

    def knows_python_packages(self) -> bool:
        """Whether Spack's own recipes have a version of Optuna that will do, as since 2026.06."""
        known = self.run("spack versions --safe py-optuna", quiet=True)
        return any(int(major) >= 4 for major in re.findall(r"(\d+)\.\d+", known))


def attempt(trial: Trial, spec: str) -> None:
    """What docs/spack.md shows."""
    trial.run("spack repo list")
    trial.run(f"spack install --fresh {shlex.quote(spec)}")
    trial.run("mneme --version", load="mneme")
    trial.run("mneme doctor", load="mneme")
    trial.run("spack test run mneme")
    trial.run("spack test results -l")
    trial.run("spack install mneme-vector-add")
    trial.run("spack test run mneme-vector-add")
    recording = "mneme record -rdb recording -- vector_add 4096"
    trial.run(recording, load="mneme-vector-add")
    if trial.knows_python_packages():
        trial.run("spack audit packages mneme mneme-vector-add")


def main() -> int:
    """Try it; 0 if every step worked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--spec", default="mneme+cuda", help="what to install")
    parser.add_argument("--llvm", default="22", help="major version of this machine's LLVM")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    try:
        trial = Trial(arguments.folder, arguments.llvm, arguments.jobs)
        print(f"Spack {trial.version}", flush=True)
        attempt(trial, arguments.spec)
    except TrialError as error:
        print(f"try_spack: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
