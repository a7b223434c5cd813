"""LLVM's beginning and end, as older scripts ask for them."""

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
    """Do nothing: LLVM is ready once it is loaded. llvmlite's own function is an error by now."""


def shutdown() -> None:
    """Do nothing: LLVM ends with the process."""
