"""The memory operations of PTX by what they do, which memory they are of, and how wide they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mneme.machine_code.ptx_text import bytes_of_type

if TYPE_CHECKING:
    from mneme.machine_code.ptx_text import PtxInstruction

__all__ = ["access_of", "label_of"]

_SPACES: Final = ("global", "shared", "const", "local", "param")
_WORDS: Final = {
    "ld": "load",
    "ldu": "load",
    **dict.fromkeys(("ldmatrix", "wmma.load"), "load of matrices"),
    **dict.fromkeys(("stmatrix", "wmma.store"), "store of matrices"),
    "st": "store",
    "atom": "atomic",
    "red": "atomic",
    "cp.async": "asynchronous copy",
    "prefetch": "prefetch",
    "prefetchu": "prefetch",
}
_NAMES: Final = {"const": "constant", "param": "parameter", "generic": "unknown"}
_VECTOR: Final = re.compile(r"v([0-9])")
# Kinds of cp.async that copy nothing.
_WAITS: Final = re.compile(r"async(?:\.bulk)?\.(?:commit|wait|mbarrier)")
# The bytes of an asynchronous copy, behind where to and where from; a register does not tell.
_COPIED: Final = re.compile(
    r"\s*\[[^]]*\]\s*,\s*\[[^]]*\]\s*,\s*(?:0[xX]([0-9a-fA-F]{1,8})|([0-9]{1,9}))\b"
)


def access_of(one: PtxInstruction) -> str:
    """Return what an instruction does to memory: "ld.global.16"; empty: nothing.

    Loads of the kernel's parameters and calls are left out.
    """
    what = _operation(one)
    space, width = _described(what, one.modifiers)
    if copied := _COPIED.match(one.operands) if what == "cp.async" else None:
        width = int(copied[1], 16) if copied[1] else int(copied[2])
    return "" if what not in _WORDS or space == "param" else f"{what}.{space}.{width}"


def _operation(one: PtxInstruction) -> str:
    if one.opcode == "cp" and not _WAITS.match(".".join(one.modifiers)):
        return f"cp.{one.modifiers[0]}" if one.modifiers else one.opcode
    return f"wmma.{one.modifiers[0]}" if one.opcode == "wmma" and one.modifiers else one.opcode


def _described(operation: str, modifiers: tuple[str, ...]) -> tuple[str, int]:
    """Return the kind of memory, and the bytes of one thread; 0: unknown."""
    parts = [one.partition("::")[0] for one in modifiers]
    space = next((one for one in parts if one in _SPACES), "generic")
    if operation.endswith("matrix") or operation.startswith("wmma"):  # of whole warps
        return space, 0
    lanes = next((int(found[1]) for one in parts if (found := _VECTOR.fullmatch(one))), 1)
    return space, lanes * next(filter(None, map(bytes_of_type, reversed(parts))), 0)


def label_of(key: str) -> str:
    """Return "load: global memory, 16 bytes"."""
    what, space, width = key.rsplit(".", 2)
    bytes_text = f", {width} byte{'s' if width != '1' else ''}" if width != "0" else ""
    return f"{_WORDS[what]}: {_NAMES.get(space, space)} memory{bytes_text}"
