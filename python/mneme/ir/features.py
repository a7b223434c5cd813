"""Numbers that describe code: what instructions it has, what memory it uses, how it flows."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from mneme.ir.calls import CALLS, callee_of, kind_of_call
from mneme.ir.flow import flow_of
from mneme.ir.module_text import read_module, split_list
from mneme.ir.pointers import SPACES, Pointers
from mneme.ir.types import bytes_of, element_of, is_vector, type_at_start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mneme.ir.flow import Flow
    from mneme.ir.module_text import Function, Instruction, Module

__all__ = ["FEATURES", "OPCODES", "code_features", "features_of"]

OPCODES: Final = (
    *("ret", "br", "switch", "indirectbr", "invoke", "unreachable"),
    *("fneg", "add", "fadd", "sub", "fsub", "mul", "fmul", "udiv", "sdiv", "fdiv"),
    *("urem", "srem", "frem", "shl", "lshr", "ashr", "and", "or", "xor"),
    *("extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue"),
    *("alloca", "load", "store", "fence", "cmpxchg", "atomicrmw", "getelementptr"),
    *("trunc", "zext", "sext", "fptoui", "fptosi", "uitofp", "sitofp", "fptrunc", "fpext"),
    *("ptrtoint", "inttoptr", "bitcast", "addrspacecast"),
    *("icmp", "fcmp", "phi", "select", "freeze", "call"),
)
"""Instructions that are counted by their name."""

_FLOATING: Final = frozenset(("fneg", "fadd", "fsub", "fmul", "fdiv", "frem"))
_WHOLE: Final = frozenset(
    (
        *("add", "sub", "mul", "udiv", "sdiv", "urem", "srem"),
        *("shl", "lshr", "ashr", "and", "or", "xor"),
    )
)
_WIDTHS: Final = {"i1": "1", "i8": "8", "i16": "16", "i32": "32", "i64": "64"}
_PRECISIONS: Final = {"half": "half", "bfloat": "half", "float": "float", "double": "double"}
_FUSED: Final = re.compile(r"\bfmaf?(?![a-z])|\bfmuladd|^__nv_fmaf?$|^__ocml_fma_")
_DEEPEST: Final = 3
_ARGUMENTS: Final = ("pointer", "integer", "float", "double", "struct", "other")


def _names() -> dict[str, str]:
    """Return all features, each with what it counts."""
    spaces = {"generic": "memory of unknown kind"}
    names = {
        "functions": "functions with a body: the kernel and what it reaches",
        "instructions": "all instructions; marks of the compiler left out",
        **{f"op_{one}": f"instructions `{one}`" for one in OPCODES},
        "op_other": "instructions of other names",
        "float_ops": "arithmetic in single precision; a fused one counts once",
        "double_ops": "arithmetic in double precision",
        "half_ops": "arithmetic in half precision, both kinds",
        "fused_ops": "fused multiplications and additions, of any precision",
        **{f"int{bits}_ops": f"arithmetic and logic on {bits} bits" for bits in _WIDTHS.values()},
        "vector_ops": "arithmetic on vectors",
    }
    for what in ("loads", "stores", "atomics"):
        names |= {f"{what}_{one}": f"{what}: {spaces.get(one, f'{one} memory')}" for one in SPACES}
    names |= {f"{what}_bytes": f"bytes of all {what}s, each once" for what in ("load", "store")}
    names |= CALLS
    names |= {
        "shared_bytes": "shared memory of fixed size",
        "local_bytes": "local variables",
        "variables": "global variables",
        "blocks": "basic blocks",
        "edges": "pairs of a block and one that may follow it",
        "branches": "branches with a condition, and switches",
        "cyclomatic": "edges - blocks + 2 for each function",
        "loops": "natural loops",
        "innermost_loops": "loops without loops in them",
        "loop_depth": "loops within one another, at most",
        "irreducible_edges": "edges back into the middle of what is entered elsewhere, too",
        "instructions_in_loops": "instructions in loops",
        **{
            f"instructions_depth_{depth}": f"instructions in {_depth_text(depth)}"
            for depth in range(_DEEPEST + 1)
        },
        "loads_in_loops": "loads in loops, those of local variables left out",
        "stores_in_loops": "stores in loops, those of local variables left out",
        "barriers_in_loops": "barriers in loops",
        "largest_block": "instructions of the largest block",
        "phi_operands": "values that all `phi` choose from",
        "arguments": "arguments of the kernel",
        **{f"arguments_{one}": f"arguments: {one}" for one in _ARGUMENTS},
        "argument_bytes": "size of the arguments, structures by what they hold",
    }
    return names


def _depth_text(depth: int) -> str:
    if depth == 0:
        return "no loop"
    more = " or more" if depth == _DEEPEST else ""
    return f"{depth}{more} loop{'s' if depth > 1 else ''}"


FEATURES: Final = _names()
"""All features in the order of files, each with what it counts."""


def code_features(ir: str | Sequence[str], kernel: str = "") -> dict[str, int]:
    """Return the features of a kernel and all it reaches.

    Args:
        ir: Text of LLVM IR, or several that are linked.
        kernel: Its mangled name; empty, or not there: everything that is in the text.
    """
    return features_of(read_module(ir).reached_from(kernel), kernel)


def features_of(reached: Module, kernel: str = "") -> dict[str, int]:
    """Return the features of what a kernel reaches; see `code_features`."""
    counts: Counter[str] = Counter()
    for function in reached.functions.values():
        _count_function(function, reached, counts)
    counts["functions"] = len(reached.functions)
    counts["variables"] = len(reached.variables)
    counts["shared_bytes"] = sum(_shared_bytes(one, reached) for one in reached.variables.values())
    _count_arguments(reached, kernel, counts)
    return {name: counts[name] for name in FEATURES}


def _count_function(function: Function, module: Module, counts: Counter[str]) -> None:
    flow = flow_of(function)
    pointers = Pointers(function, module)
    for number in flow.order:
        block = function.blocks[number]
        before = counts["instructions"]
        for one in block.instructions:
            _count(one, module, pointers, counts, in_loop=flow.depths[number] > 0)
        size = counts["instructions"] - before
        counts[f"instructions_depth_{min(flow.depths[number], _DEEPEST)}"] += size
        counts["instructions_in_loops"] += size if flow.depths[number] else 0
        counts["largest_block"] = max(counts["largest_block"], size)
        counts["branches"] += len(block.successors) > 1
    _count_flow(flow, counts)


def _count_flow(flow: Flow, counts: Counter[str]) -> None:
    counts["blocks"] += len(flow.order)
    counts["edges"] += flow.edges
    counts["cyclomatic"] += flow.edges - len(flow.order) + 2
    counts["loops"] += len(flow.loops)
    counts["innermost_loops"] += len(flow.innermost)
    counts["loop_depth"] = max(counts["loop_depth"], flow.depth)
    counts["irreducible_edges"] += flow.irreducible


def _count(
    one: Instruction, module: Module, pointers: Pointers, counts: Counter[str], *, in_loop: bool
) -> None:
    if one.opcode == "call" and not _count_call(one, module, counts, in_loop=in_loop):
        return
    counts["instructions"] += 1
    counts[f"op_{one.opcode}" if one.opcode in OPCODES else "op_other"] += 1
    if one.opcode in ("load", "store", "atomicrmw", "cmpxchg"):
        _count_access(one, pointers, counts, in_loop=in_loop)
    elif one.opcode in _FLOATING or one.opcode in _WHOLE:
        _count_arithmetic(type_at_start(one.operands), counts)
    elif one.opcode == "alloca":
        counts["local_bytes"] += bytes_of(split_list(one.operands)[0], module.types)
    elif one.opcode == "phi":
        counts["phi_operands"] += one.operands.count("[ ")
    elif one.opcode == "fence":
        counts["fences"] += 1


def _count_call(one: Instruction, module: Module, counts: Counter[str], *, in_loop: bool) -> bool:
    """Count what a call does; return whether it does anything."""
    name = callee_of(one.operands)
    kind = kind_of_call(one.operands, has_body=name in module.functions)
    if not kind:
        return False
    counts[kind] += 1
    counts["barriers_in_loops"] += in_loop and kind == "barriers"
    if _FUSED.search(name):
        counts["fused_ops"] += 1
        _count_arithmetic(_returned(one.operands), counts)
    return True


def _count_arithmetic(kind: str, counts: Counter[str]) -> None:
    element = element_of(kind)
    counts["vector_ops"] += is_vector(kind)
    if element in _PRECISIONS:
        counts[f"{_PRECISIONS[element]}_ops"] += 1
    elif element in _WIDTHS:
        counts[f"int{_WIDTHS[element]}_ops"] += 1


def _count_access(
    one: Instruction, pointers: Pointers, counts: Counter[str], *, in_loop: bool
) -> None:
    parts = split_list(one.operands)
    if one.opcode in ("atomicrmw", "cmpxchg"):
        counts[f"atomics_{pointers.space(parts[0])}"] += 1
        return
    what = one.opcode
    space = pointers.space(parts[1] if len(parts) > 1 else "")
    counts[f"{what}s_{space}"] += 1
    counts[f"{what}_bytes"] += bytes_of(type_at_start(one.operands))
    counts[f"{what}s_in_loops"] += in_loop and space != "local"


def _returned(operands: str) -> str:
    """Return the type of a call's result, which attributes may stand before."""
    head = operands.partition("@")[0]
    words = iter(re.findall(r"<[^<>]*>|[\w.]+(?:\([^()]*\))?", head))
    known = {*_PRECISIONS, *_WIDTHS}
    return next((one for one in words if one in known or one.startswith("<")), "")


def _shared_bytes(definition: str, module: Module) -> int:
    found = re.search(r"\baddrspace\(3\) (?:[\w()]+ )*?(?:global|constant) (.*)", definition)
    return bytes_of(type_at_start(found[1]), module.types) if found else 0


def _count_arguments(module: Module, kernel: str, counts: Counter[str]) -> None:
    function = module.functions.get(kernel) or next(_kernels(module), None)
    for text in function.parameters if function is not None else ():
        inner = re.search(r"\bbyval\((.*?)\) ", text)
        kind = inner[1] if inner else type_at_start(text)
        counts["arguments"] += 1
        counts["argument_bytes"] += bytes_of(kind, module.types)
        counts[f"arguments_{'struct' if inner else _sort_of(kind)}"] += 1


def _sort_of(kind: str) -> str:
    if kind in ("float", "double"):
        return kind
    if kind[:1] == "i" and kind[1:].isdecimal():
        return "integer"
    if kind.startswith(("{", "[", "%")):
        return "struct"
    return "pointer" if kind == "ptr" else "other"


def _kernels(module: Module) -> Iterator[Function]:
    return (one for one in module.functions.values() if one.is_kernel)
