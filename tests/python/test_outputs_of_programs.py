"""Outputs as real programs print them: other times are right, other results are wrong.

Each shape is printed three times as built, with times of their own, then once more with only its
times changed, and with its result changed in each way that fits it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from mneme.optimize.outputs import ExactCheck

# A shape prints a result, and times that are `speed` times as long.
Shape = Callable[[float, "Result"], str]
SHAPES: list[Shape] = []


class Result:
    """What a program computes; each way to be wrong changes one thing of it."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong

    def number(self, text: str) -> str:
        if self.wrong == "digit":
            last = max(i for i, one in enumerate(text.partition("e")[0]) if one.isdigit())
            return text[:last] + str((int(text[last]) + 1) % 10) + text[last + 1 :]
        if self.wrong == "sign":
            return text[1:] if text.startswith("-") else f"-{text}"
        return "nan" if self.wrong == "NaN" else text

    def line(self, text: str) -> str:
        return "" if self.wrong == "lost" else text


WRONG = ("digit", "sign", "NaN", "lost")


def shape(function: Shape) -> Shape:
    SHAPES.append(function)
    return function


def printed(pattern: str, *, of: float, number: str = "-1.25347e-03") -> Shape:
    """A shape of one line that a result comes before, in it or behind it."""

    def function(speed: float, result: Result) -> str:
        return pattern.format(t=of * speed, r=result.number(number)) + result.line("\nend\n")

    return shape(function)


# Times of every kind beside a result, in one line or in two.
for of in (3e-7, 0.014, 0.31, 7.2, 432.0):
    printed("result {r}\ntime {t:.6f} s\n", of=of)
    printed("result {r} in {t:g} s", of=of)
    printed("local...{t:g}s, global...{r},", of=of)
    printed("({t:10.8g} overall)  ({r} of it)", of=of)
    printed("{t:>12.3e} s | {r} | ok", of=of, number="17.250000")
    printed("kernel: {t:8.0f} ms, sum = {r}", of=of * 1000, number="268")
    printed('{{"time": {t:.5g}, "residual": {r}, "ok": true}}', of=of)
    printed("t = 0.5 s: energy {r}\nGrind time (us/z/c) = {t:12.7g} (per dom)", of=of)
    printed("simulated time {r} s\nelapsed {t} s", of=of, number="12.5")


@shape
def table(speed: float, result: Result) -> str:
    rows = [f"{i:4d} {i * 1.5:10.4f} {i * 0.3 * speed:8.2f} ms" for i in range(40)]
    rows[17] = f"{17:4d} {result.number('25.5000'):>10} {5.1 * speed:8.2f} ms"
    return "\n".join(["step value time", *rows]) + result.line("\ntotal 3\n")


@shape
def sorted_by_time(speed: float, result: Result) -> str:
    order = random.Random(int(speed * 1000))
    rows = [
        (order.random(), f"rank {i}: {order.random():.4f} s, sum {i * 100 + 7}") for i in range(6)
    ]
    rows[3] = (order.random(), f"rank 3: 0.5 s, sum {result.number('307')}")
    return "\n".join(text for _, text in sorted(rows)) + result.line("\nend\n")


@shape
def profile_of_kernels(speed: float, result: Result) -> str:
    order = random.Random(int(speed * 1000))
    rows = [f"{name:<10}{order.random() * speed:12.6f} ms" for name in ("axpy", "dot", "spmv")]
    order.shuffle(rows)
    return "\n".join([*rows, f"norm {result.number('4.130267e+00')}"]) + result.line("\nend\n")


@shape
def progress(speed: float, result: Result) -> str:
    lines = [
        f"{100 * i // n}% done, ETA {speed * i:.0f}s" for n in [int(4 * speed)] for i in range(n)
    ]
    return "\n".join([*lines, f"checksum {result.number('81237')}"]) + result.line("\nend\n")


@shape
def carriage_returns(speed: float, result: Result) -> str:
    steps = "".join(f"\rstep {i}/5 {speed * i:.1f}s" for i in range(6))
    return f"{steps}\nanswer {result.number('42.0')}\n" + result.line("end\n")


@shape
def histogram(speed: float, result: Result) -> str:
    bars = [f"[{i:2d}] {'#' * (i * 7 % 13)} {i * 31}" for i in range(12)]
    bars[4] = f"[ 4] {'#' * 2} {result.number('124')}"
    return "\n".join([*bars, f"took {speed * 12:.1f} us"]) + result.line("\nend\n")


@shape
def thousands_of_lines(speed: float, result: Result) -> str:
    lines = [f"{i} {i * i % 977}.{i % 10}" for i in range(5000)]
    lines[3210] = f"3210 {result.number('42.0')}"
    return "\n".join([*lines, f"{speed * 3.1:.2f} GFLOP/s"]) + result.line("\nend\n")


