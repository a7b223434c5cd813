"""What was found out about one launch, as it is kept in the results directory."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from mneme.session.trials import FEW_ULP, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SPENT", "UNUSED", "WRONG", "CaseResult", "Outcome"]

WRONG = ("failed_verification", FEW_ULP, ROUNDING)
"""Statuses of variants that left other memory behind than was recorded."""

SPENT = ("compiling", "waiting", "opening", "kernels", "restoring", "verifying")
"""What a device's time goes into: waiting for code, waiting for replays to do, opening the launch,
running recorded kernels, restoring and comparing memory."""

UNUSED = "not_compared"
"""Status of a variant where the launch cannot be opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One variant of one launch."""

    status: str
    """verified, few_ulp, rounding, one of `mneme.session.trials.FAILURES`, or not_compared."""
    reason: str = ""
    """Why it is not verified, or why it has no ratio."""
    is_same_code: bool = False
    """The code and the launch are those of the baseline, so it is as fast."""
    same_as: str = ""
    """The variant with the same code and launch whose times these are."""
    times_ns: list[float] = field(default_factory=list)
    """Times by round; that of the first replay where it was not measured in rounds."""
    ratios: list[float] = field(default_factory=list)
    """Baseline time / time, by round."""
    again: list[float] = field(default_factory=list)
    """The same of the rounds that measured it again, since it was found to differ."""
    result_class: str = ""
    """As in results of replays: exact, within_tolerance, ..."""
    registers: int = 0
    """Registers of a thread; 0 where the device does not say."""
    spill_bytes: int | None = None
    """Bytes that instructions store to and load from spilled registers; None: not known."""
    local_bytes: int = 0
    """Local memory of a thread."""
    shared_bytes: int = 0
    """Shared memory of a block, static and dynamic."""
    occupancy: float | None = None
    """Part of a multiprocessor's threads that fit on it at once; None: not known."""
    code_bytes: int = 0
    """Size of the binary."""
    compile_seconds: float = 0.0
    """From IR to the binary."""
    image_hash: str = ""
    """Equal binaries have equal hashes."""
    ir_hash: str = ""
    """Hash of the final IR."""
    config: dict[str, Any] = field(default_factory=dict)
    """How it was compiled and launched."""

    @property
    def is_verified(self) -> bool:
        """Whether the result is the recorded one."""
        return self.status == "verified"

    @property
    def is_wrong(self) -> bool:
        """Whether it ran and left other memory behind than was recorded."""
        return self.status in WRONG

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """Return what `to_dict` of a result gave; unknown keys are ignored."""
        known = {item.name for item in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """One launch with all variants."""

    case: dict[str, Any]
    """As `Case.to_dict` gives it."""
    outcomes: dict[str, Outcome]
    """By the variants' names, the baseline first."""
    device: str = ""
    """Where it was measured."""
    is_in_place: bool = False
    """Whether memory was restored before the first of a variant's launches in a round only."""
    problem: str = ""
    """Why the launch cannot be compared; empty if it can."""
    seconds: float = 0.0
    """How long its device was at it."""
    spent: dict[str, float] = field(default_factory=dict)
    """Seconds of those by what was done, as `SPENT` names it."""

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the launch."""
        return str(self.case["static_hash"]), str(self.case["record_id"])

    @property
    def baseline(self) -> Outcome:
        """The first variant."""
        return next(iter(self.outcomes.values()))

    def to_dict(self) -> dict[str, Any]:
        """Return a line of the results file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CaseResult:
        """Return what `to_dict` gave."""
        return cls(
            case=dict(data["case"]),
            outcomes={key: Outcome.from_dict(one) for key, one in data["outcomes"].items()},
            device=str(data["device"]),
            is_in_place=bool(data.get("is_in_place")),
            problem=str(data["problem"]),
            seconds=float(data["seconds"]),
            spent={key: float(one) for key, one in dict(data.get("spent") or {}).items()},
        )
