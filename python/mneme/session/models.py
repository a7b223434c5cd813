"""Tunes for several models of GPU at the same time, each in a process of its own.

Times of different models do not compare, so each model has a search and results of its own; one
tuned-kernels file has the variants of all.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, MnemeError
from mneme.measure.cluster import open_cluster
from mneme.measure.pool_processes import models_of
from mneme.session.all_launches import default_directory
from mneme.session.option_files import write_options
from mneme.session.options import ALL_MODELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.session.events import TuneListener
    from mneme.session.options import TuneOptions

__all__ = ["tune_models"]

_INTERRUPTED = 130
# A cluster that is gone, and files or a database that cannot be written.
_CAN_GO_ON = (6, 8)
_OWN_PREFIX = "mneme: "


@dataclass(frozen=True, slots=True)
class _Search:
    model: str
    directory: Path
    process: subprocess.Popen[str]
    reader: threading.Thread


def tune_models(options: TuneOptions, listener: TuneListener) -> int:
    """Tune for each model, all at the same time; return the exit code of the first that failed.

    Args:
        options: Those of one search; `model` names the models.
        listener: Hears what every search says, behind its model.

    Raises:
        BackendUnavailable: If the cluster does not answer, or has no such GPU.
        IoFailed: If results cannot be written.
    """
    names = _models(options)
    parent = Path(options.results_dir or default_directory(options.record_database))
    parent.mkdir(parents=True, exist_ok=True)
    found = replace(options, record_database=Path(options.record_database).resolve())
    write_options(parent / "config.json", found)
    listener.note(f"tuning for {len(names)} models of GPU: {', '.join(names)}")
    searches = [_start(found, name, parent, listener) for name in names]
    try:
        codes = [one.process.wait() for one in searches]
    except KeyboardInterrupt:
        _interrupt(searches)
        listener.note(f"interrupted; go on with: mneme tune --resume --results-dir {parent}")
        return _INTERRUPTED
    for one in searches:
        one.reader.join()
    if not options.no_proteus_output:
        try:
            _write_tuned_file(options, parent, searches, listener)
        except MnemeError as error:
            listener.warn(f"no tuned-kernels file was written: {error}")
    failed = next((code for code in codes if code), 0)
    if any(code in _CAN_GO_ON for code in codes):
        listener.note(f"go on with all models: mneme tune --resume --results-dir {parent}")
    return failed


def _models(options: TuneOptions) -> list[str]:
    with open_cluster(options.on, cluster_options=options.cluster, device=options.device) as pool:
        there = models_of(pool, options.device)
    if ALL_MODELS in options.model:
        return there
    for text in options.model:
        if not any(text.casefold() in name.casefold() for name in there):
            raise InvalidArgument(
                f"no process of the cluster measures on a '{text}'; the models there are: "
                f"{', '.join(there)}"
            )
    return list(dict.fromkeys(options.model))


def _start(options: TuneOptions, model: str, parent: Path, listener: TuneListener) -> _Search:
    directory = parent / (re.sub(r"\W+", "-", model).strip("-") or "model")
    own = replace(
        options,
        model=(model,),
        results_dir=directory,
        proteus_output=None,
        resume=options.resume and (directory / "config.json").is_file(),
    )
    file = parent / f"{directory.name}.options.json"
    write_options(file, own)
    process = subprocess.Popen(
        [sys.executable, "-m", "mneme", "tune", "--config", str(file)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )

    def read() -> None:
        for line in process.stderr or ():
            if text := line.rstrip().removeprefix(_OWN_PREFIX):
                listener.note(f"{model}: {text}")

    reader = threading.Thread(target=read, name=f"mneme-{directory.name}", daemon=True)
    reader.start()
    return _Search(model, directory, process, reader)


def _interrupt(searches: Sequence[_Search]) -> None:
    """Let every search end as after Ctrl-C, which a terminal may have sent them, too."""
    for one in searches:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGINT)
    for one in searches:
        one.process.wait()
        one.reader.join()


def _write_tuned_file(
    options: TuneOptions, parent: Path, searches: Sequence[_Search], listener: TuneListener
) -> None:
    from mneme import deploy  # noqa: PLC0415 - for the end only

    output = options.proteus_output
    path = Path(output) if output else parent / "proteus_tuned_kernels.json"
    ended = [one for one in searches if any(one.directory.rglob("best.json"))]
    for one in searches:
        if one not in ended:
            listener.warn(f"{one.model} has no winner: the tuned-kernels file is without it")
    plan = deploy.plan_deployment([one.directory for one in ended])
    deploy.write_deployment(plan, path)
    for other in plan.left_out:
        listener.note(f"{other.directory.relative_to(parent)} is left out: {other.reason}")
    listener.note(f"tuned kernels of all models, {len(plan.deployed)} variants: {path}")
