"""The columns of the table of measured configurations."""

from __future__ import annotations

from typing import Final

from mneme.data.column import Column, Kind, Table
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS

__all__ = ["CONFIGURATIONS", "CONFIGURATION_FIELDS", "RESULT_FIELDS"]


def _text(name: str, text: str) -> Column:
    return Column(name=name, kind=Kind.TEXT, text=text)


def _texts(name: str, text: str) -> Column:
    return Column(name=name, kind=Kind.TEXTS, text=text)


def _count(name: str, text: str, unit: str = "") -> Column:
    return Column(name=name, kind=Kind.INTEGER, text=text, unit=unit)


def _counts(name: str, text: str, unit: str = "") -> Column:
    return Column(name=name, kind=Kind.INTEGERS, text=text, unit=unit)


def _number(name: str, text: str, unit: str = "") -> Column:
    return Column(name=name, kind=Kind.FLOAT, text=text, unit=unit)


def _numbers(name: str, text: str, unit: str = "") -> Column:
    return Column(name=name, kind=Kind.FLOATS, text=text, unit=unit)


def _flag(name: str, text: str) -> Column:
    return Column(name=name, kind=Kind.BOOLEAN, text=text)


def _time(name: str, text: str) -> Column:
    return Column(name=name, kind=Kind.TIME, text=text, unit="UTC")


_WHICH = (
    _count("schema_version", "version of this table"),
    _text("source", "what measured it: `tune`, `optimize` or `compare`"),
    _text("results", "its results directory, below the one that was named"),
    _text("variant", "what a comparison calls this way to compile; missing for a search"),
    _text("program", "the program, as `optimize`, a corpus or `--program` names it"),
    _text("split", "`train` or `test`, as `mneme corpus` divides programs"),
    _text("kernel", "name of the kernel as in the source, with parameters"),
    _text("kernel_symbol", "mangled name of the kernel"),
    _text("place", "where its body is: `src/advec_mom.cpp:120`"),
    _text("label", "what the program calls the launch"),
    _text("record_id", "id of the recorded launch in its record, decimal"),
    _text("static_hash", "hash of the kernel's code, 16 hexadecimal digits"),
    _text("dynamic_hash", "hash of the launch: the record id, 16 hexadecimal digits"),
    _text("code_hash", "hash of the code without the names of its functions"),
    _text(
        "recorded_ir_hash",
        "hash of the content of the recorded IR; of several modules, with `+` between",
    ),
)

_CONFIGURATION = (
    _count(
        "trial",
        "number in its search; -1: the baseline or the program as built; missing for a comparison",
    ),
    _text("config_hash", "equal for equal configurations"),
    _text("params", "what the sampler chose for each dimension of the space, JSON"),
    _text("passes", "the LLVM pass pipeline; missing where `llvm` is none"),
    _texts("pipeline", "its passes in their order, without adaptors"),
    _count("codegen_opt", "level of the code generator, 0 to 3"),
    _count("grid_x", "blocks in x", "blocks"),
    _count("grid_y", "blocks in y", "blocks"),
    _count("grid_z", "blocks in z", "blocks"),
    _count("block_x", "threads of a block in x", "threads"),
    _count("block_y", "threads of a block in y", "threads"),
    _count("block_z", "threads of a block in z", "threads"),
    _count("shared_mem", "dynamic shared memory of a block", "bytes"),
    _flag("specialize", "scalar arguments were fixed to their recorded values"),
    _text("specialized_args", "which of them; empty: all"),
    _flag("specialize_dims", "grid and block were fixed"),
    _flag("set_launch_bounds", "the code generator was told the next two"),
    _count("max_threads", "threads of the largest block", "threads"),
    _count("min_blocks_per_sm", "blocks that have to fit on a multiprocessor", "blocks"),
    *(_count(one.key, f"{one.label}; 0: no limit") for one in CODE_NUMBERS),
    _text("pass_plugins", "files of LLVM pass plugins; missing without"),
    _text(
        "llvm",
        "the kernel compiler of another LLVM; missing without; none, but the code that the program "
        "loads or its PTX: `recorded`, `ptx`",
    ),
    *(_text(one.key, f"{one.label}; missing without") for one in CODE_TEXTS if not one.has_files),
    _flag("prune", "what the kernel does not reach was dropped"),
    _flag("internalize", "everything but the kernel was hidden"),
)

_VERDICT = (
    _text("status", "`verified`, or why it does not count, as in `trials.jsonl`"),
    _flag("verified", "memory after the launch was that of the recording, or within tolerance"),
    _text(
        "verdict",
        "`exact`, `within_tolerance`, `nondeterministic`, `unreproducible`, `few_ulp`, `wrong` "
        "or `failed`",
    ),
    _text("failure", "the status of what failed; `few_ulp` and `rounding` are told apart"),
    _text("error", "why it failed, a sentence"),
    _texts("tolerance", "the rules that it was judged by"),
    _count("max_ulp", "largest distance from the recorded value", "ULP"),
    _number("max_relative", "largest relative distance from the recorded value"),
    _number("max_absolute", "largest absolute distance from the recorded value"),
    _flag("is_baseline", "what `speedup` is over"),
    _flag("is_as_built", "the program as it was built"),
    _flag("is_winner", "the winner of its search"),
    _flag("is_pareto", "on the front of several objectives"),
)

