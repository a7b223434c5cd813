"""Memory that a trimmed launch need not even allocate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.trim.ranges import CHUNK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.trim.trials import Region

__all__ = ["unallocated_in"]

# Devices map memory in larger units, and kernels may load a little more than they use.
_LEAST_HOLE = 256 << 10
_MARGIN = CHUNK
_KINDS = ("allocation", "managed")
_WORD = 8


def unallocated_in(
    regions: Sequence[Region],
    untouched: Sequence[tuple[int, int]],
    args: Sequence[bytes],
    shown: Sequence[int],
) -> list[tuple[int, int]]:
    """Return parts of what is neither read nor written, as addresses and sizes.

    What an argument leads to stays, so that its name does; so do variables, memory of the host,
    which may lie elsewhere in a replay, and regions with tolerances. Regions with one of the
    addresses `shown`, where the content of textures and surfaces begins, stay whole: a replay makes
    these objects of it.
    """
    pointed = _words_in(args)
    holes = []
    for region in regions:
        if region.kind not in _KINDS or region.is_annotated:
            continue
        end = region.address + region.size
        if any(region.address <= one < end for one in shown):
            continue
        for address, size in untouched:
            if not region.address <= address < end:
                continue
            hole = [address, address + size]
            if address != region.address:
                hole[0] += _MARGIN
            if hole[1] != end:
                hole[1] -= _MARGIN
            holes += [one for one in _without(hole, region, pointed) if _is_worth_it(one, region)]
    return [(begin, end - begin) for begin, end in sorted(holes)]


def _words_in(args: Sequence[bytes]) -> list[int]:
    return sorted(
        {
            int.from_bytes(value[at : at + _WORD], "little")
            for value in args
            for at in range(0, len(value) - _WORD + 1, _WORD)
        }
    )


def _without(hole: list[int], region: Region, pointed: Sequence[int]) -> list[tuple[int, int]]:
    """Divide a hole at the chunks that arguments lead to."""
    parts = []
    begin, end = hole
    for word in pointed:
        if not begin <= word < end:
            continue
        chunk = region.address + (word - region.address) // CHUNK * CHUNK
        if chunk > begin:
            parts.append((begin, chunk))
        begin = min(chunk + CHUNK, end)
    if begin < end:
        parts.append((begin, end))
    return parts


def _is_worth_it(hole: tuple[int, int], region: Region) -> bool:
    return hole[1] - hole[0] >= min(_LEAST_HOLE, region.size)
