"""Prepares the template `cmake`: a name that CMake and C++ accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.scaffold.rendering import Additions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = ["prepare"]

# Targets that CMake creates itself or that the project already has.
_RESERVED = frozenset({"all", "clean", "help", "install", "main", "mneme", "package", "test"})


def prepare(request: ScaffoldRequest, recording: Mapping[str, Any] | None) -> Additions:  # noqa: ARG001 - takes no recording
    """Check the name.

    Raises:
        InvalidArgument: If it cannot name a project and its program.
    """
    name = str(request.values.get("name", "wave"))
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) or name in _RESERVED:
        raise InvalidArgument(
            f"--name is '{name}'; it must be letters, digits and underscores, and none of "
            + ", ".join(sorted(_RESERVED))
        )
    return Additions()
