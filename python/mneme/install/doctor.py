"""Examines this installation: mneme's parts, compilers, toolkits, devices, packages, caches."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme import _vendors
from mneme.errors import MnemeError
from mneme.install import paths as _paths
from mneme.install.amd_node import amd_parts
from mneme.install.hints import package_hint, toolkit_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Finding", "State", "examine", "is_usable", "to_json"]

_TIMEOUT_SECONDS = 60
_REQUIRED_PACKAGES = ("typer", "rich", "optuna", "jinja2", "pyyaml")
# The purpose of each package, and what to install.
_OPTIONAL_PACKAGES = {
    "plotly": ("figures of mneme report", "plotly"),
    "llvmlite": ("reading IR from Python", "llvmlite"),
    "cmaes": ("CMA-ES", "'mneme-gpu[tune]'"),
    "scikit-learn": ("importances of parameters", "'mneme-gpu[tune]'"),
    "optuna-dashboard": ("mneme dashboard", "'mneme-gpu[dashboard]'"),
    "distributed": ("tune --on dask://...", "'mneme-gpu[dask]'"),
    "dask-jobqueue": ("tune --on slurm", "'mneme-gpu[dask]'"),
    "mpi4py": ("tune --on mpi", "'mneme-gpu[mpi]'"),
    "ray": ("tune --on ray://...", "'mneme-gpu[ray]'"),
    "gymnasium": ("mneme.gym", "'mneme-gpu[gym]'"),
    "pyarrow": ("mneme export to Parquet", "'mneme-gpu[data]'"),
}
_LIBRARIES = (
    *("libmneme_rt.so", "librecord.so", "libMnemePasses.so", "libmneme_compile.so"),
    *("libmneme_jit.so", *_vendors.CPU_RUNTIMES, _vendors.CPU_DRIVER),
)
_REINSTALL = "install mneme again"


class State(str, Enum):
    """The state of a part."""

    OK = "ok"
    """Available and working."""

    MISSING = "missing"
    """Missing; only the features that need it do not work."""

    BROKEN = "broken"
    """Not working, or missing and needed for everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One examined part."""

    name: str
    """Name for users: "clang", "device cpu"."""

    state: State
    """Its state."""

    detail: str
    """Version and place, or the problem."""

    remedy: str = ""
    """What to do; empty if it works."""

    def to_dict(self) -> dict[str, str]:
        """Return the finding as plain JSON values."""
        return {**asdict(self), "state": self.state.value}


def examine() -> list[Finding]:
    """Examine everything; takes a second and may create an empty cache directory."""
    parts: tuple[Callable[[], Iterator[Finding]], ...] = (
        *(_own_parts, _library_compiler, _build_compiler, _mlir, _toolkit),
        *(_assemblers, _amd_node, _devices, _packages, _caches),
    )
    return [finding for part in parts for finding in _guarded(part)]


def is_usable(findings: list[Finding]) -> bool:
    """Return whether recording, replaying and tuning work: nothing is broken."""
    return all(finding.state is not State.BROKEN for finding in findings)


def _guarded(part: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Turn an exception in an examination into a finding."""
    try:
        yield from part()
    except (MnemeError, ImportError, OSError, subprocess.SubprocessError) as error:
        name = part.__name__.strip("_").replace("_", " ")
        yield _broken(name, " ".join(str(error).split()), _REINSTALL)


def _ok(name: str, detail: str) -> Finding:
    return Finding(name=name, state=State.OK, detail=detail)


def _missing(name: str, detail: str, remedy: str) -> Finding:
    return Finding(name=name, state=State.MISSING, detail=detail, remedy=remedy)


def _broken(name: str, detail: str, remedy: str) -> Finding:
    return Finding(name=name, state=State.BROKEN, detail=detail, remedy=remedy)


def _run(*command: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        input=text,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_TIMEOUT_SECONDS,
    )


