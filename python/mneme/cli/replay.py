"""`mneme replay`: run a recorded kernel again, check it and measure it."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.cli import _replay_output
from mneme.cli._code_knobs import with_code_knobs
from mneme.cli._configuration import changes_of
from mneme.cli._options import DeviceOption, finite
from mneme.cli._recording import (
    DatabaseOption,
    GraphOption,
    KernelArgument,
    PassesArgument,
    RecordIdOption,
    RecordingArgument,
    chosen_launch,
    refuse_words,
    tell_apart,
)
from mneme.cli._unused import tell_unused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mneme.cli.exit_codes import ExitCode
    from mneme.measure.measuring import HowToReplay, Measuring
    from mneme.mneme_types import ExperimentConfiguration
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = ["replay"]

_MAX_ITERATIONS = 1000
_NOT_FOR_GRAPHS = (
    *("grid_dim_x", "grid_dim_y", "grid_dim_z", "block_dim_x", "block_dim_y", "block_dim_z"),
    *("shared_mem", "specialized_args", "confidence", "time_budget", "cold_l2"),
    *("all_launches", "on", "cluster", "counters"),
)


def _number(*names: str, text: str, smallest: int = 0, largest: int | None = None) -> object:
    return typer.Option(
        *names, metavar="N", min=smallest, max=largest, help=text, show_default=False
    )


def _flag(*names: str, text: str) -> object:
    return typer.Option(*names, help=text, show_default=False)


def _file(*names: str, text: str) -> object:
    return typer.Option(*names, metavar="FILE", help=text, show_default=False)


class ResetMode(str, Enum):
    """How other tools restore memory; here always by what changed."""

    bytes = "bytes"
    diff = "diff"


Number = Optional[int]
Flag = Optional[bool]


@with_code_knobs
def replay(
    ctx: typer.Context,
    recording: RecordingArgument = None,
    kernel: KernelArgument = None,
    passes: PassesArgument = None,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    grid_dim_x: Annotated[
        Number, _number("-gidx", "--grid-dim-x", text="Blocks in x.", smallest=1)
    ] = None,
    grid_dim_y: Annotated[
        Number, _number("-gidy", "--grid-dim-y", text="Blocks in y.", smallest=1)
    ] = None,
    grid_dim_z: Annotated[
        Number, _number("-gidz", "--grid-dim-z", text="Blocks in z.", smallest=1)
    ] = None,
    block_dim_x: Annotated[
        Number, _number("-bidx", "--block-dim-x", text="Threads in x.", smallest=1)
    ] = None,
    block_dim_y: Annotated[
        Number, _number("-bidy", "--block-dim-y", text="Threads in y.", smallest=1)
    ] = None,
    block_dim_z: Annotated[
        Number, _number("-bidz", "--block-dim-z", text="Threads in z.", smallest=1)
    ] = None,
    shared_mem: Annotated[
        Number, _number("-shem", "--shared-mem", text="Dynamic shared memory in bytes.")
    ] = None,
    specialize: Annotated[
        Flag, _flag("--specialize/--no-specialize", text="Fix scalar arguments to their values.")
    ] = None,
    set_launch_bounds: Annotated[
        Flag,
        _flag(
            "-slb",
            "--set-launch-bounds/--no-set-launch-bounds",
            text="Tell the code generator --max-threads and --min-threads-per-block.",
        ),
    ] = None,
    max_threads: Annotated[
        Number,
        _number(
            "--max-threads", text="Threads of the largest block.  [default: those of the block]"
        ),
    ] = None,
    min_blocks_per_sm: Annotated[
        int,
        typer.Option(
            "--min-threads-per-block",
            "--min-blocks-per-sm",
            metavar="N",
            min=0,
            help="Blocks that have to fit on a multiprocessor.",
        ),
    ] = 0,
    specialize_dims: Annotated[
        Flag,
        _flag(
            "-sdims", "--specialize-dims/--no-specialize-dims", text="Fix grid and block extents."
        ),
    ] = None,
    codegen_opt: Annotated[
        Number,
        typer.Option(
            "-co",
            "--codegen-opt",
            metavar="0..3",
            min=0,
            max=3,
            help="Level of the code generator: 3, without PASSES the program's.",
            show_default=False,
        ),
    ] = None,
    specialized_args: Annotated[
        str,
        typer.Option(
            "--specialized-args",
            metavar="I,J..",
            help="What --specialize fixes: 0,2 or 0+8.  [default: all]",
            show_default=False,
        ),
    ] = "",
    iterations: Annotated[
        int, typer.Option("-it", "--iterations", metavar="N", min=0, help="Measured launches.")
    ] = 3,
    warmup: Annotated[
        int, typer.Option("--warmup", metavar="N", min=0, help="Launches before those.")
    ] = 2,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence",
            metavar="PART",
            callback=finite,
            min=0,
            max=1,
            help="Measure until the median is known to this part of itself (0.02: 2 %), at least "
            "--iterations and 6 launches.",
            show_default=False,
        ),
    ] = 0.0,
    max_iterations: Annotated[
        int,
        typer.Option(
            "--max-iterations", metavar="N", min=1, help="Limit of launches with --confidence."
        ),
    ] = _MAX_ITERATIONS,
    time_budget: Annotated[
        float,
        typer.Option(
            "--time-budget",
            metavar="SECONDS",
            callback=finite,
            min=0,
            help="Limit for measuring; the launch under way ends first.",
            show_default=False,
        ),
    ] = 0.0,
    cold_l2: Annotated[
        bool,
        typer.Option("--cold-l2", help="Empty the caches of the device before every launch."),
    ] = False,
    counters: Annotated[
        Optional[list[str]],
        typer.Option(
            "--counters",
            metavar="NAME,...",
            help="Hardware counters to read in launches of their own, as Nsight Compute calls "
            "them: dram__bytes.sum,sm__inst_executed.sum. More than once.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        Optional[float],
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            callback=finite,
            min=0,
            help="Limit for one launch, else 1000 times the recorded time, and 60 s at least.",
        ),
    ] = None,
    ir: Annotated[
        Optional[Path], _file("--ir", text="Edited IR, text or bitcode, in place of the recorded.")
    ] = None,
    tolerance: Annotated[
        Optional[list[str]],
        typer.Option(
            "--tolerance",
            metavar="SPEC",
            help="1e-6, rel:1e-6, ulp:4, out=rel:1e-6:f32, ...; may be given more than once.",
            show_default=False,
        ),
    ] = None,
    device: DeviceOption = None,
    all_launches: Annotated[
        bool,
        typer.Option("--all", help="Replay every launch, of KERNEL or of the whole recording."),
    ] = False,
    graph: GraphOption = None,
    on: Annotated[
        Optional[str],
        typer.Option(
            "--on",
            metavar="CLUSTER",
            help="Replay on other machines, as for tune: dask://HOST:PORT, slurm, flux, mpi, "
            "ray://HOST:PORT.",
            show_default=False,
        ),
    ] = None,
    cluster: Annotated[
        Optional[list[str]],
        typer.Option(
            "--cluster",
            metavar="KEY=VALUE",
            help="Jobs of --on slurm or flux, as for tune. More than once.",
            show_default=False,
        ),
    ] = None,
    output_ll: Annotated[
        Optional[Path], _file("-ol", "--output-ll", text="Write the final IR.")
    ] = None,
    output_asm: Annotated[
        Optional[Path], _file("--output-asm", text="Write the final assembly.")
    ] = None,
    reset_mode: Annotated[
        Optional[ResetMode],
        typer.Option("--reset-mode", help="Accepted and ignored.", hidden=True),
    ] = None,
    json: Annotated[bool, typer.Option("--json", hidden=True)] = True,
    **knobs: Any,  # noqa: ANN401 - numbers and texts
) -> None:
    """Run a recorded kernel again, verify it and measure it.

    Compiles the kernel with PASSES, else as the program was built, and launches it on the recorded
    memory. Prints configuration and result as JSON on stdout; the exit code is 0 only if the result
    is verified.
    """
    from mneme.measure.measuring import HowToReplay  # noqa: PLC0415
    from mneme.measure.tolerance import Tolerance  # noqa: PLC0415
    from mneme.recording.configured import configured  # noqa: PLC0415

    del json, reset_mode
    # These are in `ctx.params`, as is every option that is a field of configurations.
    del grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z
    del shared_mem, specialize_dims, codegen_opt, knobs
    if not set_launch_bounds:
        bounds = {"--max-threads": max_threads, "--min-threads-per-block": min_blocks_per_sm}
        tell_unused(bounds, "without --set-launch-bounds")
    if not specialize:
        tell_unused({"--specialized-args": specialized_args}, "without --specialize")
    tolerances = [Tolerance.parse(text) for text in tolerance or ()]
    words = tell_apart(
        *(recording, kernel, passes),
        database=record_database,
        has_passes=True,
        has_plugins=bool(ctx.params.get("pass_plugins") or ctx.params.get("llvm")),
    )
    changes = changes_of({**ctx.params, "passes": words.passes})
    how = HowToReplay(
        iterations=iterations,
        warmup=warmup,
        device=device,
        timeout=timeout,
        tolerances=tolerances,
        measuring=replace(
            _measuring(confidence, max_iterations, time_budget, cold_cache=cold_l2),
            counters=_names_in(counters or ()),
        ),
    )
    configure = partial(configured, changes=changes)
    if graph is not None:
        from mneme.cli._replay_graph import replay_one_graph  # noqa: PLC0415

        refuse_words(words, record_id)
        _refuse_files({"--ir": ir, "--output-ll": output_ll, "--output-asm": output_asm})
        _refuse_for_graphs(ctx.params)
        code = replay_one_graph(words, graph, configure, how)
    elif all_launches or on is not None or cluster:
        from mneme.cli._replay_many import Place, replay_many  # noqa: PLC0415

        _refuse_files({"--ir": ir, "--output-ll": output_ll, "--output-asm": output_asm})
        place = Place(on=on, cluster=tuple(cluster or ()))
        code = replay_many(words, record_id, configure, how, place, takes_all=all_launches)
    else:
        files = _replay_output.Files(ir=output_ll, assembly=output_asm)
        code = _replay_one(chosen_launch(words, record_id), configure, how, ir, files)
    raise typer.Exit(code)


def _replay_one(
    chosen: tuple[Path, str],
    configure: Callable[[RecordedExecution, KernelInstance], ExperimentConfiguration],
    how: HowToReplay,
    ir: Path | None,
    files: _replay_output.Files,
) -> ExitCode:
    """Replay one launch in this process."""
    from mneme.cli._interrupt import interrupt_ends_process  # noqa: PLC0415
    from mneme.cli._leave import leave_at_once  # noqa: PLC0415
    from mneme.cli._retry import open_or_retry  # noqa: PLC0415
    from mneme.measure.replay_executor import BaseExecutor  # noqa: PLC0415

    executor = BaseExecutor(
        *chosen,
        how.iterations,
        0,
        how.warmup,
        device=how.device,
        tolerances=how.tolerances,
        timeout=how.timeout,
        measuring=how.measuring,
    )
    with interrupt_ends_process():
        open_or_retry(executor)
        with executor:
            config = configure(executor.record, executor.instance)
            output = executor.replay(
                config, ir, want_ir=files.ir is not None, want_assembly=files.assembly is not None
            )
            code = _replay_output.show(config, output, files, instance=executor.instance)
            leave_at_once(code)
    return code


def _names_in(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names in texts that commas divide, each once."""
    names = [name.strip() for text in texts for name in text.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def _measuring(
    confidence: float, max_iterations: int, time_budget: float, *, cold_cache: bool
) -> Measuring:
    from mneme.measure.measuring import Measuring  # noqa: PLC0415 - `--help` stays light

    if not confidence:
        has_limit = max_iterations != _MAX_ITERATIONS
        limits = {"--max-iterations": has_limit, "--time-budget": time_budget}
        tell_unused(limits, "without --confidence")
    return Measuring(
        confidence=confidence,
        max_iterations=max_iterations,
        time_budget=time_budget,
        cold_cache=cold_cache,
    )


def _refuse_for_graphs(given: Mapping[str, Any]) -> None:
    """Dimensions and constants are those of one kernel; others are not done for graphs."""
    named = [name for name in _NOT_FOR_GRAPHS if given.get(name)]
    if named:
        raise typer.BadParameter(
            f"--{named[0].replace('_', '-')} is for single launches, not for --graph"
        )


def _refuse_files(given: dict[str, Path | None]) -> None:
    named = [name for name, file in given.items() if file is not None]
    if named:
        raise typer.BadParameter(
            f"{', '.join(named)} is for one launch on this machine, without --all, --graph and --on"
        )
