"""One more text and one more number in the table of knobs are everywhere in Python."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES = """
MNEME_CODE_NUMBER(idleStores, "idle_stores", 0, 64, "IdleStores", "4,16", "any",
                  "idle stores", "Stores that do nothing; 0: none.")
MNEME_CODE_TEXT(linkerFlags, "linker_flags", "LinkerFlags", "--flag", "FLAG", " ",
                "flags of the linker", "For the linker; may be repeated.")
"""
# What a process prints whose table has the lines.
ASKED = """
import importlib.util, json, sys
from types import SimpleNamespace
spec = importlib.util.spec_from_file_location("mneme.knobs", sys.argv[1])
sys.modules["mneme.knobs"] = knobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(knobs)

from typer.main import get_command
from launch_samples import kernel
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
from mneme.devices import DeviceLimits
from mneme.search.builtin_spaces import BuiltinTuneSearchSpace
from mneme.search.space_options import SpaceOptions
from mneme.session.options import TuneOptions
from mneme.session.trusted_options import _REPEATED

def options(verb):
    (command,) = get_command(make_app(verb)).commands.values()
    return {name for one in command.params for name in one.opts}

plain = ExperimentConfiguration()
config = ExperimentConfiguration(**taken_texts({"linker_flags": ["-a", "-b=1"]}))
number = ExperimentConfiguration(idle_stores=7)
variant = make_variant(config, Match()).to_json()
numbered = make_variant(number, Match()).to_json()
told = SimpleNamespace(
    record=SimpleNamespace(path="r.json"),
    instance=SimpleNamespace(dynamic_hash="1", grid_dim=dim3(), block_dim=dim3()),
)
match, other = (
    SimpleNamespace(
        entry=SimpleNamespace(config=one.to_dict(), grid=None, block=None), is_same=False
    )
    for one in (config, number)
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
    "number": {
        "verbs": [verb for verb in ("replay", "compile", "bisect") if "--idle-stores" in options(verb)],
        "ranges": sorted(one for one in options("tune") if "idle-stores" in one),
        "written": number.to_dict()["idle_stores"],
        "read": ExperimentConfiguration.from_dict(number.to_dict()) == number,
        "keys": number.key() != plain.key() and number.code_key() != plain.code_key(),
        "compiled": CompileOptions.of(number).idle_stores,
        "deployed": numbered["IdleStores"],
        "kept": TunedVariant.from_json(numbered).to_json() == numbered,
        "checked": "idle_stores" in _DECISIVE,
        "reports": [_SETTINGS["idle_stores"], _flags(number.to_dict())],
        "suggested": command_of(other, told),
        "searched": list(BuiltinTuneSearchSpace(
            kernel(), limits=DeviceLimits(), preset="full"
        ).dimensions()["idle_stores"].choices),
        "exported": CONFIGURATION_FIELDS["idle_stores"],
    },
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
    written.write_text(script().written(table.replace("\n#undef", f"{LINES}\n#undef", 1)))
    line = [sys.executable, "-c", ASKED, written]
    here = str(Path(__file__).parent)
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
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


def test_a_number_is_everywhere_too(answers: dict[str, Any]) -> None:
    number = answers["number"]
    assert number["verbs"] == ["replay", "compile", "bisect"]
    assert number["ranges"] == ["--fixed-idle-stores", "--idle-stores-range"]
    assert number["written"] == number["compiled"] == number["deployed"] == 7
    assert number["read"]
    assert number["keys"]
    assert number["kept"]
    assert number["checked"]
    assert number["searched"] == [0, 4, 16]
    assert "idle stores 7" in number["reports"][1]
    assert "--idle-stores 7" in number["suggested"]
    assert number["exported"] == "idle_stores"
