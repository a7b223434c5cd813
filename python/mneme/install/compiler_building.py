"""Builds mneme's kernel compiler with another LLVM."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme import __version__
from mneme.errors import BackendUnavailable, InvalidArgument, IoFailed
from mneme.interrupts import interrupts_wait
from mneme.other_compilers import LIBRARY, VARIABLE, Compiler, compilers_directory, is_compiler
from mneme.process_groups import signal_group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["BuildOptions", "build_compiler"]

_NAME: Final = re.compile(r"[A-Za-z0-9][\w.+-]*")
_PLUGIN_LIBRARY: Final = "libmneme_compile_plugins.so"
_TARGETS: Final = ("mneme_compile", "mneme_jit_compile")
_OLDEST_LLVM: Final = 19
_BUILDING: Final = ".building-"
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

    However it ends, by an interrupt too, nothing unfinished stays: what a killed process has left
    is removed by the next one.

    Raises:
        InvalidArgument: If the name cannot be one, or there is no LLVM or no source of mneme.
        BackendUnavailable: If it does not build, or the result does not run.
        IoFailed: If nothing can be written where compilers lie.
    """
    version = _llvm_version(options.prefix)
    name = options.name or f"llvm-{version}"
    if not _NAME.fullmatch(name):
        raise InvalidArgument(f"'{name}' is not a name: letters, digits, '.', '_', '+' and '-'")
    source = _source(options.source)
    directory = compilers_directory()
    place = directory / name
    if os.path.lexists(place) and not is_compiler(place):
        raise InvalidArgument(
            f"'{place}' is not a kernel compiler, so it stays; choose another --name"
        )
    with _room(directory) as made:
        build = made / "build"
        _configure(options.prefix, source, build)
        _run(["cmake", "--build", str(build), f"-j{options.jobs or os.cpu_count() or 1}"]
             + [word for one in _TARGETS for word in ("--target", one)], "build")  # fmt: skip
        ready = made / "ready"
        (ready / LIBRARY.parent).mkdir(parents=True)
        takes_plugins = _keep_libraries(build, ready)
        compiler = Compiler(
            name=name,
            llvm=_asked_version(ready / LIBRARY, version),
            commit=_commit(options.prefix),
            assertions=_is_asserting(options.prefix),
            pass_plugins=takes_plugins,
            prefix=str(options.prefix.resolve()),
            mneme=__version__,
            place=ready,
        )
        compiler.save()
        return _keep(compiler, place)


@contextmanager
def _room(directory: Path) -> Iterator[Path]:
    """Make a place to build in, and remove it and those whose process is gone."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for one in directory.glob(f"{_BUILDING}*"):
            with contextlib.suppress(OSError), _locked(one, is_patient=False):
                shutil.rmtree(one, ignore_errors=True)
        made = tempfile.TemporaryDirectory(prefix=_BUILDING, dir=directory)
    except OSError as error:
        raise IoFailed(
            f"cannot build in '{directory}': {error.strerror}; {VARIABLE} names another place"
        ) from error
    with made, _locked(Path(made.name), is_patient=False):
        yield Path(made.name)


@contextmanager
def _locked(directory: Path, *, is_patient: bool) -> Iterator[None]:
    """Hold the lock of a directory, which ends with this process.

    Raises:
        OSError: If another process holds it and we are not patient, or there are no locks here.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if is_patient else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)


def _keep(compiler: Compiler, place: Path) -> Compiler:
    """Put a finished compiler into its place; the older one goes with the place of building."""
    older = compiler.place.with_name("older")
    with _locked(place.parent, is_patient=True):
        try:
            if place.exists():
                place.rename(older)
            compiler.place.rename(place)
        except BaseException:
            if older.exists() and not place.exists():
                older.rename(place)
            raise
    return replace(compiler, name=place.name, place=place)


def _llvm_version(prefix: Path) -> str:
    text = (_cmake_directory(prefix) / "LLVMConfigVersion.cmake").read_text()
    told = re.search(r'PACKAGE_VERSION "((\d+)[^"]*)"', text)
    if told is None:
        raise InvalidArgument(f"the LLVM in '{prefix}' does not say its version; install it again")
    if int(told[2]) < _OLDEST_LLVM:
        raise InvalidArgument(
            f"the LLVM in '{prefix}' is {told[1]}; mneme needs {_OLDEST_LLVM} or newer"
        )
    return told[1]


