"""The dependencies of a kernel's loops, branches and loads, as found by the compiler."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

__all__ = ["WHOLE", "Constants", "Folds", "Place", "Shape", "Thing", "pointers_read"]

Place = tuple[int, int]
"""An argument and the offset of a member in it, or WHOLE."""

WHOLE = -1


@dataclass(frozen=True, slots=True)
class Constants:
    """What is, or must be, known when a kernel is compiled."""

    args: frozenset[int] = frozenset()
    """Arguments, including structs passed by value."""

    contents: frozenset[int] = frozenset()
    """Arguments that point to memory with known content."""

    dims: bool = False
    """Block and grid."""

    members: frozenset[tuple[int, int]] = frozenset()
    """Members of structs passed by value: the argument, and the offset in bytes."""

    def __or__(self, other: Constants) -> Constants:
        """Return the union of both."""
        return Constants(
            self.args | other.args,
            self.contents | other.contents,
            self.dims or other.dims,
            self.members | other.members,
        )

    def __le__(self, other: Constants) -> bool:
        """Return whether the other includes all of this."""
        return (
            self.args <= other.args
            and self.contents <= other.contents
            and self.members <= other.members
            and (other.dims or not self.dims)
        )

    def __bool__(self) -> bool:
        """Return whether anything is known."""
        return bool(self.args or self.contents or self.dims or self.members)

    @property
    def places(self) -> list[Place]:
        """All arguments and members, in the order of the source."""
        return sorted({(one, WHOLE) for one in self.args | self.contents} | self.members)

    @property
    def indices(self) -> list[int]:
        """All arguments, with those that have a member here, in the order of the source."""
        return sorted({index for index, _ in self.places})


@dataclass(frozen=True, slots=True)
class Folds:
    """The number of loops, branches and loads that fold."""

    loops: int = 0
    branches: int = 0
    loads: int = 0

    def __bool__(self) -> bool:
        """Return whether anything folds."""
        return bool(self.loops or self.branches or self.loads)


@dataclass(frozen=True, slots=True)
class Thing:
    """A loop, a branch or a load."""

    kind: str
    """loops, branches or loads."""

    needs: Constants
    """What must be constant for it to fold."""

    line: int = 0
    """Line of the source; 0: unknown."""

    arg: int = -1
    """Index of the argument that a load takes its pointer from."""

    type: str = ""
    """The loaded type, as named in the IR."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The aspects of a kernel that constants affect."""

    things: tuple[Thing, ...]
    """What is not constant yet but folds if enough is."""

    totals: Mapping[str, int]
    """Total numbers of loops and branches."""

    fields: tuple[Mapping[str, Any], ...] = field(repr=False)
    """The parts of structs that are read: "arg", "offset", "type", "size"."""

    written: frozenset[int] = frozenset()
    """Arguments that point to memory that the kernel writes."""

    scattered: frozenset[int] = frozenset()
    """Arguments that point to memory that each thread reads at a different place, most likely
    data."""

    @classmethod
    def of(cls, told: Mapping[str, Any], members: Container[Place]) -> Shape:
        """Return the shape from the compiler's statistics.

        Args:
            told: The statistics.
            members: Those that can become constants by themselves; others count as their argument.
        """
        things = [
            _thing(kind, one, members)
            for kind in ("loops", "branches", "loads")
            for one in told[kind]
        ]
        return cls(
            things=tuple(one for one in things if one is not None and one.needs),
            totals={kind: len(told[kind]) for kind in ("loops", "branches")},
            fields=tuple(told["fields"]),
            written=frozenset(told["written"]),
            scattered=frozenset(told["scattered"]),
        )

    def folded(self, known: Constants) -> Folds:
        """Return how much folds if `known` is constant."""
        return Folds(**Counter(one.kind for one in self.things if one.needs <= known))

    def hanging_on(self, what: Constants) -> Iterator[tuple[Constants, Folds]]:
        """Yield what else is needed, and what then folds; nothing else needed comes first."""
        others: dict[Constants, Counter[str]] = {}
        for one in self.things:
            if what <= one.needs:
                rest = Constants(
                    one.needs.args - what.args,
                    one.needs.contents - what.contents,
                    one.needs.dims and not what.dims,
                    one.needs.members - what.members,
                )
                others.setdefault(rest, Counter())[one.kind] += 1
        for rest in sorted(others, key=lambda one: (bool(one), one.places, one.dims)):
            yield rest, Folds(**others[rest])


def _thing(kind: str, told: Mapping[str, Any], members: Container[Place]) -> Thing | None:
    if told["varies"]:
        return None
    read = {(index, offset) for index, offset in told.get("members", ())}
    alone = frozenset(one for one in read if one in members)
    args = frozenset(told["args"]) | {index for index, _ in read - alone}
    dims = told["block"] or told["grid"]
    needs = Constants(args, frozenset(told["contents"]), dims, alone)
    return Thing(kind, needs, told["line"], told.get("arg", -1), told.get("type", ""))


def pointers_read(things: Sequence[Thing]) -> dict[int, str]:
    """Return the arguments to memory that all threads read alike, with its element type."""
    types: dict[int, str] = {}
    for one in things:
        if one.arg >= 0:
            types.setdefault(one.arg, one.type)
    return types
