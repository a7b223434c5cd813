"""`mneme tune`: search for the fastest configuration of a recorded kernel."""

from __future__ import annotations

from dataclasses import fields
from inspect import Signature
from typing import TYPE_CHECKING, Any

import typer

from mneme.cli._recording import tell_apart
from mneme.cli._tune_options import FILE_OPTIONS, tune_parameters

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.session.options import TuneOptions

__all__ = ["tune"]


def tune(**values: object) -> None:
    """Search for the fastest configuration of a recorded kernel.

    Every configuration is compiled, verified and measured; the best are measured again, in turn
    with the baseline, before a winner is named. Options can stand in a file (--config).
    """
    raise typer.Exit(_tune({name: value for name, value in values.items() if _is_given(value)}))


# The parser reads here which options there are.
_parameters = tune_parameters()
tune.__signature__ = Signature(_parameters)  # type: ignore[attr-defined]
tune.__annotations__ = {one.name: one.annotation for one in _parameters}


def _is_given(value: object) -> bool:
    return value is not None and value not in ([], ())


def _tune(given: dict[str, Any]) -> int:
    from mneme.cli._interrupt import interrupt_on_request  # noqa: PLC0415
    from mneme.cli._tune_output import listener_for  # noqa: PLC0415 - `--help` stays light
    from mneme.session.option_files import combine_options, write_options  # noqa: PLC0415
    from mneme.session.session import TuningSession  # noqa: PLC0415

    config, dump = (given.pop(name, None) for name in FILE_OPTIONS)
    if (recording := given.pop("recording", None)) is not None:
        database = given.get("record_database")
        words = tell_apart(recording, given.pop("kernel", None), database=database)
        given["record_database"], given["kernel"] = words.recording, words.kernel
    options = combine_options(given, config)
    if not str(options.record_database):
        tell_apart()
    if dump is not None:
        options.validate()
        write_options(dump, options)
        return 0
    if not options.quiet:
        _tell_unused(given, options)
        _warn_of_password(options, config)
    interrupt_on_request()
    with listener_for(options) as listener:
        return TuningSession(options, listener).run()


def _warn_of_password(options: TuneOptions, config: str | Path | None) -> None:
    from mneme.cli import _passwords  # noqa: PLC0415 - `--help` stays light

    url = options.optuna_storage or ""
    _passwords.warn_of_visible_password(url, "--optuna-storage")
    if config is not None:
        _passwords.warn_of_readable_password(url, config)


def _tell_unused(given: dict[str, Any], options: TuneOptions) -> None:
    from mneme.cli._unused import tell_unused  # noqa: PLC0415 - `--help` stays light
    from mneme.search.space_options import SpaceOptions  # noqa: PLC0415

    def among(*names: str) -> dict[str, bool]:
        return {f"--{name.replace('_', '-')}": name in given for name in names}

    if options.space_module is not None:
        of_builtin = [one.name for one in fields(SpaceOptions) if one.name != "preset"]
        tell_unused(among("space_preset", *of_builtin), "with --space-module")
    if options.optuna_storage is None:
        tell_unused(among("study_name"), "without --optuna-storage")
    if not options.resume:
        tell_unused(among("rerun_baseline"), "without --resume")
    if options.on is None:
        tell_unused(among("model"), "without --on")
    else:
        tell_unused(among("workers", "compile_workers", "compile_timeout"), "with --on")
    if options.enumerates:
        tell_unused(among("seed"), f"with --sampler {options.sampler}")
    if options.no_proteus_output:
        tell_unused(among("proteus_output"), "with --no-proteus-output")