def _cmake_directory(prefix: Path) -> Path:
    """Return where an LLVM describes itself to CMake."""
    for library in ("lib", "lib64"):
        place = prefix / library / "cmake" / "llvm"
        if all((place / f"LLVMConfig{end}.cmake").is_file() for end in ("", "Version")):
            return place.resolve()
    raise InvalidArgument(
        f"'{prefix}' is not the prefix of an LLVM: it has no lib/cmake/llvm; install the headers "
        "of LLVM and lld, or name another"
    )


def _source(named: Path | None) -> Path:
    """Return the checkout to build from, as an absolute path: CMake runs commands elsewhere."""
    source = (Path(__file__).parents[3] if named is None else named).resolve()
    if (source / "runtime" / "compiler" / "CMakeLists.txt").is_file():
        return source
    if named is not None:
        raise InvalidArgument(f"'{named}' is not a checkout of mneme; name one with --source")
    raise InvalidArgument(
        "a compiler is built from mneme's source, which an installed package does not have; "
        "name a checkout with --source"
    )


def _configure(prefix: Path, source: Path, build: Path) -> None:
    words = [
        *("cmake", "-S", str(source), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release"),
        f"-DLLVM_DIR={_cmake_directory(prefix)}",
        *("-DMNEME_ENABLE_PYTHON=OFF", "-DMNEME_ENABLE_TESTS=OFF"),
        f"-DPython3_EXECUTABLE={sys.executable}",
        *(("-G", "Ninja") if shutil.which("ninja") else ()),
        *_compiler_words(prefix.resolve()),
    ]
    launcher = source / "scripts" / "with-ccache"
    if shutil.which("ccache") and launcher.is_file():
        words.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    _run(words, "configure")


def _compiler_words(prefix: Path) -> list[str]:
    """Name a compiler of C++ where the environment does not; the LLVM's own may be unfinished."""
    if "CXX" in os.environ:
        return []
    for name in ("clang++-22", "clang++", prefix / "bin" / "clang++"):
        if found := shutil.which(name):
            c = Path(found).with_name(Path(found).name.replace("clang++", "clang"))
            return [f"-DCMAKE_CXX_COMPILER={found}", f"-DCMAKE_C_COMPILER={c}"]
    return []


def _run(words: Sequence[str], what: str) -> None:
    """Run a program; when this is left, all that it has started has ended, too."""
    with contextlib.ExitStack() as stack:
        with interrupts_wait():  # what has started is known before this is interrupted
            child = stack.enter_context(_start(words))
            stack.callback(_end, child)
        said = list(child.stdout or ())
        child.wait()
    if child.returncode != 0:
        lines = [one.rstrip("\n") for one in said]
        first = next(
            (n for n, one in enumerate(lines) if "error" in one.lower()), max(0, len(lines) - 20)
        )
        shown = "\n".join(lines[first : first + 20])
        raise BackendUnavailable(f"the compiler does not {what}:\n{shown}")


def _start(words: Sequence[str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            words,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise BackendUnavailable(
            f"'{words[0]}' is needed to build a compiler; install it"
        ) from error


def _end(child: subprocess.Popen[str]) -> None:
    signal_group(child, signal.SIGKILL)
    for _ in child.stdout or ():
        pass  # until nobody can write any more


def _keep_libraries(build: Path, ready: Path) -> bool:
    """Copy what was built; return whether pass plugins can be loaded."""
    built = next((one for one in build.rglob(LIBRARY.name) if one.is_file()), None)
    if built is None:
        raise BackendUnavailable(
            f"the build made no {LIBRARY.name}; name another checkout of mneme with --source"
        )
    shutil.copy2(built, ready / LIBRARY)
    plugins = built.with_name(_PLUGIN_LIBRARY)
    if plugins.is_file():
        shutil.copy2(plugins, ready / LIBRARY.parent)
    return plugins.is_file()


def _asked_version(library: Path, expected: str) -> str:
    """Return the version of a compiler's LLVM, which CMake may have found elsewhere."""
    done = subprocess.run(
        [sys.executable, "-c", _ASK, str(library)], text=True, capture_output=True, check=False
    )
    try:
        version = str(json.loads(done.stdout)["llvm"])
    except (ValueError, KeyError) as error:
        lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise BackendUnavailable(f"the new compiler does not run: {lines[-1]}") from error
    if version.partition(".")[0] != expected.partition(".")[0]:
        raise BackendUnavailable(f"the new compiler holds LLVM {version}, not {expected}")
    return version


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
