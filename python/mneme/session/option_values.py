"""Values of options in config files, checked against the types of the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from mneme.arguments import argument_paths
from mneme.errors import InvalidArgument

__all__ = ["option_value"]


def option_value(options: type[Any], name: str, value: object) -> Any:  # noqa: ANN401 - of the field's type
    """Return a value of a config file as the field of `options` with this name wants it.

    Raises:
        InvalidArgument: If it is of another kind.
    """
    item = next(one for one in fields(options) if one.name == name)
    kind = str(item.type)
    if value is None:
        return None if "None" in kind else item.default
    if "Sequence" in kind:
        is_text = isinstance(value, str) and kind.startswith("str")
        return value if is_text else _texts(name, value)
    if name == "specialized_args" and isinstance(value, str | int | Sequence):
        return ",".join(argument_paths(value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    wanted = ""
    if "bool" in kind:
        wanted = "" if isinstance(value, bool) else "true or false"
    elif "float" in kind:
        wanted = "" if is_number else "a number"
    elif "int" in kind:
        wanted = "" if is_number and isinstance(value, int) else "a whole number"
    elif name == "record_id" and is_number:
        return str(value)
    else:
        wanted = "" if isinstance(value, str | Path) else "a text"
    if wanted:
        raise InvalidArgument(f"option '{name}' is {value!r}; it has to be {wanted}")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if name in ("space_arg", "cluster") and isinstance(value, Mapping):
        import json  # noqa: PLC0415 - rare

        # Files may have times, as TOML's 02:00:00.
        return tuple(f"{key}={json.dumps(one, default=str)}" for key, one in value.items())
    if isinstance(value, Sequence) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise InvalidArgument(f"option '{name}' is {value!r}; it has to be a list of texts")
