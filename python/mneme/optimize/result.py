"""What optimizing a program found: as Python objects, and as the JSON file that keeps them."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KernelResult", "OptimizeResult", "Ratio"]

_FEWEST_PAIRS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Time as built / time as tuned, of runs that took place in turn."""

    ratio: float
    """Median; of fewer than six pairs the geometric mean."""
    low: float
    high: float
    """Where the ratio of as many further pairs lies with 95 % confidence, of three pairs of runs or
    more; else about the smallest and the largest."""
    rounds: int
    """Pairs of runs."""
    is_interval: bool
    """Whether there were enough for an interval."""

    @property
    def is_certain(self) -> bool:
        """Whether all of it lies above 1, and there were enough runs to say so."""
        return self.low > 1 and self.rounds >= _FEWEST_PAIRS

    def text(self) -> str:
        """Return it as people read it."""
        if self.rounds == 1:
            return f"{self.ratio:.3f}x (in one pair of runs)"
        kind = "95 %" if self.is_interval else f"{self.rounds} pairs of runs"
        return f"{self.ratio:.3f}x ({kind}: {self.low:.3f} to {self.high:.3f})"


@dataclass(slots=True, kw_only=True)
class KernelResult:
    """One kernel of the program."""

    name: str
    """Mangled."""
    demangled_name: str
    share: float
    """Part of all time in kernels, as built."""
    launches: int = 0
    """In one run; 0: not known."""
    built_ns: float = 0.0
    """A launch as built in the program, on average; 0: not known."""
    tuned_ns: float = 0.0
    """A launch as tuned in the program; 0: not known."""
    replay: Ratio | None = None
    """What tuning measured in replays."""
    production: Ratio | None = None
    """What the program itself showed."""
    changes: list[str] = field(default_factory=list)
    """What is different, line by line."""
    is_searched: bool = False
    """Whether a search of it came to an end."""
    is_kept: bool = False
    """Whether it is in the tuned-kernels file."""
    reason: str = ""
    """Why it is not, a sentence."""
    directories: list[str] = field(default_factory=list)
    """Where the results of its searches are, below the directory of everything."""


@dataclass(slots=True, kw_only=True)
class OptimizeResult:
    """Everything that was found."""

    command: list[str]
    directory: Path
    device: str = ""
    status: str = "running"
    """running, completed, interrupted or failed."""
    verdict: str = ""
    """The one sentence."""
    built_seconds: list[float] = field(default_factory=list)
    """Runs as built, in turn with those below."""
    tuned_seconds: list[float] = field(default_factory=list)
    """Runs as tuned."""
    first_seconds: float = 0.0
    """The first run as tuned, which compiles; 0: there was none."""
    application: Ratio | None = None
    """Gain of the whole program; None: not measured."""
    kernel_share: float | None = None
    """Part of the program's time that is spent in kernels; None: not known."""
    output_rule: str = ""
    """What is compared of the output."""
    kernels: list[KernelResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a user should know."""
    tuned_file: Path | None = None
    """What production runs read; None: nothing is worth it."""
    page: Path | None = None
    seconds: float = 0.0
    """What all of it took."""

    @property
    def use(self) -> str:
        """The command line of a production run; empty without tuned kernels."""
        if self.tuned_file is None:
            return ""
        # From any directory, as scripts go into others; where it ran on the CPU device, it runs
        # there again.
        file = shlex.quote(str(self.tuned_file.resolve()))
        start = ["mneme", "run", "--device", "cpu", "--"] if self.device == "cpu" else []
        return f"PROTEUS_TUNED_KERNELS={file} {shlex.join([*start, *self.command])}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {**asdict(self), "use": self.use}
        values["directory"] = str(self.directory)
        for name in ("tuned_file", "page"):
            values[name] = None if values[name] is None else str(values[name])
        return values
