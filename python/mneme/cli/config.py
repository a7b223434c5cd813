"""`mneme config`: paths and options for build scripts."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from mneme.cli import _console

__all__ = ["config"]


class Key(str, Enum):
    """The values that `mneme config` knows."""

    cc = "cc"
    cxx = "cxx"
    cudac = "cudac"
    prefix = "prefix"
    libdir = "libdir"
    includedir = "includedir"
    cmakedir = "cmakedir"
    cflags = "cflags"
    ldflags = "ldflags"
    llvmdir = "llvmdir"
    cmake_args = "cmake-args"


def config(
    key: Annotated[Key, typer.Argument(metavar="KEY", help=", ".join(key.value for key in Key))],
) -> None:
    """Print one value of the configuration, for build scripts.

    For example CXX=$(mneme config cxx).

    `cmake-args` prints all options for a CMake project with LANGUAGES CUDA.
    """
    from mneme.install.build_settings import build_setting  # noqa: PLC0415

    _console.print_line(build_setting(key.value))
