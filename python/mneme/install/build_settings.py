"""Settings for build scripts: compilers, directories and flags."""

from __future__ import annotations

import subprocess

from mneme._vendors import (
    CMAKE_ARCH_QUESTION,
    CMAKE_DEVICE_LANGUAGE,
    DEFAULT_CMAKE_ARCH,
    TOOLKIT_QUESTION,
)
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.install import paths as _paths

__all__ = ["KEYS", "build_setting", "cmake_arguments", "toolkit_complaint"]

KEYS = (
    *("cc", "cxx", "cudac", "prefix", "libdir", "includedir", "cmakedir"),
    *("cflags", "ldflags", "llvmdir"),
)
"""The known settings."""

_WHOLE_PROJECT = "MnemeWholeProject.cmake"


def build_setting(key: str) -> str:
    """Return one value of `config.json`.

    Raises:
        BackendUnavailable: If mneme is not built or installed.
        ArtifactCorrupt: If `config.json` lacks the key.
    """
    values = _paths.config()
    # One compiler compiles host and device code.
    value = values.get(key) or (values.get("cxx") if key == "cudac" else None)
    if not isinstance(value, str):
        raise ArtifactCorrupt(f"'{_paths.prefix() / 'config.json'}' lacks '{key}'; reinstall mneme")
    return value


def cmake_arguments(*, compilers_only: bool = False) -> list[str]:
    """Return the options that configure a CMake project with device code and make it recordable.

    Args:
        compilers_only: Whether to leave the project's targets to its own calls of `add_mneme()`.
    """
    options = [
        f"-DCMAKE_C_COMPILER={build_setting('cc')}",
        f"-DCMAKE_CXX_COMPILER={build_setting('cxx')}",
        f"-DCMAKE_{CMAKE_DEVICE_LANGUAGE}_COMPILER={build_setting('cudac')}",
        f"-DCMAKE_{CMAKE_DEVICE_LANGUAGE}_ARCHITECTURES={_architectures()}",
        f"-DCMAKE_PREFIX_PATH={build_setting('prefix')}",
    ]
    if not compilers_only:
        file = f"{build_setting('cmakedir')}/{_WHOLE_PROJECT}"
        options.append(f"-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES={file}")
    return options


def toolkit_complaint() -> str:
    """Return what the GPU toolkit lacks, in the words of the compilers' wrappers; empty if nothing.

    That there is none is no complaint: programs for other vendors need none.
    """
    program, *question = TOOLKIT_QUESTION
    try:
        answer = subprocess.run(
            [_paths.prefix() / "bin" / program, *question],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        return ""
    return "" if answer.returncode else answer.stderr.strip().removeprefix(f"{program}: ")


def _architectures() -> str:
    """Return what CMake projects build for: the GPUs at hand, or several without one."""
    program, *question = CMAKE_ARCH_QUESTION
    command = [str(_paths.prefix() / "bin" / program), *question]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return DEFAULT_CMAKE_ARCH
    if done.returncode != 0:
        raise InvalidArgument(done.stderr.strip())
    return done.stdout.strip()