@shape
def date_and_pid(speed: float, result: Result) -> str:
    seed = int(speed * 977)
    head = f"Thu Nov 26 22:{seed % 60:02d}:{seed % 59:02d} 2026 pid {seed + 4000} at 0x7f{seed:06x}"
    return f"{head}\nmax error {result.number('1.5e-07')}\n" + result.line("end\n")


@shape
def in_seconds_and_minutes(speed: float, result: Result) -> str:
    whole = int(70 * speed)
    return f"total 1m{whole % 60}s\nE = {result.number('-75.012')}\n" + result.line("end\n")


@shape
def rate_in_megazones(speed: float, result: Result) -> str:
    return f"merit = {1000 / speed:.2f} (zones/s)\nIterations: {result.number('932')}\n" + (
        result.line("end\n")
    )


@shape
def columns_that_change_width(speed: float, result: Result) -> str:
    rows = [f"{name:<8}|{speed * n:>9.3f}|{n * 11:>6}" for name, n in (("a", 1), ("b", 900))]
    return "\n".join(rows) + f"\nsum|{result.number('9911')}\n" + result.line("end\n")


@shape
def results_only(speed: float, result: Result) -> str:
    return f"x = {result.number('1.0')}\n" + result.line("PASSED\n") + (f"{speed:.3f}\n")


@shape
def matrix(speed: float, result: Result) -> str:
    rows = [" ".join(f"{(i * 7 + j) % 10}.5" for j in range(8)) for i in range(8)]
    rows[5] = rows[5].replace("7.5", result.number("7.5"), 1)
    return "\n".join(rows) + f"\n{speed * 2:.4f} s\n" + result.line("end\n")


@shape
def words_that_differ(speed: float, result: Result) -> str:
    name = "".join(random.Random(int(speed * 1000)).choices("abcdef", k=8))
    return f"log in /tmp/{name}\nchi2 {result.number('0.998')}\n" + result.line("end\n")


@shape
def times_of_zero(speed: float, result: Result) -> str:
    return f"0 s 0.0 s {int(speed * 3)} ms; err {result.number('3.2e-16')}\n" + result.line("end\n")


BUILT = (1.0, 1.07, 1.21)
TUNED = 0.13


def check_of(one: Shape) -> ExactCheck:
    check = ExactCheck([one(speed, Result()).encode() for speed in BUILT])
    # As `mneme optimize` does with an output it would refuse: a run as built that is slow.
    if check.fault(one(TUNED, Result()).encode()):
        check.learn(one(3.3, Result()).encode())
    return check


def test_there_are_sixty_shapes() -> None:
    assert len(SHAPES) >= 60


def test_other_times_are_right() -> None:
    faults = [check_of(one).fault(one(TUNED, Result()).encode()) for one in SHAPES]
    assert len([one for one in faults if one]) <= 2, [one for one in faults if one]


@pytest.mark.parametrize("wrong", WRONG)
def test_another_result_is_wrong(wrong: str) -> None:
    accepted = [
        one(TUNED, Result())
        for one in SHAPES
        if not check_of(one).fault(one(TUNED, Result(wrong)).encode())
    ]
    assert accepted == []


def test_a_result_beside_a_time_counts_where_lines_are_sorted_by_time() -> None:
    check = ExactCheck([b"a 1 s, 7\na 2 s, 8\n", b"a 3 s, 8\na 5 s, 7\n"])
    assert check.fault(b"a 1 s, 8\na 9 s, 7\n") == ""
    assert check.fault(b"a 1 s, 8\na 9 s, 8\n") != ""


def test_a_time_is_no_nan() -> None:
    check = ExactCheck([b"time 1 s\n", b"time 2 s\n"])
    assert check.fault(b"time 3 s\n") == ""
    assert check.fault(b"time nan s\n") == "line 1 of its output has 'nan' instead of '1'"


@pytest.mark.parametrize(
    ("built", "tuned"), [("9007199254740992", "9007199254740993"), ("0.0", "-0.0"), ("nan", "-nan")]
)
def test_numbers_beside_a_time_are_compared_exactly(built: str, tuned: str) -> None:
    check = ExactCheck([f"sum {built} in {time} s\n".encode() for time in (1, 2)])
    assert check.fault(f"sum {built} in 3 s\n".encode()) == ""
    assert check.fault(f"sum {tuned} in 3 s\n".encode()) != ""


def test_a_line_that_comes_in_every_run_is_not_lost_altogether() -> None:
    check = ExactCheck([b"10 %\n50 %\nsum 7\n", b"10 %\nsum 7\n"])
    assert check.fault(b"99 %\nsum 7\n") == ""
    assert check.fault(b"sum 7\n") == "its output has 0 lines like '# %', not 1"
