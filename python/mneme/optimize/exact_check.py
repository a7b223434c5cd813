"""An output against those of the program as built: what these have in common counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from mneme.optimize.lines import (
    differing,
    is_as_finite,
    is_number,
    is_same,
    skeleton,
    tokens,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from decimal import Decimal

__all__ = ["ExactCheck"]

_SHOWN = 80
# More outputs than these are seen, one by one, but not kept.
_MOST_KEPT = 12
# Bytes of outputs that are divided as a whole, which takes thirty times as much memory.
_MOST_DIVIDED = 16 << 20
# A line as it is without its numbers, and the numbers.
_Skeleton = tuple[bytes, ...]
_Numbers = list[bytes]


class ExactCheck:
    """Everything but what differs between runs of the program as built.

    Where these have the same lines, only words and numbers that differ are left out (times, dates),
    and the blanks beside them. Where lines come and go, or come in another order, lines are told by
    their words, and the numbers of each count that are the same in all runs.
    """

    def __init__(self, outputs: Sequence[bytes]) -> None:
        """Take what the program as built printed, in at least one run."""
        self._outputs = list(dict.fromkeys(outputs))
        self._form = _form_of(self._outputs)

    @property
    def is_comparable(self) -> bool:
        """Whether anything is compared."""
        return self._form.is_comparable

    @property
    def says_enough(self) -> bool:
        """Whether an output tells a right run from a wrong one."""
        return self.is_comparable and any(self._outputs)

    def learn(self, output: bytes) -> bool:
        """Take another output of the program as built; return whether less is compared now.

        One that has nothing in common with the others changes nothing: all would pass then.
        """
        if output in self._outputs:
            return False
        if len(self._outputs) >= _MOST_KEPT:
            before = self._form.count()
            return self._form.add(output) and self._form.count() > before
        form = _form_of([*self._outputs, output])
        if not form.is_comparable:
            return False
        is_less = type(form) is not type(self._form) or form.count() > self._form.count()
        self._outputs.append(output)
        self._form = form
        return is_less

    @property
    def rule(self) -> str:
        """What is compared, for people."""
        if not self.is_comparable:
            return (
                "nothing of it: it has another form in every run of the program as built (say what "
                "counts with --compare or --check)"
            )
        if not any(self._outputs):
            return (
                "only that it prints nothing, and its exit code (results that are in files or on "
                "standard error are seen by a command of --check)"
            )
        return self._form.rule

    def fault(self, output: bytes) -> str:
        """Return what is wrong; empty if it is right."""
        if not self.is_comparable or output in self._outputs:
            return ""
        return self._form.fault(output)


def _form_of(outputs: Sequence[bytes]) -> _Aligned | _Grouped:
    aligned = _Aligned(outputs[0])
    if not all(aligned.add(other) for other in outputs[1:]):
        return _Grouped(outputs)
    # Where lines are sorted by a time, what stands beside it differs only in its place.
    differing_lines = [aligned.differing_lines(one) for one in outputs]
    is_moved = bool(differing_lines[0]) and _Grouped(differing_lines).is_moved
    return _Grouped(outputs) if is_moved else aligned


class _Aligned:
    """Runs that print the same lines, with the same number of words and numbers in each.

    Only lines that differ are divided: an output may have millions of lines.
    """

    is_comparable = True

    def __init__(self, expected: bytes) -> None:
        self._expected = expected
        self._lines = expected.split(b"\n")
        self._left_out: dict[int, set[int]] = {}  # of these lines, these tokens, by number

    def count(self) -> int:
        return sum(map(len, self._left_out.values()))

    @property
    def rule(self) -> str:
        if self.count() == 0:
            return "every byte"
        count = self.count()
        words = "1 word that differs" if count == 1 else f"{count} words that differ"
        return f"every byte but {words} between runs of the program as built"

    def add(self, other: bytes) -> bool:
        """Leave out what differs; False if the rest cannot be compared so."""
        lines = other.split(b"\n")
        if len(lines) != len(self._lines):
            return False
        found_out: list[tuple[int, list[int]]] = []
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=True)):
            if old == new:
                continue
            expected, found = tokens(old), tokens(new)
            if len(found) != len(expected):
                return False
            # One that differs in its blanks only is of another width beside something.
            found_out.append((number, differing(expected, found)))
        for number, words in found_out:
            self._left_out.setdefault(number, set()).update(words)
        return True

    def differing_lines(self, output: bytes) -> bytes:
        """Return those lines of an output of this form in which something is left out."""
        lines = output.split(b"\n")
        return b"\n".join(lines[number] for number, words in self._left_out.items() if words)

    def fault(self, output: bytes) -> str:
        lines = output.split(b"\n")
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=False)):
            if old == new:
                continue
            expected, found = tokens(old), tokens(new)
            left_out = self._left_out.get(number)
            for index in differing(expected, found):
                is_free = left_out is not None and index in left_out
                if not is_free or not is_as_finite(expected[index], found[index]):
                    return _instead(number, found[index], expected[index])
            if len(found) != len(expected):
                if len(lines) == len(self._lines):
                    return (
                        f"line {number + 1} of its output is {_show(new)} instead of {_show(old)}"
                    )
                break
            if left_out is None:
                return f"line {number + 1} of its output has other blanks"
        else:
            if len(lines) == len(self._lines):
                return ""
        return f"it prints {len(output)} bytes instead of {len(self._expected)}"


class _Grouped:
    """Runs whose lines come and go, or come in another order."""

    def __init__(self, outputs: Sequence[bytes]) -> None:
        is_too_much = sum(map(len, outputs)) > _MOST_DIVIDED
        divided = [] if is_too_much else [_divide(one) for one in outputs]
        self._orders = [order for order, _ in divided]
        self._groups = [groups for _, groups in divided]

    def add(self, other: bytes) -> bool:
        """Return False: as many as are kept have shown what comes and goes."""
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
        """Return how much is left out, a number that grows with it."""
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
        return (
            "the lines that the program as built prints in every run, in any order, and the "
            "numbers in them that are the same in all runs"
        )

    def fault(self, output: bytes) -> str:
        order, groups = _divide(output)
        if self._is_ordered:
            for number, (old, new) in enumerate(zip(self._orders[0], order, strict=False)):
                if old != new:
                    return f"line {number + 1} of its output is {_text(new)}, not {_text(old)}"
        where: dict[_Skeleton, list[int]] = {line: [] for run in self._groups for line in run}
        for number, line in enumerate(order):
            if line not in where:
                return f"line {number + 1} of its output is {_text(line)}, which was never seen"
            where[line].append(number)
        for line, numbers in where.items():
            rows = [run.get(line, []) for run in self._groups]
            counts = {len(run) for run in rows}
            count, found = min(counts), groups.get(line, [])
            is_lost = bool(count) and not found
            if is_lost or (len(counts) == 1 and len(found) != count):
                return f"its output has {len(found)} lines like {_text(line)}, not {count}"
            faults = _faults_in_some if len(counts) > 1 else _faults_in_each
            for index, is_there, was in faults(rows, found):
                return _instead(numbers[index], is_there, was)
        return ""


_Fault = tuple[int, bytes, bytes]


def _faults_in_some(
    runs: Sequence[Sequence[_Numbers]], found: Sequence[_Numbers]
) -> Iterator[_Fault]:
    """Lines of which there are more or fewer: numbers count that are the same in all of them."""
    rows = [row for run in runs for row in run]
    for place, values in enumerate(zip(*rows, strict=True)):
        for index, row in enumerate(found):
            if not _is_among(values, row[place]):
                yield index, row[place], values[0]


def _faults_in_each(
    runs: Sequence[Sequence[_Numbers]], found: Sequence[_Numbers]
) -> Iterator[_Fault]:
    """As many lines in each run: numbers count that are the same in all runs, or in another order.

    Where lines are sorted by a time, the other numbers of each are there in all runs.
    """
    moved = []
    for place in range(len(found[0]) if found else 0):
        columns = [[row[place] for row in run] for run in runs]
        if _are_moved(columns):
            moved.append(place)
            continue
        for index, row in enumerate(found):
            if not _is_among([column[index] for column in columns], row[place]):
                yield index, row[place], columns[0][index]
    parts = [[[row[place] for place in moved] for row in run] for run in runs]
    if not moved or not _are_alike(parts):
        return
    left = Counter(map(_values, parts[0]))
    for index, row in enumerate(found):
        part = [row[place] for place in moved]
        left[_values(part)] -= 1
        if left[_values(part)] < 0:
            yield index, b" ".join(part), b" ".join(parts[0][index])


def _is_among(values: Sequence[bytes], new: bytes) -> bool:
    """Whether a number is what it was in all runs, or where it was not, as finite as there."""
    if all(is_same(values[0], one) for one in values[1:]):
        return is_same(values[0], new)
    return is_as_finite(values[0], new)


def _is_meant(token: bytes) -> bool:
    """Whether a token is more than a sign."""
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


def _value(token: bytes) -> bytes | Decimal:
    value = value_of(token)
    return token if value is None else value


def _values(row: Iterable[bytes]) -> tuple[bytes | Decimal, ...]:
    return tuple(map(_value, row))


def _are_alike(runs: Sequence[Sequence[_Numbers]]) -> bool:
    """Whether the same rows are in all runs, in whatever order."""
    first = Counter(map(_values, runs[0]))
    return all(Counter(map(_values, one)) == first for one in runs[1:])


def _are_moved(columns: Sequence[Sequence[bytes]]) -> bool:
    is_same_order = all(one == columns[0] for one in columns)
    return not is_same_order and _are_alike([[[one] for one in column] for column in columns])


def _instead(number: int, found: bytes, expected: bytes) -> str:
    return f"line {number + 1} of its output has {_show(found)} instead of {_show(expected)}"


def _text(line: _Skeleton) -> str:
    return _show(b" ".join(line))


def _show(part: bytes) -> str:
    return repr(part.decode(errors="replace")[:_SHOWN])
