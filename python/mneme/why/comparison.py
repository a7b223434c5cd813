"""Configurations of one launch side by side: what differs, and what stands to reason for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from mneme.errors import (
    BackendUnavailable,
    CompileFailed,
    InvalidArgument,
    MnemeError,
    Unsupported,
)
from mneme.ir.features import FEATURES
from mneme.machine_code.accesses import label_of
from mneme.machine_code.ptx_features import PTX_FEATURES
from mneme.recording.configured import form_of_knobs
from mneme.recording.recorded_execution import RecordedExecution
from mneme.why.build import build
from mneme.why.loops import place_of
from mneme.why.messages import AS_ASKED, plain_message
from mneme.why.possibilities import possibilities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mneme.why.build import Build
    from mneme.why.possibilities import Possibility
    from mneme.why.ways import Way

__all__ = ["FIGURES", "PassRow", "RemarkRow", "Row", "Why", "explain_builds"]

FIGURES = {
    "registers": "registers of a thread",
    "register_limit": "limit of registers, as assembled",
    "spilled_bytes": "spilled bytes",
    "local_bytes": "local memory of a thread",
    "shared_bytes": "shared memory of fixed size",
    "barriers": "hardware barriers of a block",
    "constant_bytes": "constant memory, without arguments",
    "occupancy": "occupancy",
    "waves_per_simd": "waves of a SIMD unit",
    "code_bytes": "bytes of machine code",
}
"""The figures of builds, the most important first, as tables call them."""

# What a device says, as tables call it, and in units of what.
_STANDINGS = {
    "time_ns": ("time [µs]", 1e3),
    "dram_bytes": ("MB from and to memory", 1e6),
    "bytes_per_second": ("GB/s of memory", 1e9),
    "memory_share": ("% of its peak", 1e-2),
    "flops_per_second": ("GFLOP/s", 1e9),
    "arithmetic_share": ("% of their peak", 1e-2),
    "intensity": ("operations a byte", 1.0),
}

# What decides before the rest; passes that are not named come behind those with 1.
_RANKS = {
    **dict.fromkeys(("loop-vectorize", "loop-unroll", "transform-warning"), 0),
    **dict.fromkeys(("inline", "loop-delete", "kernel-resource-usage"), 1),
    "tailcallelim": 8,
    "slp-vectorizer": 3,  # misses far more often than it succeeds
    **dict.fromkeys(("asm-printer", "prologepilog", "stack-frame-layout", "annotation-remarks"), 9),
}
_RANK = 2
_MOST_WAYS = 8
_NONE = "-"
_KINDS = ("failure", "passed", "missed", "analysis")
_LAST = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One number of every configuration."""

    key: str
    label: str
    values: Sequence[int | float | None]

    @property
    def differs(self) -> bool:
        """Whether the configurations have different ones."""
        return len(set(self.values)) > 1

    @property
    def texts(self) -> list[str]:
        """The numbers as people read them."""
        return [
            _NONE if one is None else f"{100 * one:.0f} %" if self.key == "occupancy" else str(one)
            for one in self.values
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemarkRow:
    """One remark, and how often each configuration's passes made it."""

    remark: Mapping[str, Any]
    counts: Sequence[int]

    @property
    def differs(self) -> bool:
        """Whether some configurations lack it."""
        return any(self.counts) and not all(self.counts)

    @property
    def rank(self) -> tuple[int, int]:
        """Return what comes first: smaller."""
        kind = str(self.remark["kind"])
        kinds = _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
        rank = _RANKS.get(self.remark["pass"], _RANK)
        if kind == "failure" or AS_ASKED in self.remark["message"]:
            rank = 0 if kind == "failure" else _LAST
        return rank, kinds

    @property
    def place(self) -> tuple[str, int, str]:
        """Return file, line and function."""
        return place_of(self.remark)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRow:
    """One pass in every configuration."""

    name: str
    is_analysis: bool
    runs: Sequence[int]
    changes: Sequence[int]
    seconds: Sequence[float]

    @property
    def differs(self) -> bool:
        """Whether it changed code in some configurations only."""
        return any(self.changes) and not all(self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """One launch, compiled in several ways."""

    record: RecordedExecution
    record_id: str
    target: str
    builds: Sequence[Build]
    failed: Sequence[tuple[str, str]]
    """Configurations that could not be compiled, with the reason."""

    possibilities: Sequence[Possibility] = ()
    """What can be tried of the first, where it is made without IR."""

    is_target_assumed: bool = False
    """Whether PTX without IR was made into code for an old GPU, since none was named."""

    @property
    def letters(self) -> list[str]:
        """What tables call the configurations: A, B, ..."""
        return [chr(ord("A") + number) for number in range(len(self.builds))]

    @property
    def is_same_code(self) -> bool:
        """Whether there are several, and all give the same machine code."""
        return len(self.builds) > 1 and len({one.compiled.image for one in self.builds}) == 1

    @property
    def figures(self) -> list[Row]:
        """The figures that any configuration has, in their order."""
        rows = [
            Row(key=key, label=label, values=[one.figures.get(key) for one in self.builds])
            for key, label in FIGURES.items()
        ]
        return [row for row in rows if any(value is not None for value in row.values)]

    @property
    def standings(self) -> list[Row]:
        """What each configuration did on a device, where that was measured."""
        told = [
            {"time_ns": one.time_ns, **({} if one.standing is None else one.standing.to_dict())}
            for one in self.builds
        ]
        rows = [
            Row(key=key, label=label, values=[_rounded(one.get(key), unit) for one in told])
            for key, (label, unit) in _STANDINGS.items()
        ]
        return [row for row in rows if any(value is not None for value in row.values)]

    @property
    def features(self) -> list[Row]:
        """What is counted in the IR, or in the PTX if some are made without IR."""
        counts = [one.features for one in self.builds]
        if not self.has_ir:
            counts = [one.code.ptx.features if one.code.ptx else {} for one in self.builds]
        rows = [
            Row(key=key, label=label, values=[one.get(key) for one in counts])
            for key, label in (FEATURES if self.has_ir else PTX_FEATURES).items()
        ]
        return [row for row in rows if any(row.values)]

    @property
    def has_ir(self) -> bool:
        """Whether an LLVM made the code of all, so that its passes and IR can be compared."""
        return all(one.has_ir for one in self.builds)

    @property
    def opcodes(self) -> list[Row]:
        """Instructions of all machine code by opcode, the most frequent first; empty: not known."""
        counts = [one.opcodes for one in self.builds if one.opcodes is not None]
        rows = self._counted(counts, str) if len(counts) == len(self.builds) else []
        return sorted(rows, key=lambda row: -max(value or 0 for value in row.values))

    @property
    def accesses(self) -> list[Row]:
        """The memory operations of PTX; None where a configuration has no PTX."""
        rows = self._counted([one.accesses for one in self.builds], label_of)
        return [
            replace(
                row,
                values=[
                    value if build.code.ptx else None
                    for value, build in zip(row.values, self.builds, strict=True)
                ],
            )
            for row in rows
        ]

    @property
    def statistics(self) -> list[Row] | None:
        """What LLVM counted; None if it was built not to."""
        known = [one.statistics for one in self.builds if one.statistics is not None]
        if not known:
            return None
        return self._counted([one.statistics or {} for one in self.builds], str)

    @staticmethod
    def _counted(counts: Sequence[Mapping[str, int]], label: Callable[[str], str]) -> list[Row]:
        names = sorted({name for one in counts for name in one})
        return [
            Row(key=name, label=label(name), values=[one.get(name, 0) for one in counts])
            for name in names
        ]

    @property
    def remarks(self) -> list[RemarkRow]:
        """Each remark once: those that differ first, then by importance and place."""
        found: dict[tuple[Any, ...], list[int]] = {}
        texts: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        for number, one in enumerate(self.builds):
            for remark in one.remarks:
                text = plain_message(remark["message"])
                key = (place_of(remark), remark["pass"], remark["kind"], text)
                texts.setdefault(key, {**remark, "message": text})
                found.setdefault(key, [0] * len(self.builds))[number] += remark["count"]
        rows = [RemarkRow(remark=texts[key], counts=counts) for key, counts in found.items()]
        return sorted(rows, key=lambda row: (not row.differs, row.rank, row.place))

    @property
    def passes(self) -> list[PassRow]:
        """All passes, the slowest first."""
        names = {one["name"]: one["is_analysis"] for build in self.builds for one in build.passes}
        by_name = [{one["name"]: one for one in build.passes} for build in self.builds]
        rows = [
            PassRow(
                name=name,
                is_analysis=is_analysis,
                runs=[one.get(name, {}).get("runs", 0) for one in by_name],
                changes=[one.get(name, {}).get("changes", 0) for one in by_name],
                seconds=[one.get(name, {}).get("seconds", 0.0) for one in by_name],
            )
            for name, is_analysis in names.items()
        ]
        return sorted(rows, key=lambda row: (-max(row.seconds), row.name))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values: each configuration, and what differs between them."""
        statistics = self.statistics
        return {
            "kernel": self.record.kernel_name,
            "demangled": self.record.demangled_name,
            "place": str(self.record.place or ""),
            "record_id": self.record_id,
            "target": self.target,
            "configurations": [one.to_dict() for one in self.builds],
            "failed": [{"name": name, "reason": reason} for name, reason in self.failed],
            "is_target_assumed": self.is_target_assumed,
            "can_be_tried": [asdict(one) for one in self.possibilities],
            "differences": {
                "figures": {row.key: row.values for row in self.figures if row.differs},
                "features": {row.key: row.values for row in self.features if row.differs},
                "accesses": {row.key: row.values for row in self.accesses if row.differs},
                "opcodes": {row.key: row.values for row in self.opcodes if row.differs},
                "llvm_statistics": None
                if statistics is None
                else {row.key: row.values for row in statistics if row.differs},
                "remarks": [
                    {
                        **dict(zip(("file", "line", "function"), row.place, strict=True)),
                        **{part: row.remark[part] for part in ("pass", "kind", "message")},
                        "counts": list(row.counts),
                    }
                    for row in self.remarks
                    if row.differs
                ],
                "passes": {
                    row.name: {"runs": list(row.runs), "changes": list(row.changes)}
                    for row in sorted(self.passes, key=lambda row: row.name)
                    if row.differs
                },
            },
        }


def _rounded(value: float | None, unit: float) -> float | None:
    """Return a number in a unit, with as many digits as people read."""
    return None if value is None else float(f"{value / unit:.4g}")


def explain_builds(
    ways: Sequence[Way],
    database: Path,
    record_id: str,
    target: str = "",
    timeout: float | None = None,
) -> Why:
    """Compile a launch in several ways and compare what the compiler tells.

    Args:
        ways: The configurations.
        database: The record.
        record_id: The launch.
        target: "sm_90", "cpu", ...; empty: what the program was built for.
        timeout: Seconds for one compilation.

    Raises:
        CompileFailed: If none can be compiled; or what else kept the first of them.
        InvalidArgument: For an unknown target or option, for more than eight configurations, and
            for different ones of one name.
    """
    if len(ways) > _MOST_WAYS:
        raise InvalidArgument(
            f"{len(ways)} configurations do not fit side by side; explain {_MOST_WAYS} at most"
        )
    record = RecordedExecution.from_json(database)
    builds: list[Build] = []
    failed: list[tuple[str, MnemeError]] = []
    for way in _told_apart(ways):
        try:
            # All for one GPU, also where the first tells which.
            on = builds[0].compiled.target if builds else target
            builds.append(build(way, database, record_id, on, timeout))
        except (CompileFailed, BackendUnavailable, Unsupported) as error:
            failed.append((way.name, error))
    if not builds:
        kind = type(failed[0][1])
        raise kind("; ".join(f"'{name}': {reason}" for name, reason in failed))
    return Why(
        record=record,
        record_id=record_id,
        target=builds[0].compiled.target,
        builds=builds,
        failed=[(name, str(reason)) for name, reason in failed],
        possibilities=possibilities(builds[0], form_of_knobs(record)),
        is_target_assumed=not target and bool(record.code_form) and builds[0].is_of_ptx,
    )


def _told_apart(ways: Sequence[Way]) -> list[Way]:
    """Return configurations with names of their own: what is named twice has a number.

    Raises:
        InvalidArgument: If different ones have one name.
    """
    known: dict[str, Way] = {}
    found: list[Way] = []
    for way in ways:
        same = known.setdefault(way.name, way)
        if same.configuration != way.configuration:
            raise InvalidArgument(
                f"different configurations are called '{way.name}'; give each a name of its own "
                "with --variant NAME=OPTIONS"
            )
        count = sum(one.name == way.name for one in ways[: len(found)])
        found.append(replace(way, name=f"{way.name} ({count + 1})") if count else way)
    return found
