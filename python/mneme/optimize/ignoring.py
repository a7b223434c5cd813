"""Parts of outputs that users exclude, and the patterns for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mneme.optimize.lines import IGNORED, is_number, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme.optimize.fault import Fault

__all__ = ["patterns_for", "without"]

_ANY_NUMBER = r"[-+.\w]+"


def without(pattern: re.Pattern[bytes], output: bytes) -> bytes:
    """Return an output without the matches of a pattern's groups, or of the whole pattern."""

    def left(found: re.Match[bytes]) -> bytes:
        begin, parts, at = found.start(), [], found.start()
        for group in range(1, pattern.groups + 1):
            first, last = found.span(group)
            if first >= at:  # groups that found nothing are at -1, and one may be in another
                parts += [found[0][at - begin : first - begin], IGNORED]
                at = last
        return b"".join([*parts, found[0][at - begin :]])

    return pattern.sub(left if pattern.groups else IGNORED, output)


def patterns_for(output: bytes, fault: Fault, *, is_general: bool) -> Iterator[str]:
    """Yield patterns whose group matches the fault, the one with the fewest matches first.

    Args:
        output: The output of a tuned run.
        fault: The fault in it.
        is_general: Whether other numbers and blanks of the line may vary.
    """
    if fault.line is None or fault.token is None:
        return
    line = output.split(b"\n")[fault.line]
    places = spans(line)
    first, last = places[fault.token]
    groups = [r"(\d+)"] if line[first:last].isdigit() else []
    blanks = " *" if is_general else None
    before = _pattern(line[:first], blanks=blanks)
    after = _pattern(line[last:], blanks=blanks)
    for group in (*groups, f"({_ANY_NUMBER})"):
        if re.search(r"[^\W\d]", before.replace(_ANY_NUMBER, "")):
            yield f"{before.removeprefix(' *')}{group}"
        else:  # only what follows says what it is
            yield f"^{before}{group}{after}$"


def _pattern(part: bytes, *, blanks: str | None) -> str:
    """Return a pattern for a part of a line; with one for blanks, numbers may vary, too."""
    found, at = [], 0
    for first, last in spans(part):
        found.append(_blanks(part[at:first], blanks))
        token = part[first:last]
        if token.startswith(IGNORED):
            found.append(r"\S+")
        elif blanks is not None and is_number(token):
            found.append(_ANY_NUMBER)
        else:
            found.append(re.escape(token.decode(errors="replace")))
        at = last
    return "".join([*found, _blanks(part[at:], blanks)])


def _blanks(part: bytes, blanks: str | None) -> str:
    return part.decode() if blanks is None else blanks
