"""The result of optimizing a program, as Python objects and as JSON."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NO_TIME", "KernelResult", "OptimizeResult", "Ratio"]

NO_TIME = "the budget leaves no time for it"
"""Why a kernel had no search."""

_FEWEST_PAIRS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Time as built / time as tuned, of alternating runs."""

    ratio: float
    """Median; for fewer than six pairs the geometric mean."""
    low: float
    high: float
    """Upper end of the 95 % interval for the ratio of as many further pairs, from three pairs of
    runs on; else about the largest ratio."""
    rounds: int
    """Pairs of runs."""
    is_interval: bool
    """Whether there were enough for an interval."""

    @property
    def is_certain(self) -> bool:
        """Whether the whole interval lies above 1, and there were enough runs for it."""
        return self.low > 1 and self.rounds >= _FEWEST_PAIRS

    def text(self) -> str:
        """Return it as text for users."""
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
    place: str = ""
    """Where its body is: "src/advec_mom.cpp:120"; empty if unknown."""
    label: str = ""
    """What the program calls its launches."""
    code_form: str = ""
    """What its code is where it has no IR, or Triton makes it: "cubin", "ptx", "fatbin", "cpu"."""
    launches: int = 0
    """In one run; 0: not known."""
    built_ns: float = 0.0
    """Average time of a launch as built in the program; 0: unknown."""
    tuned_ns: float = 0.0
    """Average time of a launch as tuned in the program; 0: unknown."""
    replay: Ratio | None = None
    """The gain in replays."""
    production: Ratio | None = None
    """The gain in the program."""
    changes: list[str] = field(default_factory=list)
    """The changes, one per line."""
    is_searched: bool = False
    """Whether a search for it was completed."""
    is_kept: bool = False
    """Whether it is in the tuned-kernels file."""
    reason: str = ""
    """Why it is not kept."""
    accepted_with: list[str] = field(default_factory=list)
    """Patterns for `--ignore` with which its wrong output would be right."""
    directories: list[str] = field(default_factory=list)
    """Directories with the results of its searches, below the main one."""


@dataclass(slots=True, kw_only=True)
class OptimizeResult:
    """The complete result."""

    command: list[str]
    directory: Path
    device: str = ""
    status: str = "running"
    """running, completed, interrupted or failed."""
    verdict: str = ""
    """The verdict, one sentence."""
    built_seconds: list[float] = field(default_factory=list)
    """Runs as built, alternating with those below."""
    tuned_seconds: list[float] = field(default_factory=list)
    """Runs as tuned."""
    first_seconds: float = 0.0
    """Time of the first run as tuned, which compiles; 0: there was none."""
    application: Ratio | None = None
    """Gain of the whole program; None: not measured."""
    kernel_share: float | None = None
    """Part of the program's time that is spent in kernels; None: not known."""
    output_rule: str = ""
    """The parts of the output that are compared."""
    kernels: list[KernelResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Notes for the user."""
    tuned_file: Path | None = None
    """The file for production runs; None: no kernel is worth it."""
    page: Path | None = None
    seconds: float = 0.0
    """Total time."""

    @property
    def use(self) -> str:
        """The command line of a production run; empty without tuned kernels."""
        if self.tuned_file is None:
            return ""
        # Works from any directory, because scripts change it. A program that ran on the CPU device
        # runs there again. Kernels without IR need a library that `mneme run` preloads.
        file = shlex.quote(str(self.tuned_file.resolve()))
        start: list[str] = []
        if self.device == "cpu":
            start = ["mneme", "run", "--device", "cpu", "--"]
        elif any(one.is_kept and one.code_form for one in self.kernels):
            start = ["mneme", "run", "--"]
        return f"PROTEUS_TUNED_KERNELS={file} {shlex.join([*start, *self.command])}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {**asdict(self), "use": self.use}
        values["directory"] = str(self.directory)
        for name in ("tuned_file", "page"):
            values[name] = None if values[name] is None else str(values[name])
        return values
