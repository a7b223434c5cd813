"""What `mneme trim` left out of recorded launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mneme.mneme_types import dim3
    from mneme.recording.record_json import Fields

__all__ = ["Trimming"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming:
    """What `mneme trim` left out of a launch."""

    memory: int
    """Bytes of memory that were recorded."""

    unread: int
    """Bytes of them that the launch does not read."""

    grid_dim: dim3
    """Blocks of the recorded launch."""

    record_id: str
    """Its record id."""

    @classmethod
    def read(cls, fields: Fields) -> Trimming:
        """Read it from a record file."""
        return cls(
            memory=fields.number("Memory"),
            unread=fields.number("Unread"),
            grid_dim=fields.dims("GridDims"),
            record_id=fields.text("RecordId"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as in the record file."""
        return {
            "Memory": self.memory,
            "Unread": self.unread,
            "GridDims": self.grid_dim.to_dict(),
            "RecordId": self.record_id,
        }
