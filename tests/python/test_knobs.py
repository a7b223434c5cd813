"""One list of what can be varied (runtime/core/abi/knobs.def): Python's fields, options and files keep to it."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command

from launch_samples import kernel
from mneme import _native
from mneme.cli._suggest_output import command_of
from mneme.cli.app import make_app
from mneme.code_texts import compiler_text, plugin_files
from mneme.deploy.tuned_kernels import make_variant
from mneme.deploy.tuned_variant import Match, TunedVariant
from mneme.devices import DeviceLimits
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.install.paths import library
from mneme.knobs import CODE_TEXTS
from mneme.measure.compile_pool import CompileRequest
from mneme.measure.compile_record import CompileOptions
from mneme.mneme_types import (
    _CONFIGURATION_FIELDS,
    _OWN_FIELDS,
    _SWITCHED_FIELDS,
    ExperimentConfiguration,
    dim3,
)
from mneme.report.tables import _SETTINGS, _flags
from mneme.search.builtin_spaces import BuiltinTuneSearchSpace
from mneme.search.space_options import SpaceOptions
from mneme.search.space_view import SpaceView
from mneme.session import spaces
from mneme.session.exports import Exporter
from mneme.session.options import TuneOptions

ROOT = Path(__file__).resolve().parents[2]
KNOB = re.compile(
    r'^MNEME_(OWN_)?KNOB\(([^,]+), (\w+), "(\w+)", ([^,]+), ([^,]+), "(\w*)"\)', re.MULTILINE
)
CODE_NUMBER = re.compile(r'^MNEME_CODE_NUMBER\(\w+, "(\w+)", (\d+), (\d+), "(\w+)",', re.MULTILINE)
CODE_TEXT = re.compile(r'^MNEME_CODE_(?:TEXT|FILES)\(\w+, "(\w+)", "(\w+)",', re.MULTILINE)
VALUES = {"true": True, "false": False}
# The reference tool's defaults, which apply with launch bounds only.
OTHER_DEFAULTS = {"max_threads": 1024, "min_blocks_per_sm": 1}
# Not varied by the built-in space: nothing is gained by more code.
NEVER_VARIED = {"prune", "internalize"}
# Code of a recording with arguments that can be fixed, and a launch of it.
CODE = ROOT / "tests" / "golden" / "v2" / "16372073875777044691.json"
GPU = DeviceLimits(id="cuda:0", target="sm_90", multiprocessors=132, max_registers_per_block=65536)


@dataclasses.dataclass(frozen=True)
class Knob:
    is_own: bool
    type: str
    key: str
    otherwise: object
    high: str
    deployed: str


def knobs() -> list[Knob]:
    text = (ROOT / "runtime" / "core" / "abi" / "knobs.def").read_text()
    listed = {
        found.start(): Knob(bool(own), kind, key, VALUES.get(value) if value in VALUES else ast.literal_eval(value), high, deployed)
        for found in KNOB.finditer(text)
        for own, kind, _, key, value, high, deployed in (found.groups(),)
    }  # fmt: skip
    for found in CODE_NUMBER.finditer(text):
        key, value, high, deployed = found.groups()
        listed[found.start()] = Knob(True, "uint32_t", key, int(value), high, deployed)
    for found in CODE_TEXT.finditer(text):
        listed[found.start()] = Knob(True, "std::string", found[1], "", "0", found[2])
    return [listed[place] for place in sorted(listed)]


each_knob = pytest.mark.parametrize("knob", knobs(), ids=lambda knob: knob.key)
each_varied_knob = pytest.mark.parametrize(
    "knob", [one for one in knobs() if one.key not in NEVER_VARIED], ids=lambda knob: knob.key
)
# Our own plugin for clang is one for LLVM, too.
PLUGIN = plugin_files([str(library("libMnemePasses.so"))])
VALUES_SAID = {
    "bool": True,
    "uint32_t": 2,
    "std::string": "--option=value",
    "passes": "default<O1>",
    "specialized_args": "1",
    "pass_plugins": PLUGIN,
    "llvm": compiler_text([str(library("libmneme_compile_plugins.so"))]),
    "llvm_options": "unroll-threshold=100",
    "assembler_options": "--fmad=false",
}
# Varied by who knows which arguments stay as they are, or who has plugins and options.
ONLY_TOLD = {"specialized_args", "shared_carveout", *(one.key for one in CODE_TEXTS)}
TOLD = SimpleNamespace(
    record=SimpleNamespace(path=CODE, code_form=""),
    instance=SimpleNamespace(dynamic_hash="1", grid_dim=dim3(), block_dim=dim3()),
)


def value_said(knob: Knob) -> object:
    return VALUES_SAID.get(knob.key, VALUES_SAID.get(knob.type))


def recorded_code() -> _native.RecordedCode:
    return _native.RecordedCode(CODE, next(iter(json.loads(CODE.read_text())["instances"])))


def without_and_with(knob: Knob) -> tuple[ExperimentConfiguration, ExperimentConfiguration]:
    """Return two configurations that differ in one knob, which has an effect."""
    switch = _SWITCHED_FIELDS.get(knob.key)
    plain = ExperimentConfiguration(
        block=dim3(32), max_threads=1024, **({switch: True} if switch else {})
    )
    others = {**VALUES_SAID, "bool": not knob.otherwise, "max_threads": 64}
    other = others.get(knob.key, others.get(knob.type))
    return plain, dataclasses.replace(plain, **{knob.key: other})


def test_the_list_is_read() -> None:
    text = (ROOT / "runtime" / "core" / "abi" / "knobs.def").read_text()
    kinds = "(?:OWN_)?KNOB|CODE_NUMBER|CODE_TEXT|CODE_FILES"
    declared = re.findall(rf"^MNEME_(?:{kinds})\(", text, re.MULTILINE)
    assert len(knobs()) == len(declared) >= 14


def test_what_python_has_of_the_table_is_written_from_it() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "knobs.py"], check=False)
    assert done.returncode == 0, "run: scripts/knobs.py --write"


def test_configurations_have_these_fields_in_this_order() -> None:
    fields = dataclasses.fields(ExperimentConfiguration)
    assert (
        *("grid", "block", "shared_mem"),
        *(knob.key for knob in knobs()),
    ) == _CONFIGURATION_FIELDS, "a new line stands behind the last one of its macro"
    assert {knob.key: knob.otherwise for knob in knobs() if knob.is_own} == _OWN_FIELDS
    assert [(one.key, one.deployed) for one in CODE_TEXTS] == [
        (knob.key, knob.deployed) for knob in knobs() if knob.is_own and knob.type == "std::string"
    ][1:]
    defaults = {field.name: field.default for field in fields}
    for knob in knobs():
        assert defaults[knob.key] == OTHER_DEFAULTS.get(knob.key, knob.otherwise)


@pytest.mark.parametrize("knob", [one for one in knobs() if one.is_own], ids=lambda one: one.key)
def test_what_others_do_not_have_is_written_where_it_says_something(knob: Knob) -> None:
    plain = ExperimentConfiguration()
    assert knob.key not in plain.to_dict()
    value = "7" if isinstance(knob.otherwise, str) else 7
    changed = dataclasses.replace(plain, **{knob.key: value})
    assert changed.to_dict()[knob.key] == value
    assert changed.hash() != plain.hash()
    assert ExperimentConfiguration.from_dict(changed.to_dict()) == changed


@each_knob
def test_each_is_part_of_what_configurations_are_known_by(knob: Knob) -> None:
    plain, changed = without_and_with(knob)
    keys = [
        CompileRequest(configuration=one, text="", target=("cpu", ())).key()
        for one in (plain, changed)
    ]
    assert plain.key() != changed.key()
    assert keys[0] != keys[1]
    assert json.loads(plain.launch_text()) != json.loads(changed.launch_text())


@each_knob
def test_each_is_read_by_the_runtime(knob: Knob) -> None:
    wrong = {**ExperimentConfiguration().to_dict(), knob.key: []}
    with pytest.raises(Exception, match=knob.key):
        recorded_code().compile(json.dumps(wrong), ("cpu", []), "{}")


@each_knob
def test_each_reaches_the_compiler_and_the_name_of_what_it_made(
    knob: Knob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_CACHE_DIR", str(tmp_path / "cache"))
    code = recorded_code()
    plain, changed = without_and_with(knob)
    for config, is_stored in ((plain, False), (plain, True), (changed, False), (changed, True)):
        made = code.compile(config.launch_text(), ("cpu", []), "{}")
        assert made["is_from_cache"] == is_stored


class HandedOverError(Exception):
    """A command has handed over what it was told, which it carries."""


def told_by(verb: str, handed_to: str, knob: Knob, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return what a verb makes of a value given for a knob on the command line."""
    (command,) = get_command(make_app(verb)).commands.values()
    parameter = next((one for one in command.params if one.name == knob.key), None)
    assert parameter is not None, f"mneme {verb} has no option for {knob.key}"
    words = {"bool": [parameter.opts[0]], "passes": ["default<O1>"]}
    said = words.get(knob.key, words.get(knob.type, [parameter.opts[-1], str(value_said(knob))]))
    place = ["-rdb", str(CODE)] if verb == "replay" else [str(CODE)]

    def stop(**told: Any) -> None:
        raise HandedOverError({**told, **told.get("values", {})}[knob.key])

    monkeypatch.setattr(handed_to, stop)
    launch = next(iter(json.loads(CODE.read_text())["instances"]))
    with pytest.raises(HandedOverError) as handed:
        command.main([*place, "-rid", launch, *said], standalone_mode=False)
    return handed.value.args[0]


