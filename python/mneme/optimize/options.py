"""What `mneme optimize` is asked to do."""

from __future__ import annotations

import math
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mneme.errors import InvalidArgument
from mneme.optimize.outputs import check_patterns

__all__ = ["OptimizeOptions", "parse_budget"]

# How many processes a launcher of MPI has started: MPICH and its kin, Open MPI, Slurm's srun.
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]*)?)([a-z]*)", re.ASCII)


def parse_budget(text: str) -> float:
    """Return the seconds that `90`, `90s`, `10m`, `1.5h` or `1h30m` are.

    Raises:
        InvalidArgument: If it is no such time, or none at all.
    """
    position, seconds = 0, 0.0
    while position < len(text):
        found = _BUDGET.match(text, position)
        if found is None or found[2] not in _SECONDS:
            seconds = 0.0
            break
        seconds += float(found[1]) * _SECONDS[found[2]]
        position = found.end()
    if not 0 < seconds < math.inf:
        raise InvalidArgument(f"--budget is '{text}'; it is a time like 90s, 10m or 1h30m")
    return seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeOptions:
    """A program, and how long and how carefully to make it faster."""

    command: tuple[str, ...]
    """The program and its arguments."""
    directory: Path = Path("mneme-optimize")
    """Where everything goes: recordings, results, the tuned-kernels file, the page."""
    budget: float = 600.0
    """Seconds for everything."""
    device: str | None = None
    """Device to run and tune on; None: the first that can run the program."""
    check: str | None = None
    """Command of the shell that says whether an output is right; it gets it as standard input."""
    compare: tuple[str, ...] = ()
    """Regular expressions whose groups are numbers that have to agree."""
    compare_tolerance: float = 1e-6
    """How far these numbers may be apart, relative to the one of the program as built."""
    tolerance: tuple[str, ...] = ()
    """How far memory may be from what was recorded, as for `mneme tune`."""
    min_gain: float = 1.01
    """What is surely less is not claimed and not kept."""
    seed: int | None = None
    """Makes searches repeat themselves."""
    resume: bool = False
    """Go on with what the directory holds."""
    knowledge: bool = True
    """Searches begin with what helped before, and what helps now is remembered."""

    def validate(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            InvalidArgument: With a sentence that names the option.
        """
        if not self.command:
            raise InvalidArgument("no program is named")
        if not self.budget > 0:
            raise InvalidArgument(f"--budget is {self.budget}; it has to be more than 0")
        if not 1 <= self.min_gain < math.inf:
            raise InvalidArgument(f"--min-gain is {self.min_gain}; it has to be 1 or more")
        check_patterns(self.compare, self.compare_tolerance)
        if ranks := _ranks():
            raise InvalidArgument(
                f"mneme optimize runs here {ranks} times at once, started by a launcher of MPI; it "
                "starts the launcher itself: mneme optimize -- mpiexec -n "
                f"{ranks} {self.command[0]}"
            )
        if self.check and self.compare:
            raise InvalidArgument("--check and --compare both say what is right; give one of them")

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "command": list(self.command), "directory": str(self.directory)}


def _ranks() -> int:
    """Return how many of us a launcher has started; 0 if none did."""
    texts = [os.environ.get(name, "") for name in _SIZES]
    most = max((int(text) for text in texts if text.isdecimal()), default=1)
    return most if most > 1 else 0
