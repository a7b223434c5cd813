"""The flow of control in a function: which blocks dominate which, and its loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mneme.ir.module_text import Function

__all__ = ["Flow", "Loop", "flow_of"]


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop; loops with one head are one."""

    head: int
    """Where it is entered."""

    blocks: frozenset[int]
    """All its blocks, those of inner loops included."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Blocks by their number in the text; those that nothing leads to are left out."""

    order: Sequence[int]
    """Blocks, each before those it dominates."""

    edges: int
    """Pairs of a block and one that may follow it."""

    dominators: Mapping[int, int]
    """The closest other block through which each is entered; the first has itself."""

    loops: Sequence[Loop]
    """All loops."""

    irreducible: int
    """Edges back into the middle of what is entered elsewhere too."""

    depths: Mapping[int, int]
    """In how many loops each block is."""

    @property
    def depth(self) -> int:
        """How many loops are within one another, at most."""
        return max(self.depths.values(), default=0)

    @property
    def innermost(self) -> list[Loop]:
        """Loops without loops in them."""
        heads = [one.head for one in self.loops]
        return [one for one in self.loops if sum(head in one.blocks for head in heads) == 1]


def flow_of(function: Function) -> Flow:
    """Return the flow of control in a function."""
    numbers = {block.name: number for number, block in enumerate(function.blocks)}
    after = [
        [numbers[name] for name in block.successors if name in numbers] for block in function.blocks
    ]
    order = _reverse_post_order(after)
    before: dict[int, list[int]] = {one: [] for one in order}
    for one in order:
        for next_one in after[one]:
            before[next_one].append(one)
    dominators = _dominators(order, before)
    loops, irreducible = _loops(order, after, before, dominators)
    depths = dict.fromkeys(order, 0)
    for loop in loops:
        for one in loop.blocks:
            depths[one] += 1
    return Flow(
        order=order,
        edges=sum(len(after[one]) for one in order),
        dominators=dominators,
        loops=loops,
        irreducible=irreducible,
        depths=depths,
    )


def _reverse_post_order(after: Sequence[Sequence[int]]) -> list[int]:
    if not after:
        return []
    done: list[int] = []
    seen = {0}
    path = [(0, iter(after[0]))]
    while path:
        one, rest = path[-1]
        for next_one in rest:
            if next_one not in seen:
                seen.add(next_one)
                path.append((next_one, iter(after[next_one])))
                break
        else:
            path.pop()
            done.append(one)
    return done[::-1]


def _dominators(order: Sequence[int], before: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return immediate dominators, by the algorithm of Cooper, Harvey and Kennedy."""
    place = {one: number for number, one in enumerate(order)}
    known = {order[0]: order[0]} if order else {}

    def meet(one: int, other: int) -> int:
        while one != other:
            while place[one] > place[other]:
                one = known[one]
            while place[other] > place[one]:
                other = known[other]
        return one

    changed = True
    while changed:
        changed = False
        for one in order[1:]:
            entered = [other for other in before[one] if other in known]
            found = entered[0]
            for other in entered[1:]:
                found = meet(found, other)
            changed |= known.get(one) != found
            known[one] = found
    return known


def _loops(
    order: Sequence[int],
    after: Sequence[Sequence[int]],
    before: Mapping[int, Sequence[int]],
    dominators: Mapping[int, int],
) -> tuple[list[Loop], int]:
    """Return natural loops, and the number of edges that make others."""
    place = {one: number for number, one in enumerate(order)}
    bodies: dict[int, set[int]] = {}
    irreducible = 0
    for one in order:
        for head in after[one]:
            if place[head] > place[one]:
                continue
            if not _dominates(head, one, dominators):
                irreducible += 1
                continue
            body = bodies.setdefault(head, {head})
            waiting = [one]
            while waiting:
                inner = waiting.pop()
                if inner not in body:
                    body.add(inner)
                    waiting += before[inner]
    return [Loop(head, frozenset(body)) for head, body in bodies.items()], irreducible


def _dominates(one: int, other: int, dominators: Mapping[int, int]) -> bool:
    while other != one and dominators[other] != other:
        other = dominators[other]
    return other == one
