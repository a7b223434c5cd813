"""Builds mneme's kernel compiler with another LLVM."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme import __version__
from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.other_compilers import LIBRARY, Compiler, compilers, compilers_directory

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BuildOptions", "build_compiler"]

_NAME: Final = re.compile(r"[A-Za-z0-9][\w.+-]*")
_PLUGIN_LIBRARY: Final = "libmneme_compile_plugins.so"
_TARGETS: Final = ("mneme_compile", "mneme_jit_compile")
# Asks a library for its version in a process that may crash.
_ASK: Final = """
import ctypes, sys
version = ctypes.CDLL(sys.argv[1]).mneme_compile_version
version.restype = ctypes.c_char_p
print(version().decode())
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How a compiler is built."""

    prefix: Path
    """An installed LLVM with headers and archives of LLVM and lld; or its build directory."""

    name: str = ""
    """What `--llvm` will call it; empty: "llvm-19.1.7"."""

    source: Path | None = None
    """A checkout of mneme; None: the one this package belongs to."""

    jobs: int = 0
    """Parallel compilations; 0: one a core."""


def build_compiler(options: BuildOptions) -> Compiler:
    """Build a compiler and keep it under its name, in place of an older one.

    Raises:
        InvalidArgument: If the name cannot be one, or there is no LLVM or no source of mneme.
        BackendUnavailable: If it does not build, or the result does not run.
    """
    version = _llvm_version(options.prefix)
    name = options.name or f"llvm-{version}"
    if not _NAME.fullmatch(name):
        raise InvalidArgument(f"'{name}' is not a name: letters, digits, '.', '_', '+' and '-'")
    source = options.source or _own_source()
    directory = compilers_directory()
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=directory) as made:
        build = Path(made) / "build"
        _configure(options, source, build)
        _run(["cmake", "--build", str(build), f"-j{options.jobs or os.cpu_count() or 1}"]
             + [word for one in _TARGETS for word in ("--target", one)], "build")  # fmt: skip
        ready = Path(made) / "ready"
        (ready / LIBRARY.parent).mkdir(parents=True)
        takes_plugins = _keep_libraries(build, ready)
        compiler = Compiler(
            name=name,
            llvm=_asked_version(ready / LIBRARY),
            commit=_commit(options.prefix),
            assertions=_is_asserting(options.prefix),
            pass_plugins=takes_plugins,
            prefix=str(options.prefix.resolve()),
            mneme=__version__,
            place=ready,
        )
        compiler.save()
        return _keep(compiler, directory / name)


def _keep(compiler: Compiler, place: Path) -> Compiler:
    """Put a finished compiler into its place, the older one away."""
    if place.exists():
        older = Path(tempfile.mkdtemp(prefix=".older-", dir=place.parent))
        place.rename(older / place.name)
        compiler.place.rename(place)
        shutil.rmtree(older)
    else:
        compiler.place.rename(place)
    return next(one for one in compilers() if one.name == place.name)


def _llvm_version(prefix: Path) -> str:
    text = (_cmake_directory(prefix) / "LLVMConfigVersion.cmake").read_text()
    told = re.search(r'PACKAGE_VERSION "([^"]+)"', text)
    if told is None:
        raise InvalidArgument(f"the LLVM in '{prefix}' does not say its version; install it again")
    return told[1]


def _cmake_directory(prefix: Path) -> Path:
    """Return where an LLVM describes itself to CMake."""
    for library in ("lib", "lib64"):
        place = prefix / library / "cmake" / "llvm"
        if (place / "LLVMConfigVersion.cmake").is_file():
            return place.resolve()
    raise InvalidArgument(
        f"'{prefix}' is not the prefix of an LLVM: it has no lib/cmake/llvm; install the headers "
        "of LLVM and lld, or name another"
    )


def _own_source() -> Path:
    source = Path(__file__).resolve().parents[3]
    if not (source / "runtime" / "compiler" / "CMakeLists.txt").is_file():
        raise InvalidArgument(
            "a compiler is built from mneme's source, which an installed package does not have; "
            "name a checkout with --source"
        )
    return source


def _configure(options: BuildOptions, source: Path, build: Path) -> None:
    words = [
        *("cmake", "-S", str(source), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release"),
        f"-DLLVM_DIR={_cmake_directory(options.prefix)}",
        *("-DMNEME_ENABLE_PYTHON=OFF", "-DMNEME_ENABLE_TESTS=OFF"),
        f"-DPython3_EXECUTABLE={sys.executable}",
        *(("-G", "Ninja") if shutil.which("ninja") else ()),
        *_compiler_words(options.prefix),
    ]
    if shutil.which("ccache"):
        words.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={source / 'scripts' / 'with-ccache'}")
    _run(words, "configure")


def _compiler_words(prefix: Path) -> list[str]:
    """Name a compiler of C++ where the environment does not; the LLVM's own may be unfinished."""
    if "CXX" in os.environ:
        return []
    for name in ("clang++-22", "clang++", prefix / "bin" / "clang++"):
        if found := shutil.which(name):
            c = found.replace("clang++", "clang")
            return [f"-DCMAKE_CXX_COMPILER={found}", f"-DCMAKE_C_COMPILER={c}"]
    return []


def _run(words: Sequence[str], what: str) -> None:
    try:
        done = subprocess.run(words, text=True, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise BackendUnavailable(
            f"'{words[0]}' is needed to build a compiler; install it"
        ) from error
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).splitlines()
        first = next(
            (n for n, one in enumerate(lines) if "error" in one.lower()), max(0, len(lines) - 20)
        )
        shown = "\n".join(lines[first : first + 20])
        raise BackendUnavailable(f"the compiler does not {what}:\n{shown}")


def _keep_libraries(build: Path, ready: Path) -> bool:
    """Copy what was built; return whether pass plugins can be loaded."""
    (built,) = (one for one in build.rglob(LIBRARY.name) if one.is_file())
    shutil.copy2(built, ready / LIBRARY)
    plugins = built.with_name(_PLUGIN_LIBRARY)
    if plugins.is_file():
        shutil.copy2(plugins, ready / LIBRARY.parent)
    return plugins.is_file()


def _asked_version(library: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _ASK, str(library)], text=True, capture_output=True, check=False
    )
    try:
        return str(json.loads(done.stdout)["llvm"])
    except (ValueError, KeyError) as error:
        lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise BackendUnavailable(f"the new compiler does not run: {lines[-1]}") from error


def _commit(prefix: Path) -> str:
    try:
        text = (prefix / "include" / "llvm" / "Support" / "VCSRevision.h").read_text()
    except OSError:
        return ""
    told = re.search(r'LLVM_REVISION "([0-9a-f]+)"', text)
    return told[1] if told else ""


def _is_asserting(prefix: Path) -> bool:
    text = (_cmake_directory(prefix) / "LLVMConfig.cmake").read_text()
    return re.search(r"set\(LLVM_ENABLE_ASSERTIONS (ON|TRUE|1)\)", text) is not None
