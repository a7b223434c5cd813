"""What a results directory may decide: code and places only if the user owns it."""

from __future__ import annotations

import os
import shlex
import stat
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.files.redaction import redacted
from mneme.files.visible import visible
from mneme.knobs import CODE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["check_trusted", "is_own"]

# Options that load code, or can name files for LLVM and ptxas to write.
_REPEATED = {
    **{one.key: one.option for one in CODE_TEXTS},
    **{one.choices: one.choice_option for one in CODE_TEXTS if not one.has_files},
}


def is_own(path: Path) -> bool:
    """Whether a file was written by this user or by root, and others cannot write to it."""
    try:
        status = path.lstat()
    except OSError:
        return False
    is_ours = status.st_uid in (os.geteuid(), 0)
    return is_ours and stat.S_ISREG(status.st_mode) and not status.st_mode & stat.S_IWOTH


def check_trusted(path: Path, stored: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse options in another user's file that load code or name other places.

    Args:
        path: `config.json` of a results directory.
        stored: The options in it.
        given: Options the user has given again, which replace them.

    Raises:
        InvalidArgument: Naming the options to give again.
    """
    if is_own(path):
        return
    asked = [name for name in stored if _leads_outside(name, stored[name]) and name not in given]
    if asked:
        # The user may paste this into a shell without checking it.
        again = " ".join(_said(name, stored[name]) for name in asked)
        raise InvalidArgument(
            f"'{path}' is not your own file, and names code to load or places to write to; if you "
            f"trust it, say it again: {again}"
        )


def _leads_outside(name: str, value: object) -> bool:
    if name == "sampler":
        return ":" in str(value)
    names = ("space_module", "optuna_storage", "proteus_output", *_REPEATED)
    return name in names and bool(value)


def _said(name: str, value: object) -> str:
    """Return the words of a command line that give an option."""
    flag = _REPEATED.get(name, f"--{name.replace('_', '-')}")
    values = value if isinstance(value, list | tuple) else (value,)
    # Some options of ptxas begin with dashes.
    between = "=" if name in _REPEATED else " "
    return " ".join(f"{flag}{between}{shlex.quote(visible(redacted(str(one))))}" for one in values)
