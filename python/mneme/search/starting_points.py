"""Starting points of a search: the usual configuration, and variants with one change."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from mneme.search.params import BaseParam, BoolParam

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["starting_points"]

# Number of values tried of one parameter: the first ones and the last.
_MOST_VALUES: Final = 8
# Parameters whose usual value is the last.
_USUALLY_LAST: Final = ("codegen_opt",)


def starting_points(dimensions: Mapping[str, BaseParam]) -> Iterator[dict[str, Any]]:
    """Yield parameters, the first values of all dimensions in turn before the second ones.

    Only dimensions that always exist and whose values can be listed are used; a search draws the
    others.
    """
    listed = {
        name: list(param.values())
        for name, param in dimensions.items()
        if param.when is None and param.is_finite
    }
    usual = {
        name: values[-1] if name in _USUALLY_LAST else values[0] for name, values in listed.items()
    }
    for name, param in dimensions.items():
        # Switches are usually off.
        if isinstance(param, BoolParam) and name in listed:
            usual[name] = False
    yield usual
    columns = [
        [{**usual, name: value} for value in _spread(values) if value != usual[name]]
        for name, values in listed.items()
    ]
    for row in zip_longest(*columns):
        for point in row:
            if point is not None:
                yield point


def _spread(values: list[Any]) -> list[Any]:
    """Return all values if they are few, else some; those that usually win come first."""
    if len(values) <= _MOST_VALUES:
        return values
    head = values[: _MOST_VALUES // 2]
    rest = values[_MOST_VALUES // 2 :]
    step = len(rest) / (_MOST_VALUES - len(head))
    return [*head, *(rest[int(step * index)] for index in range(_MOST_VALUES - len(head)))]
