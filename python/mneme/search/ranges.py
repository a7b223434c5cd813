"""Parses ranges and other values of command lines and configuration files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from mneme.errors import InvalidArgument
from mneme.search.params import is_whole

__all__ = ["parse_key_value_args", "parse_range"]

_LOW_HIGH, _LOW_HIGH_STEP = 2, 3


def parse_range(text: str | int | Sequence[int]) -> tuple[int, int, int]:
    """Return (low, high, step) of "LOW:HIGH[:STEP]"; both ends belong to the range.

    A single number is a range, too. Lists [low, high] and [low, high, step] of configuration files
    are accepted.

    Raises:
        InvalidArgument: If these are not two or three whole numbers with low <= high and step >= 1.
    """
    parts: Sequence[object]
    if isinstance(text, str):
        parts = [_number(part) for part in text.split(":")]
    else:
        parts = [text] if is_whole(text) else list(text) if isinstance(text, Sequence) else []
    if len(parts) == 1:
        parts = [parts[0], parts[0]]
    if len(parts) == _LOW_HIGH:
        parts = [*parts, 1]
    numbers = [part for part in parts if is_whole(part)]
    if len(parts) != _LOW_HIGH_STEP or len(numbers) != _LOW_HIGH_STEP:
        raise InvalidArgument(f"'{text}' is not a range; write LOW:HIGH or LOW:HIGH:STEP")
    low, high, step = numbers
    if low > high or step < 1:
        raise InvalidArgument(f"the range '{text}' needs LOW <= HIGH and STEP >= 1")
    return low, high, step


def parse_key_value_args(items: Iterable[str]) -> dict[str, Any]:
    """Return the values of texts such as "tile=[8,16]", read as JSON, else taken as they are.

    Raises:
        InvalidArgument: If a text has no "=", or a name occurs twice.
    """
    values: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.strip():
            raise InvalidArgument(
                f"'{item}' is not an argument of a search space; write NAME=VALUE"
            )
        if name.strip() in values:
            raise InvalidArgument(f"the argument '{name.strip()}' of the search space occurs twice")
        values[name.strip()] = _decoded(text)
    return values


def _number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text


def _decoded(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
