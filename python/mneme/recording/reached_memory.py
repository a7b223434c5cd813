"""Finds recorded memory that a launch reaches through pointers, as the recorder finds it.

A pointer is an 8-byte word at a multiple of eight that holds the address of any byte of a region.
It may be in an argument, in a device variable, or in memory that is reached already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from mneme._native import Snapshot

__all__ = ["unreached_regions"]

_PIECE_BYTES = 16 << 20
_WORD_BYTES = 8


def unreached_regions(before: Snapshot, least: int) -> set[int]:
    """Return the numbers of regions to which no pointer leads; none if they are small together.

    Args:
        before: Memory before the launch, and the arguments.
        least: Bytes. The search ends when less is left.

    Raises:
        ArtifactCorrupt, IoFailed: If the snapshot cannot be read.
    """
    search = _Search(before)
    while search.found and search.bytes_left >= least:
        search.look_in(search.found.pop())
    return set() if search.bytes_left < least else search.left


class _Search:
    def __init__(self, before: Snapshot) -> None:
        self._snapshot = before
        regions = before.regions()
        self._sizes = [int(one["size"]) for one in regions]
        self._addresses = [int(one["address"]) for one in regions]
        # What is named by code, or by the program, needs no pointer.
        self.found = [
            number
            for number, one in enumerate(regions)
            if one["kind"] == "global" or one["annotation"] is not None or one["parts"]
        ]
        self.left = set(range(len(regions))) - set(self.found)
        self.bytes_left = sum(self._sizes[one] for one in self.left)
        self._list_left()
        for value in before.args():
            # Packed structures, which the recorder does not look for, cost nothing here.
            self._look_at(value[at:] for at in range(min(_WORD_BYTES, len(value))))

    def look_in(self, region: int) -> None:
        """Follow all pointers in a region."""
        self._look_at(self._pieces_of(region))

    def _pieces_of(self, region: int) -> Iterator[bytes]:
        at = -self._addresses[region] % _WORD_BYTES
        while at < self._sizes[region]:
            size = min(_PIECE_BYTES, self._sizes[region] - at)
            yield self._snapshot.read(region, at, size)
            at += size

    def _look_at(self, pieces: Iterable[bytes]) -> None:
        import numpy as np  # noqa: PLC0415 - slow to import

        for piece in pieces:
            if not self.left:
                return
            words = np.frombuffer(piece, "<u8", len(piece) // _WORD_BYTES)
            # Few words are between the lowest and the highest address.
            near = words[words - self._begins[0] < self._ends[-1] - self._begins[0]]
            if near.size:
                self._reach(near)

    def _reach(self, words: NDArray[np.uint64]) -> None:
        import numpy as np  # noqa: PLC0415 - as above

        places = np.searchsorted(self._begins, words, side="right") - 1
        reached = np.unique(places[words < self._ends[places]])
        if reached.size:
            for number in (self._order[place] for place in reached.tolist()):
                self.left.remove(number)
                self.found.append(number)
                self.bytes_left -= self._sizes[number]
            self._list_left()

    def _list_left(self) -> None:
        import numpy as np  # noqa: PLC0415 - as above

        self._order = sorted(self.left, key=self._addresses.__getitem__)
        begins = [self._addresses[one] for one in self._order]
        ends = [self._addresses[one] + self._sizes[one] for one in self._order]
        self._begins, self._ends = np.array(begins, np.uint64), np.array(ends, np.uint64)
