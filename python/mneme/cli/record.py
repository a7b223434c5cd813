"""`mneme record`: run a program and record its kernels."""

from __future__ import annotations

import functools
import os
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from mneme.cli._guest import become
from mneme.cli._options import DeviceOption
from mneme.cli._recording import kernels_named

__all__ = ["record"]


class EpilogueFormat(str, Enum):
    """How memory after a launch is stored."""

    bytes = "bytes"
    diff = "diff"
    best = "best"


def record(
    ctx: typer.Context,
    record_db_dir: Annotated[
        Path,
        typer.Option(
            "-rdb",
            "--record-db-dir",
            envvar="MNEME_DATA_DIR",
            metavar="DIR",
            help="Where the recording goes; made if it does not exist.",
        ),
    ] = Path(),
    virtual_address_space_size: Annotated[
        Optional[int],
        typer.Option(
            "-vass",
            "--virtual-address-space-size",
            envvar="MNEME_PAGE_SIZE",
            metavar="GB",
            min=1,
            help="Size of the address window for the program's device memory, in GiB.  "
            "[default: 4 or 64, by the program's runtime]",
            show_default=False,
        ),
    ] = None,
    per_kernel_max_recordings: Annotated[
        int,
        typer.Option(
            "-mr",
            "--per-kernel-max-recordings",
            envvar="MNEME_MAX_RECORDINGS",
            metavar="N",
            min=0,
            help="Launches to record per kernel.",
        ),
    ] = 4,
    per_kernel_skip_recordings: Annotated[
        int,
        typer.Option(
            "-sr",
            "--per-kernel-skip-recordings",
            envvar="MNEME_SKIP_RECORDINGS",
            metavar="N",
            min=0,
            help="Launches per kernel to let pass first.",
        ),
    ] = 0,
    epilogue_format: Annotated[
        EpilogueFormat,
        typer.Option(
            "--epilogue-format",
            envvar="MNEME_EPILOGUE_TYPE",
            help="How memory after a launch is stored.",
        ),
    ] = EpilogueFormat.diff,
    record_ranks: Annotated[
        Optional[str],
        typer.Option(
            "-rr",
            "--record-ranks",
            envvar="MNEME_RECORD_RANKS",
            metavar="LIST",
            help="MPI ranks that record, as 0,2,4-7 or all.  [default: 0]",
            show_default=False,
        ),
    ] = None,
    kernels: Annotated[
        Optional[str],
        typer.Option(
            "--kernels",
            autocompletion=kernels_named,
            envvar="MNEME_RR_KERNELS",
            metavar="REGEX",
            help="Record kernels whose mangled or demangled name or label matches, or with this "
            "line in their body: advec_mom.cpp:120.  [default: every kernel]",
            show_default=False,
        ),
    ] = None,
    dims: Annotated[
        Optional[str],
        typer.Option(
            "--dims",
            envvar="MNEME_RECORD_DIMS",
            metavar="GRID/BLOCK",
            help="Record launches with these dimensions, as 64x8/256, or 64x8/256@50 after fifty "
            "of them; several with ';' between.  [default: any]",
            show_default=False,
        ),
    ] = None,
    kernel_patience: Annotated[
        Optional[float],
        typer.Option(
            "--kernel-patience",
            envvar="MNEME_KERNEL_PATIENCE",
            metavar="SECONDS",
            help="How long a kernel is waited for, or ten times the longest before it if that is "
            "more: it may wait for the program itself, and is given up then.  [default: 30]",
            show_default=False,
        ),
    ] = None,
    sections: Annotated[
        Optional[bool],
        typer.Option(
            "--sections/--no-sections",
            help="Record sections of the program only (mneme.recording, mneme_record_begin), or "
            "the whole run whatever it marks.  [default: sections, if the program has some]",
            show_default=False,
        ),
    ] = None,
    graph: Annotated[
        bool,
        typer.Option(
            "--graph",
            help="Keep graphs as sequences, too, which replay as a whole: every kernel of a graph "
            "that has one to be recorded.",
        ),
    ] = False,
    device: DeviceOption = None,
) -> None:
    """Run a program and record its kernels.

    For each launch, code, memory and launch configuration go to the recording. Output, exit code
    and signals are the program's own. On a machine without GPU it runs on the CPU.
    """
    from mneme.programs.check import remark_on_program  # noqa: PLC0415
    from mneme.programs.guest import record_environment  # noqa: PLC0415
    from mneme.programs.record_request import RecordRequest  # noqa: PLC0415
    from mneme.programs.scripts import marks_sections  # noqa: PLC0415

    if sections is None and not os.environ.get("MNEME_SECTIONS"):
        sections = marks_sections(ctx.args) or None
    request = RecordRequest(
        directory=record_db_dir,
        is_directory_chosen=getattr(ctx.get_parameter_source("record_db_dir"), "name", "")
        != "DEFAULT",
        address_space_gib=virtual_address_space_size,
        max_recordings=per_kernel_max_recordings,
        skip_recordings=per_kernel_skip_recordings,
        epilogue_format=epilogue_format.value,
        ranks=record_ranks,
        kernels=kernels,
        dims=dims,
        kernel_patience=kernel_patience,
        sections=sections,
        keeps_graphs=graph,
        device=device,
        program=ctx.args[0],
    )
    environment = record_environment(os.environ, request)
    remark = functools.partial(remark_on_program, device=environment["MNEME_DEVICE"])
    become(ctx.args, environment, remark)
