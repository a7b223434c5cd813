"""`mneme tune`: search for the fastest configuration of a recorded kernel."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.cli import _tune_options as opt
from mneme.cli._options import DeviceOption, RecordIdOption

if TYPE_CHECKING:
    from mneme.tuning.options import TuneOptions

__all__ = ["tune"]

Number = Optional[int]
Real = Optional[float]
Flag = Optional[bool]
Text = Optional[str]
Texts = Optional[list[str]]
File = Optional[Path]


def tune(
    record_database: Annotated[File, opt.RECORD_DATABASE] = None,
    record_id: RecordIdOption = None,
    all: Annotated[Flag, opt.ALL] = None,  # noqa: A002 - the name of the option
    device: DeviceOption = None,
    space_preset: Annotated[Text, opt.SPACE_PRESET] = None,
    sampler: Annotated[Text, opt.SAMPLER] = None,
    trials: Annotated[Number, opt.TRIALS] = None,
    timeout: Annotated[Real, opt.TIMEOUT] = None,
    seed: Annotated[Number, opt.SEED] = None,
    metric: Annotated[Text, opt.METRIC] = None,
    objective: Annotated[Texts, opt.OBJECTIVE] = None,
    iterations: Annotated[Number, opt.ITERATIONS] = None,
    warmup: Annotated[Number, opt.WARMUP] = None,
    max_iterations: Annotated[Number, opt.MAX_ITERATIONS] = None,
    confidence: Annotated[Real, opt.CONFIDENCE] = None,
    early_stop: Annotated[Real, opt.EARLY_STOP] = None,
    workers: Annotated[Number, opt.WORKERS] = None,
    compile_workers: Annotated[Number, opt.COMPILE_WORKERS] = None,
    trial_timeout: Annotated[Real, opt.TRIAL_TIMEOUT] = None,
    compile_timeout: Annotated[Real, opt.COMPILE_TIMEOUT] = None,
    tolerance: Annotated[Texts, opt.TOLERANCE] = None,
    fail_fast: Annotated[Flag, opt.FAIL_FAST] = None,
    final_rounds: Annotated[Number, opt.FINAL_ROUNDS] = None,
    top: Annotated[Number, opt.TOP] = None,
    results_dir: Annotated[File, opt.RESULTS_DIR] = None,
    resume: Annotated[Flag, opt.RESUME] = None,
    rerun_baseline: Annotated[Flag, opt.RERUN_BASELINE] = None,
    print_space: Annotated[Flag, opt.PRINT_SPACE] = None,
    dry_run: Annotated[Flag, opt.DRY_RUN] = None,
    baseline_only: Annotated[Flag, opt.BASELINE_ONLY] = None,
    baseline: Annotated[Text, opt.BASELINE] = None,
    quiet: Annotated[Flag, opt.QUIET] = None,
    proteus_output: Annotated[File, opt.PROTEUS_OUTPUT] = None,
    no_proteus_output: Annotated[Flag, opt.NO_PROTEUS_OUTPUT] = None,
    knowledge: Annotated[Flag, opt.KNOWLEDGE] = None,
    study_name: Annotated[Text, opt.STUDY_NAME] = None,
    optuna_storage: Annotated[Text, opt.OPTUNA_STORAGE] = None,
    pruner: Annotated[Text, opt.PRUNER] = None,
    launch_dim: Annotated[Text, opt.LAUNCH_DIM] = None,
    launch_safety: Annotated[Text, opt.LAUNCH_SAFETY] = None,
    adaptive_invalid_ban: Annotated[Flag, opt.ADAPTIVE_INVALID_BAN] = None,
    passes: Annotated[Texts, opt.PASSES] = None,
    fixed_passes: Annotated[Text, opt.FIXED_PASSES] = None,
    pipeline_file: Annotated[File, opt.PIPELINE_FILE] = None,
    codegen_opt_range: Annotated[Text, opt.CODEGEN_OPT_RANGE] = None,
    fixed_codegen_opt: Annotated[Number, opt.FIXED_CODEGEN_OPT] = None,
    codegen_method: Annotated[Text, opt.CODEGEN_METHOD] = None,
    specialize_space: Annotated[Text, opt.SPECIALIZE_SPACE] = None,
    specialized_args: Annotated[Text, opt.SPECIALIZED_ARGS] = None,
    specialize_dims_space: Annotated[Text, opt.SPECIALIZE_DIMS_SPACE] = None,
    launch_bounds_space: Annotated[Text, opt.LAUNCH_BOUNDS_SPACE] = None,
    min_blocks_per_sm_range: Annotated[Text, opt.MIN_BLOCKS_PER_SM_RANGE] = None,
    fixed_min_blocks_per_sm: Annotated[Number, opt.FIXED_MIN_BLOCKS_PER_SM] = None,
    max_registers_range: Annotated[Text, opt.MAX_REGISTERS_RANGE] = None,
    fixed_max_registers: Annotated[Number, opt.FIXED_MAX_REGISTERS] = None,
    max_threads_range: Annotated[Text, opt.MAX_THREADS_RANGE] = None,
    max_threads_policy: Annotated[Text, opt.MAX_THREADS_POLICY] = None,
    space_module: Annotated[Text, opt.SPACE_MODULE] = None,
    space_arg: Annotated[Texts, opt.SPACE_ARG] = None,
    config: Annotated[File, opt.CONFIG] = None,
    dump_config: Annotated[File, opt.DUMP_CONFIG] = None,
) -> None:
    """Search for the fastest configuration of a recorded kernel.

    Every configuration is compiled, verified and measured; the best are measured again, in turn
    with the baseline, before a winner is named. Options can stand in a file (--config).
    """
    given = {name: value for name, value in locals().items() if _is_given(value)}
    raise typer.Exit(_tune(given))


def _is_given(value: object) -> bool:
    return value is not None and value not in ([], ())


def _tune(given: dict[str, Any]) -> int:
    from mneme.cli._interrupt import interrupt_on_request  # noqa: PLC0415
    from mneme.cli._tune_output import listener_for  # noqa: PLC0415 - `--help` stays light
    from mneme.tuning.option_files import combine_options, write_options  # noqa: PLC0415
    from mneme.tuning.session import TuningSession  # noqa: PLC0415

    config = given.pop("config", None)
    dump = given.pop("dump_config", None)
    options = combine_options(given, config)
    if dump is not None:
        options.validate()
        write_options(dump, options)
        return 0
    if not options.quiet:
        _tell_unused(given, options)
    interrupt_on_request()
    with listener_for(options) as listener:
        return TuningSession(options, listener).run()


def _tell_unused(given: dict[str, Any], options: TuneOptions) -> None:
    from mneme.cli._unused import tell_unused  # noqa: PLC0415 - `--help` stays light
    from mneme.tuning.space_options import SpaceOptions  # noqa: PLC0415

    def among(*names: str) -> dict[str, bool]:
        return {f"--{name.replace('_', '-')}": name in given for name in names}

    if options.space_module is not None:
        of_builtin = [one.name for one in fields(SpaceOptions) if one.name != "preset"]
        tell_unused(among("space_preset", *of_builtin), "with --space-module")
    if options.optuna_storage is None:
        tell_unused(among("study_name"), "without --optuna-storage")
    if not options.resume:
        tell_unused(among("rerun_baseline"), "without --resume")
    if options.enumerates:
        tell_unused(among("seed"), f"with --sampler {options.sampler}")
    if options.no_proteus_output:
        tell_unused(among("proteus_output"), "with --no-proteus-output")
