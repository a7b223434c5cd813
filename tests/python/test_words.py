"""Comments and messages are plain English, which a reader reads once."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("runtime", "passes", "include", "python", "scripts", "cmake", "templates", "tests")
CODE = {".h", ".hpp", ".cpp", ".c", ".cu", ".hip", ".inc", ".def"}
PYTHON = {".py", ".pyi"}
SCRIPTS = {".cmake", ".sh", ".in", ".j2"}
# "Of candidates that overlap one counts." is "Overlapping candidates count once."
# Nobody is "whoever": "the thread that waits", "callers", "a project that links it".
INVERTED = re.compile(r"(?:^|[a-z)`][.:;] )(?:Of|Who) (?!Cares)|\b(?:whoever|Whoever)\b")
# "'x' is no ELF file" is "'x' is not an ELF file"; "there is no ELF file" is English.
IS_NO = re.compile(
    r"(?<!there )(?<!there can )(?<!there may )\b(?:is|are|was|were|be) no "
    r"(?!(?:longer|more|less|larger|smaller|newer|older|slower|faster)\b)",
    re.IGNORECASE,
)
# What is logged, reported, returned or given is not "said" or "told".
SAID = re.compile(r"\b(?:said|told(?! apart))\b(?!:)")
PRODUCT = ("runtime", "passes", "include", "python")
# What a C++ file consists of; anything between these is code.
PIECE = re.compile(
    r'R"(?P<end>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=end)"'
    r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|'(?:\\.|[^'\\\n])+'"
    r"|//(?P<line>[^\n]*)"
    r"|/\*(?P<block>.*?)\*/",
    re.DOTALL,
)
MARK = re.compile(r"^[\s/!*<#]*")


class Words(NamedTuple):
    """What a file tells people."""

    comments: list[str]
    messages: list[str]


def add(texts: list[str], text: str, goes_on: bool, separator: str) -> None:
    if goes_on:
        texts[-1] += separator + text
    else:
        texts.append(text)


def words_of_code(text: str) -> Words:
    words = Words([], [])
    before, end = "", 0
    for piece in PIECE.finditer(text):
        kind = piece.lastgroup if piece.lastgroup != "end" else "raw"
        said = piece[kind] if kind else ""
        gap = text[end : piece.start()]
        # Lines of one comment and parts of one literal belong together.
        goes_on = kind == before and not gap.strip() and gap.count("\n") <= 1
        if kind in ("line", "block"):
            add(words.comments, MARK.sub("", said).strip(), goes_on and kind == "line", " ")
        elif kind:
            add(words.messages, said, goes_on and kind == "text", "")
        before, end = kind or "", piece.end()
    return words


def words_of_python(text: str) -> Words:
    words = Words([], [])
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    lines = {token.start[0] for token in comments if token.line.lstrip().startswith("#")}
    for token in comments:
        line = token.start[0]
        add(words.comments, MARK.sub("", token.string), line in lines and line - 1 in lines, " ")
    tree = ast.parse(text)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            words.messages.append("".join(texts_of(node)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in docstrings:
                words.comments.append(" ".join(node.value.split()))
            elif id(node) not in parts:
                words.messages.append(node.value)
    return words


def texts_of(joined: ast.JoinedStr) -> Iterator[str]:
    for part in joined.values:
        yield str(part.value) if isinstance(part, ast.Constant) else "{}"


def words_of_script(text: str) -> Words:
    words = Words([], [])
    is_comment = False
    for line in text.splitlines():
        comment = re.match(r"\s*(?:#+(?!!)|\{#-?)(.*)", line)
        if not comment:
            words.messages.append(line)
        else:
            add(words.comments, comment[1].strip(), is_comment, " ")
        is_comment = comment is not None
    return words


def may_be_read(path: Path) -> bool:
    return (
        path.name == "CMakeLists.txt"
        or path.suffix in CODE | SCRIPTS | PYTHON
        or (not path.suffix and path.parent == ROOT / "scripts")
    )


def words_of(path: Path, text: str) -> Words:
    if path.suffix in CODE:
        return words_of_code(text)
    is_python = path.suffix in PYTHON or "python" in text.partition("\n")[0]
    return words_of_python(text) if is_python else words_of_script(text)


def read(room: str, hint: str) -> Iterator[tuple[str, Words]]:
    """Yield the files of a room that have the hint, a regular expression; most need no parsing."""
    for path in sorted((ROOT / room).rglob("*")):
        if path == Path(__file__) or not path.is_file() or not may_be_read(path):
            continue
        text = path.read_text()
        if re.search(hint, text):
            yield str(path.relative_to(ROOT)), words_of(path, text)


@pytest.mark.parametrize("room", ROOMS)
def test_sentences_begin_with_what_they_are_about(room: str) -> None:
    found = [
        f"{name}: {comment[max(0, found.start() - 60) : found.end() + 60]}"
        for name, words in read(room, r"\b(?:Of|Who|whoever|Whoever) ")
        for comment in words.comments
        if (found := INVERTED.search(comment))
    ]
    assert found == []


@pytest.mark.parametrize("room", PRODUCT)
def test_comments_use_the_exact_verb(room: str) -> None:
    found = [
        f"{name}: {comment[max(0, found.start() - 60) : found.end() + 60]}"
        for name, words in read(room, SAID.pattern)
        for comment in words.comments
        if (found := SAID.search(comment))
    ]
    assert found == []


@pytest.mark.parametrize("room", ROOMS)
def test_messages_say_is_not_a(room: str) -> None:
    found = [
        f"{name}: {message}"
        for name, words in read(room, r"\b(?:is|are|was|were|be)[\s\"'f]+no ")
        for message in words.messages
        if IS_NO.search(message)
    ]
    assert found == []


def test_the_words_of_a_file_are_found() -> None:
    code = '/// Of one.\n/// Who?\nint a; // Who\nf("a is " /* Of */\n  "no file");'
    assert words_of_code(code) == Words(["Of one. Who?", "Who", "Of"], ["a is ", "no file"])
    assert words_of_code('g("a is "\n  "no file", R"(no)");').messages == ["a is no file", "no"]
    python = '"""Of one."""\nf(f"{a} is no file")  # Who\n# Of\n# them\n'
    assert words_of_python(python) == Words(["Who", "Of them", "Of one."], ["{} is no file"])
    script = "# Of\n# them\nsay 'is no file'\n"
    assert words_of_script(script) == Words(["Of them"], ["say 'is no file'"])
