"""Facts for a search from the code and memory of a recorded launch."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any, Final, Literal

from mneme.files.regular_file import read_bytes
from mneme.recording.launch_facts import leaves_changes, sees_few_values

__all__ = [
    "bound_of_image",
    "changes_memory",
    "counts_blocks",
    "exchanges_values",
    "has_loops",
    "prints",
    "recorded_ir",
    "takes_any_grid",
    "why_launch_stays",
]

_SNAPSHOTS: Final = ("prologue", "epilogue")
_NAME: Final = r'(?:"[^"]*"|[-\w.$]+)'
_LABEL: Final = re.compile(rf"^({_NAME}):")
# How code reads the number of blocks and its own block: registers, or a device library.
_COUNTS: Final = r"\bnctaid\.{axis}\b|__ockl_get_(?:num_groups|global_size)"
_ASKS: Final = re.compile(r"\bctaid\.|__ockl_get_group_id|\bworkgroup\.id\.")
# All dimensions may be in memory; the second is a function that reads only a block's size there.
_HIDDEN: Final = re.compile(r"\.(?:implicitarg|dispatch)\.ptr")
_BLOCK_SIZE: Final = "__ockl_get_local_size"
_DECLARED: Final = re.compile(r"^declare [^@]*@\"?([^\"(]+)", re.MULTILINE)
# Functions without code of the program: mathematics, printf, assert, malloc.
_KNOWN: Final = ("llvm.", "__nv_", "__ockl_", "__ocml_", "vprintf", "__assert", "malloc", "free")
_PRINTS: Final = re.compile(r"@(?:vprintf|printf|puts|__ockl_\w*printf\w*)\b")
_EXCHANGES: Final = re.compile(
    r"addrspace\(3\)|\bbarrier|\bbar\.(?:warp\.)?sync|\bs\.barrier|\bshfl\b|\bvote\b|\bredux\b|"
    r"\bmatch\.(?:any|all)|bpermute|\bpermlane|\bds\.swizzle|\breadlane|\bballot"
)
_TARGET: Final = re.compile(rf"\blabel %({_NAME})")


def recorded_ir(kernel: Any) -> str | None:  # noqa: ANN401 - an instance, or what a script has
    """Return the IR of a recorded kernel as text; None if it is not available."""
    prologue = getattr(getattr(kernel, "prologue", None), "fn", None)
    if prologue is None:
        return None
    folder, name = Path(str(prologue)).parent, f"RecordedIR_{getattr(kernel, 'static_hash', '')}"
    files = (folder / f"{name}{end}" for end in (".bc", ".ll"))
    code = next(filter(Path.is_file, files), None)
    return _text_of(code) if code else None


def bound_of_image(kernel: Any) -> int:  # noqa: ANN401 - an instance, or what a script has
    """Return the most threads of a block that code without IR allows; 0: it does not say."""
    return _number_of_image(kernel, "max_threads")


def _number_of_image(
    kernel: Any,  # noqa: ANN401 - as above
    fact: Literal["max_threads", "exact_threads"],
) -> int:
    form = getattr(kernel, "code_form", "")
    prologue = getattr(getattr(kernel, "prologue", None), "fn", None)
    if form not in ("cubin", "ptx", "fatbin") or prologue is None:
        return 0
    from mneme import _native  # noqa: PLC0415 - loads native code

    code = Path(str(prologue)).parent / f"RecordedCode_{kernel.static_hash}.{form}"
    if not code.is_file():
        return 0
    found = [
        one[fact]
        for part in _native.describe_device_code(code)
        for one in part["kernels"]
        if one["name"] == kernel.kernel_name
    ]
    return max(found, default=0)


@functools.lru_cache(maxsize=4)
def _text_of(code: Path) -> str:
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    return _native.ir_to_text(read_bytes(code))


def changes_memory(kernel: Any) -> bool:  # noqa: ANN401 - an instance, or what a script has
    """Whether the recorded launch changed memory, as far as that is known."""
    is_known = all(getattr(getattr(kernel, name, None), "fn", None) for name in _SNAPSHOTS)
    return not is_known or leaves_changes(kernel)


def why_launch_stays(kernel: Any) -> str:  # noqa: ANN401 - an instance, or what a script has
    """Return why replays cannot tell right launches from wrong ones; empty if they can."""
    if not changes_memory(kernel):
        return "it left memory as it was, so any result looks right"
    if getattr(kernel, "code_form", "") and sees_few_values(kernel):
        return "its threads may exchange values, and nearly all values in memory were the same"
    ir = recorded_ir(kernel) or ""
    if '"nvvm.reqntid"' in ir or _number_of_image(kernel, "exact_threads"):
        return "its code says how many threads a block has"
    if prints(ir):
        return "the kernel prints, which replays do not compare"
    if exchanges_values(ir) and sees_few_values(kernel):
        return "its threads exchange values, and nearly all values in memory were the same"
    return ""


def takes_any_grid(kernel: Any) -> bool | None:  # noqa: ANN401 - an instance, or what a script has
    """Whether the code can work with any number of blocks; None if it is not known."""
    ir = recorded_ir(kernel)
    axis = max("xyz", key=lambda name: int(getattr(kernel.grid_dim, name)))
    return None if ir is None else counts_blocks(ir, axis)


def has_loops(ir: str) -> bool:
    """Whether a function may have a loop: a jump to a block that does not follow it.

    Blocks in another order than their execution look like loops; real loops are always found.
    """
    behind: set[str] = set()
    for line in ir.splitlines():
        if line.startswith("define "):
            behind = set()
        elif label := _LABEL.match(line):
            behind.add(label[1])
        elif any(target in behind for target in _TARGET.findall(line)):
            return True
    return False


def counts_blocks(ir: str, axis: str) -> bool | None:
    """Whether a kernel reads its number of blocks along an axis.

    A kernel that reads the index of its block but never the number of blocks cannot do the same
    work with fewer. None if unknown, as when it calls functions of other units, or if nothing
    depends on the block's index, as in a queue of work.
    """
    if re.search(_COUNTS.format(axis=axis), ir):
        return True
    is_known = all(name.startswith(_KNOWN) for name in _DECLARED.findall(ir))
    hides_it = _BLOCK_SIZE not in ir and _HIDDEN.search(ir)
    return False if is_known and not hides_it and _ASKS.search(ir) else None


def exchanges_values(ir: str) -> bool:
    """Whether threads of a block may see values of others."""
    return bool(_EXCHANGES.search(ir))


def prints(ir: str) -> bool:
    """Whether a kernel may print."""
    return bool(_PRINTS.search(ir))
