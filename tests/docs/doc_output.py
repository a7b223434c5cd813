"""Whether a command printed what a page shows.

Shown lines are compared one by one. Equal may differ: numbers with a fraction or a unit, and the unit
of a time or a size; long numbers (hashes); paths, but for their last part; the width of gaps. `…` or
`...` stands for anything, alone on a line for any lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNITS = (
    (r"ns|µs|ms|s", r"(?:ns|µs|ms|s)"),
    (r"B|KiB|MiB|GiB|TiB", r"(?:B|KiB|MiB|GiB|TiB)"),
    (r"%", "%"),
)
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_QUANTITY = "|".join(
    rf"(?P<unit{index}>{_NUMBER}\s?(?:{unit})(?![\w/]))" for index, (unit, _) in enumerate(_UNITS)
)
_TOKEN = re.compile(
    rf"(?P<gap>\s+)|(?P<any>…|\.\.\.)|(?P<version>\d+\.\d+\.\d+[\w.]*)|{_QUANTITY}"
    r"|(?P<fraction>[-+]?\d+\.\d+(?:[eE][-+]?\d+)?)|(?P<hash>\b(?:\d{12,}|(?=\w*\d)[0-9a-f]{12,})\b)"
    r"|(?P<path>/(?:[\w.+-]+/)+)|(?P<rule>[─━═-]{3,})"
)


def pattern_of(line: str) -> re.Pattern[str]:
    """Return what a printed line has to match."""
    parts, end = [], 0
    for token in _TOKEN.finditer(line):
        parts += [re.escape(line[end : token.start()]), _part(token)]
        end = token.end()
    parts.append(re.escape(line[end:]))
    return re.compile("".join(parts) + r"\s*")


def _part(token: re.Match[str]) -> str:
    kind = token.lastgroup or ""
    if kind.startswith("unit"):
        return rf"{_NUMBER}\s?{_UNITS[int(kind[4:])][1]}"
    return {
        "gap": r"\s+",
        "any": ".*?",
        "version": re.escape(token[0]),
        "fraction": _NUMBER,
        "hash": "[0-9a-f]+",
        "path": r"(?:/[^\s/']+)*/",
        "rule": r"[─━═-]+",
    }[kind]


def difference(shown: Sequence[str], *streams: str) -> str:
    """Say what of the shown lines was not printed, or what was printed and is not shown.

    Args:
        shown: Lines of the page. None at all show nothing, and agree with everything.
        streams: What came out, stream by stream, whose lines a terminal would mix.

    Returns:
        A sentence, empty if both agree.
    """
    if not shown:
        return ""
    left = [[line for line in stream.splitlines() if line.strip()] for stream in streams]
    is_free = False
    for line in shown:
        if line.strip() in ("…", "..."):
            is_free = True
        elif line.strip():
            if not _take(left, pattern_of(line.strip()), is_free=is_free):
                return f"not printed: {line}"
            is_free = False
    more = [] if is_free else [line for stream in left for line in stream]
    return f"printed and not shown: {more[0]}" if more else ""


def _take(left: list[list[str]], pattern: re.Pattern[str], *, is_free: bool) -> bool:
    """Take the matching line from the stream that has it next, or anywhere after a gap."""
    for lines in left:
        for index, line in enumerate(lines if is_free else lines[:1]):
            if pattern.fullmatch(line.strip()):
                del lines[: index + 1]
                return True
    return False
