"""One more text in the table of knobs is everywhere in Python."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = """
MNEME_CODE_TEXT(linkerFlags, "linker_flags", "LinkerFlags", "--flag", "FLAG", " ",
                "flags of the linker", "For the linker; may be repeated.")
"""
# What a process prints whose table has the line.
ASKED = """
import importlib.util, json, sys
from types import SimpleNamespace
spec = importlib.util.spec_from_file_location("mneme.knobs", sys.argv[1])
sys.modules["mneme.knobs"] = knobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(knobs)

from typer.main import get_command
from mneme.cli._suggest_output import command_of
from mneme.cli.app import make_app
from mneme.code_texts import taken_texts
from mneme.data.configurations import CONFIGURATION_FIELDS
from mneme.deploy.compile import _DECISIVE
from mneme.deploy.tuned_kernels import make_variant
from mneme.deploy.tuned_variant import Match, TunedVariant
from mneme.measure.compile_record import CompileOptions
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.report.tables import _SETTINGS, _flags
from mneme.search.space_options import SpaceOptions
from mneme.session.options import TuneOptions
from mneme.session.trusted_options import _REPEATED

def options(verb):
    (command,) = get_command(make_app(verb)).commands.values()
    return {name for one in command.params for name in one.opts}

plain = ExperimentConfiguration()
config = ExperimentConfiguration(**taken_texts({"linker_flags": ["-a", "-b=1"]}))
variant = make_variant(config, Match()).to_json()
told = SimpleNamespace(
    record=SimpleNamespace(path="r.json"),
    instance=SimpleNamespace(dynamic_hash="1", grid_dim=dim3(), block_dim=dim3()),
)
match = SimpleNamespace(
    entry=SimpleNamespace(config=config.to_dict(), grid=None, block=None), is_same=False
)
space = SpaceOptions(linker_flags=["-a"], linker_flags_choices=["b=1,2"])
print(json.dumps({
    "verbs": [verb for verb in ("replay", "compile", "bisect", "tune") if "--flag" in options(verb)],
    "choices": "--flag-choice" in options("tune"),
    "plain": [plain.to_dict(), plain.hash()],
    "written": config.to_dict()["linker_flags"],
    "read": ExperimentConfiguration.from_dict(config.to_dict()) == config,
    "keys": config.key() != plain.key() and config.code_key() != plain.code_key(),
    "compiled": CompileOptions.of(config).linker_flags,
    "deployed": variant["LinkerFlags"],
    "kept": TunedVariant.from_json(variant).to_json() == variant,
    "checked": "linker_flags" in _DECISIVE,
    "reports": [_SETTINGS["linker_flags"], _flags(config.to_dict())],
    "suggested": command_of(match, told),
    "searched": space.code_options()["linker_flags"],
    "tuned": TuneOptions(linker_flags=["-a"]).linker_flags,
    "exported": CONFIGURATION_FIELDS["linker_flags"],
    "trusted": [_REPEATED["linker_flags"], _REPEATED["linker_flags_choices"]],
}))
"""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("knobs_script", ROOT / "scripts" / "knobs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["knobs_script"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    table = (ROOT / "runtime" / "core" / "abi" / "knobs.def").read_text()
    written = tmp_path_factory.mktemp("knobs") / "knobs.py"
    written.write_text(script().written(table.replace("\n#undef", f"{LINE}\n#undef", 1)))
    done = subprocess.run(
        [sys.executable, "-c", ASKED, written], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_line_of_the_table_reaches_every_verb_that_compiles(answers: dict[str, Any]) -> None:
    assert answers["verbs"] == ["replay", "compile", "bisect", "tune"]
    assert answers["choices"]
    assert "--flag=-a --flag=-b=1" in answers["suggested"]


def test_it_is_part_of_configurations_and_what_they_are_known_by(answers: dict[str, Any]) -> None:
    assert answers["written"] == answers["compiled"] == "-a -b=1"
    assert answers["read"]
    assert answers["keys"]


def test_configurations_without_it_are_known_by_what_they_were(answers: dict[str, Any]) -> None:
    from mneme.mneme_types import ExperimentConfiguration  # noqa: PLC0415 - the usual table

    plain = ExperimentConfiguration()
    assert answers["plain"] == [plain.to_dict(), plain.hash()]


def test_it_is_searched_and_deployed(answers: dict[str, Any]) -> None:
    assert answers["searched"] == ["-a", {"b": ["", "b=1", "b=2"]}]
    assert answers["tuned"] == ["-a"]
    assert answers["deployed"] == "-a -b=1"
    assert answers["kept"]
    assert answers["checked"]


def test_it_is_shown_exported_and_refused_of_strangers(answers: dict[str, Any]) -> None:
    label, flags = answers["reports"]
    assert label == "flags of the linker"
    assert "flags of the linker -a -b=1" in flags
    assert answers["exported"] == "linker_flags"
    assert answers["trusted"] == ["--flag", "--flag-choice"]
