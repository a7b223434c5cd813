"""Turns text from elsewhere, such as a kernel's name in a recording, into one harmless line."""

from __future__ import annotations

__all__ = ["visible"]


def visible(text: object) -> str:
    r"""Return a text with codes for everything but visible characters and blanks.

    Line ends, terminal escapes, and what reverses the direction of writing: "a\nb" gives "a\x0ab".
    A text without such characters is unchanged.
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(one if one.isprintable() else _code_of(one) for one in shown)


def _code_of(character: str) -> str:
    r"""Return `\xNN`, `\uNNNN` or `\UNNNNNNNN`, as Python and YAML write it."""
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - two digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four
