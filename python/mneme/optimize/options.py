"""The options of `mneme optimize`."""

from __future__ import annotations

import math
import os
import re
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.measure.cluster import check_cluster
from mneme.measure.tolerance import Tolerance
from mneme.optimize.outputs import OutputRule
from mneme.search.code_choices import plugin_choices

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OptimizeOptions", "parse_budget"]

# Variables with the number of processes of an MPI launcher: MPICH and relatives, Open MPI, Slurm's
# srun.
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")

_MIN_GAIN = 1.01
_LARGEST_SEED = 2**32 - 1
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BUDGET = re.compile(r"([0-9]+(?:\.[0-9]*)?)([a-z]*)", re.ASCII)


def parse_budget(text: str) -> float:
    """Return the number of seconds in a text such as `90`, `90s`, `10m`, `1.5h` or `1h30m`.

    Raises:
        InvalidArgument: If the text has another form.
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
    """Directory for everything: recordings, results, the tuned-kernels file, the page."""
    budget: float = 600.0
    """Seconds for everything."""
    device: str | None = None
    """Device to run and tune on; None: the first that can run the program."""
    on: str | None = None
    """The cluster whose processes search, as for `mneme tune`; None: this machine."""
    cluster: tuple[str, ...] = ()
    """Options of the jobs of a batch system, as for `mneme tune`."""
    check: str | None = None
    """Shell command that checks an output, which it gets as standard input."""
    compare: tuple[str, ...] = ()
    """Regular expressions whose groups are numbers that have to agree."""
    compare_tolerance: float = 1e-6
    """Largest difference of these numbers, relative to those of the program as built."""
    ignore: tuple[str, ...] = ()
    """Regular expressions for parts that do not count if the whole output is compared."""
    tolerance: tuple[str, ...] = ()
    """Tolerances for recorded memory, as for `mneme tune`."""
    pass_plugins: tuple[str, ...] = ()
    """LLVM pass plugins whose passes are tried, as configurations name them."""
    plugin_passes: tuple[str, ...] = ()
    """Their passes, as for `mneme tune`."""
    min_gain: float = _MIN_GAIN
    """Gains that are certainly smaller are neither claimed nor kept."""
    seed: int | None = None
    """Makes searches reproducible."""
    resume: bool = False
    """Continue with the content of the directory."""
    knowledge: bool = True
    """Whether searches begin with what helped before, and remember what helps now."""

    def validate(self) -> None:
        """Refuse invalid options.

        Raises:
            InvalidArgument: With a message that names the option.
        """
        if not self.command:
            raise InvalidArgument("no program is named")
        if not self.budget > 0:
            raise InvalidArgument(f"--budget is {self.budget}; it has to be more than 0")
        if not 1 <= self.min_gain < math.inf:
            raise InvalidArgument(f"--min-gain is {self.min_gain}; it has to be 1 or more")
        if self.seed is not None and not 0 <= self.seed <= _LARGEST_SEED:
            raise InvalidArgument(f"--seed is {self.seed}; it goes from 0 to {_LARGEST_SEED}")
        for text in self.tolerance:
            Tolerance.parse(text)
        # Before the program runs for minutes.
        plugin_choices(":".join(self.pass_plugins), self.plugin_passes)
        check_cluster(self.on, self.cluster)
        if self.on == "mpi":
            raise InvalidArgument(
                "mneme optimize takes no '--on mpi': it starts programs, which processes of MPI "
                "must not; name a Dask cluster, or use 'mneme record' and then 'mpiexec -n 5 mneme "
                "tune --all --on mpi'"
            )
        self.rule.validate()
        if ranks := _ranks():
            raise InvalidArgument(
                f"mneme optimize runs here {ranks} times at once, started by a launcher of MPI; it "
                "starts the launcher itself: mneme optimize -- mpiexec -n "
                f"{ranks} {self.command[0]}"
            )

    @property
    def rule(self) -> OutputRule:
        """The rule for the output."""
        return OutputRule(
            check=self.check,
            compare=self.compare,
            compare_tolerance=self.compare_tolerance,
            ignore=self.ignore,
        )

    def again(self, *, ignore: Sequence[str] = (), tolerance: Sequence[str] = ()) -> str:
        """Return the command that continues with the present results.

        Args:
            ignore: Further patterns to ignore in the output.
            tolerance: Further tolerances for memory.
        """
        words = ["mneme", "optimize", "--resume", "-o", str(self.directory)]
        words += ["--budget", f"{self.budget:g}s"]
        words += ["--device", self.device] if self.device else []
        words += ["--on", self.on] if self.on else []
        words += ["--min-gain", f"{self.min_gain:g}"] if self.min_gain != _MIN_GAIN else []
        words += [] if self.knowledge else ["--no-knowledge"]
        words += ["--check", self.check] if self.check else []
        if self.compare:
            words += ["--compare-tolerance", f"{self.compare_tolerance:g}"]
        for option, values in (
            ("--cluster", self.cluster),
            ("--compare", self.compare),
            ("--tolerance", (*self.tolerance, *tolerance)),
            ("--ignore", (*self.ignore, *ignore)),
            ("--pass-plugin", self.pass_plugins),
            ("--plugin-passes", self.plugin_passes),
        ):
            words += [word for value in values for word in (option, value)]
        return shlex.join([*words, "--", *self.command])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "command": list(self.command), "directory": str(self.directory)}


def _ranks() -> int:
    """Return the number of processes a launcher has started; 0 without a launcher."""
    texts = [os.environ.get(name, "") for name in _SIZES]
    most = max((int(text) for text in texts if text.isdecimal()), default=1)
    return most if most > 1 else 0
