"""Reports options that have no effect with the others, in one sentence, before anything starts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mneme.cli._console import say

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_device_asked", "tell_unused"]


def is_device_asked(device: str | None) -> bool:
    """Whether --device was given; a device in the environment is for other commands, too."""
    return device is not None and device != os.environ.get("MNEME_DEVICE")


def tell_unused(options: Mapping[str, object], why: str) -> None:
    """Report options without effect, if there are any.

    Args:
        options: Names of options without effect, with their values; false if not given.
        why: What is missing, as in "without --set-launch-bounds".
    """
    unused = [name for name, is_unused in options.items() if is_unused]
    if unused:
        verb = "does" if len(unused) == 1 else "do"
        say(f"{', '.join(unused)} {verb} nothing {why}")
