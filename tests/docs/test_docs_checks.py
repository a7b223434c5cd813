"""What checks the pages tells right from wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from doc_blocks import Block, blocks, indented_code, inline_code, unused_comments
from doc_commands import call_error, calls_of_mneme, script_errors, synopsis_error
from doc_output import difference
from doc_pages import AlreadyToldError, PageRun
from doc_shell import bash_steps, console_steps


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("took 35.04 µs on cpu", "took 1.2 ms on cpu"),
        ("3.7 MiB in 5 files", "900 KiB  in 5 files"),
        ("recorded into '/home/me/db'", "recorded into '/tmp/a-b/c.d/db'"),
        ("residual 4.130267e+00", "residual 4e-12"),
        ("record 122680671764064019", "record 99"),
        ("ok, … done", "ok, and more, done"),
        ("mneme 0.1.0", "mneme 0.1.0"),
    ],
)
def test_what_may_differ(shown: str, printed: str) -> None:
    assert difference([shown], printed) == ""


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("took 35.04 µs on cpu", "took 35.04 µs on cuda"),
        ("3.7 MiB in 5 files", "3.7 MiB in 6 files"),
        ("recorded into '/home/me/db'", "recorded into '/home/me/other'"),
        ("mneme 0.1.0", "mneme 0.2.0"),
        ("verified: exact", "verified: wrong"),
        ("one", ""),
        ("one", "one\ntwo"),
    ],
)
def test_what_may_not_differ(shown: str, printed: str) -> None:
    assert difference([shown], printed)


def test_lines_come_in_order_from_either_stream() -> None:
    assert difference(["a", "x", "b"], "a\nb", "x") == ""
    assert difference(["b", "a"], "a\nb", "") == "not printed: b"
    assert difference(["a", "...", "z"], "a\nb\nc\nz", "") == ""
    assert difference(["a", "…"], "a\nb\nc", "d") == ""


def test_commands_are_cut_where_a_shell_would() -> None:
    text = "# none\none \\\n  two  # three\nfor a in 1 2; do\n  b\ndone\ncat <<E\nx\nE\nlast\n"
    starts = [(step.line, step.command.splitlines()[0]) for step in bash_steps(text)]
    assert starts == [(1, "one \\"), (3, "for a in 1 2; do"), (6, "cat <<E"), (9, "last")]
    first, second = console_steps("$ one \\\n    two\nprinted\n$ three\n")
    assert (first.command, first.shown) == ("one \\\n    two", ("printed",))
    assert (second.command, second.shown) == ("three", ())


def test_calls_are_found_and_parsed() -> None:
    text = "A=1 ncu -k x \\\n python3 -m mneme ls db && x/bin/mneme devices >mneme # mneme no"
    assert list(calls_of_mneme(text)) == [["ls", "db"], ["devices"]]
    assert call_error(["replay", "-rdb", "db", "default<O3>"]) == ""
    assert "--speed" in call_error(["replay", "-rdb", "db", "--speed", "9", "default<O3>"])
    assert "9x" in call_error(["replay", "-rdb", "db", "-it", "9x", "default<O3>"])
    assert "does not exist" in call_error(["rerun"])


def test_wrong_options_in_prose_are_found() -> None:
    assert synopsis_error("mneme tune --resume (--trials N | --timeout S) -- --other") == ""
    assert synopsis_error("mneme tune --resum") == "'mneme tune' has no --resum"
    assert synopsis_error("mneme tunes") == "'mneme tunes' does not exist"
    assert script_errors("run scripts/test, not scripts/tests") == [
        "'scripts/tests' does not exist"
    ]


PAGE = """\
A `mneme\tls` and `a|b`.

<!-- not run: needs a GPU -->
<!-- exit code: 3 -->
```console
$ false
```

<!-- exit code: 1 -->
words

```bash
true
```

    indented
"""


def test_directives_belong_to_the_next_block(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    first, second = blocks(page)
    assert (first.line, first.directive("not run")) == (5, "needs a GPU")
    assert (first.directive("exit code"), first.is_run) == ("3", False)
    assert (second.language, second.directives) == ("bash", ())
    assert indented_code(page) == [16]
    assert unused_comments(page) == ["<!-- exit code: 1 -->"]
    assert list(inline_code(page)) == ["mneme ls", "a|b"]


def test_replacements_have_to_fit() -> None:
    block = Block(Path("page.md"), 1, "bash", "a --trials 9\n", (("run with", "9 => 2"),))
    assert block.shortened() == "a --trials 2\n"
    other = Block(Path("page.md"), 1, "bash", "a --trials 9\n", (("run with", "8 => 2"),))
    with pytest.raises(AssertionError, match="nothing to replace"):
        other.shortened()


def test_blocks_of_a_page_share_what_they_set(tmp_path: Path) -> None:
    page = tmp_path / "shared.md"
    page.write_text(
        "```bash\nmkdir a && cd a && b=7\n```\n```console\n$ basename $PWD$b\na7\n```\n"
        "```python\nc = 3\n```\n```python\nprint(c)  # prints 3\n```\n"
        "<!-- exit code: 4 -->\n```bash\n(exit 4)\n```\n```python\nraise OSError(c)\n```\n"
        "```bash\ntrue\n```\n"
    )
    run = PageRun(page, tmp_path)
    try:
        found = blocks(page)
        assert [run.run(block) for block in found[:5]] == [""] * 5
        assert 'shared.md", line 19' in run.run(found[5])
        with pytest.raises(AlreadyToldError, match=r"shared\.md:18"):
            run.run(found[6])
    finally:
        run.close()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```bash\nfalse\n```\n", "exit code 1, not 0"),
        ("<!-- exit code: 2 -->\n```bash\nfalse\n```\n", "exit code 1, not 2"),
        ("```bash\nfalse\ntrue\n```\n", "line 2: false"),
        ("```console\n$ echo one\ntwo\n```\n", "not printed: two"),
        ("```bash\necho mneme: this one runs as it was built >&2\n```\n", "as it was built"),
        ("```python\nprint(1)  # prints 2\n```\n", "not printed: 2"),
        ("```json\n{'a': 1}\n```\n", "Expecting property name"),
        ('```json\n{"a": {}}\n```\n', "none of mneme's formats"),
        ("```yaml\nsampler: tpe\n```\n", "none of the formats"),
        ("```cmake\nadd_mneme(app)\n```\n", "Unknown CMake command"),
    ],
)
def test_a_page_that_lies_fails(text: str, problem: str, tmp_path: Path) -> None:
    page = tmp_path / "lie.md"
    page.write_text(text)
    run = PageRun(page, tmp_path)
    try:
        assert problem in run.run(blocks(page)[0])
    finally:
        run.close()


def test_what_a_block_needs_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def needs(name: str) -> bool:
        return Block(Path("page.md"), 1, "bash", "true\n", (("needs", name),)).is_run

    assert [needs("bash"), needs("no-such-program"), needs("MNEME_TEST_BUNDLE_2")] == [
        True,
        False,
        False,
    ]
    assert [needs("python json"), needs("python no_such_module")] == [True, False]
    monkeypatch.setenv("MNEME_TEST_BUNDLE_2", "there")
    assert needs("MNEME_TEST_BUNDLE_2")
