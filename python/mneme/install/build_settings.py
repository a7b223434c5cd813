"""Settings for build scripts: compilers, directories and flags."""

from __future__ import annotations

import subprocess

from mneme._vendors import CMAKE_ARCH_QUESTION, CMAKE_DEVICE_LANGUAGE, DEFAULT_CMAKE_ARCH
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.install import paths as _paths

__all__ = ["KEYS", "build_setting", "cmake_arguments"]

KEYS = (
    *("cc", "cxx", "cudac", "prefix", "libdir", "includedir", "cmakedir"),
    *("cflags", "ldflags", "llvmdir", "cmake-args"),
)
"""The known settings."""


def build_setting(key: str) -> str:
    """Return one value of `config.json`, or `cmake-args`: all options on one line.

    Raises:
        BackendUnavailable: If mneme is not built or installed.
        ArtifactCorrupt: If `config.json` lacks the key.
    """
    if key == "cmake-args":
        return " ".join(cmake_arguments())
    values = _paths.config()
    # One compiler compiles host and device code.
    value = values.get(key) or (values.get("cxx") if key == "cudac" else None)
    if not isinstance(value, str):
        raise ArtifactCorrupt(f"'{_paths.prefix() / 'config.json'}' lacks '{key}'; reinstall mneme")
    return value


def cmake_arguments() -> list[str]:
    """Return the options that configure a CMake project with device code."""
    return [
        f"-DCMAKE_C_COMPILER={build_setting('cc')}",
        f"-DCMAKE_CXX_COMPILER={build_setting('cxx')}",
        f"-DCMAKE_{CMAKE_DEVICE_LANGUAGE}_COMPILER={build_setting('cudac')}",
        f"-DCMAKE_{CMAKE_DEVICE_LANGUAGE}_ARCHITECTURES={_architectures()}",
        f"-DCMAKE_PREFIX_PATH={build_setting('prefix')}",
    ]


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
