"""The list of all messages is that of the code, and messages are plain English."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What is forbidden, and what to say instead. Pages have rules of their own: tests/docs/test_prose.py.
FORBIDDEN = {
    r"(?:^|[.:;] )(?:Of|Who) ": "begin with the subject",
    r"\b(?:Who|who)ever\b": "name who it is",
    r"(?<![Tt]here )\b(?:is|are|was|were|be) no (?!(?:longer|more|less)\b)": "is not a",
    r"\bis none of\b(?! (?:them|these))": "is not one of",
    r"\bof those that\b|\bof what of\b": "say it in two sentences",
    r"\b(?:said|says nothing|say no|says no)\b": "name the option or the rule",
    r"\bbut for\b": "except for",
    r"\bto be had\b": "available",
    r"\ball the same\b": "anyway",
    r"\bfor certain\b": "significantly",
    r"\bof its(?=[:,;]|$)": "of its own",
    r"\bin order to\b": "to",
    r"\b(?:utilize|leverage|functionality)\b": "use; what it does",
    r"\b(?:simply|easily|obviously|of course|please|sorry)\b": "leave it out",
    r"\b(?:above-mentioned|aforementioned|the former|the latter)\b": "repeat the noun",
    r"^[a-z'][^.]*[^.]\.$": "a sentence that begins small has no full stop",
    r"!$": "a message does not shout",
}
KEPT = {
    # The words of Proteus, which programs look for.
    "Broken module found, JIT compilation aborted!",
    # What explain advises is a sentence.
    "nothing to mark: no loop and no branch depends on arguments alone, and constants hardly shorten the code.",
    "nothing to mark: there are no loops and no branches.",
}


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("messages", ROOT / "scripts" / "messages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["messages"] = module
    spec.loader.exec_module(module)
    return module


script = load_script()


def listed() -> list[str]:
    lines = script.LIST.read_text().splitlines()
    return [line.strip() for line in lines if line.startswith("  ")]


def test_the_list_is_that_of_the_code() -> None:
    text = script.written(script.all_messages())
    assert script.LIST.read_text() == text, "run: scripts/messages.py --write"


@pytest.mark.parametrize("form", FORBIDDEN)
def test_no_message_has_a_form_that_is_read_twice(form: str) -> None:
    texts = set(listed()) - KEPT
    assert sorted(text for text in texts if re.search(form, text)) == [], FORBIDDEN[form]


def test_messages_left_out_exist_and_have_such_a_form() -> None:
    assert set(listed()) >= KEPT
    readable = [text for text in KEPT if not any(re.search(form, text) for form in FORBIDDEN)]
    assert readable == []


def messages_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> list[str]:
    monkeypatch.setattr(script, "ROOT", tmp_path)
    (tmp_path / name).write_text(text)
    return [message.text for message in script.messages(tmp_path / name)]


def test_messages_of_python_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '''
"""A docstring is not a message of the module."""
_MOST = 7
def f(a, console):
    raise NotFound(f"no {a} of {_MOST}{', it is' if a else ''}" + " here")
    console.say("go on")
    text = option("help of an option is elsewhere")
    why = "what a function is given later"
    key = "not words"
'''
    assert messages_of(tmp_path, monkeypatch, "a.py", text) == [
        "no {…} of 7{, it is|} here",
        "go on",
        "what a function is given later",
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('throw Error(Code::A, "no \'" + name() + "\' in "\n  "it");', "no '{…}' in it"),
        ('warn(std::string("it is ") + (b ? "one" : "two"));', "it is {one|two}"),
        ("throw Error(name + \" is don't\"); // it's a\n", "{…} is don't"),
        ('out << "there are " << n << " of these" << end;', "there are {…} of these{…}"),
        ('refuse("has /* none */");', "has /* none */"),
        ('return "words that a caller is given";', "words that a caller is given"),
    ],
)
def test_messages_of_code_are_found(
    code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert messages_of(tmp_path, monkeypatch, "a.cpp", code) == [said]


def test_what_is_no_message_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = '// "a comment with many words"\n#include "a b c d e"\nf("key", "SELECT a, b of many");'
    assert messages_of(tmp_path, monkeypatch, "a.cpp", code) == []


def test_messages_of_cmake_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'message(FATAL_ERROR "${a}: it is not "\n  "a target")\nset(a "b")'
    assert messages_of(tmp_path, monkeypatch, "a.cmake", text) == ["${a}: it is not a target"]
