"""The code in the pages: fenced blocks with their directives, and commands in running text.

A directive is an HTML comment before a block, which no reader of the page sees:

    <!-- not run: REASON -->      the block is checked and not run; REASONS lists what counts
    <!-- file: NAME -->           the block is the content of that file
    <!-- run with: OLD => NEW --> OLD is replaced before the block is run, to make it shorter
    <!-- exit code: N -->         what the last command of the block ends with
    <!-- needs: PROGRAM -->       where there is no such program, the block is left out;
                                  so is it where an environment VARIABLE is not set, or
                                  Python has no such module ("python NAME")
    <!-- built by: TEST -->       the project is configured only, as that test builds it
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "tutorials").glob("*.md")),
]

REASONS = {
    "sets up the checkout": "scripts/test is what runs these tests, scripts/demo sets up the same",
    "needs a GPU": "it drives an NVIDIA GPU, or a tool that does",
    "needs an AMD GPU": "tests/integration/test_hip_device.py does the same on a stand-in for one",
    "needs Spack": "tests/python/test_spack.py runs it where Spack is installed",
    "needs the framework": "tests/cmake/test_whole_project.py and the page's stand-ins build the same way",
    "needs a gain": "it depends on the machine; test_deployed.py and test_optimize_programs.py do the same",
    "builds mneme": "tests/python/test_wheel.py builds it where asked to",
    "needs hipcc": "tests/cmake/test_hip_builds.py runs make with mneme-hipcc",
    "needs a project for nvcc": "tests/cmake/test_nvcc.py runs make and CMake with mneme-nvcc",
    "needs the programs of the benchmarks": "tests/integration/test_corpus_programs.py runs the builder",
    "needs a pool": "tests/python/test_clusters.py and test_futures_executor.py run some",
    "needs a program with graphs": "tests/integration/test_kept_graphs.py runs the same",
    "part of a program": "tests/integration/test_jit_lambdas.py and tests/unit/record compile the same",
    "changes the machine": "it installs outside the folder of the test",
}

_DIRECTIVE = re.compile(
    r"<!--\s*(not run|file|run with|exit code|needs|built by):\s*(.*?)\s*-->", re.DOTALL
)


# Between such comments stands what scripts/rooms.py and scripts/columns.py write.
_MADE = re.compile(
    r"<!-- (rooms: \w+|end of rooms|columns: \w+|end of columns|circles|end of circles) -->"
)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    """Line of the fence, counted from 1."""

    language: str
    text: str
    directives: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def first_line(self) -> int:
        return self.line + 1

    def directive(self, name: str) -> str | None:
        """Return the value of the only directive of that name."""
        values = [value for key, value in self.directives if key == name]
        assert len(values) < 2, f"{self.name}: more than one '{name}'"
        return values[0] if values else None

    @property
    def is_run(self) -> bool:
        needed = self.directive("needs")
        return not self.directive("not run") and (not needed or _is_there(needed))

    def shortened(self) -> str:
        """Return the text with what the directives replace; what they name has to be there."""
        text = self.text
        for key, value in self.directives:
            if key == "run with":
                old, arrow, new = (part.strip() for part in value.partition("=>"))
                assert arrow, f"{self.name}: 'run with' lacks its =>"
                assert old in text, f"{self.name}: nothing to replace: {value}"
                text = text.replace(old, new)
        return text


def program(name: str) -> str | None:
    """Find a program where the commands of a page do: beside the interpreter, or on the path."""
    return shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def _is_there(needed: str) -> bool:
    if needed.startswith("python "):
        try:
            return find_spec(needed.removeprefix("python ")) is not None
        except ModuleNotFoundError:  # the package that it is in
            return False
    return bool(os.environ.get(needed) if needed.isupper() else program(needed))


@cache
def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text())


@cache
def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found = []
    directives: tuple[tuple[str, str], ...] = ()
    for token in _tokens(page):
        if token.type == "html_block":
            directives += tuple(_DIRECTIVE.findall(token.content))
            continue
        if token.type == "fence":
            assert token.map
            language = token.info.split()[0] if token.info else ""
            # Directives of the generator of the site, such as a table of contents.
            if language.startswith("{"):
                continue
            found.append(Block(page, token.map[0] + 1, language, token.content, directives))
        directives = ()
    return found


def indented_code(page: Path) -> list[int]:
    """Lines where a page has code without a fence, which names no language."""
    return [token.map[0] + 1 for token in _tokens(page) if token.type == "code_block" and token.map]


def unused_comments(page: Path) -> list[str]:
    """Comments that look like directives and belong to no block."""
    used = {directive for block in blocks(page) for directive in block.directives}
    comments = re.findall(r"<!--.*?-->", page.read_text(), re.DOTALL)
    return [
        comment
        for comment in comments
        if not _MADE.match(comment)
        and (not (found := _DIRECTIVE.findall(comment)) or found[0] not in used)
    ]


def inline_code(page: Path) -> Iterator[str]:
    """Everything in backticks in paragraphs and tables."""
    for token in _tokens(page):
        for child in token.children or []:
            if child.type == "code_inline":
                # A bar in a table has a backslash.
                yield " ".join(child.content.replace("\\|", "|").split())