def _own_parts() -> Iterator[Finding]:
    from mneme import __version__  # noqa: PLC0415

    root = _paths.prefix()
    kind = "build tree" if (root / "CMakeCache.txt").is_file() else "installation"
    yield _ok("mneme", f"{__version__}, {kind} {root}")
    yield _ok("Python", f"{sys.version.split()[0]}, {sys.executable}")
    names = [f"lib/{name}" for name in _LIBRARIES] + ["bin/mneme-jit-compile"]
    absent = [name for name in names if not (root / name).is_file()]
    if absent:
        yield _broken("libraries", f"{', '.join(absent)} missing in {root}", _REINSTALL)
    else:
        yield _ok("libraries", f"all {len(names)} in {root}")


def _library_compiler() -> Iterator[Finding]:
    from mneme import _native  # noqa: PLC0415 - loads native code

    facts = json.loads(_native.compiler_version())
    targets = ", ".join(facts["targets"])
    yield _ok("LLVM in the library", f"{facts['llvm']}, targets {targets}")


def _build_compiler() -> Iterator[Finding]:
    root, wanted = _paths.prefix(), str(_paths.config().get("llvm_version", "")).partition(".")[0]
    compiler = root / "bin" / "mneme-clang++"
    remedy = f"install clang {wanted}, or set MNEME_CLANGXX to it; only building programs needs it"
    asked = _run(compiler, "--version")
    version = re.search(r"clang version (\d+)\S*", asked.stdout)
    if asked.returncode or not version:
        yield _missing("clang", _first_line(asked.stderr) or "does not tell its version", remedy)
        return
    maker = _vendors.compiler_maker(asked.stdout)
    if version[1] != wanted or maker != _paths.config().get("llvm_maker", ""):
        who = f"{maker} {version[0]}".strip()
        yield _broken("clang", f"{who}, but mneme's passes are for {wanted}", remedy)
        return
    yield _ok("clang", f"{asked.stdout.splitlines()[0]}, through {compiler}")
    plugin = root / "lib" / "libMnemePasses.so"
    options = (f"-fpass-plugin={plugin}", "-x", "c++", "-c", "-", "-o", os.devnull)
    tried = _run(compiler, *options, text="int answer() { return 42; }\n")
    if tried.returncode:
        yield _broken("pass plugin", _first_line(tried.stderr), _REINSTALL)
    else:
        yield _ok("pass plugin", f"{plugin}, loaded by this clang")


def _mlir() -> Iterator[Finding]:
    frontend = _paths.prefix() / "lib" / "libmneme_frontend.so"
    if not frontend.is_file():
        return  # built without what compiles at run time
    find = ctypes.CDLL(str(frontend)).mneme_frontend_mlir_opt
    find.argtypes, find.restype = (), ctypes.c_char_p
    path = os.fsdecode(find() or b"")
    version = re.search(r"LLVM version (\S+)", _run(path, "--version").stdout) if path else None
    if version:
        yield _ok("mlir-opt", f"{version[1]}, {path}")
        return
    wanted = str(_paths.config().get("llvm_version", "")).partition(".")[0]
    remedy = (
        f"install mlir-{wanted}-tools, or set PROTEUS_MLIR_OPT_BIN to it; "
        "only compiling modules of MLIR needs it"
    )
    yield _missing("mlir-opt", f"{path} does not tell its version" if path else "not found", remedy)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _toolkit_root() -> Path | None:
    program, *question = _vendors.TOOLKIT_QUESTION
    answer = _run(_paths.prefix() / "bin" / program, *question)
    found = re.search(r"^#\$ TOP=(.+)$", answer.stdout, re.MULTILINE)
    return Path(found[1]) if found and not answer.returncode else None


def _toolkit() -> Iterator[Finding]:
    name, root = _vendors.TOOLKIT_NAME, _toolkit_root()
    if root is None:
        remedy = f"{toolkit_hint()}; only building programs needs it"
        yield _missing(name, "none found", remedy)
        return
    header = root / _vendors.TOOLKIT_VERSION_FILE
    text = header.read_text(errors="replace") if header.is_file() else ""
    release = re.search(rf"#define\s+{_vendors.TOOLKIT_VERSION_MACRO}\s+(\d+)", text)
    if not release:
        yield _broken(name, f"{root} has no {_vendors.TOOLKIT_VERSION_FILE}", toolkit_hint())
        return
    needed, what = _vendors.TOOLKIT_HEADERS
    if not (root / needed).is_file():
        remedy = f"install them, or another toolkit: {toolkit_hint()}"
        yield _missing(name, f"{root} lacks {what}, which clang includes", remedy)
        return
    major, minor = divmod(int(release[1]), 1000)
    yield _ok(name, f"{major}.{minor // 10}, {root}")


