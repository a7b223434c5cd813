"""Reads times of kernels in a run, as written by `libmneme_profiler.so` and the CPU device."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.files.json_object import read_json_object

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KernelTime", "Profile", "Shape", "read_profile"]

Shape = tuple[tuple[int, int, int], tuple[int, int, int], int]
"""Grid, block and dynamic shared memory in bytes."""

# Code that is compiled at run time has the kernel's name followed by a mark.
_MADE_AT_RUN_TIME = re.compile(r"(?:\$jit\$|\.jit\.)[0-9]+\$?$")


@dataclass(slots=True, kw_only=True)
class KernelTime:
    """A kernel in one run."""

    name: str
    """Mangled."""
    launches: int = 0
    total_ns: int = 0
    shapes: dict[Shape, int] = field(default_factory=dict)
    """Nanoseconds by launch."""
    counts: dict[Shape, int] = field(default_factory=dict)
    """Launches."""
    middles: dict[Shape, int] = field(default_factory=dict)
    """Number of launches in the first half of the time, in one process: the next one represents the
    others if their work changes."""


@dataclass(slots=True, kw_only=True)
class Profile:
    """The kernels of one run, all its processes together."""

    kernels: dict[str, KernelTime] = field(default_factory=dict)

    @property
    def total_ns(self) -> int:
        """Time in kernels."""
        return sum(one.total_ns for one in self.kernels.values())

    def by_time(self) -> list[KernelTime]:
        """Return the kernels, the heaviest first."""
        return sorted(self.kernels.values(), key=lambda one: (-one.total_ns, one.name))


def read_profile(directory: Path) -> Profile:
    """Read the files of a run's processes.

    Raises:
        ArtifactCorrupt: If a file is not one of ours.
    """
    profile = Profile()
    for path in sorted(directory.glob("*.json")):
        for row in read_json_object(path)["rows"]:
            _add(profile, row)
    return profile


def _add(profile: Profile, row: dict[str, Any]) -> None:
    name = _MADE_AT_RUN_TIME.sub("", str(row["kernel"]))
    kernel = profile.kernels.setdefault(name, KernelTime(name=name))
    kernel.launches += int(row["launches"])
    kernel.total_ns += int(row["total_ns"])
    shape = (_axes(row["grid"]), _axes(row["block"]), int(row["shared"]))
    kernel.shapes[shape] = kernel.shapes.get(shape, 0) + int(row["total_ns"])
    kernel.counts[shape] = kernel.counts.get(shape, 0) + int(row["launches"])
    kernel.middles.setdefault(shape, int(row.get("middle", 0)))


def _axes(values: list[Any]) -> tuple[int, int, int]:
    x, y, z = (int(one) for one in values)
    return x, y, z
