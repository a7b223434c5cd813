"""What code and memory of a recorded launch tell a search."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any, Final

from mneme.files.regular_file import read_bytes
from mneme.recording.launch_facts import leaves_changes

__all__ = [
    "changes_memory",
    "has_loops",
    "prints",
    "reads_grid",
    "recorded_ir",
    "takes_any_grid",
    "why_launch_stays",
]

_SNAPSHOTS: Final = ("prologue", "epilogue")
_NAME: Final = r'(?:"[^"]*"|[-\w.$]+)'
_LABEL: Final = re.compile(rf"^({_NAME}):")
# How code learns how many blocks there are: a register, or functions of a device library.
_GRID: Final = re.compile(r"\bnctaid\b|__ockl_get_(?:num_groups|global_size)")
# Elsewhere all dimensions lie in memory; who reads that for the size of a block only.
_HIDDEN: Final = re.compile(r"\.(?:implicitarg|dispatch)\.ptr")
_BLOCK: Final = "__ockl_get_local_size"
_PRINTS: Final = re.compile(r"@(?:vprintf|printf|puts|__ockl_\w*printf\w*)\b")
_TARGET: Final = re.compile(rf"\blabel %({_NAME})")


def recorded_ir(kernel: Any) -> str | None:  # noqa: ANN401 - an instance, or what a script has
    """Return the IR of a recorded kernel as text; None if it is not known where that is."""
    prologue = getattr(getattr(kernel, "prologue", None), "fn", None)
    if prologue is None:
        return None
    code = Path(str(prologue)).parent / f"RecordedIR_{getattr(kernel, 'static_hash', '')}.bc"
    return _text_of(code) if code.is_file() else None


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
        return "it left memory as it was, so that any looks right"
    if prints(recorded_ir(kernel) or ""):
        return "the kernel prints, which replays do not compare"
    return ""


def takes_any_grid(kernel: Any) -> bool | None:  # noqa: ANN401 - an instance, or what a script has
    """Whether the code can work with any number of blocks; None if it is not known."""
    ir = recorded_ir(kernel)
    return None if ir is None else reads_grid(ir)


def has_loops(ir: str) -> bool:
    """Whether a function may have a loop: jumps to a block that is not behind the jump.

    Blocks that stand in another order than they run in look like loops, loops never look like
    none.
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


def reads_grid(ir: str) -> bool:
    """Whether a kernel can know how many blocks it has, without which it needs the recorded ones.

    Blocks that take work from a counter need not know it; they are taken for others.
    """
    return bool(_GRID.search(ir)) or (_BLOCK not in ir and bool(_HIDDEN.search(ir)))


def prints(ir: str) -> bool:
    """Whether a kernel may print."""
    return bool(_PRINTS.search(ir))
