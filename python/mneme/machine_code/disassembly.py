"""The instructions of machine code by opcode, where NVIDIA's nvdisasm is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme import _vendors

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["find_nvdisasm", "opcodes_in", "opcodes_of"]

_SECTION: Final = re.compile(r"^\.text\.(\S+):", re.MULTILINE)
_INSTRUCTION: Final = re.compile(
    r"^\s*(?:\{\s*)?/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w*)", re.MULTILINE
)
_PROGRAM: Final = "nvdisasm"
_PADDING: Final = "NOP"
_SECONDS: Final = 60.0


def find_nvdisasm() -> Path | None:
    """Return the program: `MNEME_NVDISASM`, else that of a toolkit; None if there is none."""
    return next((one for one in _places() if os.access(one, os.X_OK) and one.is_file()), None)


def _places() -> Iterator[Path]:
    if named := os.environ.get("MNEME_NVDISASM"):
        yield Path(named)
        return
    roots = [os.environ.get(name) for name in _vendors.TOOLKIT_VARIABLES]
    yield from (Path(root, "bin", _PROGRAM) for root in roots if root)
    if found := shutil.which(_PROGRAM):
        yield Path(found)
    yield Path(_vendors.TOOLKIT_USUAL_PLACE, "bin", _PROGRAM)
    for folder in (Path(one) for one in sys.path if one.endswith("-packages")):
        yield from folder.glob(f"{_vendors.TOOLKIT_WHEELS}/bin/{_PROGRAM}")


def opcodes_of(image: bytes, kernel: str) -> dict[str, int] | None:
    """Return how many instructions a kernel has of each opcode; None: it cannot be disassembled.

    Args:
        image: A cubin.
        kernel: Its mangled name.
    """
    program = find_nvdisasm() if image.startswith(b"\x7fELF") else None
    if program is None:
        return None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        command = [str(program), "--print-code", file.name]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                check=True,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.SubprocessError):
            return None  # an older one does not know newer GPUs
    return opcodes_in(done.stdout, kernel)


def opcodes_in(listing: str, kernel: str) -> dict[str, int] | None:
    """Return the same of what nvdisasm printed, the most frequent first, without padding."""
    sections = _SECTION.split(listing)
    texts = dict(zip(sections[1::2], sections[2::2], strict=True))
    if kernel not in texts:
        return None
    counts = Counter(one[1] for one in _INSTRUCTION.finditer(texts[kernel]))
    del counts[_PADDING]
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
