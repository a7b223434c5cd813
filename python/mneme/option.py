"""How an option is declared: its words on the command line, and the values it takes."""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field
from typing import Any

from mneme.errors import InvalidArgument

__all__ = ["Option", "flag_of", "option", "option_of"]

_KEY = "option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How an option reads and which values it takes."""

    panel: str
    """The heading it stands under in the help text."""

    help: str
    """One sentence; the choices and the default are added to it."""

    names: tuple[str, ...] = ()
    """On the command line; empty: made of the field's name."""

    metavar: str | None = None
    """What stands for its value."""

    shown: str | None = None
    """The default in words, empty for none; None: the default itself."""

    choices: tuple[str, ...] = ()
    """The only values."""

    least: float | None = None
    """The smallest number."""

    most: float | None = None
    """The largest number."""

    above: float | None = None
    """Every number has to be larger."""

    envvar: str | None = None
    """The environment variable that stands for it."""

    hidden: bool = False
    """Not in the help text."""

    def check(self, name: str, value: Any) -> None:  # noqa: ANN401 - of the field's type
        """Refuse a value that cannot be meant.

        Raises:
            InvalidArgument: With a sentence that names the option.
        """
        if value is None:
            return
        wanted = ""
        if self.choices and value not in self.choices:
            raise InvalidArgument(
                f"{flag_of(name)} is '{value}', not one of {', '.join(self.choices)}"
            )
        if self.above is not None and not self.above < value < math.inf:
            wanted = f"it has to be more than {self.above}"
        elif self.least is not None and not self.least <= value < math.inf:
            wanted = f"it has to be {self.least} or more"
        elif self.most is not None and value > self.most:
            wanted = f"it can be {self.most}"
        if wanted:
            raise InvalidArgument(f"{flag_of(name)} is {value}; {wanted}")


def option(default: object, panel: str, text: str, **more: Any) -> Any:  # noqa: ANN401 - of the field's type
    """Return a field of a dataclass that is an option; `more` are fields of `Option`."""
    return field(default=default, metadata={_KEY: Option(panel=panel, help=text, **more)})


def option_of(item: Field[Any]) -> Option | None:
    """Return how a field is declared as an option; None if it is not one."""
    found: Option | None = item.metadata.get(_KEY)
    return found


def flag_of(name: str) -> str:
    """Return a field's name as it is written on the command line."""
    return "--" + name.replace("_", "-")
