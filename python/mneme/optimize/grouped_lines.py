"""Outputs whose lines appear, disappear or are sorted by a time: compares what they share."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from mneme.optimize.fault import Fault, instead, show
from mneme.optimize.lines import is_as_finite, is_number, is_same, skeleton, tokens, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from decimal import Decimal

__all__ = ["GroupedLines"]

# Largest size of outputs that are divided as a whole, which takes thirty times as much memory.
_MOST_DIVIDED = 16 << 20
# A line without its numbers; and the numbers.
_Skeleton = tuple[bytes, ...]
_Numbers = list[bytes]


class GroupedLines:
    """Runs whose lines appear, disappear or change their order.

    Lines are identified by their words; those of their numbers count that are the same in all runs.
    """

    def __init__(self, outputs: Sequence[bytes]) -> None:
        """Take all outputs."""
        is_too_much = sum(map(len, outputs)) > _MOST_DIVIDED
        divided = [] if is_too_much else [_divide(one) for one in outputs]
        self._orders = [order for order, _ in divided]
        self._groups = [groups for _, groups in divided]

    def add(self, other: bytes) -> bool:
        """Return False: the kept outputs have shown which lines appear and disappear."""
        del other
        return False

    @property
    def is_moved(self) -> bool:
        """Whether another run has the same lines, or the same numbers, in another order."""
        if not self._is_ordered and len({frozenset(Counter(o).items()) for o in self._orders}) == 1:
            return True
        for line, rows in self._groups[0].items() if self._groups else ():
            runs = [run.get(line, []) for run in self._groups]
            if all(len(run) == len(rows) for run in runs) and any(
                _are_moved([[row[place] for row in run] for run in runs])
                for place in range(len(rows[0]))
            ):
                return True
        return False

    @property
    def is_comparable(self) -> bool:
        """Whether there is a line that all runs print."""
        return bool(self._groups) and any(
            any(map(_is_meant, line)) and all(line in one for one in self._groups)
            for line in self._groups[0]
        )

    @property
    def _is_ordered(self) -> bool:
        return all(one == self._orders[0] for one in self._orders)

    def count(self) -> int:
        """Return a number that grows with what is left out."""
        numbers = {
            (line, index, place, _value(one))
            for run in self._groups
            for line, rows in run.items()
            for index, row in enumerate(rows)
            for place, one in enumerate(row)
        }
        return len(numbers) + len({tuple(one) for one in self._orders})

    @property
    def rule(self) -> str:
        """What is compared, for users."""
        return (
            "the lines that the program as built prints in every run, in any order, and the "
            "numbers in them that are the same in all runs"
        )

    def fault(self, output: bytes) -> Fault | None:
        """Return the first thing that is wrong."""
        order, groups = _divide(output)
        if self._is_ordered:
            for number, (old, new) in enumerate(zip(self._orders[0], order, strict=False)):
                if old != new:
                    told = f"line {number + 1} of its output is {_text(new)}, not {_text(old)}"
                    return Fault(sentence=told, line=number)
        where: dict[_Skeleton, list[int]] = {line: [] for run in self._groups for line in run}
        for number, line in enumerate(order):
            if line not in where:
                told = f"line {number + 1} of its output is {_text(line)}, which was never seen"
                return Fault(sentence=told, line=number)
            where[line].append(number)
        for line, numbers in where.items():
            rows = [run.get(line, []) for run in self._groups]
            counts = {len(run) for run in rows}
            count, found = min(counts), groups.get(line, [])
            is_lost = bool(count) and not found
            if is_lost or (len(counts) == 1 and len(found) != count):
                told = f"its output has {len(found)} lines like {_text(line)}, not {count}"
                return Fault(sentence=told)
            faults = _faults_in_some if len(counts) > 1 else _faults_in_each
            for index, place, is_there, was in faults(rows, found):
                return instead(
                    numbers[index], _token_of(output, numbers[index], place), is_there, was
                )
        return None


# The line among those of its kind, the index of the number, the number, and the expected one.
_Other = tuple[int, int, bytes, bytes]


def _faults_in_some(
    runs: Sequence[Sequence[_Numbers]], found: Sequence[_Numbers]
) -> Iterator[_Other]:
    """Lines that occur more or less often: numbers count that are the same in all of them."""
    rows = [row for run in runs for row in run]
    for place, values in enumerate(zip(*rows, strict=True)):
        for index, row in enumerate(found):
            if not _is_among(values, row[place]):
                yield index, place, row[place], values[0]


def _faults_in_each(
    runs: Sequence[Sequence[_Numbers]], found: Sequence[_Numbers]
) -> Iterator[_Other]:
    """Lines that occur equally often: numbers count that are in all runs, in any order.

    If lines are sorted by a time, their other numbers occur in all runs.
    """
    moved = []
    for place in range(len(found[0]) if found else 0):
        columns = [[row[place] for row in run] for run in runs]
        if _are_moved(columns):
            moved.append(place)
            continue
        for index, row in enumerate(found):
            if not _is_among([column[index] for column in columns], row[place]):
                yield index, place, row[place], columns[0][index]
    parts = [[[row[place] for place in moved] for row in run] for run in runs]
    if not moved or not _are_alike(parts):
        return
    left = Counter(map(_values, parts[0]))
    for index, row in enumerate(found):
        part = [row[place] for place in moved]
        left[_values(part)] -= 1
        if left[_values(part)] < 0:
            yield index, moved[0], b" ".join(part), b" ".join(parts[0][index])


def _is_among(values: Sequence[bytes], new: bytes) -> bool:
    """Whether a number is the same as in all runs or, if those differ, as finite as there."""
    if all(is_same(values[0], one) for one in values[1:]):
        return is_same(values[0], new)
    return is_as_finite(values[0], new)


def _is_meant(token: bytes) -> bool:
    """Whether a token is more than a punctuation sign."""
    return token == b"#" or token[:1].isalnum()


def _divide(output: bytes) -> tuple[list[_Skeleton], dict[_Skeleton, list[_Numbers]]]:
    order: list[_Skeleton] = []
    groups: defaultdict[_Skeleton, list[_Numbers]] = defaultdict(list)
    for text in output.split(b"\n"):
        line = tokens(text)
        words = skeleton(line)
        order.append(words)
        groups[words].append([one for one in line if is_number(one)])
    return order, dict(groups)


def _token_of(output: bytes, line: int, place: int) -> int:
    """Return which token of a line its number `place` is."""
    parts = tokens(output.split(b"\n")[line])
    return [index for index, part in enumerate(parts) if is_number(part)][place]


def _value(token: bytes) -> bytes | Decimal:
    value = value_of(token)
    return token if value is None else value


def _values(row: Iterable[bytes]) -> tuple[bytes | Decimal, ...]:
    return tuple(map(_value, row))


def _are_alike(runs: Sequence[Sequence[_Numbers]]) -> bool:
    """Whether all runs have the same rows, in any order."""
    first = Counter(map(_values, runs[0]))
    return all(Counter(map(_values, one)) == first for one in runs[1:])


def _are_moved(columns: Sequence[Sequence[bytes]]) -> bool:
    is_same_order = all(one == columns[0] for one in columns)
    return not is_same_order and _are_alike([[[one] for one in column] for column in columns])


def _text(line: _Skeleton) -> str:
    return show(b" ".join(line))
