"""One list of what can be varied (runtime/abi/knobs.def): Python's fields, options and files keep to it."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from pathlib import Path

import pytest
from typer.main import get_command

from launch_samples import kernel
from mneme import _native
from mneme.cli.app import make_app
from mneme.deploy.tuned_variant import TunedVariant
from mneme.devices import DeviceLimits
from mneme.executors.compile_pool import CompileRequest
from mneme.executors.compile_record import CompileOptions
from mneme.mneme_types import _OWN_FIELDS, _SWITCHED_FIELDS, ExperimentConfiguration, dim3
from mneme.report.tables import _SETTINGS
from mneme.tuning.builtin_spaces import BuiltinTuneSearchSpace

ROOT = Path(__file__).resolve().parents[2]
KNOB = re.compile(
    r'^MNEME_(OWN_)?KNOB\(([^,]+), (\w+), "(\w+)", ([^,]+), ([^,]+), "(\w*)"\)', re.MULTILINE
)
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
    text = (ROOT / "runtime" / "abi" / "knobs.def").read_text()
    return [
        Knob(bool(own), kind, key, VALUES.get(value) if value in VALUES else ast.literal_eval(value), high, deployed)
        for own, kind, _, key, value, high, deployed in KNOB.findall(text)
    ]  # fmt: skip


each_knob = pytest.mark.parametrize("knob", knobs(), ids=lambda knob: knob.key)


def recorded_code() -> _native.RecordedCode:
    return _native.RecordedCode(CODE, next(iter(json.loads(CODE.read_text())["instances"])))


def without_and_with(knob: Knob) -> tuple[ExperimentConfiguration, ExperimentConfiguration]:
    """Return two configurations that differ in one knob, which has an effect."""
    switch = _SWITCHED_FIELDS.get(knob.key)
    plain = ExperimentConfiguration(
        block=dim3(32), max_threads=1024, **({switch: True} if switch else {})
    )
    others = {"bool": not knob.otherwise, "uint32_t": 2, "std::string": "default<O1>"}
    other = 64 if knob.key == "max_threads" else others[knob.type]
    return plain, dataclasses.replace(plain, **{knob.key: other})


def test_the_list_is_read() -> None:
    text = (ROOT / "runtime" / "abi" / "knobs.def").read_text()
    declared = [line for line in text.splitlines() if re.match(r"MNEME_(OWN_)?KNOB\(", line)]
    assert len(knobs()) == len(declared) >= 10


def test_configurations_have_these_fields_in_this_order() -> None:
    fields = dataclasses.fields(ExperimentConfiguration)
    names = [field.name for field in fields]
    assert names == ["grid", "block", "shared_mem", *(knob.key for knob in knobs())]
    assert {knob.key: knob.otherwise for knob in knobs() if knob.is_own} == _OWN_FIELDS
    defaults = {field.name: field.default for field in fields}
    for knob in knobs():
        assert defaults[knob.key] == OTHER_DEFAULTS.get(knob.key, knob.otherwise)


@pytest.mark.parametrize("knob", [one for one in knobs() if one.is_own], ids=lambda one: one.key)
def test_what_others_do_not_have_is_written_where_it_says_something(knob: Knob) -> None:
    plain = ExperimentConfiguration()
    assert knob.key not in plain.to_dict()
    changed = dataclasses.replace(plain, **{knob.key: 7})
    assert changed.to_dict()[knob.key] == 7
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


def test_kernels_compiled_by_hand_can_have_them() -> None:
    names = {field.name for field in dataclasses.fields(CompileOptions)}
    assert {knob.key for knob in knobs()} - NEVER_VARIED <= names
    (compiling,) = get_command(make_app("compile")).commands.values()
    options = {parameter.name for parameter in compiling.params}
    assert {knob.key for knob in knobs()} - NEVER_VARIED <= options


def test_files_of_tuned_kernels_have_these_keys() -> None:
    deployed = {knob.deployed for knob in knobs() if knob.deployed}
    assert deployed <= TunedVariant(pipeline="default<O3>").to_json().keys()


def test_the_built_in_space_varies_them() -> None:
    space = BuiltinTuneSearchSpace(kernel(), limits=GPU, preset="full")
    assert {knob.key for knob in knobs()} - NEVER_VARIED <= space.dimensions().keys()


def test_a_limit_on_registers_is_for_devices_that_have_them() -> None:
    cpu = BuiltinTuneSearchSpace(kernel(), limits=DeviceLimits(), preset="full")
    assert list(cpu.dimensions()["max_registers"].choices) == [0]
    gpu = BuiltinTuneSearchSpace(kernel(), limits=GPU, max_registers_range="32:64:32")
    assert list(gpu.dimensions()["max_registers"].choices) == [0, 32, 64]


def test_replay_has_an_option_for_each() -> None:
    (replay,) = get_command(make_app("replay")).commands.values()
    names = {parameter.name for parameter in replay.params}
    assert {knob.key for knob in knobs()} - NEVER_VARIED <= names


def test_reports_name_them() -> None:
    assert {knob.key for knob in knobs()} <= _SETTINGS.keys()


def test_the_runtime_reads_them_and_refuses_what_is_too_large() -> None:
    config = ExperimentConfiguration(grid=dim3(1), block=dim3(1), max_registers=1025)
    recorded = recorded_code()
    with pytest.raises(Exception, match="max_registers.*from 0 to 1024"):
        recorded.compile(json.dumps(config.to_dict()), recorded.recorded_target("sm_90"), "{}")


def test_a_limit_on_registers_reaches_the_machine_code() -> None:
    code = recorded_code()

    def image(limit: int, **told: int) -> tuple[str, int]:
        config = ExperimentConfiguration(block=dim3(32), max_registers=limit)
        target = code.recorded_target("sm_90")
        statistics = json.loads(
            code.compile(json.dumps(config.to_dict()), target, "{}", **told)["statistics"]
        )
        return statistics["image_hash"], statistics["reg_usage"]

    if not image(0)[1]:
        pytest.skip("no assembler for GPU code is installed")
    # The kernel needs fewer than any limit; machine code says what it was made for.
    assert image(24) != image(0)
    assert image(24) == image(0, max_registers=24)
