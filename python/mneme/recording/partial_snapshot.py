"""Snapshots that are as another one, but for regions that are all zero.

Their layout is stated in `runtime/core/artifact/snapshot.h` and `table_codec.h`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from mneme.errors import ArtifactCorrupt

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from mneme._native import Snapshot

__all__ = ["write_partial"]

_KINDS = ("allocation", "managed", "host_pinned", "global")
_CHUNK_BYTES = 64 << 10
_VERSION, _HEADER_BYTES = 2, 64
_ZERO, _BASE = 0, 1


def write_partial(target: Path, whole: Path, zero: Collection[int]) -> Snapshot:
    """Write a snapshot that differs from another one by regions of zeros; return it.

    Args:
        target: The new file; it refers to a file beside it that is called as the other one.
        whole: The other one, whose regions are not annotated.
        zero: Numbers of regions.

    Raises:
        ArtifactCorrupt: If it cannot be described so.
        OSError: If it cannot be written.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    source = _native.Snapshot(str(whole))
    table = _table_of(source, whole.name, zero)
    target.write_bytes(_header_of(table) + table)
    result = _native.Snapshot(str(target))
    if result.regions() != source.regions() or result.args() != source.args():
        raise ArtifactCorrupt(f"'{whole}' cannot be written in parts")
    return result


def _table_of(source: Snapshot, name: str, zero: Collection[int]) -> bytes:
    regions, args = source.regions(), source.args()
    parts = [struct.pack("<I", 1), _text(name), struct.pack("<I", len(regions))]
    for index, one in enumerate(regions):
        parts += [_region(one), struct.pack("<II", *((0, 0) if index in zero else (1, index)))]
    for index, one in enumerate(regions):
        count = -(-int(one["size"]) // _CHUNK_BYTES)
        parts.append(_varint(count << 2 | (_ZERO if index in zero else _BASE)))
    parts.append(struct.pack("<I", len(args)))
    parts += [struct.pack("<Q", len(one)) + one for one in args]
    description = b"".join(parts)
    return struct.pack("<QQQ", len(description), len(description), 0) + description


def _region(region: Mapping[str, object]) -> bytes:
    place = struct.pack(
        "<QQBB",
        region["address"],
        region["size"],
        _KINDS.index(str(region["kind"])),
        bool(region["is_constant"]),
    )
    annotation = struct.pack("<BBdBB", 0, 0, 0.0, 0, 0) + _text("")
    return place + _text(str(region["name"])) + annotation


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<I", len(content)) + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:  # noqa: PLR2004 - seven bits in each byte
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _header_of(table: bytes) -> bytes:
    from mneme import _native  # noqa: PLC0415 - loads native code

    size, checksum = len(table), _native.short_hash(table)
    front = struct.pack(
        "<8sIIQQQQQ",
        b"MNEMESNP",
        _VERSION,
        _HEADER_BYTES,
        _CHUNK_BYTES,
        _HEADER_BYTES,
        size,
        checksum,
        _HEADER_BYTES + size,
    )
    return front + struct.pack("<Q", _native.short_hash(front))
