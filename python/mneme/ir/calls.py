"""What calls of a GPU's code do, by the names of what they call."""

from __future__ import annotations

import re
from typing import Final

from mneme.ir.module_text import NAME

__all__ = ["CALLS", "callee_of", "kind_of_call"]

CALLS: Final = {
    "barriers": "calls that wait for the threads of a block or warp",
    "shuffles": "calls that exchange values in a warp: shuffles, votes, matches, reductions",
    "fences": "fences, and calls that are some",
    "atomic_calls": "calls of atomic operations",
    "index_reads": "reads of an index or extent of thread, block or grid",
    "math_calls": "calls of mathematical functions",
    "memory_calls": "calls that copy or fill memory",
    "async_copies": "calls that copy between memories behind the thread's back",
    "tensor_calls": "calls of operations on matrices",
    "asm_calls": "inline assembly",
    "indirect_calls": "calls through pointers",
    "own_calls": "calls of functions whose body is there",
    "other_calls": "calls of other functions and intrinsics",
}
"""Kinds of calls, each with what it counts."""

_CALLEE: Final = re.compile(rf"@({NAME})\(")
_NOTHING: Final = re.compile(
    r"^llvm\.(?:lifetime|dbg|assume|experimental\.noalias|annotation|invariant|var\.annotation|"
    r"donothing|pseudoprobe|sideeffect)"
)
_KINDS: Final = (
    (
        "tensor_calls",
        re.compile(r"\b(?:wmma|mma|wgmma|tcgen05|mfma|smfmac|wmmac|ldmatrix|stmatrix)\b"),
    ),
    ("async_copies", re.compile(r"cp\.async|global\.load\.lds|load\.to\.lds|tensormap")),
    (
        "shuffles",
        re.compile(
            r"shfl|\bvote\b|redux|match\.(?:any|all)|__(?:any|all|ballot|match|reduce)_sync|"
            r"bpermute|permlane|ds\.swizzle|readlane|readfirstlane|ballot|update\.dpp"
        ),
    ),
    ("fences", re.compile(r"membar|fence|threadfence")),
    ("barriers", re.compile(r"barrier|syncthreads|syncwarp|\.bar\.|bar\.sync|bar\.warp")),
    ("atomic_calls", re.compile(r"atomic", re.IGNORECASE)),
    (
        "index_reads",
        re.compile(
            r"read\.ptx\.sreg|workitem\.id|workgroup\.id|__ockl_get_|__fetch_builtin|"
            r"dispatch\.ptr|implicitarg\.ptr"
        ),
    ),
    ("memory_calls", re.compile(r"^llvm\.mem(?:cpy|set|move)|^mem(?:cpy|set|move)")),
    (
        "math_calls",
        re.compile(
            r"^__nv_|^__ocml_|^llvm\.(?:nvvm\.|amdgcn\.)?(?:sqrt|rsq|rcp|sin|cos|tan|"
            r"exp(?!erimental)|log|pow|fma|fabs|floor|ceil|trunc|rint|round|min|max|fmin|fmax|abs|"
            r"copysign|ctpop|ctlz|cttz|bitreverse|bswap|fsh|smax|smin|umax|umin|ex2|lg2|div|mul|"
            r"add|saturate)"
        ),
    ),
)


def callee_of(operands: str) -> str:
    """Return the function that a call names; empty if it calls something else."""
    head = operands.partition(" asm ")[0]
    found = _CALLEE.search(head)
    return found[1].strip('"') if found else ""


def kind_of_call(operands: str, *, has_body: bool) -> str:
    """Return the kind of a call, of `CALLS`; empty for marks of the compiler.

    Args:
        operands: What follows "call".
        has_body: Whether the function that it names has a body.
    """
    name = callee_of(operands)
    if " asm " in f" {operands}":
        return "asm_calls"
    if not name:
        return "indirect_calls"
    if has_body:
        return "own_calls"  # what it does is counted there
    if _NOTHING.search(name):
        return ""
    return next((kind for kind, pattern in _KINDS if pattern.search(name)), "other_calls")
