"""Pages read well: short sentences, and none of the forms that readers had to read twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doc_blocks import PAGES
from doc_prose import average, sentences

MOST_WORDS = 45
MOST_WORDS_ON_AVERAGE = 25

# What is forbidden, and what to say instead.
FORBIDDEN = {
    r"\bbut for\b": "except for",
    r"\bto be had\b": "available",
    r"\bas ever\b": "as before",
    r"\ball the same\b": "anyway",
    r"^(?:Nor|So (?:it )?(?:is|are|does|do|may|has))\b": "say it as a sentence of its own",
    r"^It is the same with\b": "The same holds for",
    r"^Of (?:each|every|a|an|all|two|several)\b": "begin with the subject",
    r"\bas `code` says\b": "name the option behind the sentence",
    r"\bas (?:far|often|much) as .* says?\b": "say how far",
    r"\b(?:for certain|surely)\b": "significantly, or with 95 % confidence",
    r"\bwill\b": "present tense",
    r"\bin order to\b": "to",
    r"\b(?:utilize|leverage|functionality)\b": "use; what it does",
    r"\b(?:simply|just|easily|obviously|of course|please)\b": "leave it out",
    r"\breference tool\b": "name it",
    r"\b(?:above-mentioned|aforementioned|the former|the latter)\b": "repeat the noun",
}


def forbidden_forms(text: str) -> list[str]:
    """Say which forbidden forms a sentence has, and what to write instead."""
    return [
        f"'{found[0]}': {instead}"
        for form, instead in FORBIDDEN.items()
        if (found := re.search(form, text))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_reads_well(page: Path) -> None:
    assert average(page) < MOST_WORDS_ON_AVERAGE
    found = sentences(page)
    assert [(one.line, one.text) for one in found if one.words > MOST_WORDS] == []
    forms = [(one.line, problem) for one in found for problem in forbidden_forms(one.text)]
    assert forms == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_one_title(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_say_what_they_lead_to(page: Path) -> None:
    assert re.findall(r"\[[\w-]+\.md\]\(", page.read_text()) == []


PAGE = """\
# A title of words that nobody counts

Use `mneme ls a b` now. mneme lists [all of
it](page.md), e.g. Kernels. Two!

| a cell | It has words. More |
|---|---|
| of | Nor does this |

```bash
not. Counted
```
"""


def test_sentences_are_counted_without_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    found = [(one.words, one.is_in_table) for one in sentences(page)]
    assert found[:3] == [(3, False), (7, False), (1, False)]
    assert all(is_in_table for _, is_in_table in found[3:])
    assert average(page) == pytest.approx(11 / 3)


def test_forbidden_forms_are_found() -> None:
    assert forbidden_forms("Nor is it.") == ["'Nor': say it as a sentence of its own"]
    assert len(forbidden_forms("It is kept but for what is to be had.")) == 2
    assert forbidden_forms("A normal sentence of its own.") == []
