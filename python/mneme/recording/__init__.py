"""Recordings on disk, as Python objects.

The package is also what scripts call: `with mneme.recording("dir"):` (mneme.sections.recording).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mneme.sections import recording

if TYPE_CHECKING:
    from mneme.recording.directory import Recording

__all__ = ["Recording"]


class _CallableModule(ModuleType):
    """This package, which makes a section of a script when it is called."""

    def __call__(self, *arguments: Any, **named: Any) -> recording:  # noqa: ANN401 - passed on
        """Return `mneme.sections.recording` of these arguments."""
        return recording(*arguments, **named)


def __getattr__(name: str) -> type[Recording]:
    """Import what reads files when it is asked for: scripts that are recorded do not."""
    if name != "Recording":
        raise AttributeError(f"module 'mneme.recording' has no attribute {name!r}")
    from mneme.recording.directory import Recording  # noqa: PLC0415

    return Recording


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _CallableModule
