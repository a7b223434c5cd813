"""The table of names that differ between vendors; everything else in the package is one for all."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CODEGEN_BY_ARCH_PREFIX", "CPU_RUNTIMES", "RUNTIME_MARKS", "RuntimeMark"]

# Runtimes on the CPU device, preloaded for programs that were linked to the vendor's.
CPU_RUNTIMES = ("libmneme_cudart.so", "libmneme_amdhip64.so")

# "CodeGen" of a tuned kernel, by the beginning of the recorded architecture.
CODEGEN_BY_ARCH_PREFIX = {"sm_": "rtc", "gfx": "serial"}


class RuntimeMark(NamedTuple):
    """How a vendor's runtime shows in a program file."""

    library: str
    static_text: bytes


# Text that only the static form of a runtime leaves in a program.
RUNTIME_MARKS = (RuntimeMark("libcudart.so", b"libcudart_static"),)