@each_varied_knob
def test_replay_has_an_option_for_each(knob: Knob, monkeypatch: pytest.MonkeyPatch) -> None:
    told = told_by("replay", "mneme.mneme_types.ConfigurationChanges", knob, monkeypatch)
    assert told == value_said(knob)


@each_varied_knob
def test_kernels_compiled_by_hand_can_have_them(
    knob: Knob, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = {field.name: field.default for field in dataclasses.fields(CompileOptions)}
    assert defaults[knob.key] == knob.otherwise
    told = told_by("compile", "mneme.measure.compile_record.CompileOptions", knob, monkeypatch)
    assert told == value_said(knob)


@each_varied_knob
def test_the_code_that_results_show_is_compiled_with_them(
    knob: Knob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configurations = without_and_with(knob)
    compiled: list[CompileOptions] = []

    def note(_path: Path, _record_id: str, options: CompileOptions) -> SimpleNamespace:
        compiled.append(options)
        return SimpleNamespace(ir="", assembly="")

    monkeypatch.setattr("mneme.measure.compile_record.compile_record", note)
    store = SimpleNamespace(write_text=lambda *_: None, directory=tmp_path)
    exporter = Exporter(TuneOptions(), TOLD.record, TOLD.instance, store)
    built, tuned = (
        SimpleNamespace(
            candidate=SimpleNamespace(config=config), result=SimpleNamespace(device="cpu")
        )
        for config in configurations
    )
    exporter._write_artifacts(built, SimpleNamespace(done=tuned))
    for options, config in zip(compiled, configurations, strict=True):
        assert getattr(options, knob.key) == getattr(config, knob.key)
        assert (options.target, options.want_ir, options.want_assembly) == ("cpu", True, True)


@pytest.mark.parametrize(
    "knob", [one for one in knobs() if one.deployed], ids=lambda knob: knob.deployed
)
def test_files_of_tuned_kernels_have_and_keep_them(knob: Knob) -> None:
    plain, changed = (make_variant(one, Match()).to_json() for one in without_and_with(knob))
    assert plain.get(knob.deployed) != changed[knob.deployed]
    for written in (plain, changed):
        assert TunedVariant.from_json(written).to_json() == written


@each_varied_knob
def test_the_built_in_space_varies_them(knob: Knob) -> None:
    if knob.key in ONLY_TOLD:
        return
    space = BuiltinTuneSearchSpace(kernel(), limits=GPU, preset="full")
    assert knob.key in space.dimensions()
    view = SpaceView.of(space)
    view.seed(1)
    drawn = [view.draw().config for _ in range(100)]
    assert len({getattr(config, knob.key) for config in drawn}) > 1


def test_tune_has_the_options_of_the_built_in_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """And each knob has some, by its name."""
    names = {field.name for field in dataclasses.fields(SpaceOptions)} - {"preset"}
    assert names <= {field.name for field in dataclasses.fields(TuneOptions)}
    (tune,) = get_command(make_app("tune")).commands.values()
    assert names <= {parameter.name for parameter in tune.params}
    for knob in knobs():
        word = knob.key.removeprefix("set_")
        assert knob.key in NEVER_VARIED or any(word in name for name in names)
    told: dict[str, Any] = {}
    monkeypatch.setattr(spaces, "BuiltinTuneSearchSpace", lambda _, **all_: told.update(all_))
    marks = {name: name for name in names - {"passes"}}
    spaces.make_space(TuneOptions(**marks, passes=["passes"]), kernel())
    assert {name: told[name] for name in names} == {**marks, "passes": ["passes"]}


def test_only_told_arguments_become_constants() -> None:
    launch = kernel(available_specializations=[0, 2])
    space = BuiltinTuneSearchSpace(launch, limits=GPU, preset="full", specialized_args="2, 0,2")
    view = SpaceView.of(space)
    view.seed(1)
    drawn = [view.draw().config for _ in range(100)]
    assert {(one.specialize, one.specialized_args) for one in drawn} == {(True, "0,2"), (False, "")}
    for told in (0, [0], "0"):
        found = BuiltinTuneSearchSpace(launch, limits=GPU, specialized_args=told)
        assert list(found.dimensions()["specialized_args"].choices) == ["0"]
    for wrong in ("", "a", "-1", "0,,1", [0, "x"]):
        with pytest.raises(InvalidArgument, match="not numbers of arguments"):
            BuiltinTuneSearchSpace(kernel(), limits=GPU, specialized_args=wrong)


def test_arguments_that_cannot_become_constants_are_refused_at_once() -> None:
    launch = kernel(available_specializations=[1, 2])
    with pytest.raises(InvalidArgument, match="argument 0 cannot become a constant.*: 1, 2"):
        BuiltinTuneSearchSpace(launch, limits=GPU, specialized_args="0,1")
    for told in ("1,2", [2, 1], (1, 2)):
        assert TuneOptions.from_dict({"specialized_args": told}).specialized_args == "1,2"


def test_a_limit_on_registers_is_for_devices_that_have_them() -> None:
    cpu = BuiltinTuneSearchSpace(kernel(), limits=DeviceLimits(), preset="full")
    assert list(cpu.dimensions()["max_registers"].choices) == [0]
    gpu = BuiltinTuneSearchSpace(kernel(), limits=GPU, max_registers_range="32:64:32")
    assert list(gpu.dimensions()["max_registers"].choices) == [0, 32, 64]


@pytest.mark.parametrize(
    "knob",
    [one for one in knobs() if one.type == "uint32_t" and one.high != "UINT32_MAX"],
    ids=lambda one: one.key,
)
def test_bounds_are_those_of_the_list(knob: Knob) -> None:
    """On the command line, in files of tuned kernels and in the built-in space."""
    high = int(knob.high)
    (replay,) = get_command(make_app("replay")).commands.values()
    (option,) = (one for one in replay.params if one.name == knob.key)
    assert (option.type.min, option.type.max) == (0, high)
    _native.check_tuned_kernels(json.dumps({"k": {knob.deployed: high}}), "file")
    with pytest.raises(ArtifactCorrupt, match=knob.deployed):
        _native.check_tuned_kernels(json.dumps({"k": {knob.deployed: high + 1}}), "file")
    for value, is_right in ((high, True), (high + 1, False)):
        with nullcontext() if is_right else pytest.raises(InvalidArgument, match=f"0 to {high}"):
            space = BuiltinTuneSearchSpace(
                kernel(), limits=GPU, preset="full", **{f"fixed_{knob.key}": value}
            )
            assert list(space.dimensions()[knob.key].choices) == [high]


def test_reports_name_them() -> None:
    assert {knob.key for knob in knobs()} <= _SETTINGS.keys()


@each_varied_knob
def test_people_are_told_them(knob: Knob) -> None:
    """In the tables of a report (which have a column for pipelines), and as a command."""
    plain, changed = (config.to_dict() for config in without_and_with(knob))
    assert knob.key == "passes" or _flags(plain) != _flags(changed)
    entries = [SimpleNamespace(config=one, grid=None, block=None) for one in (plain, changed)]
    commands = [command_of(SimpleNamespace(entry=one, is_same=True), TOLD) for one in entries]
    assert commands[0] != commands[1]


def test_the_runtime_reads_them_and_refuses_what_is_too_large() -> None:
    config = ExperimentConfiguration(grid=dim3(1), block=dim3(1), max_registers=1025)
    recorded = recorded_code()
    with pytest.raises(Exception, match="max_registers.*from 0 to 1024"):
        recorded.compile(json.dumps(config.to_dict()), recorded.recorded_target("sm_90"), "{}")


def test_a_limit_on_registers_reaches_the_machine_code() -> None:
    code = recorded_code()

    def image(limit: int) -> tuple[str, int]:
        config = ExperimentConfiguration(block=dim3(32), max_registers=limit)
        target = code.recorded_target("sm_90")
        statistics = json.loads(
            code.compile(json.dumps(config.to_dict()), target, "{}")["statistics"]
        )
        return statistics["image_hash"], statistics["reg_usage"]

    if not image(0)[1]:
        pytest.skip("no assembler for GPU code is installed")
    # The kernel needs fewer than any limit; machine code says what it was made for.
    assert image(24) != image(0)
