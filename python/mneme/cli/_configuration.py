"""What the options of `mneme replay` change in a recorded configuration."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.mneme_types import ConfigurationChanges

__all__ = ["changes_of", "is_of_configuration"]

_AXES = "xyz"
_GRID = tuple(f"grid_dim_{axis}" for axis in _AXES)
_BLOCK = tuple(f"block_dim_{axis}" for axis in _AXES)


def is_of_configuration(parameter: str) -> bool:
    """Return whether an option, by the name of its parameter, is a part of configurations."""
    from mneme.mneme_types import ExperimentConfiguration  # noqa: PLC0415 - `--help` stays light

    names = {item.name for item in fields(ExperimentConfiguration)}
    return parameter in names or parameter in (*_GRID, *_BLOCK)


def changes_of(given: Mapping[str, Any]) -> ConfigurationChanges:
    """Return what parsed options change; those that are not of configurations count for nothing.

    Args:
        given: Values by the names of parameters; None: not given.

    Raises:
        InvalidArgument: If there is no such pass plugin.
    """
    from mneme.code_texts import taken_texts  # noqa: PLC0415 - `--help` stays light
    from mneme.mneme_types import ConfigurationChanges  # noqa: PLC0415

    x, y, z = (given.get(name) for name in _GRID)
    i, j, k = (given.get(name) for name in _BLOCK)
    values = {
        name: value
        for name, value in given.items()
        if is_of_configuration(name) and name not in (*_GRID, *_BLOCK)
    }
    values |= taken_texts(given)
    return ConfigurationChanges(grid=(x, y, z), block=(i, j, k), values=values)
