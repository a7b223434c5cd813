"""Compiles configurations in a pool of processes, into the cache that replays look into."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme import _native
from mneme.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme.async_executor import AsyncReplayExecutor, EvalFuture
    from mneme.mneme_types import ExperimentConfiguration

# What compile_one() needs of the record, read once per process.
_prepared: dict[str, Any] = {}


def target_of(device: str) -> str:
    """Return what code is compiled for on this device."""
    if device == "cpu":
        return "cpu"
    command = ["nvidia-smi", f"--id={device.partition(':')[2]}", "--query-gpu=compute_cap"]
    done = subprocess.run(
        [*command, "--format=csv,noheader"], capture_output=True, text=True, check=True
    )
    return "sm_" + done.stdout.strip().replace(".", "")


def prepare(record: str, target: str) -> None:
    """Read a record in a process of the pool."""
    fields = json.loads(Path(record).read_text())
    modules = [Path(name).read_bytes() for name in RecordedExecution.from_json(record).llvm_files]
    options = fields.get("Options", "")
    # The text a replay asks with: the cache goes by it.
    text = options if isinstance(options, str) else json.dumps(options, separators=(",", ":"))
    _prepared.update(
        modules=modules,
        kernel=fields["KernelName"],
        options_json=text,
        target=target,
    )


def compile_one(passes: str) -> bool:
    """Compile the record with a pipeline, as a replay would; whether it was there already."""
    return bool(_native.compile_ir(passes=passes, **_prepared)["is_from_cache"])


@contextmanager
def compile_pool(record: Path, device: str, workers: int) -> Iterator[ProcessPoolExecutor | None]:
    """Processes that have the compiler loaded; None for no workers."""
    if workers == 0:
        yield None
        return
    with ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=prepare,
        initargs=(str(record), target_of(device)),
    ) as pool:
        list(pool.map(compile_one, ["default<O1>"] * (4 * workers)))
        yield pool


def submit_all(
    executor: AsyncReplayExecutor,
    pool: ProcessPoolExecutor | None,
    configurations: list[ExperimentConfiguration],
) -> list[EvalFuture]:
    """Submit every configuration, with a pool as soon as it is compiled."""
    if pool is None:
        return [executor.submit(configuration) for configuration in configurations]
    compiled = {pool.submit(compile_one, one.passes): one for one in configurations}
    return [executor.submit(compiled[done]) for done in as_completed(compiled)]


def cached_images() -> int:
    """Entries of the compile cache."""
    return sum(1 for _ in Path(os.environ["MNEME_CACHE_DIR"]).glob("*.mnemec"))
