"""Describes a kernel's code and launch by a few numbers, and compares kernels by them.

Counts come from the recorded IR, before any optimisation, so that they are the same for each
device. A number is the logarithm of a count: twice as many loads make a difference of 1.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Features", "alike", "features_of"]

Features = dict[str, float]
"""Logarithms to base 2 of counts, by name."""

_NAME: Final = r'(?:"[^"]*"|[-\w.$]+)'
_ALLOCA: Final = re.compile(rf"%({_NAME}) = alloca ")
_CAST: Final = re.compile(rf"%({_NAME}) = addrspacecast ptr[^%]*%({_NAME}) to ptr")
_LABEL: Final = re.compile(rf"^({_NAME}):")
_TARGET: Final = re.compile(rf"\blabel %({_NAME})")
_POINTER: Final = re.compile(rf"\bptr(?: addrspace\(\d+\))? %({_NAME})")
_OPCODE: Final = re.compile(rf"^  (?:%{_NAME} = )?(?:(?:tail|musttail|notail) )?([a-z_]+)")
_SHARED: Final = re.compile(r"^@.* addrspace\(3\) (?:global|constant) (.+?)(?:,|$)")
_CALLED: Final = re.compile(rf"@({_NAME})\(")
_ARRAY: Final = re.compile(r"\[(\d+) x ")
_SCALAR_BYTES: Final = {"float": 4, "double": 8, "half": 2, "bfloat": 2, "ptr": 8}

_FLOATING: Final = frozenset(("fadd", "fsub", "fmul", "fneg"))
_WHOLE: Final = frozenset(("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor"))
_DIVIDING: Final = frozenset(("fdiv", "frem", "sdiv", "udiv", "srem", "urem"))
_ATOMIC: Final = frozenset(("atomicrmw", "cmpxchg"))
_CHOOSING: Final = frozenset(("br", "switch"))
# Calls that do no work: marks of the compiler, and the index of a thread.
_NO_WORK: Final = re.compile(
    r"llvm\.(?:lifetime|dbg|assume|experimental|annotation)|__fetch_builtin|sreg"
)
_ATOMIC_CALL: Final = re.compile(r"atomic", re.IGNORECASE)
_BARRIER: Final = re.compile(r"barrier|syncthreads|\.bar\.")

_NAMES: Final = (
    *("loads", "stores", "atomics", "float", "double", "integer", "divisions"),
    *("branches", "loops", "calls", "barriers", "shared_bytes"),
    *("arguments", "pointers", "threads", "blocks"),
)
# The size of a launch matters less than what the code does.
_WEIGHTS: Final = {"threads": 0.5, "blocks": 0.25, "arguments": 0.5}


def features_of(
    ir: str, *, kernel: str, grid: Sequence[int], block: Sequence[int], shared_mem: int
) -> Features:
    """Return the features of a kernel.

    Args:
        ir: Its code and what it reaches, as text.
        kernel: Its mangled name.
        grid: Blocks in x, y, z.
        block: Threads of one in x, y, z.
        shared_mem: Bytes of dynamic shared memory.
    """
    counts = dict.fromkeys(_NAMES, 0)
    for function in _functions(ir):
        _count(function, counts)
    for line in ir.splitlines():
        if line.startswith("define ") and f"@{kernel}(" in line.replace('"', ""):
            taken = line[line.index("(", line.index("@")) :].partition(") #")[0]
            counts["arguments"] = taken.count("%")
            counts["pointers"] = len(re.findall(r"\bptr\b", taken))
        elif line.startswith("@") and (shared := _SHARED.match(line)):
            counts["shared_bytes"] += _bytes_of(shared[1])
    counts["shared_bytes"] += shared_mem
    counts["threads"] = math.prod(block)
    counts["blocks"] = math.prod(grid)
    return {name: round(math.log2(1 + count), 3) for name, count in counts.items()}


def alike(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the similarity of two kernels: 1 for the same numbers, towards 0 for none in common.

    Numbers that only one of them has are ignored.
    """
    names = [name for name in one if name in other]
    weights = [_WEIGHTS.get(name, 1.0) for name in names]
    if not names:
        return 0.0
    square = sum(
        weight * (one[name] - other[name]) ** 2 for name, weight in zip(names, weights, strict=True)
    )
    return float(2 ** -math.sqrt(square / sum(weights)))


def _functions(ir: str) -> Iterator[list[str]]:
    """Yield the lines of each function that has a body."""
    body: list[str] | None = None
    for line in ir.splitlines():
        if line.startswith("define "):
            body = []
        elif line == "}" and body is not None:
            yield body
            body = None
        elif body is not None:
            body.append(line)


def _count(body: Sequence[str], counts: dict[str, int]) -> None:
    """Count a function's instructions, without loads and stores of its local variables."""
    own: set[str] = set()
    behind: set[str] = set()
    for line in body:
        if label := _LABEL.match(line):
            behind.add(label[1])
            continue
        if (found := _OPCODE.match(line)) is None:
            continue
        opcode = found[1]
        if opcode == "alloca" and (variable := _ALLOCA.search(line)):
            own.add(variable[1])
        elif opcode == "addrspacecast" and (cast := _CAST.search(line)):
            own.update({cast[1]} if cast[2] in own else ())
        elif opcode in ("load", "store"):
            used = _POINTER.findall(line)
            counts[f"{opcode}s"] += not (used and used[-1] in own)
        else:
            _count_other(opcode, line, behind, counts)


def _count_other(opcode: str, line: str, behind: set[str], counts: dict[str, int]) -> None:
    if opcode in _FLOATING:
        counts["double" if " double " in line else "float"] += 1
    elif opcode in _WHOLE:
        counts["integer"] += 1
    elif opcode in _DIVIDING:
        counts["divisions"] += 1
    elif opcode in _ATOMIC:
        counts["atomics"] += 1
    elif opcode in _CHOOSING:
        targets = _TARGET.findall(line)
        counts["branches"] += len(targets) > 1
        counts["loops"] += any(target in behind for target in targets)
    elif opcode == "call":
        called = _CALLED.search(line)
        name = called[1] if called else ""
        if _BARRIER.search(name):
            counts["barriers"] += 1
        elif _ATOMIC_CALL.search(name):
            counts["atomics"] += 1
        elif not _NO_WORK.search(name):
            counts["calls"] += 1


def _bytes_of(kind: str) -> int:
    """Return the size of an array of scalars; 0 for other types."""
    # An initial value follows the type.
    extents = [int(one) for one in _ARRAY.findall(kind)]
    scalar = _ARRAY.sub("", kind).partition("]")[0].split()[0]
    if scalar.startswith("i") and scalar[1:].isdigit():
        size = -(-int(scalar[1:]) // 8)
    else:
        size = _SCALAR_BYTES.get(scalar, 0)
    return math.prod(extents) * size
