"""Install mneme and its example with the Spack on the PATH, and run their smoke tests.

Spack builds the last commit of this checkout, into a store that is in use by then (--only-store ends
there). Compiler, LLVM, CMake and libraries are the machine's;
Python packages and, without CUDA_HOME, the CUDA toolkit are those of the environment this runs in.
Everything Spack writes is in one folder, which is left for a look:

    .venv/bin/python scripts/try_spack.py [--spec 'mneme+cuda'] [--jobs 2] [--only-store] FOLDER

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
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from mneme.install.spack_externals import external, externals  # noqa: E402 - of this checkout

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


def llvm(major: str) -> dict[str, Any]:
    """LLVM with clang, lld and the targets it was built with."""
    config = f"llvm-config-{major}"
    names = answer(config, "--targets-built").split()
    targets = ",".join(sorted(LLVM_TARGETS[one] for one in names if one in LLVM_TARGETS))
    version = answer(config, "--version")
    spec = f"llvm@{version} +clang +lld ~lldb ~flang +llvm_dylib targets={targets}"
    return external(spec, answer(config, "--prefix"))


def boost_version() -> str:
    """Boost has no pkg-config file; its header knows."""
    text = Path("/usr/include/boost/version.hpp").read_text(encoding="utf-8")
    found = re.search(r'BOOST_LIB_VERSION "(\d+)_(\d+)', text)
    if found is None:
        raise TrialError("boost/version.hpp names no version")
    return f"{found[1]}.{found[2]}.0"


def gcc(*, with_fortran: bool) -> dict[str, Any]:
    """The machine's gcc, with Fortran where that is there and wanted."""
    programs = {"c": "gcc", "cxx": "g++", **({"fortran": "gfortran"} if with_fortran else {})}
    compilers = {name: place for name, one in programs.items() if (place := shutil.which(one))}
    languages = ",".join(one.replace("cxx", "c++") for one in compilers)
    spec = f"gcc@{answer('gcc', '-dumpfullversion')} languages='{languages}'"
    return external(spec, prefix_of("gcc"), extra_attributes={"compilers": compilers})


def packages(major: str, *, with_dependencies: bool) -> dict[str, Any]:
    """The section `packages` of this machine."""
    here = externals(with_dependencies=with_dependencies)
    if "cuda" not in here:
        raise TrialError("no CUDA toolkit: set CUDA_HOME")
    found = {
        **here,
        "gcc": gcc(with_fortran=True),
        "llvm": llvm(major),
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
        self.packages = packages(major, with_dependencies=release >= (1, 1))
        self.write("packages", self.packages)
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
        self.recipes = copy / "spack-repo"
        self.add_recipes()

    def add_recipes(self, *, are_there: bool = True) -> None:
        """Let Spack know the recipes, or forget them."""
        today = self.recipes / "spack_repo" / "mneme"
        known: dict[str, str] | list[str] = {} if self.is_today else []
        if are_there:
            known = {"mneme": str(today)} if self.is_today else [str(self.recipes)]
        self.write("repos", known)

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


def use_store(trial: Trial) -> None:
    """Bring Spack where its index is built while it reads recipes: packages are there, ours are new.

    There is no hip, and a gcc without Fortran; then the same with a recipe changed in its place.
    """
    trial.add_recipes(are_there=False)
    trial.write("packages", {**trial.packages, "gcc": gcc(with_fortran=False)})
    # The compiler wrapper is real, since mneme is built with it.
    trial.run("spack install --only=dependencies --fresh zlib")
    trial.run("spack install --only=package --fake --fresh zlib")
    trial.add_recipes()
    trial.run("spack spec zlib")
    recipe = trial.recipes / "spack_repo" / "mneme" / "packages" / "mneme" / "package.py"
    recipe.write_text(f"{recipe.read_text(encoding='utf-8')}# changed\n", encoding="utf-8")
    trial.run("spack spec zlib")
    trial.run("spack spec mneme~python")
    answer("git", "-C", trial.recipes, "checkout", "--quiet", ".")
    trial.write("packages", trial.packages)


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
    parser.add_argument("--only-store", action="store_true", help="do not install mneme")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    try:
        trial = Trial(arguments.folder, arguments.llvm, arguments.jobs)
        print(f"Spack {trial.version}", flush=True)
        use_store(trial)
        if not arguments.only_store:
            attempt(trial, arguments.spec)
    except TrialError as error:
        print(f"try_spack: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
