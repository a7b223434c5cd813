"""Which options `--help` lists, and the groups of the others, which `--help-all` lists too."""

from __future__ import annotations

from typing import Final

from mneme.knobs import CODE_NUMBERS, CODE_TEXTS

__all__ = ["COMMON", "GROUPS"]

_NUMBERS = tuple(one.key for one in CODE_NUMBERS)
_TEXTS = tuple(one.key for one in CODE_TEXTS)

COMMON: Final[dict[str, tuple[str, ...]]] = {
    "replay": (
        *("specialize", "specialize_dims", "grid_dim_x", "block_dim_x"),
        *("max_registers", "codegen_opt", "iterations", "confidence", "tolerance", "timeout"),
        *("ir", "output_ll", "all_launches", "device", "on", "record_database"),
    ),
    "compile": (
        *("arch", "specialize", "specialize_dims", "set_launch_bounds"),
        *("max_registers", "codegen_opt", "output", "ptx", "ll", "record_database"),
    ),
    "compare": (
        *("variant", "passes", "variants", "kernels", "device", "rounds", "tolerance"),
        *("fail_on", "results_dir", "resume", "html", "markdown", "junit", "lnt", "json"),
    ),
    "tune": (
        *("all", "trials", "timeout", "space_preset", "sampler", "seed"),
        *("passes", "launch_dim", "tolerance", "device", "workers", "on", "results_dir"),
        *("resume", "config", "record_database"),
    ),
    "optimize": (
        *("budget", "output", "device", "on", "check", "compare", "tolerance"),
        *("pass_plugin", "min_gain", "seed", "resume", "json"),
    ),
    "bisect": (
        *("symptom", "than", "arch", "specialize", "specialize_dims", "iterations"),
        *("timeout", "tolerance", "device", "output", "json", "record_database"),
    ),
}
"""Parameters by verb, in the order in which they are listed; other verbs list all they have."""

GROUPS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "replay": {
        "Which launch": ("all_launches", "graph", "record_database", "record_id"),
        "Dimensions": (
            *("grid_dim_x", "grid_dim_y", "grid_dim_z"),
            *("block_dim_x", "block_dim_y", "block_dim_z", "shared_mem"),
        ),
        "Code": (
            *("specialize", "specialized_args", "specialize_dims", "set_launch_bounds"),
            *("max_threads", "min_blocks_per_sm", *_NUMBERS, "codegen_opt", "ir"),
            *_TEXTS,
        ),
        "Measuring and verifying": (
            *("iterations", "warmup", "confidence", "max_iterations", "time_budget", "cold_l2"),
            *("counters", "timeout", "tolerance", "device", "on", "cluster"),
        ),
        "Files": ("output_ll", "output_asm"),
    },
    "compile": {
        "Which launch": ("record_database", "record_id"),
        "Code": (
            *("arch", "specialize", "specialized_args", "specialize_dims", "set_launch_bounds"),
            *("max_threads", "min_blocks_per_sm", *_NUMBERS, "codegen_opt"),
            *(*_TEXTS, "code_object_version"),
        ),
        "Files": ("output", "ptx", "ll", "cache"),
    },
    "optimize": {
        "What is done": ("budget", "output", "resume", "device", "on", "cluster", "seed"),
        "What is tried": ("pass_plugin", "plugin_passes", "knowledge", "min_gain"),
        "Checking": ("check", "compare", "compare_tolerance", "ignore", "tolerance"),
        "What is printed": ("quiet", "json"),
    },
    "bisect": {
        "Which launch": ("record_database", "record_id"),
        "What is looked for": ("symptom", "than", "than_llvm", "arch"),
        "Code": (
            *("specialize", "specialize_dims", *_NUMBERS, "codegen_opt"),
            *_TEXTS,
        ),
        "Measuring and verifying": ("iterations", "timeout", "tolerance", "device"),
        "What is written": ("reduce_time", "output", "json"),
    },
}
"""Headings with their parameters, for verbs whose options do not name their own."""
