#!/usr/bin/env python3
"""The list of all sentences that users see, docs/reference/messages.txt, which people read and review.

scripts/messages.py            what is in the code and not in the list, and the other way round
scripts/messages.py --write    write the list

A sentence is a literal, or literals with values between, of which `{…}` stands for one and `{a|b}` for
a choice. It counts if it is given to an exception or to a function that tells users something, or if it
has several words and so is given to one later. Texts of `--help` are in docs/reference/cli.md.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "reference" / "messages.txt"
HEAD = "# What mneme tells its users, by folder; {…} is a value, {a|b} a choice. scripts/messages.py --write"
VALUE = "{…}"

_CODE = (".h", ".cpp", ".inc", ".def")
_FOLDERS = ("cmake", "include", "passes", "python", "runtime")
# What these are given is a message, however short.
_TELLS = {"detail", "echo", "fail", "failed", "note", "refuse", "say", "step", "warn"}
# Texts of --help, patterns and code are not messages.
_NO_MESSAGES = {"Argument", "Option", "Typer", "_flag", "callback", "compile", "option", "split"}
_NO_MESSAGE_KEYWORDS = {"epilog", "help", "metavar", "rich_help_panel", "text"}
_IS_CODE = re.compile(
    r"^(?:CREATE|DELETE|INSERT|SELECT) |^from \S+ import|\\[dS]|%\{|<br>"
    r'|extern "C" \w|gpu\.module @|scf\.for|addrspace\(|\{\n'
)
# Texts of CUDA and NVML, which the CPU device gives as they do.
_OTHERS = ("runtime/emulator/runtimes/cuda/error_table.inc", "runtime/emulator/runtimes/nvml")
_WORD = re.compile(r"(?<![\w.$%@/<-])[A-Za-z][a-z']*(?![\w(\[=/<>])")
_FEWEST_WORDS = 4
_FEWEST_WORDS_OF_TOLD = 2


@dataclass(frozen=True)
class Message:
    """One sentence and where it stands."""

    file: str
    line: int
    text: str

    @property
    def folder(self) -> str:
        """The heading under which the list has it."""
        return self.file.rpartition("/")[0]


def sources() -> Iterator[Path]:
    """Yield the files of the product, which have messages for users."""
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            is_cmake = path.suffix == ".cmake" or path.name == "CMakeLists.txt"
            is_ours = not str(path.relative_to(ROOT)).startswith(_OTHERS)
            if is_ours and (path.suffix in (*_CODE, ".py") or (is_cmake and folder == "cmake")):
                yield path


def messages(path: Path) -> Iterator[Message]:
    """Yield what a file tells users, in the order of the file."""
    text = path.read_text()
    if path.suffix == ".py":
        found: Iterable[tuple[int, str]] = _Python(ast.parse(text)).found
    elif path.suffix in _CODE:
        found = _of_code(text)
    else:
        found = _of_cmake(text)
    file = str(path.relative_to(ROOT))
    for line, said in found:
        yield Message(file, line, said.strip().replace("\n", "\\n"))


def _is_told(text: str, fewest: int = _FEWEST_WORDS) -> bool:
    words = _WORD.findall(text.replace(VALUE, " "))
    return len(words) >= fewest and not _IS_CODE.search(text)


class _Python:
    """The messages of a module."""

    def __init__(self, tree: ast.Module) -> None:
        self.found: list[tuple[int, str]] = []
        self._constants = dict(self._simple_constants(tree))
        self._read(tree, is_message=False)

    @staticmethod
    def _simple_constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
        for node in tree.body:
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, (str, int, float))
            ):
                yield node.targets[0].id, str(node.value.value)

    def _read(self, node: ast.AST, *, is_message: bool) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.keyword) and node.arg in _NO_MESSAGE_KEYWORDS:
            return
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            if name in _NO_MESSAGES:
                return
            is_message = is_message or name.lstrip("_") in _TELLS
        is_message = is_message or isinstance(node, ast.Raise)
        if self._is_text(node):
            assert isinstance(node, ast.expr)
            text = self._text(node)
            if _is_told(text, _FEWEST_WORDS_OF_TOLD if is_message else _FEWEST_WORDS):
                self.found.append((node.lineno, text))
                return
        for child in ast.iter_child_nodes(node):
            self._read(child, is_message=is_message)

    def _is_text(self, node: ast.AST) -> bool:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._is_text(node.left) or self._is_text(node.right)
        is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
        return is_string or isinstance(node, ast.JoinedStr)

    def _text(self, node: ast.expr) -> str:
        """Return an expression as users see it."""
        said = VALUE
        if isinstance(node, ast.Constant):
            said = str(node.value)
        elif isinstance(node, ast.JoinedStr):
            said = "".join(self._text(part) for part in node.values)
        elif isinstance(node, ast.FormattedValue):
            said = self._text(node.value)
        elif isinstance(node, ast.BinOp) and self._is_text(node):
            said = self._text(node.left) + self._text(node.right)
        elif isinstance(node, ast.IfExp):
            choices = [self._text(choice) for choice in (node.body, node.orelse)]
            said = VALUE if choices == [VALUE, VALUE] else "{" + "|".join(choices) + "}"
        elif isinstance(node, ast.Name):
            said = self._constants.get(node.id, VALUE)
        return said


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


# A literal, or what can hide one; anything between is code.
_TOKEN = re.compile(
    r"(?P<none>//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*)"
    r'|R"(?P<end>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=end)"'
    r'|(?P<text>"(?:\\.|[^"\\\n])*")'
    r"|(?P<other>'(?:\\.|[^'\\\n])+'|\w+(?:(?:::|\.|->)\w+)*|<<|::|[^\s\w])",
    re.DOTALL | re.MULTILINE,
)
_OPEN, _CLOSE = "([{", ")]}"
_ENDS = {"+", "<<", ",", ";", "?", ":", "="}
# These give back the text that they are given.
_WRAPPERS = {
    "std::string",
    "llvm::Twine",
    "Twine",
    "std::string_view",
    "llvm::StringRef",
    "StringRef",
}
_TOLD_IN_CODE = re.compile(r"^(?:\w+(?:::|\.|->))*(?:\w*Error|fail|warn|refuse|say|reportFatal)$")


@dataclass(frozen=True)
class _Token:
    line: int
    text: str
    is_literal: bool


def _of_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the messages of a C++ file: literals joined by `+`, `<<` or nothing, values between."""
    tokens = _tokens(text)
    calls: list[str] = []
    position = 0
    before = ""
    while position < len(tokens):
        token = tokens[position]
        if token.is_literal or _starts_sum(tokens, position):
            said, end = _sum(tokens, position)
            if before == "+" and not said.startswith(VALUE):
                said = VALUE + said
            told = any(_TOLD_IN_CODE.match(call) for call in calls)
            if _is_told(said, _FEWEST_WORDS_OF_TOLD if told else _FEWEST_WORDS):
                yield token.line, said
            position = max(end, position + 1)
            before = ""
            continue
        if token.text in _OPEN:
            calls.append(before)
        elif token.text in _CLOSE and calls:
            calls.pop()
        before = token.text
        position += 1


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    line, at = 1, 0
    for piece in _TOKEN.finditer(text):
        line, at = line + text.count("\n", at, piece.start()), piece.start()
        if piece["none"] is not None or piece["raw"] is not None:
            continue
        literal = piece["text"]
        if literal is None:
            found.append(_Token(line, piece["other"], is_literal=False))
        elif found and found[-1].is_literal:
            found[-1] = _Token(found[-1].line, found[-1].text + _plain(literal), is_literal=True)
        else:
            found.append(_Token(line, _plain(literal), is_literal=True))
    return found


