"""One entry: a configuration that helped a launch of a kernel, or that nothing helped."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import ArtifactCorrupt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.knowledge.features import Features

__all__ = ["COLUMNS", "NOTHING", "Entry"]

NOTHING: Final = -1
"""The rank of the baseline if nothing was faster."""

_JSON: Final = ("features", "baseline", "config", "params", "grid", "block")
_OF_LAUNCH: Final = ("grid", "block", "shared_mem")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_LONGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A result of one tuning: a row of the knowledge file."""

    kernel: str
    """Mangled name."""
    demangled: str
    """Name as in the source."""
    static_hash: str
    """Identity of the code, 16 hexadecimal digits."""
    family: str
    """Kind of device: the part before the colon in its name, as in `--device`."""
    arch: str
    """Architecture that was measured, as sm_90."""
    grid: tuple[int, int, int]
    """Blocks of the recorded launch."""
    block: tuple[int, int, int]
    """Threads of a block of the recorded launch."""
    shared_mem: int
    """Bytes of dynamic shared memory of the recorded launch."""
    features: Features = field(default_factory=dict)
    """The features of code and launch."""
    baseline: dict[str, Any] = field(default_factory=dict)
    """The configuration that the gain is relative to."""
    baseline_ns: float
    """Its time."""
    config: dict[str, Any] = field(default_factory=dict)
    """The configuration that helped."""
    params: dict[str, Any] = field(default_factory=dict)
    """The parameters of the search space that give it."""
    rank: int
    """0: the winner, 1 and up: the runners-up, -1: nothing was faster than the baseline."""
    gain: float
    """Baseline time / time."""
    low: float | None = None
    """Lower end of the gain's 95 % interval; None: measured in a few rounds only."""
    high: float | None = None
    """Upper end of the interval."""
    trials: int
    """Configurations that were tried."""
    date: str
    """Time in UTC: 2026-11-23T12:00:00Z."""
    version: str
    """The version of mneme that found it."""

    @property
    def is_about_code(self) -> bool:
        """Whether its code differs from the baseline's; otherwise only its launch does."""
        code = [
            {name: value for name, value in one.items() if name not in _OF_LAUNCH}
            for one in (self.baseline, self.config)
        ]
        return code[0] != code[1]

    @property
    def key(self) -> str:
        """Key of a configuration of a launch on an architecture."""
        launch = [list(self.grid), list(self.block), self.shared_mem]
        tried = None if self.rank == NOTHING else self.config
        content = [self.family, self.arch, self.static_hash, launch, tried]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def to_row(self) -> dict[str, Any]:
        """Return the columns of the table, `key` among them."""
        row = asdict(self)
        for name in _JSON:
            row[name] = json.dumps(row[name], separators=(",", ":"))
        return {"key": self.key, **row}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Entry:
        """Return what `to_row` gave.

        Raises:
            ArtifactCorrupt: If it is anything else.
        """
        try:
            values = {item.name: row[item.name] for item in fields(cls)}
            for name in _JSON:
                values[name] = json.loads(values[name])
            values["grid"], values["block"] = tuple(values["grid"]), tuple(values["block"])
            entry = cls(**values)
            entry._check()
        except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
            raise ArtifactCorrupt(f"an entry is damaged ({error})") from error
        return entry

    def _check(self) -> None:
        texts = (self.kernel, self.demangled, self.static_hash, self.family, self.arch, self.date)
        wholes = (*self.grid, *self.block, self.shared_mem, self.rank, self.trials)
        bounds = [one for one in (self.low, self.high) if one is not None]
        reals = (self.baseline_ns, self.gain, *bounds, *self.features.values())
        tables = (self.features, self.baseline, self.config, self.params)
        is_good = (
            all(isinstance(one, str) and len(one) < _LONGEST for one in (*texts, self.version))
            and len(self.grid) == len(self.block) == 3  # noqa: PLR2004 - x, y, z
            and all(_is_number(one) and isinstance(one, int) for one in wholes)
            and all(_is_number(one) and math.isfinite(one) for one in reals)
            and all(isinstance(one, dict) for one in tables)
            and self.gain > 0
            and _DATE.fullmatch(self.date) is not None
        )
        if not is_good:
            raise ValueError("a value has the wrong type")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


COLUMNS: Final = tuple(item.name for item in fields(Entry))
"""The columns of the table besides `key`."""
