"""What the loops, branches and loads of a kernel hang on, as the compiler found it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Constants", "Folds", "Shape", "Thing", "pointers_read"]


@dataclass(frozen=True, slots=True)
class Constants:
    """What is known, or has to be, when a kernel is compiled."""

    args: frozenset[int] = frozenset()
    """Arguments, and structs passed by value."""

    contents: frozenset[int] = frozenset()
    """Arguments that lead to memory which is known."""

    dims: bool = False
    """Block and grid."""

    def __or__(self, other: Constants) -> Constants:
        """Return what is known with both."""
        return Constants(
            self.args | other.args, self.contents | other.contents, self.dims or other.dims
        )

    def __le__(self, other: Constants) -> bool:
        """Tell whether the other knows all this."""
        return (
            self.args <= other.args
            and self.contents <= other.contents
            and (other.dims or not self.dims)
        )

    def __bool__(self) -> bool:
        """Tell whether there is anything."""
        return bool(self.args or self.contents or self.dims)

    @property
    def indices(self) -> list[int]:
        """All arguments, in the order of the source."""
        return sorted(self.args | self.contents)


@dataclass(frozen=True, slots=True)
class Folds:
    """How much of a kernel folds."""

    loops: int = 0
    branches: int = 0
    loads: int = 0

    def __bool__(self) -> bool:
        """Tell whether anything does."""
        return bool(self.loops or self.branches or self.loads)


@dataclass(frozen=True, slots=True)
class Thing:
    """A loop, a branch or a load."""

    kind: str
    """loops, branches or loads."""

    needs: Constants
    """What has to be constant for it to fold."""

    line: int = 0
    """Line of the source; 0: not known."""

    arg: int = -1
    """Which argument a load takes its pointer from."""

    type: str = ""
    """What is loaded, as IR names the type."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A kernel, as far as constants matter."""

    things: tuple[Thing, ...]
    """What folds if enough is constant, and is not constant as it stands."""

    totals: Mapping[str, int]
    """Loops and branches there are."""

    fields: tuple[Mapping[str, Any], ...] = field(repr=False)
    """Parts of structs that are read: "arg", "offset", "type", "size"."""

    written: frozenset[int] = frozenset()
    """Arguments that lead to memory which the kernel writes."""

    scattered: frozenset[int] = frozenset()
    """Arguments that lead to what each thread reads at a place of its own, most likely data."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Shape:
        """Return what the compiler's statistics say."""
        things = [
            _thing(kind, one) for kind in ("loops", "branches", "loads") for one in told[kind]
        ]
        return cls(
            things=tuple(one for one in things if one is not None and one.needs),
            totals={kind: len(told[kind]) for kind in ("loops", "branches")},
            fields=tuple(told["fields"]),
            written=frozenset(told["written"]),
            scattered=frozenset(told["scattered"]),
        )

    def folded(self, known: Constants) -> Folds:
        """Return how much folds if so much is known."""
        return Folds(**Counter(one.kind for one in self.things if one.needs <= known))

    def hanging_on(self, what: Constants) -> Iterator[tuple[Constants, Folds]]:
        """Yield what else is needed, with what folds then; nothing else first."""
        others: dict[Constants, Counter[str]] = {}
        for one in self.things:
            if what <= one.needs:
                rest = Constants(
                    one.needs.args - what.args,
                    one.needs.contents - what.contents,
                    one.needs.dims and not what.dims,
                )
                others.setdefault(rest, Counter())[one.kind] += 1
        for rest in sorted(others, key=lambda one: (bool(one), one.indices, one.dims)):
            yield rest, Folds(**others[rest])


def _thing(kind: str, told: Mapping[str, Any]) -> Thing | None:
    if told["varies"]:
        return None
    dims = told["block"] or told["grid"]
    needs = Constants(frozenset(told["args"]), frozenset(told["contents"]), dims)
    return Thing(kind, needs, told["line"], told.get("arg", -1), told.get("type", ""))


def pointers_read(things: Sequence[Thing]) -> dict[int, str]:
    """Return the arguments that lead to what all threads read alike, with the type of its parts."""
    types: dict[int, str] = {}
    for one in things:
        if one.arg >= 0:
            types.setdefault(one.arg, one.type)
    return types
