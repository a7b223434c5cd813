"""Numbers that describe PTX: what instructions a kernel has, each counted once.

The text does not tell how often instructions are executed, in which order, and in which registers:
ptxas and the launch decide.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from mneme.machine_code.accesses import access_of
from mneme.machine_code.ptx_text import bytes_of_type

if TYPE_CHECKING:
    from mneme.machine_code.ptx_text import PtxFunction, PtxInstruction, PtxModule

__all__ = ["PTX_FEATURES", "accesses_of", "ptx_features"]

PTX_FEATURES: Final = {
    "functions": "functions with a body: the kernel, and what it calls or takes the address of",
    "instructions": "all instructions",
    "loops": "places that a branch goes back to",
    "instructions_in_loops": "instructions between such a place and the last branch back to it",
    "branches": "branches with a condition, and indexed ones",
    "jumps": "branches without a condition",
    "float_ops": "arithmetic in single precision; a fused one counts once",
    "double_ops": "arithmetic in double precision",
    "half_ops": "arithmetic in half precision, both kinds",
    "fused_ops": "fused multiplications and additions of floating point, of any precision",
    "special_ops": "reciprocals, roots, sines, cosines, powers and logarithms, of any precision",
    "divisions": "divisions and remainders, of any type",
    "tensor_ops": "products of matrices, by a warp or more: `mma`, `wmma`, `wgmma`, `tcgen05`",
    "int64_ops": "arithmetic and logic with results of 64 bits",
    "int32_ops": "arithmetic and logic with results of 32 bits",
    "int16_ops": "arithmetic and logic with results of 16 bits or less",
    "predicate_ops": "logic on predicates",
    "comparisons": "comparisons, and selections by a predicate",
    "conversions": "conversions between types",
    "moves": "copies between registers, and addresses of variables and spaces",
    "parameter_accesses": "loads of parameters, and values that go into calls and out of them",
    "loads_in_loops": "loads in loops, without those of parameters and local memory",
    "stores_in_loops": "stores in loops, without those of local memory",
    "textures": "reads of textures, and reads and writes of surfaces",
    "barriers": "barriers of a block",
    "barriers_in_loops": "barriers of a block in loops",
    "warp_barriers": "barriers of a warp",
    "cluster_barriers": "barriers of a cluster",
    "mbarriers": "operations on barriers in memory",
    "fences": "fences of memory",
    "shuffles": "exchanges in a warp",
    "votes": "votes, matches and reductions in a warp",
    "own_calls": "calls of functions with a body",
    "other_calls": "calls of functions without one, as `printf`",
    "indirect_calls": "calls of what a register names",
    "other_instructions": "instructions of other names, as `ret`",
    "shared_bytes": "shared variables of fixed size that are used",
    "local_bytes": "local variables",
}
"""All features in their order, each with what it counts."""

_SPECIAL: Final = frozenset(("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"))
_ARITHMETIC: Final = _SPECIAL | frozenset(
    (
        *("add", "sub", "mul", "mad", "fma", "div", "rem", "abs", "neg", "min", "max", "sad"),
        *("addc", "subc", "madc", "mul24", "mad24", "copysign", "dp4a", "dp2a"),
        *("and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf"),
        *("popc", "clz", "bfind", "fns", "brev", "bfe", "bfi", "szext", "bmsk", "prmt"),
        *("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad"),
        *(
            f"v{one}{width}"
            for one in ("add", "sub", "avrg", "absdiff", "min", "max")
            for width in "24"
        ),
    )
)
_KINDS: Final = {
    **dict.fromkeys(
        ("set", "setp", "selp", "slct", "vset", "vset2", "vset4", "testp"), "comparisons"
    ),
    **dict.fromkeys(("cvt",), "conversions"),
    **dict.fromkeys(("mov", "cvta", "mapa", "isspacep", "getctarank", "createpolicy"), "moves"),
    **dict.fromkeys(("tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"), "textures"),
    **dict.fromkeys(("membar", "fence"), "fences"),
    **dict.fromkeys(("vote", "match", "redux", "activemask", "elect"), "votes"),
    "mbarrier": "mbarriers",
    "shfl": "shuffles",
    "mma": "tensor_ops",
}
_MATRICES: Final = {"wmma": "mma", "wgmma": "mma_async", "tcgen05": "mma"}
_PRECISIONS: Final = {
    **dict.fromkeys(("f64",), "double_ops"),
    **dict.fromkeys(("f32", "f32x2"), "float_ops"),
    **dict.fromkeys(("f16", "f16x2", "bf16", "bf16x2"), "half_ops"),
    "pred": "predicate_ops",
}
_FLOATING: Final = frozenset(("double_ops", "float_ops", "half_ops"))
_WIDTHS: Final = {8: "int64_ops", 4: "int32_ops", 2: "int16_ops", 1: "int16_ops"}
_OTHER: Final = "other_instructions"
# They give a number of bits, or a place, whatever they are applied to.
_COUNTING: Final = ("popc", "clz", "bfind")
_COUNTED: Final = "int32_ops"
_INTEGERS: Final = ("b", "u", "s")
_READ: Final = ("ld", "ldu", "ldmatrix")
_WRITTEN: Final = ("st", "stmatrix")


def ptx_features(module: PtxModule, kernel: str) -> dict[str, int]:
    """Return the features of a kernel and the functions that it names; all 0 if it is not there."""
    counts: Counter[str] = Counter()
    reached = module.reached_from(kernel)
    for function in reached:
        _count_function(function, module, counts)
    counts["functions"] = len(reached)
    counts["shared_bytes"] += sum(
        size
        for name, size in module.shared.items()
        if any(function.mentions(name) for function in reached)
    )
    return {name: counts[name] for name in PTX_FEATURES}


def accesses_of(module: PtxModule, kernel: str) -> dict[str, int]:
    """Return how many memory operations of each kind there are: {"ld.global.16": 2}."""
    counts = Counter(
        access_of(one)
        for function in module.reached_from(kernel)
        for one in function.code.instructions
    )
    return {name: count for name, count in sorted(counts.items()) if name}


def _count_function(function: PtxFunction, module: PtxModule, counts: Counter[str]) -> None:
    code = function.code
    counts["loops"] += len(code.loops())
    for one, is_in_loop in zip(code.instructions, code.in_loops(), strict=True):
        access = access_of(one)
        kind = "memory" if access else _kind_of(one, module)
        counts["instructions"] += 1
        counts[kind] += 1
        _count_details(one, kind, counts)
        if is_in_loop:
            _count_in_loop(one, kind, access, counts)
    for variable in function.variables:
        counts[f"{variable.space}_bytes"] += variable.size_bytes


def _kind_of(one: PtxInstruction, module: PtxModule) -> str:
    """Return the feature that counts an instruction that is no memory operation."""
    if one.opcode in ("ld", "st") and any(part.startswith("param") for part in one.modifiers):
        return "parameter_accesses"
    if _MATRICES.get(one.opcode) in one.modifiers:
        return "tensor_ops"
    if one.opcode == "call":
        return _call(one, module)
    return _arithmetic(one) if one.opcode in _ARITHMETIC else _control(one)


def _control(one: PtxInstruction) -> str:
    if one.opcode in ("bra", "brx"):
        return "branches" if one.is_guarded or one.opcode == "brx" else "jumps"
    if one.opcode in ("bar", "barrier"):
        scope = next((f"{part}_" for part in one.modifiers if part in ("warp", "cluster")), "")
        return f"{scope}barriers"
    return _KINDS.get(one.opcode, _OTHER)


def _arithmetic(one: PtxInstruction) -> str:
    """Return by what type it counts: that of its result."""
    if one.opcode in _COUNTING:
        return _COUNTED
    times = 2 if "wide" in one.modifiers else 1
    for part in one.modifiers:
        if part in _PRECISIONS:
            return _PRECISIONS[part]
        if part.startswith(_INTEGERS) and (width := bytes_of_type(part.partition("x")[0])):
            return _WIDTHS.get(times * width, _OTHER)
    return _OTHER


def _call(one: PtxInstruction, module: PtxModule) -> str:
    from_register = one.callee.startswith("%")
    own = one.callee in module.functions
    return "indirect_calls" if from_register else "own_calls" if own else "other_calls"


def _count_details(one: PtxInstruction, kind: str, counts: Counter[str]) -> None:
    counts["special_ops"] += one.opcode in _SPECIAL
    counts["divisions"] += one.opcode in ("div", "rem")
    counts["fused_ops"] += one.opcode in ("fma", "mad") and kind in _FLOATING


def _count_in_loop(one: PtxInstruction, kind: str, access: str, counts: Counter[str]) -> None:
    counts["instructions_in_loops"] += 1
    counts["barriers_in_loops"] += kind == "barriers"
    is_local = ".local." in access
    counts["loads_in_loops"] += one.opcode in _READ and bool(access) and not is_local
    counts["stores_in_loops"] += one.opcode in _WRITTEN and bool(access) and not is_local
