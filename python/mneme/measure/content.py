"""Large contents that many requests need: each is sent to a process once, then only its name."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

__all__ = ["Content", "Kept"]

_NAME_BYTES = 16
# More are rarely used at once, and each may have megabytes.
_KEPT = 8


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes and their name; equal bytes have equal names."""

    name: bytes
    data: bytes = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: bytes) -> Content:
        """Name bytes by their hash."""
        return cls(_name_of(data), data)


class Kept:
    """The contents used last. The sender and the process that receives each have one.

    Both see the same contents in the same order, so they keep the same ones.
    """

    def __init__(self) -> None:
        """Keep nothing."""
        self._contents: dict[bytes, Content] = {}

    def use(self, content: Content) -> Content | None:
        """Make a content the newest one; return the content kept under its name."""
        known = self._contents.pop(content.name, None)
        self._contents[content.name] = known or content
        if len(self._contents) > _KEPT:
            del self._contents[next(iter(self._contents))]
        return known


@functools.lru_cache(maxsize=_KEPT)
def _name_of(data: bytes) -> bytes:
    """Return the name of bytes; costs nothing for the same object again."""
    import hashlib  # noqa: PLC0415 - processes that start only look names up

    return hashlib.blake2b(data, digest_size=_NAME_BYTES).digest()
