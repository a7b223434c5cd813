"""Makes configurations from parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import ExperimentConfiguration, dim3

__all__ = ["configuration_from_params", "dims_from", "shape_text"]


def configuration_from_params(
    params: object, base: ExperimentConfiguration | None, space: str
) -> ExperimentConfiguration:
    """Return a configuration with these fields; other fields are those of `base`.

    Args:
        params: Fields of `ExperimentConfiguration` by name; extents also as "32x8x1" or (32, 8, 1).
        base: None for the defaults.
        space: The name of the space, for messages.

    Raises:
        InvalidArgument: If there are other names, or this is not a mapping.
    """
    if not isinstance(params, Mapping):
        raise InvalidArgument(
            f"derived() of {space} returned {params!r}, neither an ExperimentConfiguration nor a "
            "dictionary of its fields"
        )
    values = (base or ExperimentConfiguration()).to_dict()
    unknown = sorted(
        set(map(str, params)) - {item.name for item in fields(ExperimentConfiguration)}
    )
    if unknown:
        raise InvalidArgument(
            f"{space} gives '{unknown[0]}', which is not a field of a configuration; "
            "let derived() return an ExperimentConfiguration"
        )
    values.update(params)
    for axis in ("grid", "block"):
        values[axis] = dims_from(values[axis])
    return ExperimentConfiguration.from_dict(values)


def dims_from(value: Any) -> dim3:  # noqa: ANN401 - whatever a script writes for an extent
    """Return an extent given as "32x8x1", (32, 8, 1), 256, {"x": 256} or dim3.

    Raises:
        InvalidArgument: If it is none of these.
    """
    if isinstance(value, dim3):
        return value
    if isinstance(value, Mapping):
        return dim3.from_dict(value)
    parts: list[Any] = []
    if isinstance(value, str):
        parts = [int(part) if part.isdecimal() else part for part in value.lower().split("x")]
    elif isinstance(value, int):
        parts = [value]
    elif isinstance(value, Sequence):
        parts = list(value)
    if not 1 <= len(parts) <= len("xyz"):
        raise InvalidArgument(f"{value!r} is not an extent; write it as 32x8x1")
    return dim3.from_dict(dict(zip("xyz", parts, strict=False)))


def shape_text(dims: dim3) -> str:
    """Return an extent as "32x8x1"."""
    return f"{dims.x}x{dims.y}x{dims.z}"
