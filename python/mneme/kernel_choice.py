"""What kernels are called by: the one way in which a text names a kernel, for all verbs.

A text is compared with whole names, hashes and places first, then with how these begin, then with
parts of names; the first comparison that something passes decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from mneme.kernel_names import own_part, qualified_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.source_place import SourcePlace

__all__ = ["Handles", "fitting", "split_number"]

_Candidate = TypeVar("_Candidate")

# Shorter digits are rather a part of a name.
_SHORTEST_HASH = 4
_NUMBERED = re.compile(r"(.*)@([1-9][0-9]{0,8})", re.ASCII | re.DOTALL)
_INNERMOST_TEMPLATE = re.compile(r"<[^<>]*>")
_SCOPE = re.compile(r"::(?![^<]*>)")


@dataclass(frozen=True, kw_only=True)
class Handles:
    """What a kernel is called by."""

    mangled: str
    demangled: str
    place: SourcePlace | None = None
    """Where its body is in the source."""
    labels: tuple[str, ...] = ()
    """What the program calls its launches."""
    hashes: tuple[str, ...] = ()
    """Its static hash, and the dynamic hashes of its launches."""

    @cached_property
    def short_names(self) -> tuple[str, ...]:
        """Names without parameters, and labels."""
        qualified = qualified_name(self.demangled)
        plain = qualified.replace("operator<", "operator\0")
        count = 1
        while count:
            plain, count = _INNERMOST_TEMPLATE.subn("", plain)
        plain = plain.replace("operator\0", "operator<")
        last = _SCOPE.split(qualified)[-1]
        own = own_part(qualified)
        ones = (plain.rpartition("::")[2], plain, last, qualified, *((own,) if own else ()))
        return tuple(dict.fromkeys(ones))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every whole name."""
        begin = self.demangled.find(qualified_name(self.demangled))
        without_result = self.demangled[max(0, begin) :]
        return (*self.labels, self.mangled, self.demangled, without_result, *self.short_names)


def fitting(
    candidates: Sequence[_Candidate], wanted: str, handles_of: Callable[[_Candidate], Handles]
) -> list[_Candidate]:
    """Return the candidates that a text names.

    Args:
        candidates: Kernels, or launches of kernels.
        wanted: A name, mangled or as in the source, with or without namespaces, template arguments
            and parameters; a label; a line of the body ("advec_mom.cpp:120"); a hash, or its first
            4 digits or more; how a name begins; a part of one; a pattern with `*` and `?`.
        handles_of: Returns what a candidate is called by.
    """
    told = [(one, handles_of(one)) for one in candidates]
    for fit in _FITS:
        if found := [one for one, handles in told if fit(handles, wanted)]:
            return found
    return []


def split_number(wanted: str) -> tuple[str, int | None]:
    """Split "spmv@2" into the kernel and the number of its launch; None without a number."""
    found = _NUMBERED.fullmatch(wanted)
    return (found.group(1), int(found.group(2))) if found else (wanted, None)


def _is_it(handles: Handles, wanted: str) -> bool:
    is_there = handles.place is not None and handles.place.is_named(wanted)
    return is_there or wanted in handles.names or wanted in handles.hashes


def _begins_hash(handles: Handles, wanted: str) -> bool:
    return len(wanted) >= _SHORTEST_HASH and any(one.startswith(wanted) for one in handles.hashes)


def _begins_name(handles: Handles, wanted: str) -> bool:
    return any(one.startswith(wanted) for one in handles.names)


def _is_part(handles: Handles, wanted: str) -> bool:
    return any(wanted in one for one in (*handles.labels, *handles.short_names))


def _is_part_of_all(handles: Handles, wanted: str) -> bool:
    return wanted in handles.demangled


def _is_part_in_any_case(handles: Handles, wanted: str) -> bool:
    return any(wanted.casefold() in one.casefold() for one in (*handles.labels, handles.demangled))


def _is_pattern_of(handles: Handles, wanted: str) -> bool:
    return any(fnmatchcase(one, wanted) for one in handles.names)


_FITS = (
    _is_it,
    _begins_hash,
    _begins_name,
    _is_part,
    _is_part_of_all,
    _is_part_in_any_case,
    _is_pattern_of,
)