def _plain(literal: str) -> str:
    return literal[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def _starts_sum(tokens: list[_Token], position: int) -> bool:
    """Whether `std::string("…") + …` begins here."""
    is_wrapped = tokens[position].text in _WRAPPERS and _next_text(tokens, position + 1) == "("
    return is_wrapped and position + 2 < len(tokens) and tokens[position + 2].is_literal


def _next_text(tokens: list[_Token], position: int) -> str:
    return tokens[position].text if position < len(tokens) else ""


def _operand_end(tokens: list[_Token], position: int) -> int:
    """Return the place behind a name, a literal or brackets, with all calls and members of it."""
    if position >= len(tokens):
        return position
    depth = 0
    while position < len(tokens):
        token = tokens[position]
        text = "" if token.is_literal else token.text
        if text and text in _OPEN:
            depth += 1
        elif depth == 0 and (text in _ENDS or (text and text in _CLOSE)):
            return position
        elif text and text in _CLOSE:
            depth -= 1
        position += 1
    return position


def _sum(tokens: list[_Token], position: int) -> tuple[str, int]:
    """Return the text of a sum and the place behind it."""
    said = ""
    while position < len(tokens):
        end = _operand_end(tokens, position)
        if end == position:
            break
        said += _operand(tokens[position:end])
        position = end
        if _next_text(tokens, end) not in ("+", "<<") or tokens[end].is_literal:
            break
        position = end + 1
    return re.sub(r"(?:\{…\})+", VALUE, said), position


def _operand(tokens: list[_Token]) -> str:
    if tokens[0].is_literal and len(tokens) == 1:
        return tokens[0].text
    if tokens[0].text in _WRAPPERS and _next_text(tokens, 1) == "(":
        return _sum(tokens, 2)[0] or VALUE
    is_choice = tokens[0].text == "(" and any(token.text == "?" for token in tokens)
    if is_choice:
        texts = [
            token.text
            for before, token in pairwise(tokens)
            if token.is_literal and before.text in ("?", ":", "(")
        ]
        return "{" + "|".join(texts) + "}" if texts else VALUE
    return VALUE


_CMAKE_MESSAGE = re.compile(r'\bmessage\(\s*(?:[A-Z_]+\s+)?((?:"(?:\\.|[^"\\])*"\s*)+)\)')


def _of_cmake(text: str) -> Iterator[tuple[int, str]]:
    for found in _CMAKE_MESSAGE.finditer(text):
        said = re.sub(r'"\s*"', "", found[1].strip())[1:-1]
        yield text.count("\n", 0, found.start()) + 1, said.replace('\\"', '"')


def all_messages() -> list[Message]:
    """Return the messages of all files."""
    return [message for path in sources() for message in messages(path)]


def written(found: Iterable[Message]) -> str:
    """Return the list: per folder, sorted, every sentence once."""
    folders: dict[str, set[str]] = {}
    for message in found:
        folders.setdefault(message.folder, set()).add(message.text)
    parts = [HEAD]
    for folder in sorted(folders):
        parts += ["", folder, *(f"  {text}" for text in sorted(folders[folder]))]
    return "\n".join(parts) + "\n"


def main() -> int:
    """Compare, or write."""
    text = written(all_messages())
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(text)
        return 0
    before, after = (set(words.splitlines()) for words in (LIST.read_text(), text))
    for mark, lines in (("-", before - after), ("+", after - before)):
        print("".join(f"{mark}{line}\n" for line in sorted(lines)), end="")
    return 1 if before != after else 0


if __name__ == "__main__":
    sys.exit(main())
