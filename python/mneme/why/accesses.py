"""The memory operations of PTX by what they do, which memory they are of, and how wide they are."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

__all__ = ["accesses_in", "label_of"]

# Not what only begins alike: redux.sync, cp.async.wait_group, cp.async.mbarrier.
_OPERATION: Final = re.compile(
    r"^\s*(?:@!?%\w+\s+)?(ldmatrix|stmatrix|ldu?|st|atom|red|prefetchu?"
    r"|cp\.async(?!(?:\.bulk)?\.(?:commit|wait|mbarrier)))((?:\.[\w:]+)*)(?=[\s;])",
    re.MULTILINE,
)
_SPACES: Final = ("global", "shared", "const", "local", "param")
_WORDS: Final = {
    "ld": "load",
    "ldu": "load",
    "ldmatrix": "load of matrices",
    "stmatrix": "store of matrices",
    "st": "store",
    "atom": "atomic",
    "red": "atomic",
    "cp.async": "asynchronous copy",
    "prefetch": "prefetch",
    "prefetchu": "prefetch",
}
_NAMES: Final = {"const": "constant", "param": "parameter", "generic": "unknown"}
_TYPE: Final = re.compile(r"(?:[bufs]|bf)(\d+)(?:x(\d))?")
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
        for space, width in [_described(found[1], found[2])]
        if space != "param"
    )
    return dict(sorted(counts.items()))


def _described(operation: str, modifiers: str) -> tuple[str, int]:
    """Return the kind of memory, and the bytes of one thread; 0: unknown."""
    parts = [one.partition("::")[0] for one in modifiers.split(".") if one]
    space = next((one for one in parts if one in _SPACES), "generic")
    if operation.endswith("matrix"):  # of whole warps
        return space, 0
    lanes = next((int(found[1]) for one in parts if (found := _VECTOR.fullmatch(one))), 1)
    types = (found for one in reversed(parts) if (found := _TYPE.fullmatch(one)))
    bits = next((int(one[1]) * int(one[2] or 1) for one in types), 0)
    return space, lanes * bits // _BITS_OF_BYTE


def label_of(key: str) -> str:
    """Return "load: global memory, 16 bytes"."""
    what, space, width = key.rsplit(".", 2)
    bytes_text = f", {width} byte{'s' if width != '1' else ''}" if width != "0" else ""
    return f"{_WORDS[what]}: {_NAMES.get(space, space)} memory{bytes_text}"
