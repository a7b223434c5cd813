"""The options of `mneme tune`, one constant each, and its multi-valued ones."""

from __future__ import annotations

from typing import Any

import typer

__all__ = ["spread_lists"]

_RECORD = "Which launch"
_SEARCH = "What is searched"
_MEASURE = "Measuring"
_RESULTS = "Results"
_STUDY = "Study"
_SPACE = "Search space"
_FILES = "Files of options"


def _option(*names: str, panel: str, text: str, metavar: str | None = None, **more: Any) -> Any:  # noqa: ANN401
    return typer.Option(
        *names, help=text, metavar=metavar, rich_help_panel=panel, show_default=False, **more
    )


def _choice(name: str, choices: str, panel: str, text: str) -> Any:  # noqa: ANN401
    return _option(name, panel=panel, text=f"{choices.replace('|', ', ')}: {text}", metavar="NAME")


RECORD_DATABASE = _option(
    "-rdb",
    "--record-database",
    panel=_RECORD,
    metavar="DB",
    text="A <static hash>.json file, or a directory that holds one.",
)
ALL = _option(
    "--all",
    panel=_RECORD,
    text="Tune every launch of the directory, each with a share of --trials by its weight.",
)

SPACE_PRESET = _choice(
    "--space-preset",
    "quick|standard|launch|compiler|full",
    _SPACE,
    "the built-in space.  [default: full with --sampler auto, else standard]",
)
SAMPLER = _option(
    "--sampler",
    panel=_SEARCH,
    metavar="NAME",
    text="auto, random, tpe, grid, exhaustive, nsga2, nsga3, cmaes, gp, qmc, or MODULE:CLASS of an "
    "Optuna sampler.  [default: auto]",
)
TRIALS = _option(
    "--trials",
    panel=_SEARCH,
    metavar="N",
    text="Configurations to try; not with grid and exhaustive, which try all.",
)
TIMEOUT = _option(
    "--timeout", panel=_SEARCH, metavar="SECONDS", text="End the search after this time."
)
SEED = _option("--seed", panel=_SEARCH, metavar="N", text="Makes samplers repeat themselves.")
KNOWLEDGE = _option(
    "--knowledge/--no-knowledge",
    panel=_SEARCH,
    text="Begin with what earlier tunings found (--sampler auto), and remember what this one "
    "finds.  [default: yes]",
)
METRIC = _choice(
    "--metric", "mean|median|min|max", _SEARCH, "the time of a configuration.  [default: mean]"
)
OBJECTIVE = _option(
    "--objective",
    panel=_SEARCH,
    metavar="NAME",
    text="time, speedup, registers, code-size, compile-time; several give a Pareto front.  "
    "[default: time]",
)

ITERATIONS = _option(
    "--iterations",
    panel=_MEASURE,
    metavar="N",
    text="Measured launches of a configuration, at least.  [default: 5]",
)
WARMUP = _option(
    "--warmup", panel=_MEASURE, metavar="N", text="Launches before those.  [default: 2]"
)
MAX_ITERATIONS = _option(
    "--max-iterations",
    panel=_MEASURE,
    metavar="N",
    text="Measured launches, at most.  [default: 50]",
)
CONFIDENCE = _option(
    "--confidence",
    panel=_MEASURE,
    metavar="PART",
    text="Measure until the median is known to this part of itself; 0: --iterations launches.  "
    "[default: 0.02]",
)
EARLY_STOP = _option(
    "--early-stop",
    panel=_MEASURE,
    metavar="FACTOR",
    text="Stop measuring what is slower than this times the best so far; 0: never.  [default: 1.5]",
)
WORKERS = _option(
    "--workers",
    panel=_MEASURE,
    metavar="N",
    text="Measuring processes, one per device.  [default: 1]",
)
COMPILE_WORKERS = _option(
    "--compile-workers",
    panel=_MEASURE,
    metavar="N",
    text="Compiling processes.  [default: one per core left; none on the CPU device]",
)
TRIAL_TIMEOUT = _option(
    "--trial-timeout",
    panel=_MEASURE,
    metavar="SECONDS",
    text="Limit of one replay.  [default: 60, and less where others are much shorter]",
)
COMPILE_TIMEOUT = _option(
    "--compile-timeout",
    panel=_MEASURE,
    metavar="SECONDS",
    text="Limit of compiling one configuration.  [default: 60]",
)
TOLERANCE = _option(
    "--tolerance", panel=_MEASURE, metavar="SPEC", text="As for 'mneme replay'; may be repeated."
)
FAIL_FAST = _option(
    "--fail-fast/--keep-going",
    panel=_MEASURE,
    text="End at the first configuration that fails.  [default: keep going]",
)
FINAL_ROUNDS = _option(
    "--final-rounds",
    panel=_MEASURE,
    metavar="N",
    text="Rounds in which the winner is measured against the baseline, at least 6.  [default: 12]",
)
TOP = _option(
    "--top",
    panel=_MEASURE,
    metavar="N",
    text="Configurations measured again before a winner is named.  [default: 5]",
)

