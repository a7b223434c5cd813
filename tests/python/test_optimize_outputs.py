"""Whether `mneme optimize` notices an output that is wrong; no program is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mneme.errors import InvalidArgument
from mneme.optimize import exact_check, lines
from mneme.optimize.outputs import CommandCheck, ExactCheck, NumbersCheck, make_check


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
    assert lost.fault(b"ab  c\n") == "line 1 of its output has other blanks"


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

    monkeypatch.setattr(exact_check, "tokens", parts)
    same = b"x y\n" * 10
    check = ExactCheck([same + b"1 s", same + b"2 s", same + b"2 s"])
    assert check.fault(same + b"1 s") == ""
    assert check.fault(same + b"3 s") == ""
    assert set(divided) == {b"1 s", b"2 s", b"3 s"}


def test_an_output_of_another_form_each_time_is_not_compared() -> None:
    check = ExactCheck([b"a\nb\n", b"c d\n"])
    assert check.rule.startswith("nothing of it")
    assert check.fault(b"anything") == ""
    assert ExactCheck([b"a\nb", b"a b"]).rule.startswith("nothing of it")


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
    assert "prints nothing" in check.rule
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
    with pytest.raises(InvalidArgument, match="finds nothing"):
        NumbersCheck(b"", [r"e = (\S+)"], 0)
    with pytest.raises(InvalidArgument, match="no number"):
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
        make_check([b"x"], check=command, compare=[], tolerance=0, longest=1)
    state = Path(f"/proc/{pid.read_text().strip()}/stat")
    # Who adopts it may be slow to see that it has ended.
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] in "ZX"


def test_a_command_need_not_read_the_output() -> None:
    assert CommandCheck("true", b"x" * 1_000_000).fault(b"x" * 1_000_000) == ""


def test_runs_as_built_have_to_agree_on_what_is_compared() -> None:
    with pytest.raises(InvalidArgument, match="two runs of the program as built differ"):
        make_check([b"x 1", b"x 2"], check=None, compare=[r"x (\d)"], tolerance=0.1)