def _assemblers() -> Iterator[Finding]:
    remedy = f"{toolkit_hint()}; without both, the GPU's driver makes machine code"
    root = _toolkit_root()
    program = os.environ.get("MNEME_PTXAS") or (root / "bin" / "ptxas" if root else "ptxas")
    try:
        said = _run(program, "--version").stdout
    except OSError:
        said = ""
    release = re.search(r"release [\d.]+, V([\d.]+)", said)
    if release:
        yield _ok("ptxas", f"{release[1]}, {program}")
    else:
        yield _missing("ptxas", "not found", remedy)
    named = os.environ.get("MNEME_NVJITLINK")
    folders = [root / "lib64", root / "lib"] if root else []
    found = [path for folder in folders for path in sorted(folder.glob("libnvJitLink.so*"))]
    if named or found:
        yield _ok("nvJitLink", str(named or found[0]))
    else:
        yield _missing("nvJitLink", "not found", remedy)


def _amd_node() -> Iterator[Finding]:
    wanted = str(_paths.config().get("llvm_version", "")).partition(".")[0]
    for part in amd_parts(Path("/"), os.environ, wanted):
        if part.remedy:
            yield _missing(part.name, part.detail, part.remedy)
        else:
            yield _ok(part.name, part.detail)


def _devices() -> Iterator[Finding]:
    from mneme.devices import list_devices  # noqa: PLC0415 - loads native code

    for device in list_devices():
        name = f"device {device.id}"
        if device.is_available:
            yield _ok(name, device.name)
            continue
        reason, _, remedy = device.why_unavailable.rpartition("; ")
        is_needed = device.id == "cpu"
        make = _broken if is_needed else _missing
        yield make(name, reason or device.why_unavailable, remedy if reason else "")


def _packages() -> Iterator[Finding]:
    for package in _REQUIRED_PACKAGES:
        version = _version_of(package)
        if version:
            yield _ok(f"package {package}", version)
        else:
            yield _broken(f"package {package}", "not installed", package_hint(package))
    for package, (purpose, source) in _OPTIONAL_PACKAGES.items():
        version = _version_of(package)
        if version:
            yield _ok(f"package {package}", version)
        else:
            found = f"not installed; for {purpose} only"
            yield _missing(f"package {package}", found, package_hint(package, source))


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _caches() -> Iterator[Finding]:
    from mneme import _native  # noqa: PLC0415 - loads native code

    chosen = _native.cache_directory()
    name = "cache of compiled kernels"
    remedy = "set MNEME_CACHE_DIR to a directory of your own; until then kernels are compiled anew"
    if chosen:
        yield _cache_finding(name, Path(chosen), remedy)
    else:
        yield _missing(name, "no usable directory", remedy)
    production = Path(os.environ.get("PROTEUS_CACHE_DIR") or ".proteus").absolute()
    yield _cache_finding(
        "cache of tuned programs",
        production,
        "set PROTEUS_CACHE_DIR to a directory of your own; until then tuned programs compile anew",
    )


def _cache_finding(name: str, directory: Path, remedy: str) -> Finding:
    """Report whether a directory, or its parent if it is missing, is writable for us."""
    place = next(path for path in (directory, *directory.parents) if path.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        return _missing(name, f"cannot write to {place}", remedy)
    facts = place.stat()
    if place == directory and (facts.st_uid != os.getuid() or facts.st_mode & 0o022):
        return _missing(name, f"others can write to {directory}, so it is not used", remedy)
    suffix = "" if place == directory else " (made when it is needed)"
    return _ok(name, f"{directory}{suffix}")


def to_json(findings: list[Finding]) -> dict[str, Any]:
    """Return all findings as plain JSON values."""
    return {
        "usable": is_usable(findings),
        "findings": [finding.to_dict() for finding in findings],
    }