RESULTS_DIR = _option(
    "--results-dir",
    panel=_RESULTS,
    metavar="DIR",
    text="Where results go.  [default: mneme-tune-results/<record id>-<time>]",
)
RESUME = _option(
    "--resume", panel=_RESULTS, text="Go on with what --results-dir holds, with its options."
)
RERUN_BASELINE = _option(
    "--rerun-baseline", panel=_RESULTS, text="Measure the baseline again when resuming."
)
PRINT_SPACE = _option("--print-space", panel=_RESULTS, text="Only say what the space is.")
DRY_RUN = _option(
    "--dry-run", panel=_RESULTS, text="Only say which configurations would be tried first."
)
BASELINE_ONLY = _option("--baseline-only", panel=_RESULTS, text="Only measure the baseline.")
BASELINE = _choice(
    "--baseline",
    "usual|program",
    _RESULTS,
    "what trials are compared with: -O3 (or the first of --passes), or the program's own level, "
    "over which the gain at the end is stated in any case.  "
    "[default: usual]",
)
QUIET = _option("--quiet", panel=_RESULTS, text="Say nothing but errors.")
PROTEUS_OUTPUT = _option(
    "--proteus-output",
    panel=_RESULTS,
    metavar="FILE",
    text="The tuned-kernels file.  [default: proteus_tuned_kernels.json in the results]",
)
NO_PROTEUS_OUTPUT = _option(
    "--no-proteus-output", panel=_RESULTS, text="Write no tuned-kernels file."
)

STUDY_NAME = _option(
    "--study-name",
    panel=_STUDY,
    metavar="NAME",
    text="The study in the storage.  [default: mneme]",
)
OPTUNA_STORAGE = _option(
    "--optuna-storage",
    panel=_STUDY,
    metavar="URL",
    envvar="MNEME_STUDY_STORAGE",
    text="sqlite:///FILE, postgresql://..., or a journal file: a study that processes share.",
)
PRUNER = _choice(
    "--pruner",
    "none|median",
    _STUDY,
    "stop measuring what is slower than half of the trials.  [default: none]",
)

