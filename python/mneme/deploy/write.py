"""Writes a deployment, and merges it into an existing tuned-kernels file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.deploy.tuned_file import TunedKernel, read_tuned_file, write_tuned_file
from mneme.errors import IoFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme.deploy.tuned_kernels import Deployed, Deployment
    from mneme.deploy.tuned_variant import TunedVariant

__all__ = ["write_deployment"]

_LOCK_SECONDS = 10


def write_deployment(plan: Deployment, output: str | Path, *, merge: bool = False) -> list[str]:
    """Write a deployment with one rename.

    Args:
        plan: The deployment, with at least one variant.
        output: The tuned-kernels file.
        merge: Keep the file's entries for other kernels and other launches.

    Returns:
        Messages about what was replaced or dropped in an existing file.

    Raises:
        ArtifactCorrupt: If an existing file is not a tuned-kernels file; it is not replaced.
        Unsupported: The same, if a newer mneme wrote it.
        IoFailed: If the operating system refuses.
    """
    output = Path(output)
    with _one_at_a_time(output.parent):
        there = read_tuned_file(output) if _has_content(output) else {}
        kernels, sentences = _merged(there if merge else {}, plan)
        write_tuned_file(output, kernels)
    return sentences


def check_output(output: str | Path) -> None:
    """Refuse what `write_deployment` would refuse, before long work.

    Raises:
        ArtifactCorrupt: As `write_deployment`.
        Unsupported: As `write_deployment`.
        IoFailed: If there is no place for the file.
    """
    output = Path(output)
    if _has_content(output):
        read_tuned_file(output)
    if output.exists():
        return
    place = output.parent
    if not place.is_dir():
        raise IoFailed(f"cannot write '{output}': there is no directory '{place}'")
    if not os.access(place, os.W_OK | os.X_OK):
        raise IoFailed(f"cannot write '{output}': the directory '{place}' may not be written")


def _has_content(path: Path) -> bool:
    """Whether the file exists and is not empty; devices and FIFOs are only written to."""
    return path.is_file() and path.stat().st_size > 0


@contextlib.contextmanager
def _one_at_a_time(directory: Path) -> Iterator[None]:
    """Make other deployments into a directory wait, if the file system supports locks."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            handle = os.open(directory, os.O_RDONLY)
            stack.callback(os.close, handle)
            _lock(handle, directory)
        yield


def _lock(handle: int, directory: Path) -> None:
    """Lock a directory; raises IoFailed if another process keeps it locked."""
    end = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < end:
                time.sleep(0.02)
                continue
            msg = (
                f"another process keeps the directory '{directory}' locked; nothing in it was "
                "changed: try again when it has ended"
            )
            raise IoFailed(msg) from None
        return


def _merged(
    there: dict[str, TunedKernel], plan: Deployment
) -> tuple[dict[str, TunedKernel], list[str]]:
    """Return the file's kernels with the deployment, and messages."""
    kernels = dict(there)
    sentences: list[str] = []
    for name in dict.fromkeys(one.kernel_name for one in plan.deployed):
        new = [one for one in plan.deployed if one.kernel_name == name]
        kept: tuple[TunedVariant, ...] = ()
        if old := kernels.get(name):
            kept, said = _kept(old, new)
            sentences += said
        added = (replace(one.variant, static_hash=one.static_hash) for one in new)
        variants = (*kept, *added)
        code = next((one.static_hash for one in variants if one.static_hash), "")
        kernels[name] = TunedKernel(
            # A variant without a code guard applies to the same code as the others of the entry.
            variants=tuple(replace(one, static_hash=one.static_hash or code) for one in variants),
            demangled_name=new[0].demangled_name,
            codegen=new[0].codegen,
        )
    return kernels, sentences


def _kept(old: TunedKernel, new: list[Deployed]) -> tuple[tuple[TunedVariant, ...], list[str]]:
    """Return what stays of an entry besides new variants, and messages."""
    name = new[0].demangled_name
    if old.is_flat:
        return (), [f"{name}: the entry of another tool is replaced"]
    codes = {one.code for one in new} | {""}
    older = sum(one.static_hash not in codes for one in old.variants)

    def is_replaced(variant: TunedVariant) -> bool:
        return any(
            variant.static_hash in ("", one.code)
            and variant.match.is_same_launch(one.variant.match)
            for one in new
        )

    kept = tuple(one for one in old.variants if one.static_hash in codes and not is_replaced(one))
    what = "1 variant for older code is" if older == 1 else f"{older} variants for older code are"
    return kept, [f"{name}: {what} dropped"] if older else []
