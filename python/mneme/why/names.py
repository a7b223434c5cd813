"""Names of functions as people read them, also within what LLVM says."""

from __future__ import annotations

import re

from mneme.kernel_names import elided_name
from mneme.source_place import places_in_tables

__all__ = ["Names"]

_MANGLED = re.compile(r"\b_Z\w+")
_CONVERSION = re.compile(r"\boperator [\w ]+")
_BLANK = "\N{NO-BREAK SPACE}"
# What stands behind the parameters of a member function.
_ENDS = re.compile(r"\)(?: const| volatile| &&?)+$")


class Names:
    """Remembers what names mean."""

    def __init__(self) -> None:
        """Begin without any."""
        self._known: dict[str, str] = {}

    def short(self, mangled: str) -> str:
        """Return a function's name without parameters."""
        if mangled not in self._known:
            from mneme import _native  # noqa: PLC0415 - loads native code

            name = _ENDS.sub(")", _native.demangle(mangled) or mangled)
            # The name of a conversion has blanks: "operator unsigned int".
            whole = _CONVERSION.sub(lambda found: found[0].replace(" ", _BLANK), name)
            self._known[mangled] = elided_name(whole).replace(_BLANK, " ")
        return self._known[mangled]

    def in_text(self, text: str) -> str:
        """Return a text with the mangled names in it made readable."""
        return _MANGLED.sub(lambda found: self.short(found[0]), text)

    def place(self, file: str, line: int, function: str) -> str:
        """Return "stencil.cu:21 in diffuse", or the function where the line is not known."""
        name = self.short(function)
        if not file:
            return name
        (place,) = places_in_tables([f"{file}:{line}"])
        return f"{place} in {name}"
