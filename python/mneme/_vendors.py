"""The table of names that differ between vendors; everything else in the package is one for all."""

from __future__ import annotations

__all__ = ["CMAKE_DEVICE_LANGUAGE", "CODEGEN_BY_ARCH_PREFIX", "CPU_RUNTIMES", "DEFAULT_CMAKE_ARCH"]

# Runtimes on the CPU device, preloaded for programs that were linked to the vendor's.
CPU_RUNTIMES = ("libmneme_cudart.so", "libmneme_amdhip64.so")

# "CodeGen" of a tuned kernel, by the beginning of the recorded architecture.
CODEGEN_BY_ARCH_PREFIX = {"sm_": "rtc", "gfx": "serial"}

# The language of CMake projects that `mneme config cmake-args` configures, and its architecture.
CMAKE_DEVICE_LANGUAGE = "CUDA"
DEFAULT_CMAKE_ARCH = "90"
