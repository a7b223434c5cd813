"""The command line starts without loading what it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mneme.cli.config import Key
from mneme.install.build_settings import KEYS

HEAVY = (
    *("rich", "optuna", "llvmlite", "numpy", "jinja2", "pydantic"),
    *("mneme._native", "multiprocessing"),
)
PARSER = ("typer", "click", "inspect", "dataclasses")


def loaded_after(code: str) -> set[str]:
    script = f"import sys; {code}; print('modules', *sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.rpartition("modules")[2].split())


def run(*arguments: str) -> str:
    return f"from mneme.cli import main; main({list(arguments)!r})"


def verbs(modules: set[str]) -> set[str]:
    named = {name.partition("mneme.cli.")[2] for name in modules}
    return {name for name in named if name and name[0] != "_"} - {"app", "exit_codes"}


@pytest.mark.parametrize("arguments", [("--help",), ("replay", "--help"), ("record", "--help")])
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert loaded_after(run(*arguments)).isdisjoint(HEAVY)


def test_the_package_alone_loads_nothing_of_ours_nor_the_parser() -> None:
    modules = loaded_after("import mneme")
    assert modules.isdisjoint((*HEAVY, *PARSER))
    assert {name for name in modules if name.startswith("mneme.")} == set()


@pytest.mark.parametrize("arguments", [("--version",), ("config", "cflags")])
def test_what_build_scripts_ask_is_answered_without_the_parser(arguments: tuple[str, ...]) -> None:
    assert loaded_after(run(*arguments)).isdisjoint((*HEAVY, *PARSER))


def test_the_answer_without_parser_is_the_parsers(capfd: pytest.CaptureFixture[str]) -> None:
    for verbosity in ((), ("-v", "warn")):
        subprocess.run([sys.executable, "-m", "mneme", *verbosity, "config", "cflags"], check=True)
    first, second = capfd.readouterr().out.splitlines()
    assert first == second


def test_every_key_is_answered_without_the_parser() -> None:
    assert [key.value for key in Key] == [*KEYS, "cmake-args"]  # which has an option


def test_a_verb_loads_no_other_verb() -> None:
    assert verbs(loaded_after(run("ls", "/nowhere"))) == {"ls"}


def test_help_before_a_verb_lists_every_verb() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mneme", "--help", "ls"], capture_output=True, text=True, check=True
    )
    assert "replay" in done.stdout
