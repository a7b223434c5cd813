"""What is compared: variants of how kernels are compiled and launched."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import ConfigurationChanges

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BASELINE_NAME", "Variant", "complete"]

BASELINE_NAME = "as recorded"
"""The baseline where one variant is given: what `mneme replay` without options runs."""

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to compile and launch every kernel."""

    name: str
    """As tables call it."""

    options: str = ""
    """As it was written on the command line."""

    changes: ConfigurationChanges = field(default_factory=ConfigurationChanges)
    """What of each recorded configuration is changed."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, equal for variants that do the same under the same name."""
        given = {key: value for key, value in self.changes.values.items() if value is not None}
        return {
            "name": self.name,
            "options": self.options,
            "grid": list(self.changes.grid),
            "block": list(self.changes.block),
            "values": {key: _plain(value) for key, value in sorted(given.items())},
        }


def complete(given: Sequence[Variant]) -> list[Variant]:
    """Return the variants that are compared, the baseline first.

    Raises:
        InvalidArgument: If there is none, or two have one name.
    """
    variants = list(given)
    if not variants:
        raise InvalidArgument(
            "no variant is given; name one or more with --variant NAME=OPTIONS, or --passes "
            "PIPELINE, or in a file with --variants FILE"
        )
    if len(variants) == 1:
        variants.insert(0, Variant(name=BASELINE_NAME))
    for name, count in Counter(one.name for one in variants).items():
        if count > 1:
            raise InvalidArgument(f"{count} variants are called '{name}'; give each its own name")
        if not name.strip() or len(name) > _LONGEST_NAME:
            raise InvalidArgument(
                f"the variant '{name}' needs a name of 1 to {_LONGEST_NAME} characters; write "
                "--variant NAME=OPTIONS"
            )
    return variants


def _plain(value: object) -> object:
    """Return a value that is the same after it was written as JSON and read."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, bool | int | float | str) else str(value)
