"""Conditions: which parameters of a space exist for which values of the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.search.params import ABSENT, BaseParam

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["assign", "assignments", "checked_dimensions", "sampling_order"]


def checked_dimensions(space: str, dimensions: object) -> dict[str, BaseParam]:
    """Return the dimensions of a space.

    Raises:
        InvalidArgument: If they are not a mapping to parameters, or two share a name.
    """
    if not isinstance(dimensions, Mapping):
        raise InvalidArgument(f"dimensions() of {space} has to return a dictionary of parameters")
    keys_by_name: dict[str, str] = {}
    for key, param in dimensions.items():
        if not isinstance(param, BaseParam):
            raise InvalidArgument(
                f"dimension '{key}' of {space} is {param!r}, not a parameter such as BoolParam"
            )
        other = keys_by_name.setdefault(param.name, key)
        if other != key:
            raise InvalidArgument(
                f"dimensions '{other}' and '{key}' of {space} have the same name '{param.name}'"
            )
    return dict(dimensions)


def sampling_order(space: str, dimensions: Mapping[str, BaseParam]) -> list[str]:
    """Return the dimensions in their order, but each after those that its condition names.

    A dimension whose condition is a function comes after all dimensions declared before it, if
    possible.

    Raises:
        InvalidArgument: If a condition names an unknown dimension, or conditions depend on one
            another in a circle.
    """
    needs = {key: _named_by(space, key, dimensions) for key in dimensions}
    order: list[str] = []
    while len(order) < len(dimensions):
        waiting = [key for key in dimensions if key not in order]
        ready = [key for key in waiting if needs[key] <= set(order)]
        if not ready:
            raise InvalidArgument(
                f"the conditions of {space} depend on one another: {', '.join(waiting)}"
            )
        # A function should see as many values as possible: it goes first only if no earlier
        # dimension waits.
        first = waiting[0]
        plain = [key for key in ready if not callable(dimensions[key].when)]
        order.append(first if first in ready else (plain or ready)[0])
    return order


def assign(
    space: str,
    dimensions: Mapping[str, BaseParam],
    value_of: Callable[[BaseParam], Any],
    order: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return one value for each active parameter, in the order of the dimensions.

    Args:
        space: The name of the space, for errors.
        dimensions: The dimensions of the space.
        value_of: Returns the value of an active parameter.
        order: What `sampling_order` returned, for callers that ask often.
    """
    found: dict[str, Any] = {}
    for key in sampling_order(space, dimensions) if order is None else order:
        param = dimensions[key]
        if param.when is None or _is_active(space, key, param, found):
            found[key] = value_of(param)
        elif param.otherwise is not ABSENT:
            found[key] = param.otherwise
    return {key: found[key] for key in dimensions if key in found}


def assignments(space: str, dimensions: Mapping[str, BaseParam]) -> Iterator[dict[str, Any]]:
    """Yield every assignment once, the last dimension changing fastest.

    Raises:
        InvalidArgument: If the values of a dimension cannot be listed.
    """
    order = sampling_order(space, dimensions)
    values = {key: param.values() for key, param in dimensions.items()}

    def extend(position: int, found: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if position == len(order):
            yield {key: found[key] for key in dimensions if key in found}
            return
        key = order[position]
        param = dimensions[key]
        if _is_active(space, key, param, found):
            for value in values[key]:
                yield from extend(position + 1, {**found, key: value})
        elif param.otherwise is ABSENT:
            yield from extend(position + 1, found)
        else:
            yield from extend(position + 1, {**found, key: param.otherwise})

    return extend(0, {})


def _named_by(space: str, key: str, dimensions: Mapping[str, BaseParam]) -> set[str]:
    when = dimensions[key].when
    named = set(when) if isinstance(when, Mapping) else set()
    unknown = sorted(named - set(dimensions))
    if unknown:
        raise InvalidArgument(
            f"the condition of dimension '{key}' of {space} names '{unknown[0]}', "
            "which is not a dimension"
        )
    return named


def _is_active(space: str, key: str, param: BaseParam, found: Mapping[str, Any]) -> bool:
    if param.when is None:
        return True
    if isinstance(param.when, Mapping):
        return all(
            name in found and _matches(found[name], wanted) for name, wanted in param.when.items()
        )
    try:
        return bool(param.when(dict(found)))
    except Exception as error:
        raise InvalidArgument(
            f"the condition of dimension '{key}' of {space} failed for {dict(found)}: {error!r}"
        ) from error


def _matches(value: object, wanted: object) -> bool:
    if isinstance(wanted, Collection) and not isinstance(wanted, str | bytes | Mapping):
        return value == wanted or any(_is_same(value, item) for item in wanted)
    return _is_same(value, wanted)


def _is_same(value: object, wanted: object) -> bool:
    """Whether two values are equal; 1 and True are not."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted
