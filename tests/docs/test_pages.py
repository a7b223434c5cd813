"""README and docs do what they say: every block is run, in order, or says why it cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from doc_blocks import (
    PAGES,
    REASONS,
    ROOT,
    Block,
    blocks,
    indented_code,
    inline_code,
    unused_comments,
)
from doc_commands import (
    call_error,
    calls_of_mneme,
    example_of,
    options_of,
    script_errors,
    synopsis_error,
    verbs,
)
from doc_pages import AlreadyToldError, PageRun
from doc_shell import bash_steps, console_steps

LANGUAGES = {"bash", "cmake", "console", "cpp", "jinja", "json", "python", "text", "yaml"}
BLOCKS = [block for page in PAGES for block in blocks(page)]
RUN = [block for block in BLOCKS if block.language != "text" and not block.directive("not run")]
NOT_RUN = [block for block in BLOCKS if block.directive("not run")]
# Pages whose options are mneme's; the others name those of compilers and package managers.
ABOUT_MNEME = [
    ROOT / "docs" / f"{name}.md"
    for name in (
        "cli",
        "corpus",
        "deploy",
        "optimize",
        "production",
        "python",
        "recording",
        "reports",
        "scaffold",
        "search-spaces",
        "sharing-recordings",
        "trials-with-pandas",
        "tuned-kernels",
        "tuning",
        "tutorials/cmake-application",
        "tutorials/first-kernel",
        "tutorials/framework-application",
        "tutorials/jit-kernel",
        "tutorials/ship-it",
        "tutorials/tuner-in-python",
        "verdicts",
    )
]
OTHER_OPTIONS = {"--", "--verbosity", "--version"} | {
    "--apply-controls",  # of ptxas
    "--flag",
    "--kokkos-tools-libs",
    "--microseconds",  # of benchmarks/corpus/build.py
    "--no-flag",
    "--name",
    "--ptxas-path",
    "--size",  # of benchmarks/corpus/build.py
}
COMMANDS = [block for block in BLOCKS if block.language in ("bash", "console")]


@pytest.fixture(scope="module")
def page_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], PageRun]]:
    """The state of a page, kept while its blocks are run."""
    runs: dict[Path, PageRun] = {}

    def of(page: Path) -> PageRun:
        if page not in runs:
            for other in runs.values():
                other.close()
            runs.clear()
            runs[page] = PageRun(page, tmp_path_factory.mktemp(page.stem))
        return runs[page]

    yield of
    for run in runs.values():
        run.close()


@pytest.mark.slow
@pytest.mark.parametrize("block", RUN, ids=lambda block: block.name)
def test_block_does_what_it_says(block: Block, page_run: Callable[[Path], PageRun]) -> None:
    if not block.is_run:
        pytest.skip(f"{block.directive('needs')} is not there")
    try:
        problem = page_run(block.page).run(block)
    except AlreadyToldError as earlier:
        pytest.skip(f"{earlier} failed")
    assert not problem, problem


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    assert [block.name for block in blocks(page) if block.language not in LANGUAGES] == []
    reasons = {block.name: block.directive("not run") for block in blocks(page)}
    assert {name: why for name, why in reasons.items() if why and why not in REASONS} == {}
    assert indented_code(page) == []
    texts = [block for block in blocks(page) if block.language == "text"]
    assert [block.name for block in texts if re.search(r"^\$ ", block.text, re.MULTILINE)] == []
    assert unused_comments(page) == []


def test_most_blocks_are_run() -> None:
    counted = [block for block in BLOCKS if block.language != "text"]
    assert len(counted) >= 50
    assert len(NOT_RUN) <= len(counted) / 4


@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.name)
def test_commands_exist(block: Block) -> None:
    steps = (bash_steps if block.language == "bash" else console_steps)(block.text)
    errors = [call_error(call) for step in steps for call in calls_of_mneme(step.command)]
    assert [error for error in errors if error] + script_errors(block.text) == []


@pytest.mark.parametrize("verb", verbs())
def test_the_example_of_a_help_is_right(verb: str) -> None:
    calls = [*calls_of_mneme(example_of(verb))]
    assert verb in [call[0] for call in calls]
    assert [error for error in map(call_error, calls) if error] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_running_text_exist(page: Path) -> None:
    texts = [*inline_code(page)]
    texts += [
        line.strip()
        for block in blocks(page)
        if block.language == "text"
        for line in block.text.splitlines()
    ]
    assert [error for error in map(synopsis_error, texts) if error] == []
    assert [error for text in texts for error in script_errors(text)] == []


@pytest.mark.parametrize("page", ABOUT_MNEME, ids=lambda page: page.name)
def test_options_in_running_text_exist(page: Path) -> None:
    known = {option for verb in verbs() for option in options_of(verb)}
    named = {text.split()[0].split("=")[0] for text in inline_code(page) if text.startswith("--")}
    assert named - known - OTHER_OPTIONS == set()
