"""Reads the few facts of an ELF executable that matter before it is started."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ElfFacts", "code_bytes", "has_symbol", "read_elf"]

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_DYNAMIC = struct.Struct("<qQ")
_MAGIC_64_LITTLE = b"\x7fELF\x02\x01"
_LOAD, _DYNAMIC_SEGMENT, _INTERPRETER = 1, 2, 3
_NEEDED, _STRING_TABLE = 1, 5
_SEARCH_PATHS = (15, 29)  # DT_RPATH, DT_RUNPATH
_EXECUTABLE = 4  # SHF_EXECINSTR
_LONGEST_NAME = 4096
_NAMES_OF_SYMBOLS = ".strtab"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfFacts:
    """Facts about an executable."""

    is_static: bool
    """Whether it needs no dynamic loader, so that nothing can be preloaded."""

    needed: tuple[str, ...]
    """Libraries it is linked to."""

    sections: frozenset[str]
    """Names of its sections."""

    search_path: tuple[str, ...] = ()
    """Directories where it looks for libraries, as written: with `$ORIGIN`."""


def read_elf(path: Path) -> ElfFacts | None:
    """Return the facts, or None if it is not a 64-bit little-endian ELF file that can be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[: len(_MAGIC_64_LITTLE)] != _MAGIC_64_LITTLE:
                return None
            return _facts(data)
    except (OSError, OverflowError, ValueError, struct.error, IndexError):
        return None


def has_symbol(path: Path, beginning: str) -> bool:
    """Whether a file names a symbol that begins so, in the names that `strip` removes."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            sections, names_at = _sections(data)
            return any(
                data.find(b"\0" + beginning.encode(), section[4], section[4] + section[5]) >= 0
                for section in sections
                if _text(data, names_at + section[0]) == _NAMES_OF_SYMBOLS
            )
    except (OSError, ValueError, struct.error, IndexError):
        return False


def code_bytes(image: bytes) -> int | None:
    """Return the size of the machine code in an ELF image, also for GPUs; None if it is not one."""
    if not image.startswith(_MAGIC_64_LITTLE):
        return None
    header = _HEADER.unpack_from(image)
    sections = (
        _SECTION_HEADER.unpack_from(image, header[6] + i * _SECTION_HEADER.size)
        for i in range(header[12])
    )
    return sum(int(section[5]) for section in sections if section[2] & _EXECUTABLE)


def _facts(data: mmap.mmap) -> ElfFacts:
    header = _HEADER.unpack_from(data, 0)
    segments = [
        _PROGRAM_HEADER.unpack_from(data, header[5] + i * _PROGRAM_HEADER.size)
        for i in range(header[10])
    ]
    sections, names_at = _sections(data)
    search_path = [text.split(":") for text in _dynamic_texts(data, segments, _SEARCH_PATHS)]
    return ElfFacts(
        is_static=not any(segment[0] == _INTERPRETER for segment in segments),
        needed=tuple(_dynamic_texts(data, segments, (_NEEDED,))),
        sections=frozenset(_text(data, names_at + section[0]) for section in sections),
        search_path=tuple(name for names in search_path for name in names if name),
    )


def _sections(data: mmap.mmap) -> tuple[list[tuple[int, ...]], int]:
    """Return the table of sections, and where their names are."""
    header = _HEADER.unpack_from(data, 0)
    sections = [
        _SECTION_HEADER.unpack_from(data, header[6] + i * _SECTION_HEADER.size)
        for i in range(header[12])
    ]
    return sections, sections[header[13]][4] if header[13] < len(sections) else 0


def _dynamic_texts(
    data: mmap.mmap, segments: list[tuple[int, ...]], tags: tuple[int, ...]
) -> list[str]:
    for segment in segments:
        if segment[0] == _DYNAMIC_SEGMENT:
            start, size = segment[2], segment[5]
            entries = list(_DYNAMIC.iter_unpack(data[start : start + size - size % _DYNAMIC.size]))
            strings = next((value for tag, value in entries if tag == _STRING_TABLE), 0)
            strings_at = _file_offset(strings, segments)
            return [_text(data, strings_at + value) for tag, value in entries if tag in tags]
    return []


def _file_offset(address: int, segments: list[tuple[int, ...]]) -> int:
    for kind, _, offset, start, _, size, _, _ in segments:
        if kind == _LOAD and start <= address < start + size:
            return offset + address - start
    raise IndexError(address)


def _text(data: mmap.mmap, offset: int) -> str:
    end = data.find(b"\0", offset, offset + _LONGEST_NAME)
    if offset >= len(data) or end < 0:
        raise IndexError(offset)
    return data[offset:end].decode()