LAUNCH_DIM = _choice(
    "--launch-dim", "none|auto|x|xy|xyz", _SPACE, "axes of the block that change.  [default: auto]"
)
LAUNCH_SAFETY = _choice(
    "--launch-safety", "conservative|balanced|aggressive", _SPACE, "how far blocks change."
)
ADAPTIVE_INVALID_BAN = _option(
    "--adaptive-invalid-ban/--no-adaptive-invalid-ban",
    panel=_SPACE,
    text="Leave out block shapes that gave no right result.  [default: yes]",
)
PASSES = _option(
    "--passes", panel=_SPACE, metavar="P...", text="Pipelines to choose from, one or more."
)
FIXED_PASSES = _option("--fixed-passes", panel=_SPACE, metavar="P", text="The only pipeline.")
PIPELINE_FILE = _option(
    "--pipeline-file", panel=_SPACE, metavar="FILE", text="A file with one pipeline a line."
)
CODEGEN_OPT_RANGE = _option(
    "--codegen-opt-range",
    panel=_SPACE,
    metavar="LOW:HIGH[:STEP]",
    text="Levels of the code generator.",
)
FIXED_CODEGEN_OPT = _option(
    "--fixed-codegen-opt", panel=_SPACE, metavar="0..3", text="The only level."
)
CODEGEN_METHOD = _option(
    "--codegen-method", panel=_SPACE, metavar="NAME", text="Accepted and ignored.", hidden=True
)
_ON_OFF = "fixed|on|off|on-off"
SPECIALIZE_SPACE = _choice(
    "--specialize-space", _ON_OFF, _SPACE, "whether scalar arguments become constants."
)
SPECIALIZED_ARGS = _option(
    "--specialized-args",
    panel=_SPACE,
    metavar="I,J..",
    text="Which arguments may become constants, counted from 0.  [default: all scalar ones]",
)
SPECIALIZE_DIMS_SPACE = _choice(
    "--specialize-dims-space", _ON_OFF, _SPACE, "whether grid and block become constants."
)
LAUNCH_BOUNDS_SPACE = _choice(
    "--launch-bounds-space", _ON_OFF, _SPACE, "whether launch bounds are set."
)
MIN_BLOCKS_PER_SM_RANGE = _option(
    "--min-blocks-per-sm-range",
    panel=_SPACE,
    metavar="LOW:HIGH[:STEP]",
    text="Blocks that have to fit on a multiprocessor.",
)
FIXED_MIN_BLOCKS_PER_SM = _option(
    "--fixed-min-blocks-per-sm", panel=_SPACE, metavar="N", text="The only such number."
)
MAX_REGISTERS_RANGE = _option(
    "--max-registers-range",
    panel=_SPACE,
    metavar="LOW:HIGH[:STEP]",
    text="Limits on a thread's registers on GPUs, besides none.",
)
FIXED_MAX_REGISTERS = _option(
    "--fixed-max-registers", panel=_SPACE, metavar="N", text="The only limit; 0: none."
)
MAX_THREADS_RANGE = _option(
    "--max-threads-range",
    panel=_SPACE,
    metavar="LOW:HIGH[:STEP]",
    text="Threads of the largest block.",
)
MAX_THREADS_POLICY = _choice(
    "--max-threads-policy",
    "recorded|block-threads|powers-of-two|hardware",
    _SPACE,
    "where that comes from.  [default: block-threads]",
)
SPACE_MODULE = _option(
    "--space-module",
    panel=_SPACE,
    metavar="MODULE_OR_PATH:CLASS",
    text="A space of your own.",
)
SPACE_ARG = _option(
    "--space-arg",
    panel=_SPACE,
    metavar="KEY=VALUE",
    text="For its constructor; may be repeated.",
)

CONFIG = _option(
    "--config",
    panel=_FILES,
    metavar="FILE",
    text="JSON or YAML with these options; the command line counts more.",
)
DUMP_CONFIG = _option(
    "--dump-config", panel=_FILES, metavar="FILE", text="Write the options there and end."
)

_LISTS = ("--passes", "--space-arg", "--objective", "--tolerance")


def spread_lists(arguments: list[str]) -> list[str]:
    """Name a multi-valued option before each of its values: `--passes A B` means both."""
    result: list[str] = []
    current = ""
    for argument in arguments:
        if argument.startswith("-"):
            current = argument if argument in _LISTS else ""
            result.append(argument)
        elif current and result[-1] != current:
            result += [current, argument]
        else:
            result.append(argument)
    return result
