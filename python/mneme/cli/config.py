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
    compilers_only: Annotated[
        bool,
        typer.Option(
            "--compilers-only",
            help="With cmake-args: only options for compilers and packages; the project itself "
            "calls add_mneme().",
        ),
    ] = False,
) -> None:
    """Print one value of the configuration, for build scripts.

    For example CXX=$(mneme config cxx).

    `cmake-args` prints all options for a CMake project: its targets with device code become
    recordable.
    """
    from mneme.install.build_settings import (  # noqa: PLC0415
        build_setting,
        cmake_arguments,
        toolkit_complaint,
    )

    if key is not Key.cmake_args:
        if compilers_only:
            raise typer.BadParameter("--compilers-only goes with cmake-args only")
        _console.print_line(build_setting(key.value))
        return
    if complaint := toolkit_complaint():
        _console.say(complaint)
    _console.print_line(" ".join(cmake_arguments(compilers_only=compilers_only)))
