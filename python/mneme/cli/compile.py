"""`mneme compile`: machine code of a recorded kernel, without a device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from mneme.cli import _console
from mneme.cli._code_knobs import with_code_knobs
from mneme.cli._recording import (
    DatabaseOption,
    KernelArgument,
    PassesArgument,
    RecordIdOption,
    RecordingArgument,
    Words,
    chosen_launch,
    tell_apart,
)
from mneme.cli._unused import tell_unused
from mneme.files.publish import publish

if TYPE_CHECKING:
    from mneme.measure.compile_record import CompiledKernel, CompileOptions

__all__ = ["compile_kernel"]


def _number(*names: str, text: str, smallest: int = 0, largest: int | None = None) -> object:
    return typer.Option(
        *names, metavar="N", min=smallest, max=largest, help=text, show_default=False
    )


def _file(*names: str, text: str) -> object:
    return typer.Option(*names, metavar="FILE", help=text, show_default=False)


@with_code_knobs
def compile_kernel(
    recording: RecordingArgument = None,
    kernel: KernelArgument = None,
    passes: PassesArgument = None,
    record_database: DatabaseOption = None,
    record_id: RecordIdOption = None,
    arch: Annotated[
        str,
        typer.Option(
            "--arch",
            metavar="ARCH",
            help="sm_90, gfx942, ..., or cpu; else what the program was built for.",
            show_default=False,
        ),
    ] = "",
    specialize: Annotated[
        bool, typer.Option("--specialize", help="Fix scalar arguments to their recorded values.")
    ] = False,
    specialize_dims: Annotated[
        bool, typer.Option("-sdims", "--specialize-dims", help="Fix grid and block extents.")
    ] = False,
    set_launch_bounds: Annotated[
        bool, typer.Option("-slb", "--set-launch-bounds", help="Promise the bounds below.")
    ] = False,
    max_threads: Annotated[
        int, _number("--max-threads", text="Threads of the largest block, else the recorded one's.")
    ] = 0,
    min_blocks_per_sm: Annotated[
        int,
        _number("--min-blocks", "--min-blocks-per-sm", text="Blocks that fit on a multiprocessor."),
    ] = 0,
    codegen_opt: Annotated[
        int,
        typer.Option(
            "-co",
            "--codegen-opt",
            metavar="0..3",
            min=0,
            max=3,
            help="Level of generator and assembler.",
        ),
    ] = 3,
    specialized_args: Annotated[
        str,
        typer.Option(
            "--specialized-args",
            metavar="I,J..",
            help="What --specialize fixes: 0,2 or 0+8; else all.",
            show_default=False,
        ),
    ] = "",
    code_object_version: Annotated[
        Optional[int],
        _number(
            "--code-object-version",
            text="Of code for AMD GPUs, 4 to 6; else the program's.",
            smallest=4,
            largest=6,
        ),
    ] = None,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache",
            help="Use stored results; without --ptx and --ll a replay finds them too.",
            show_default=False,
        ),
    ] = True,
    output: Annotated[Optional[Path], _file("-o", "--output", text="Write the image.")] = None,
    ptx: Annotated[Optional[Path], _file("--ptx", text="Write the PTX, or other assembly.")] = None,
    ll: Annotated[Optional[Path], _file("--ll", text="Write the final IR.")] = None,
    **knobs: Any,  # noqa: ANN401 - numbers and texts
) -> None:
    """Compile a recorded kernel, with or without a GPU.

    PASSES is default<O3> if it is not given. Prints what the kernel uses and what compiling took as
    JSON on stdout.
    """
    from mneme.code_texts import taken_texts  # noqa: PLC0415 - `--help` stays light
    from mneme.measure.compile_apart import compile_apart  # noqa: PLC0415
    from mneme.measure.compile_record import CompileOptions  # noqa: PLC0415

    if not set_launch_bounds:
        bounds = {"--max-threads": max_threads, "--min-blocks": min_blocks_per_sm}
        tell_unused(bounds, "without --set-launch-bounds")
    if not specialize:
        tell_unused({"--specialized-args": specialized_args}, "without --specialize")
    texts = taken_texts(knobs)
    words = tell_apart(
        *(recording, kernel, passes),
        database=record_database,
        has_passes=True,
        has_plugins=bool(texts["pass_plugins"] or texts["llvm"]),
    )
    passes = "default<O3>" if words.passes is None else words.passes
    told = {name: value for name, value in knobs.items() if value is not None}
    told |= texts
    options = CompileOptions(
        target=arch,
        passes=passes,
        codegen_opt=codegen_opt,
        specialize=specialize,
        specialize_dims=specialize_dims,
        set_launch_bounds=set_launch_bounds,
        max_threads=max_threads,
        min_blocks_per_sm=min_blocks_per_sm,
        specialized_args=specialized_args,
        code_object_version=code_object_version or 0,
        use_cache=cache,
        want_ir=ll is not None,
        want_assembly=ptx is not None,
        **told,
    )
    compiled = compile_apart(*_chosen(words, record_id, options), options)
    _write(compiled, output, ptx, ll)
    _console.print_json(
        {
            "kernel": compiled.kernel_name,
            "target": compiled.target,
            "passes": passes,
            "statistics": compiled.statistics,
        }
    )


def _chosen(
    words: Words, record_id: str | None, options: CompileOptions
) -> tuple[Path, str | None]:
    """Return the record file, and the launch where its values are needed or it was named."""
    from mneme.recording.records import choose  # noqa: PLC0415 - `--help` stays light

    if record_id is not None or options.needs_launch():
        return chosen_launch(words, record_id)
    chosen = choose(words.recording, words.kernel, None)
    is_one = len(chosen.launches) == 1
    return chosen.record.path, chosen.launches[0].dynamic_hash if is_one else None


def _write(
    compiled: CompiledKernel, image: Path | None, assembly: Path | None, ir: Path | None
) -> None:
    for path, content in (
        (image, compiled.image),
        (assembly, compiled.assembly.encode()),
        (ir, compiled.ir.encode()),
    ):
        if path is not None:
            publish(path, content)
