r"""Quotes values in the output of templates, with one function per kind of place.

Values come from recordings, which are untrusted. Every value is quoted for its place in a file, or
is plain text. A character that cannot be represented in its place raises `InvalidArgument`.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.files.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FILTERS", "Unquoted", "encoded", "plain", "unquoted"]

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#|~&!])")
_CODE_CONTROLS = "\n\t"


class Unquoted(str):
    """A text that is not yet quoted; filters return a plain `str`."""

    __slots__ = ()


def unquoted(value: Any) -> Any:  # noqa: ANN401 - anything a template sees
    """Return a value with every text in it marked as `Unquoted`."""
    if isinstance(value, str):
        return Unquoted(value)
    if isinstance(value, dict):
        return {key: unquoted(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(unquoted(one) for one in value)
    return value


def plain(value: object) -> object:
    """Return the value without quotes; refuse values that could end the line."""
    if isinstance(value, Unquoted) and not value.isprintable():
        raise InvalidArgument(
            f"a template writes '{visible(value)}' unquoted, and it is not one line of text; quote "
            "it with the filter for its place: " + ", ".join(sorted(FILTERS))
        )
    return value


def encoded(text: str) -> bytes:
    """Return the bytes of a text; bytes of a path that are not valid UTF-8 are kept.

    Raises:
        InvalidArgument: If it contains half of a surrogate pair.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        character = visible(text[error.start : error.end])
        raise InvalidArgument(f"'{character}' is not a character, so no file can hold it") from None


def _without_nul(text: str, place: str) -> str:
    if "\0" in text:
        raise InvalidArgument(f"'{visible(text)}' has a NUL, which {place} cannot hold")
    return text


def _sh(value: object) -> str:
    """Return one word for a shell."""
    return shlex.quote(_without_nul(str(value), "a shell"))


def _one_line(value: object) -> str:
    """Return the text; refuse several lines, for places that cannot quote them."""
    text = str(value)
    if not text.isprintable():
        raise InvalidArgument(f"'{visible(text)}' is not one line of text, which is needed here")
    return text


def _code(value: object) -> str:
    """Return the text as code, for a parameter in which the user writes commands."""
    text = str(value)
    if any(not one.isprintable() and one not in _CODE_CONTROLS for one in text):
        raise InvalidArgument(f"'{visible(text)}' has characters that no command has")
    return text


def _python(value: object) -> str:
    """Return a literal of Python."""
    if isinstance(value, str):
        return _double_quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _yaml(value: object) -> str:
    """Return a scalar of YAML, or a list or map on one line."""
    if isinstance(value, str):
        return _double_quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else f"{'-' if value < 0 else ''}.inf"
    return json.dumps(value)


def _double_quoted(text: str) -> str:
    # Python and YAML have the same escape sequences for these characters.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{visible(escaped)}"'


def _python_text(value: object) -> str:
    """Return a text for a docstring."""
    return visible(value).replace("\\", "\\\\").replace('"', '\\"')


def _c_string(value: object) -> str:
    """Return a string literal of C and C++."""
    text = _without_nul(str(value), "a string of C")
    # Octal escapes end after three digits, and '?' could begin a trigraph.
    parts = (
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\?' else f"\\{byte:03o}"  # noqa: PLR2004
        for byte in encoded(text)
    )
    return '"' + "".join(parts) + '"'


def _c_comment(value: object) -> str:
    """Return a text for a comment of C, of either kind."""
    # A backslash, or the trigraph "??/", would continue a line comment.
    text = visible(value).replace("\\", "\\x5c").replace("??", "?\\x3f")
    return text.replace("*/", "*\\x2f").replace("/*", "/\\x2a")


def _cmake(value: object) -> str:
    """Return a quoted argument of CMake."""
    text = _without_nul(str(value), "CMake").replace("\\", "\\\\")
    text = text.replace('"', '\\"').replace("$", "\\$")
    return '"' + text.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") + '"'


def _markdown(value: object) -> str:
    """Return a text for a paragraph or a cell of Markdown."""
    return _MARKDOWN.sub(r"\\\1", visible(value))


def _response_file(value: object) -> str:
    """Return one argument for a response file of LLVM's tools."""
    escaped = _one_line(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


FILTERS: Mapping[str, Callable[[Any], str]] = {
    "c_comment": _c_comment,
    "c_string": _c_string,
    "cmake": _cmake,
    "code": _code,
    "json": json.dumps,
    "line": visible,
    "md": _markdown,
    "one_line": _one_line,
    "py": _python,
    "py_text": _python_text,
    "rsp": _response_file,
    "sh": _sh,
    "yaml": _yaml,
}
"""Filters that a template can apply to a value, as in `{{ name | sh }}`."""
