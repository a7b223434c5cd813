"""Prepares the template `tune`: block shapes worth trying."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.scaffold.rendering import Additions

if TYPE_CHECKING:
    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = ["prepare", "space_class"]

_MOST_THREADS = {"x": 1024, "y": 1024, "z": 64}
_CHOICES = 6


def prepare(request: ScaffoldRequest, recording: dict[str, Any] | None) -> Additions:
    """Return `block_choices`, powers of two around each extent of the block, and `space_class`."""
    if recording is None:
        raise InvalidArgument(f"template {request.template.name} needs a recording")
    choices = {
        axis: _choices(recording["block"][axis], _extent(recording, axis), _MOST_THREADS[axis])
        for axis in "xyz"
    }
    return Additions(
        context={"block_choices": choices, "space_class": space_class(recording["short_name"])}
    )


def space_class(short_name: str) -> str:
    """Return the name of the search space's class: "axpby" gives "AxpbySpace"."""
    word = short_name.title().replace("_", "")
    return f"{'K' if word[:1].isdigit() else ''}{word}Space"


def _extent(recording: dict[str, Any], axis: str) -> int:
    """Return the threads of the launch along an axis."""
    return int(recording["grid"][axis]) * int(recording["block"][axis])


def _choices(recorded: int, extent: int, most: int) -> list[int]:
    """Return the recorded size and up to six powers of two close to it."""
    powers = [size for size in (1 << n for n in range(11)) if size <= min(most, extent)]
    nearest = sorted(powers, key=lambda size: abs(size.bit_length() - recorded.bit_length()))
    return sorted({*nearest[:_CHOICES], recorded})
