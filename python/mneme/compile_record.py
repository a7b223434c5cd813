"""The name that scripts import; see mneme.measure.compile_record."""

from __future__ import annotations

from mneme.measure.compile_record import CompiledKernel, CompileOptions, compile_record

__all__ = ["CompileOptions", "CompiledKernel", "compile_record"]
