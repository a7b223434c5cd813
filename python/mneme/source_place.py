"""Where the body of a kernel is in the source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SourcePlace", "places_in_tables"]

# As SourceLine in runtime/core/abi/source_place.h reads it.
_LINE = re.compile(r"([^:()\[\]*?^$\\|]*[^/:()\[\]*?^$\\|]\.[^./:()\[\]*?^$\\|]+):([0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePlace:
    """The lines of a kernel's body: of its lambda or functor where the kernel only calls that."""

    file: str
    """As the compiler was given it."""

    line: int
    """The first line."""

    end_line: int
    """The last line."""

    @classmethod
    def found(cls, said: object) -> SourcePlace | None:
        """Read "Place" of a record, or "place" of a program's metadata; None if there is none."""
        values: Mapping[str, Any] = said if isinstance(said, dict) else {}
        file = values.get("File", values.get("file"))
        line = values.get("Line", values.get("line"))
        end = values.get("EndLine", values.get("end_line"))
        if not (isinstance(file, str) and file and isinstance(line, int) and isinstance(end, int)):
            return None
        return cls(file=file, line=line, end_line=end)

    def is_named(self, text: str) -> bool:
        """Whether text such as "advec_mom.cpp:120" names one of these lines."""
        found = _LINE.fullmatch(text)
        if found is None:
            return False
        file, line = found.group(1), int(found.group(2))
        is_file = self.file == file or self.file.endswith(f"/{file}")
        return is_file and self.line <= line <= self.end_line

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def places_in_tables(places: Sequence[str]) -> list[str]:
    """Return places without directories, where no other file has the same name."""
    parts = [one.rpartition(":") for one in places]
    files = {file for file, _, _ in parts if file}
    return [f"{_short(file, files)}:{line}" if file else "" for file, _, line in parts]


def _short(file: str, files: set[str]) -> str:
    parts = file.split("/")
    for count in range(1, len(parts)):
        short = "/".join(parts[-count:])
        if sum(other == short or other.endswith(f"/{short}") for other in files) == 1:
            return short
    return file
