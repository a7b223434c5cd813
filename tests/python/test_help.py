"""What `--help` lists, and what `--help-all`."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer
from typer.main import get_command

from cli_parts import mneme_here
from mneme.cli._help_groups import COMMON, GROUPS
from mneme.cli.app import make_app

APP: Any = get_command(make_app())
CONTEXT = typer.Context(APP, info_name="mneme")
VERBS = APP.list_commands(CONTEXT)
# What people use, --help and --help-all.
MOST = 18


def shown(*arguments: str) -> str:
    done = mneme_here(*arguments, COLUMNS="100")
    assert done.returncode == 0
    assert done.stderr == ""
    return done.stdout


def options_in(text: str) -> list[str]:
    return re.findall(r"^  (?:-\w[\w-]*, )*(--[\w-]+)", text, re.MULTILINE)


def options_of(verb: str) -> dict[str, str]:
    """The visible options of a verb: the name of the parameter, and the first long one."""
    return {
        one.name: next(name for name in one.opts if name.startswith("--"))
        for one in APP.get_command(CONTEXT, verb).params
        if one.param_type_name == "option" and not one.hidden
    }


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_short(verb: str) -> None:
    assert len(options_in(shown(verb, "--help"))) <= MOST


@pytest.mark.parametrize("verb", COMMON)
def test_help_lists_what_people_use_and_says_how_to_see_the_rest(verb: str) -> None:
    text, every = shown(verb, "--help"), options_of(verb)
    assert options_in(text) == [*(every[name] for name in COMMON[verb]), "--help", "--help-all"]
    assert f"mneme {verb} --help-all lists {len(every) - len(COMMON[verb])} more options" in text


@pytest.mark.parametrize("verb", VERBS)
def test_everything_is_in_groups(verb: str) -> None:
    text = shown(verb, "--help-all")
    helps = ["--help", "--help-all"] if verb in COMMON else ["--help"]
    assert sorted(options_in(text)) == sorted([*options_of(verb).values(), *helps])
    if verb in COMMON:
        alone = text.partition("Options:\n")[2].partition("\n\n")[0]
        assert options_in(alone) == helps
    else:
        assert text == shown(verb, "--help")


def test_groups_have_options_that_exist() -> None:
    for verb, groups in GROUPS.items():
        names = [name for group in groups.values() for name in group]
        assert sorted(names) == sorted(options_of(verb))


def test_help_may_be_cut_short() -> None:
    assert shown("tune", "--he") == shown("tune", "--help")
    assert shown("tune", "--help-a") == shown("tune", "--help-all")


def test_what_verbs_do_is_told_in_whole_sentences() -> None:
    text = shown("--help")
    assert "..." not in text.replace("[ARGS]...", "")
    assert all(verb in text for verb in VERBS)
