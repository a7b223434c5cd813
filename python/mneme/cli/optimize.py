"""`mneme optimize`: one command from a program to a faster one."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Optional

import typer

from mneme.cli._options import (
    CompareOption,
    CompareToleranceOption,
    DeviceOption,
    JsonOption,
    finite,
)

__all__ = ["optimize"]


def optimize(
    ctx: typer.Context,
    budget: Annotated[
        str,
        typer.Option("--budget", metavar="TIME", help="Time for everything: 90s, 10m, 1h30m."),
    ] = "10m",
    output: Annotated[
        Optional[Path],
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where everything goes.  [default: mneme-optimize/PROGRAM-TIME]",
            show_default=False,
        ),
    ] = None,
    device: DeviceOption = None,
    on: Annotated[
        Optional[str],
        typer.Option(
            "--on",
            metavar="CLUSTER",
            help="Search on other machines, as for tune: dask://HOST:PORT, ray://HOST:PORT, "
            "slurm or flux.",
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
    check: Annotated[
        Optional[str],
        typer.Option(
            "--check",
            metavar="COMMAND",
            help="Ends with 0 if the output of a run, which it reads, is right.",
            show_default=False,
        ),
    ] = None,
    compare: CompareOption = None,
    compare_tolerance: CompareToleranceOption = 1e-6,
    ignore: Annotated[
        Optional[list[str]],
        typer.Option(
            "--ignore",
            metavar="REGEX",
            help="Leave out of the output what the groups of REGEX find, times for example. More "
            "than once.",
            show_default=False,
        ),
    ] = None,
    tolerance: Annotated[
        Optional[list[str]],
        typer.Option(
            "--tolerance",
            metavar="SPEC",
            help="How far memory after a kernel may be from what was recorded, as for replay.",
            show_default=False,
        ),
    ] = None,
    pass_plugin: Annotated[
        Optional[list[str]],
        typer.Option(
            "--pass-plugin",
            metavar="FILE",
            help="An LLVM pass plugin, whose passes are tried. More than once.",
            show_default=False,
        ),
    ] = None,
    plugin_passes: Annotated[
        Optional[list[str]],
        typer.Option(
            "--plugin-passes",
            metavar="P",
            help="A pass of the plugins to try; else those that they say. More than once.",
            show_default=False,
        ),
    ] = None,
    min_gain: Annotated[
        float,
        typer.Option(
            "--min-gain",
            metavar="X",
            callback=finite,
            min=1,
            help="Leave as it is what is not X times as fast.",
        ),
    ] = 1.01,
    seed: Annotated[
        Optional[int],
        typer.Option(
            "--seed", metavar="N", min=0, help="Makes searches repeat.", show_default=False
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what the directory of -o holds.")
    ] = False,
    knowledge: Annotated[
        bool,
        typer.Option(
            "--knowledge/--no-knowledge",
            help="Begin with what earlier tunings found, and remember what these find.",
        ),
    ] = True,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only what came of it.")] = False,
    json: JsonOption = False,
) -> None:
    """Make a program faster: find, record and tune its heavy kernels, and prove it in the program.

    The program is run as it is, recorded, and run with tuned kernels in turn; what shows no gain
    there, or changes the output, stays as it was built.
    """
    from mneme.cli._console import print_json  # noqa: PLC0415 - `--help` stays light
    from mneme.cli._interrupt import interrupt_on_request  # noqa: PLC0415
    from mneme.cli._optimize_output import output_for  # noqa: PLC0415
    from mneme.code_texts import plugin_files  # noqa: PLC0415
    from mneme.optimize.options import OptimizeOptions, parse_budget  # noqa: PLC0415
    from mneme.optimize.session import OptimizeSession  # noqa: PLC0415

    if resume and output is None:
        raise typer.BadParameter("--resume needs -o, the directory to go on with")
    interrupt_on_request()
    with _directory(output, ctx.args[0]) as directory:
        options = OptimizeOptions(
            command=tuple(ctx.args),
            directory=directory,
            budget=parse_budget(budget),
            device=device,
            on=on,
            cluster=tuple(cluster or ()),
            check=check,
            compare=tuple(compare or ()),
            compare_tolerance=compare_tolerance,
            ignore=tuple(ignore or ()),
            tolerance=tuple(tolerance or ()),
            pass_plugins=tuple(plugin_files([one]) for one in pass_plugin or ()),
            plugin_passes=tuple(plugin_passes or ()),
            min_gain=min_gain,
            seed=seed,
            resume=resume,
            knowledge=knowledge,
        )
        with output_for(is_quiet=quiet, is_json=json) as listener:
            session = OptimizeSession(options, listener)  # type: ignore[arg-type]
            code = session.run()
    if json:
        print_json(session.result.to_dict())
    raise typer.Exit(code)


@contextmanager
def _directory(named: Path | None, program: str) -> Iterator[Path]:
    """Yield the directory for all files; an unnamed one is new, and removed if it stays empty."""
    if named is not None:
        yield named
        return
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")  # noqa: DTZ005 - people read it
    directory = wanted = Path("mneme-optimize") / f"{Path(program).name}-{stamp}"
    for number in itertools.count(2):
        try:
            directory.mkdir(parents=True)
            break
        except FileExistsError:
            directory = wanted.with_name(f"{wanted.name}-{number}")
        except OSError:
            break  # the first write will report the reason
    try:
        yield directory
    finally:
        with contextlib.suppress(OSError):
            directory.rmdir()
            directory.parent.rmdir()
