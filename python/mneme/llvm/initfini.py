"""Initialisation and shutdown of LLVM for older scripts."""

from __future__ import annotations

from llvmlite.binding.initfini import (
    initialize_all_asmprinters,
    initialize_all_targets,
    initialize_native_asmparser,
    initialize_native_asmprinter,
    initialize_native_target,
)

__all__ = [
    "initialize",
    "initialize_all_asmprinters",
    "initialize_all_targets",
    "initialize_native_asmparser",
    "initialize_native_asmprinter",
    "initialize_native_target",
    "shutdown",
]


def initialize() -> None:
    """Do nothing: LLVM is ready once loaded; llvmlite's own function now raises an error."""


def shutdown() -> None:
    """Do nothing: LLVM ends with the process."""
