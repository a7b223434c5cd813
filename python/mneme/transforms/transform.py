"""Changes to IR other than those of a replay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mneme.recording.llvm_modules import replace_content

if TYPE_CHECKING:
    from llvmlite.binding import ModuleRef

__all__ = ["remove_auto_initialize"]

_AUTO_INIT = re.compile(r'^!(\d+) = !\{!"auto-init"\}', re.MULTILINE)
_STORES = re.compile(r"^\s+(?:tail )?(?:store |call void @llvm\.mem(?:set|cpy))")


def remove_auto_initialize(module: ModuleRef) -> ModuleRef:
    """Remove the initialisations that `-ftrivial-auto-var-init` added to local variables.

    Args:
        module: Changed.

    Returns:
        The same module.
    """
    text = str(module)
    numbers = _AUTO_INIT.findall(text)
    if not numbers:
        return module
    mark = re.compile(rf"!annotation !(?:{'|'.join(numbers)})(?!\d)")
    kept = [one for one in text.splitlines() if not (_STORES.match(one) and mark.search(one))]
    return replace_content(module, "\n".join(kept) + "\n")
