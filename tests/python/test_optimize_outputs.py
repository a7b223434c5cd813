"""Whether `mneme optimize` notices an output that is wrong; no program is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mneme.errors import InvalidArgument
from mneme.optimize import aligned_lines, lines
from mneme.optimize.outputs import CommandCheck, ExactCheck, NumbersCheck, OutputRule, make_check
from mneme.optimize.times import Clock, clock_of, looks_timed


def test_every_byte_of_the_output_counts() -> None:
    check = ExactCheck([b"sum 1.5\ndone\n"])
    assert check.rule == "every byte"
    assert check.fault(b"sum 1.5\ndone\n") == ""
    assert check.fault(b"sum 1.6\ndone\n") == "line 1 of its output has '1.6' instead of '1.5'"
    assert check.fault(b"sum 1.5\nDone\n") == "line 2 of its output has 'Done' instead of 'done'"
    assert check.fault(b"sum 1.5\n") == "it prints 8 bytes instead of 13"
    assert check.fault(b"sum 1.5\ndone\nmore\n") != ""


def test_words_that_differ_between_runs_as_built_do_not_count() -> None:
    check = ExactCheck([b"sum 1.5 in 20 ms\n", b"sum 1.5 in 21 ms\n"])
    assert check.rule == "every byte but 1 word that differs between runs of the program as built"
    assert check.fault(b"sum 1.5 in 99 ms\n") == ""
    assert check.fault(b"sum 1.4 in 20 ms\n") != ""
    assert check.fault(b"sum 1.5 i 20  ms\n") == "line 1 of its output has 'i' instead of 'in'"
    assert check.fault(b"sum 1.5 in 20 m \n") == "line 1 of its output has 'm' instead of 'ms'"
    assert check.fault(b"sum 1.5 in 99 ms\nmore\n") == "it prints 22 bytes instead of 17"
    assert check.fault(b"sum 1.5 in 99  ms\n") == ""
    assert check.fault(b"sum 1.50 in 99 ms\n") == ""
    assert check.fault(b"sum -1.5 in 99 ms\n") != ""
    check = ExactCheck([b"a 1\nb 2\nc 3\n", b"a 7\nb 2\nc 3\n", b"a 1\nb 2\nc 8\n"])
    assert "2 words that differ" in check.rule
    assert check.fault(b"a 9\nb 2\nc 9\n") == ""
    assert check.fault(b"a 9\nb 9\nc 9\n") == "line 2 of its output has '9' instead of '2'"
    lost = ExactCheck([b"ab c\n"])
    assert lost.fault(b"ab  \n") == "line 1 of its output is 'ab  ' instead of 'ab c'"
    assert lost.fault(b"ab  c\n") == "line 1 of its output differs in blanks"


def test_a_column_of_times_may_have_other_blanks() -> None:
    check = ExactCheck([b"step   21 s   ok\n", b"step   22 s   ok\n"])
    assert check.fault(b"step    9 s   ok\n") == ""
    assert check.fault(b"step   21 s  OK\n") != ""
    left = ExactCheck([b"10.5   s\n", b"10.7   s\n"])
    assert left.fault(b"9.1    s\n") == ""


def test_further_runs_as_built_show_what_differs() -> None:
    check = ExactCheck([b"sum 1.25\ntime 2 s\n"] * 3)
    assert not check.learn(b"sum 1.25\ntime 2 s\n")
    assert check.fault(b"sum 1.25\ntime 0 s\n") != ""
    assert check.learn(b"sum 1.25\ntime 6 s\n")
    assert check.fault(b"sum 1.25\ntime 0 s\n") == ""
    assert check.fault(b"sum 1.26\ntime 0 s\n") != ""
    assert "but 1 word that differs" in check.rule
    # What has nothing in common would let everything pass.
    assert not check.learn(b"slow\n")
    assert check.fault(b"sum 1.24\ntime 0 s\n") != ""
    assert check.learn(b"sum 1.25\ntime 6 s\nslow\n")
    assert check.fault(b"sum 1.25\ntime 0 s\nslow\n") == ""
    assert check.fault(b"sum 1.24\ntime 0 s\n") != ""


def test_more_runs_than_are_kept_are_learned_from() -> None:
    check = ExactCheck([b"sum 1\n"])
    assert [check.learn(b"sum %d\n" % i) for i in range(2, 40)] == [True] + [False] * 37
    assert check.learn(b"SUM 1\n")
    assert check.fault(b"some 77\n") == ""
    lines = ExactCheck([b"a\n" * i + b"end 5\n" for i in range(1, 14)])
    assert not lines.learn(b"a\n" * 99 + b"end 6\n")
    assert lines.fault(b"a\nend 6\n") != ""


def test_a_large_output_whose_lines_come_and_go_is_not_compared() -> None:
    large = b"line\n" * (1 << 21)
    assert not ExactCheck([large, large + b"more\n"]).is_comparable
    assert not ExactCheck([large]).learn(large + b"more\n")


def test_only_lines_that_differ_are_divided_into_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """An output of some hundred megabytes would take ten times as much memory as words."""
    divided: list[bytes] = []
    whole = lines.tokens

    def parts(line: bytes) -> list[bytes]:
        divided.append(line)
        return whole(line)

    monkeypatch.setattr(aligned_lines, "tokens", parts)
    same = b"x y\n" * 10
    check = ExactCheck([same + b"1 s", same + b"2 s", same + b"2 s"])
    assert check.fault(same + b"1 s") == ""
    assert check.fault(same + b"3 s") == ""
    assert set(divided) == {b"1 s", b"2 s", b"3 s"}


def test_an_output_of_another_form_each_time_is_not_compared() -> None:
    check = ExactCheck([b"a\nb\n", b"c d\n"])
    assert check.rule.startswith("nothing: its form differs")
    assert check.fault(b"anything") == ""
    assert ExactCheck([b"a\nb", b"a b"]).rule.startswith("nothing: its form differs")


def test_lines_that_come_and_go_leave_the_others_compared() -> None:
    check = ExactCheck([b"10 %\n50 %\nsum 7\n", b"10 %\nsum 7\n", b"20 %\nwait\nsum 7\n"])
    assert check.rule.startswith("the lines that the program as built prints in every run")
    assert check.fault(b"90 %\n95 %\n99 %\nsum 7\n") == ""
    assert check.fault(b"90 %\nsum 8\n") == "line 2 of its output has '8' instead of '7'"
    assert check.fault(b"90 %\n") == "its output has 0 lines like 'sum #', not 1"
    assert check.fault(b"90 %\nsum 7\nbad\n") == (
        "line 3 of its output is 'bad', which was never seen"
    )


def test_who_prints_nothing_is_told_that_nothing_is_compared() -> None:
    check = ExactCheck([b""] * 3)
    assert not check.says_enough
    assert "nothing is printed" in check.rule
    assert "--check" in check.rule
    assert check.fault(b"a word")
    assert ExactCheck([b"1"] * 3).says_enough


def test_numbers_are_compared_with_a_tolerance() -> None:
    check = NumbersCheck(b"e = 1.0 f = nan\n", [r"e = (\S+) f = (\S+)"], 1e-3)
    assert check.rule == "2 numbers by --compare, within 0.001 of each"
    assert check.fault(b"e = 1.0005 f = nan\n") == ""
    assert check.fault(b"e = 1.1 f = nan\n") == r"'e = (\S+) f = (\S+)' finds 1.1 instead of 1"
    assert check.fault(b"e = 1 f = 2\n") != ""
    assert check.fault(b"nothing\n") != ""
    assert check.fault(b"e = x f = nan\n") != ""
    with pytest.raises(InvalidArgument, match="matches nothing"):
        NumbersCheck(b"", [r"e = (\S+)"], 0)
    with pytest.raises(InvalidArgument, match="not a number"):
        NumbersCheck(b"e = x", [r"e = (\S+)"], 0)


def test_a_command_says_what_is_right() -> None:
    check = CommandCheck("grep -q PASSED", b"PASSED\n")
    assert check.fault(b"PASSED\n") == ""
    assert "ends with 1" in check.fault(b"FAILED\n")
    with pytest.raises(InvalidArgument, match="output of the program as built"):
        CommandCheck("grep -q PASSED", b"FAILED\n")


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = f"sleep 600 & echo $! > {pid}; wait"
    with pytest.raises(InvalidArgument, match=r"did not end within 1 s"):
        make_check([b"x"], OutputRule(check=command), longest=1)
    state = Path(f"/proc/{pid.read_text().strip()}/stat")
    # The process that adopts it may be slow to reap it.
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] in "ZX"


def test_a_command_need_not_read_the_output() -> None:
    assert CommandCheck("true", b"x" * 1_000_000).fault(b"x" * 1_000_000) == ""


def test_runs_as_built_have_to_agree_on_what_is_compared() -> None:
    with pytest.raises(InvalidArgument, match="two runs of the program as built differ"):
        make_check([b"x 1", b"x 2"], OutputRule(compare=(r"x (\d)",), compare_tolerance=0.1))


@pytest.mark.parametrize(
    ("built", "tuned", "patterns"),
    [
        ("run time: 268 ms", "run time: 14 ms", [r"run time: (\d+)"]),
        ("time: 1.5 s\nok", "time: 0.25 s\nok", [r"time: ([-+.\w]+)"]),
        ("268 ms\n", " 14 ms\n", [r"^ *(\d+) *ms *$"]),
        ("a 1 b 2\n", "a 3 b 4\n", [r"a (\d+)", r"a \S+ b (\d+)"]),
        ("0 it 10 us\n" * 30, "0 it 7 us\n" * 30, [r"0 it (\d+)"]),
        (
            "".join(f"step {i}: {i} us\n" for i in range(100, 130)),
            "".join(f"step {i}: 7 us\n" for i in range(100, 130)),
            [r"step *[-+.\w]+ *: *(\d+)"],
        ),
        ("ok\n", "ok\nslow\n", []),
    ],
)
def test_what_differs_can_be_ignored_by_the_patterns_that_are_named(
    built: str, tuned: str, patterns: list[str]
) -> None:
    outputs = [built.encode()]
    check = ExactCheck(outputs)
    assert check.fault(tuned.encode())
    assert check.accepted_with(tuned.encode()) == patterns
    assert not patterns or ExactCheck(outputs, patterns).fault(tuned.encode()) == ""


def test_all_that_a_pattern_without_groups_finds_is_ignored() -> None:
    check = make_check([b"sum 1 (2 s)\n"], OutputRule(ignore=(r"\(.*\)",)))
    assert check.rule == "every byte, without what --ignore finds"
    assert check.fault(b"sum 1 (three seconds)\n") == ""
    assert check.fault(b"sum 2 (2 s)\n") != ""


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (OutputRule(ignore=("(",)), r"--ignore '\(': missing \)"),
        (OutputRule(ignore=("a",), compare=("(b)",)), "--ignore and --compare exclude one another"),
        (OutputRule(ignore=("a",), check="true"), "--ignore and --check exclude one another"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(rule: OutputRule, why: str) -> None:
    with pytest.raises(InvalidArgument, match=why):
        rule.validate()


def test_a_pattern_to_ignore_that_finds_nothing_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="--ignore 'x' matches nothing"):
        make_check([b"sum 1\n"], OutputRule(ignore=("x",)))


@pytest.mark.parametrize(
    ("line", "token", "is_timed"),
    [
        ("kernel 14 ms", 1, True),
        ("kernel execution time: 14", 4, True),
        ("rate 5 GFLOP/s", 1, True),
        ("3 zones/s", 0, True),
        ("name time\nx 3", 1, True),
        ("energy 5", 1, False),
        ("5 steps of 2", 3, False),
    ],
)
def test_durations_and_rates_are_known_by_the_words_beside_them(
    line: str, token: int, is_timed: bool
) -> None:
    lines = line.encode().split(b"\n")
    assert looks_timed(lines, len(lines) - 1, token) is is_timed


@pytest.mark.parametrize(
    ("line", "token", "clock"),
    [
        ("kernel 14 ms", 1, Clock.DURATION),
        ("12 s / step", 0, Clock.DURATION),
        ("kernel_time: 14", 2, Clock.DURATION),
        ("1000 cycles", 0, Clock.DURATION),
        ("rate = 5", 2, Clock.RATE),
        ("5 GFLOPS", 0, Clock.RATE),
        ("3 zones/s", 0, Clock.RATE),
        ("80 GB/s in 2 s", 0, Clock.RATE),
        # Each of these may be a result.
        ("time 2 energy 5", 3, None),
        ("total energy 5", 2, None),
        ("converged in 57 iterations", 2, None),
        ("average temperature 300 K", 2, None),
        ("accurate to 5", 2, None),
        ("time rate 5", 2, None),
        ("x 3", 1, None),
    ],
)
def test_what_leaves_doubt_is_no_clock(line: str, token: int, clock: Clock | None) -> None:
    assert clock_of(line.encode(), token) is clock


_BUILT = b"energy 1.25 after 57 iterations\ntime 20 ms, 50 GFLOPS\n"


@pytest.mark.parametrize(
    ("slower", "tuned", "fault"),
    [
        # A time, and a rate, that only the speed of kernels changes.
        (("1.25", "57", "40", "25"), ("1.25", "57", "10", "100"), ""),
        # Results that depend on how kernels are compiled stay results, times beside them or not.
        (("1.26", "57", "40", "25"), ("1.24", "57", "10", "100"), "'1.24'"),
        (("1.25", "70", "40", "25"), ("1.25", "50", "10", "100"), "'50'"),
        (("2.50", "57", "20", "50"), ("1.24", "57", "20", "50"), "'1.24'"),
        # What moves the wrong way, or hardly moves, is not a time.
        (("1.25", "57", "15", "50"), ("1.25", "57", "10", "50"), "'10'"),
        (("1.25", "57", "21", "50"), ("1.25", "57", "10", "50"), "'10'"),
        (("1.25", "57", "20", "60"), ("1.25", "57", "20", "100"), "'100'"),
        # Tuned kernels are no slower than those that were made to be slow.
        (("1.25", "57", "40", "50"), ("1.25", "57", "41", "50"), "'41'"),
        (("1.25", "57", "-40", "50"), ("1.25", "57", "10", "50"), "'10'"),
        (("1.25", "57", "40", "50"), ("1.25", "57", "nan", "50"), "'nan'"),
    ],
)
def test_slower_kernels_show_times_and_no_results(
    slower: tuple[str, ...], tuned: tuple[str, ...], fault: str
) -> None:
    check = ExactCheck([_BUILT])

    def printed(numbers: tuple[str, ...]) -> bytes:
        energy, iterations, taken, rate = numbers
        text = f"energy {energy} after {iterations} iterations\ntime {taken} ms, {rate} GFLOPS\n"
        return text.encode()

    is_less = check.learn_slower(printed(slower), printed(tuned))
    found = check.fault(printed(tuned))
    assert (fault in found) if fault else not found
    assert is_less or fault
    assert check.fault(_BUILT) == ""


def test_an_output_of_another_form_with_slower_kernels_shows_nothing() -> None:
    check, tuned = ExactCheck([_BUILT]), _BUILT.replace(b"20", b"10")
    for other in (_BUILT.replace(b"20", b"40") + b"slow\n", _BUILT.replace(b"20", b"40 x")):
        assert not check.learn_slower(other, tuned)
    assert check.rule == "every byte"
    moving = ExactCheck([b"a 1 s\n", b"a 1 s\nb 2\n"])
    assert not moving.learn_slower(b"a 2 s\n", b"a 0 s\n")


def test_what_is_ignored_is_ignored_with_slower_kernels() -> None:
    check = ExactCheck([_BUILT], [r"energy (\S+)"])
    tuned = _BUILT.replace(b"1.25", b"9").replace(b"20", b"10")
    assert check.learn_slower(_BUILT.replace(b"1.25", b"7").replace(b"20", b"40"), tuned)
    assert check.fault(tuned) == ""
