"""What the recipes in CONTRIBUTING.md promise, as far as it can be seen without following them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mneme.scaffold.rendering import list_templates

ROOT = Path(__file__).resolve().parents[2]
RECIPES = (ROOT / "CONTRIBUTING.md").read_text().partition("## Recipes")[2].partition("\n## ")[0]
PASSES = re.findall(r'name == "(mneme-[a-z-]+)"', (ROOT / "passes" / "Plugin.cpp").read_text())


def files() -> list[str]:
    command = ("git", "-C", str(ROOT), "ls-files")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is not a checkout")
    return done.stdout.split()


def test_recipes_name_files_that_are_there() -> None:
    known = "".join(f"/{name}\n" for name in files())
    named = re.findall(r"`((?:[\w.-]+/)*[\w-]+\.(?:cpp|h|def|py|md|toml|txt|yaml))`", RECIPES)
    assert len(named) > 20
    made = {"for_NAME.py", "template.yaml"}
    lacking = [name for name in named if f"/{name}\n" not in known and Path(name).name not in made]
    assert lacking == []


def test_recipes_name_folders_that_are_there() -> None:
    known = {str(parent) for name in files() for parent in Path(name).parents}
    named = re.findall(r"`((?:[\w.-]+/)+[\w-]*)`", RECIPES)
    assert len(named) > 5
    lacking = [
        one for one in named if not any(f"/{two}".endswith(f"/{one.strip('/')}") for two in known)
    ]
    assert [one for one in lacking if not one.startswith("build")] == []


@pytest.mark.parametrize("name", ["mneme-embed", *PASSES])
def test_every_pass_has_a_lit_test(name: str) -> None:
    tests = (ROOT / "tests" / "passes").rglob("*.ll")
    run = re.compile(rf"^; RUN:.*-passes=\S*{name}(?![\w-])", re.MULTILINE)
    assert any(run.search(one.read_text()) for one in tests), (
        f"no test below tests/passes runs {name}"
    )


def test_every_template_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "scaffold.md").read_text()
    listed = re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\| (`.*?) \|", guide, re.MULTILINE)))
    assert [one.name for one in list_templates() if one.name not in listed] == []
