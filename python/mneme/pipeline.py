"""The name that scripts import; see mneme.pipelines.pipeline."""

from __future__ import annotations

from mneme.pipelines.pipeline import (
    ADAPTORS,
    AbstractPass,
    ConcretePass,
    PassLevel,
    PassOption,
    PipelineManager,
    UnknownPass,
    flatten_passes,
    parse_llvm_pass_options,
    reason_left_out,
    split_top_level,
)

__all__ = [
    "ADAPTORS",
    "AbstractPass",
    "ConcretePass",
    "PassLevel",
    "PassOption",
    "PipelineManager",
    "UnknownPass",
    "flatten_passes",
    "parse_llvm_pass_options",
    "reason_left_out",
    "split_top_level",
]
