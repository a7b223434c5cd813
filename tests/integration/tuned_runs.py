"""Files of tuned kernels written by hand, and what a program with such a file says of itself."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme import _native

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TRACE = "kernel-trace;cache-stats"
_COUNTS = re.compile(
    r"\[cache-stats\] launches: (\d+) tuned, (\d+) of tuned kernels as built; "
    r"binaries: (\d+), of these stored before: (\d+); failed: (\d+)"
)


@dataclass(frozen=True)
class Counts:
    """What became of a run's launches of tuned kernels, and of its binaries."""

    tuned: int
    as_built: int
    binaries: int
    stored_before: int
    failed: int


def counts(stderr: str) -> Counts:
    """The counts of all processes of a run that wrote this."""
    found = [tuple(map(int, numbers)) for numbers in _COUNTS.findall(stderr)]
    return (
        Counts(*(sum(column) for column in zip(*found, strict=True))) if found else Counts(*[0] * 5)
    )


def warnings(stderr: str) -> list[str]:
    """What a run said beside the trace it was asked for."""
    return [line for line in stderr.splitlines() if not line.startswith("mneme: [")]


def kernels_of(files: Iterable[Path]) -> list[str]:
    """Mangled names of the kernels that programs and libraries carry."""
    return sorted({kernel["kernel"] for file in files for kernel in _native.describe_binary(file)})


def write_tuned(path: Path, kernels: Iterable[str], **keys: Any) -> Path:
    """Write a file in which all kernels are tuned alike."""
    entry = {
        "CodeGen": "rtc",
        "LaunchBounds": True,
        "SpecializeArgs": False,
        "SpecializeDims": False,
        "Pipeline": "default<O3>",
        "CodeGenOptLevel": 3,
        "TunedMaxThreads": -1,
        "MinBlocksPerSM": 0,
        **keys,
    }
    path.write_text(json.dumps(dict.fromkeys(kernels, entry)))
    return path
