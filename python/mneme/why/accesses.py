"""The memory operations of PTX by what they do, which memory they are of, and how wide they are."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

__all__ = ["accesses_in", "label_of"]

_OPERATION: Final = re.compile(
    r"^\s*(?:@!?%\w+\s+)?(ld|st|atom|red|cp\.async|ldu|prefetch)((?:\.[\w:]+)*)", re.MULTILINE
)
_SPACES: Final = ("global", "shared", "const", "local", "param")
_WORDS: Final = {
    "ld": "load",
    "ldu": "load",
    "st": "store",
    "atom": "atomic",
    "red": "atomic",
    "cp.async": "asynchronous copy",
    "prefetch": "prefetch",
}
_NAMES: Final = {"const": "constant", "param": "parameter", "generic": "unknown"}
_TYPE: Final = re.compile(r"[bufs](\d+)(?:x2)?|bf16(?:x2)?|pred")
_VECTOR: Final = re.compile(r"v(\d)")
_BITS_OF_BYTE: Final = 8


def accesses_in(assembly: str) -> dict[str, int]:
    """Return how many there are of each: "ld.global.16"; nothing for other assembly than PTX.

    Loads of the kernel's parameters and calls are left out.
    """
    if ".address_size" not in assembly:
        return {}
    counts = Counter(
        ".".join((found[1], space, str(width)))
        for found in _OPERATION.finditer(assembly)
        for space, width in [_described(found[2])]
        if space != "param"
    )
    return dict(sorted(counts.items()))


def _described(modifiers: str) -> tuple[str, int]:
    """Return the kind of memory, and the bytes of one thread; 0: not said."""
    parts = [one.partition("::")[0] for one in modifiers.split(".") if one]
    space = next((one for one in parts if one in _SPACES), "generic")
    lanes = next((int(found[1]) for one in parts if (found := _VECTOR.fullmatch(one))), 1)
    bits = next(
        (int(found[1] or 16) for one in reversed(parts) if (found := _TYPE.fullmatch(one))), 0
    )
    return space, lanes * bits // _BITS_OF_BYTE


def label_of(key: str) -> str:
    """Return "load of global memory, 16 bytes"."""
    what, space, width = key.rsplit(".", 2)
    bytes_text = f", {width} byte{'s' if width != '1' else ''}" if width != "0" else ""
    return f"{_WORDS[what]}: {_NAMES.get(space, space)} memory{bytes_text}"
