"""The reference pages name everything there is."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from mneme.cli.app import make_app
from mneme.cli.exit_codes import ExitCode
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult

DOCS = Path(__file__).resolve().parents[2] / "docs"
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
GROUP: Any = get_command(make_app())
CONTEXT = typer.Context(GROUP, info_name="mneme")


@pytest.mark.parametrize("verb", GROUP.list_commands(CONTEXT))
def test_every_verb_is_in_the_guide(verb: str) -> None:
    assert f"mneme {verb}" in (DOCS / "cli.md").read_text()


def test_every_exit_code_is_in_the_reference() -> None:
    text = (DOCS / "cli.md").read_text()
    assert [code for code in ExitCode if f"| {code.value} | `{code.name}` |" not in text] == []


@pytest.mark.parametrize("kind", [ExperimentConfiguration, ExperimentResult])
def test_every_field_is_in_the_reference(kind: type) -> None:
    text = (DOCS / "python.md").read_text()
    # In tables of their own, which the page names.
    listed = {one.key for one in (*CODE_NUMBERS, *CODE_TEXTS)}
    names = [item.name for item in fields(kind) if item.name not in listed]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_key_of_a_record_is_in_the_reference() -> None:
    shown = (DOCS / "artifacts.md").read_text().split("```")[1]
    record = json.loads(next(GOLDEN.rglob("[0-9]*.json")).read_text())
    (instance, *_) = record["instances"].values()
    # The golden recordings are older than these keys.
    keys = {*record, *instance, "Launches", "CodeHash", "ArgFields", "Place", "Labels"}
    keys |= {"Trimmed", "Textures", "DeviceHeap"}
    assert set(re.findall(r'"(\w+)":', shown)) == keys