_TIMES = (
    _number("time_ns", "the time of the configuration: the statistic that `metric` names", "ns"),
    _text("metric", "`mean`, `median`, `min` or `max` of the measured launches"),
    _number("baseline_time_ns", "the time of the search's baseline", "ns"),
    _number("speedup", "`baseline_time_ns` over `time_ns`"),
    _count("median_ns", "median of the measured launches", "ns"),
    _count("median_low_ns", "lower end of the median's 95 % confidence interval", "ns"),
    _count("median_high_ns", "upper end of that interval", "ns"),
    _counts("samples_ns", "the measured launches in their order", "ns"),
    _counts("warmup_ns", "the launches before them", "ns"),
    _text("timer", "what measured: host clock, events or cupti"),
    _flag("cold_cache", "caches were replaced before every launch"),
    _flag("stopped_early", "measuring ended early: it is slower than the best by far"),
    _flag("reused", "a copy of what a configuration with the same binary and launch took"),
    _number(
        "gain",
        "time of the program as built, or of a comparison's baseline, over its time: from rounds "
        "in which both ran in turn",
    ),
    _number("gain_low", "lower end of the gain's 95 % interval"),
    _number("gain_high", "upper end of that interval"),
    _flag(
        "gain_is_significant",
        "more than chance; of a comparison, at a false discovery rate of 5 % and found twice",
    ),
    _count("gain_rounds", "how many rounds"),
    _numbers("ratios", "of a comparison: the baseline's time over its time, by round"),
    _number("p_value", "of a comparison: by the sign test over the rounds"),
    _flag("is_same_code", "of a comparison: code and launch are those of the baseline"),
)

_CODE = (
    _count("registers", "registers of a thread; missing where the device does not say"),
    _count("local_bytes", "local memory of a thread, spills included", "bytes"),
    _count(
        "spill_bytes",
        "what instructions store and load to save registers; missing where it is not known",
        "bytes",
    ),
    _count("shared_bytes", "shared memory of a block, static and dynamic", "bytes"),
    _count("constant_bytes", "constant memory", "bytes"),
    _number(
        "occupancy",
        "part of a multiprocessor's threads that fit at once, 0 to 1; on NVIDIA GPUs",
    ),
    _count("code_bytes", "size of the binary", "bytes"),
    _text("final_ir_hash", "hash of the IR after the pipeline"),
    _text("image_hash", "hash of the binary; equal binaries have equal hashes"),
    _number("prepare_seconds", "linking, pruning and specialising", "s"),
    _number("passes_seconds", "the pass pipeline", "s"),
    _number("codegen_seconds", "code generation", "s"),
    _number("compile_seconds", "the three together", "s"),
    _flag("code_from_cache", "compiled earlier; the seconds are those of then"),
    _number("restore_seconds", "restoring memory, over all launches", "s"),
    _number("verify_seconds", "comparing memory", "s"),
    _count("launches", "launches of any purpose"),
    _text(
        "counters",
        "hardware counters that were asked for, JSON: names and values; missing without",
    ),
    _texts("unrecorded_reads", "what the code reads that no recording holds: `clocks`, ..."),
)

_WHERE = (
    _text("device", "as in `--device`: `cpu`, or a vendor's word and a number"),
    _text("device_name", "the vendor's name of the model"),
    _count("multiprocessors", "units of the device that blocks could run on; 0: not known"),
    _text("target", "what code is made for: `sm_90`, `cpu`"),
    _text("driver", "version of the device's driver"),
    _text("host", "name of the machine; missing where several measured"),
    _text("os", "operating system of the machine, with its release"),
    _text("cpu", "model of its processor"),
    _text("mneme_version", "version of mneme"),
    _text("llvm_version", "version of the LLVM that compiled"),
    _time("started_at", "when the configuration was begun"),
    _time("ended_at", "when it was finished"),
    _text("sampler", "what chose configurations"),
    _count("seed", "its seed; missing if none was given"),
    _texts("objectives", "what was searched for"),
)

CONFIGURATIONS: Final = Table(
    name="mneme.configurations",
    version=1,
    groups={
        "which launch": _WHICH,
        "configuration": _CONFIGURATION,
        "verdict": _VERDICT,
        "times": _TIMES,
        "code": _CODE,
        "machine and search": _WHERE,
    },
)
"""One row for each measured configuration."""

CONFIGURATION_FIELDS: Final = {
    name: name
    for name in (
        *("passes", "codegen_opt", "shared_mem", "specialize", "specialized_args"),
        *("specialize_dims", "set_launch_bounds", "max_threads", "min_blocks_per_sm"),
        *(one.key for one in CODE_TEXTS),
        *("prune", "internalize", *(one.key for one in CODE_NUMBERS)),
    )
}
"""Fields of `ExperimentConfiguration` and their columns; grid and block have three each."""

RESULT_FIELDS: Final = {
    "preprocess_ir_time": "prepare_seconds",
    "opt_time": "passes_seconds",
    "codegen_time": "codegen_seconds",
    "obj_size": "code_bytes",
    "verified": "verified",
    "start_time": "started_at",
    "end_time": "ended_at",
    "const_mem_usage": "constant_bytes",
    "local_mem_usage": "local_bytes",
    "spill_bytes": "spill_bytes",
    "error": "error",
    "result_class": "verdict",
    "max_ulp": "max_ulp",
    "max_relative": "max_relative",
    "max_absolute": "max_absolute",
    "unrecorded_reads": "unrecorded_reads",
    "device": "device",
    "multiprocessors": "multiprocessors",
    "ir_hash": "final_ir_hash",
    "image_hash": "image_hash",
    "restore_time": "restore_seconds",
    "verify_time": "verify_seconds",
    "timer": "timer",
    "median_ns": "median_ns",
    "cold_cache": "cold_cache",
    "stopped_early": "stopped_early",
    "code_from_cache": "code_from_cache",
    "reused": "reused",
    "launches": "launches",
}
"""Fields of `ExperimentResult` and the columns that have their value as it is."""
