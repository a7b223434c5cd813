"""`mneme run`: run a program on a device, unrecorded."""

from __future__ import annotations

import os

import typer

from mneme.cli._guest import become
from mneme.cli._options import DeviceOption

__all__ = ["run"]


def run(ctx: typer.Context, device: DeviceOption = None) -> None:
    """Run a program on a device; `--device cpu` needs no GPU.

    Output, exit code and signals are the program's own.
    """
    from mneme.programs.check import remark_on_cpu_run  # noqa: PLC0415
    from mneme.programs.guest import run_environment  # noqa: PLC0415

    environment = run_environment(os.environ, device, ctx.args[0])
    is_cpu = environment["MNEME_DEVICE"] == "cpu"
    become(ctx.args, environment, remark_on_cpu_run if is_cpu else None)
