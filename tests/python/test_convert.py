"""Tuned-kernel files, as production runs read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mneme.deploy.convert import convert_to_json, export_proteus_tuned_kernel, tuned_kernel
from mneme.deploy.tuned_file import read_tuned_file
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native
from record_samples import record_data

pytestmark = needs_native
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
FLAT = {
    "CodeGen": "rtc",
    "LaunchBounds": True,
    "SpecializeArgs": False,
    "SpecializeDims": False,
    "SpecializeDimsRange": False,
    "OptLevel": 1,
    "Pipeline": "default<Os>",
    "CodeGenOptLevel": 3,
    "TunedMaxThreads": 128,
    "MinBlocksPerSM": 1,
}


@pytest.fixture
def record(tmp_path: Path) -> RecordedExecution:
    (tmp_path / "17.json").write_text(json.dumps(record_data("5")))
    return RecordedExecution.from_json(tmp_path / "17.json")


def test_file_has_the_documented_entry(record: RecordedExecution, tmp_path: Path) -> None:
    config = ExperimentConfiguration(
        block=dim3(128), set_launch_bounds=True, max_threads=128, passes="default<Os>"
    )
    convert_to_json(tmp_path / "tuned.json", record, record["5"], config)
    (name, entry), *others = json.loads((tmp_path / "tuned.json").read_text()).items()
    own = entry.pop("Mneme")
    assert (name, others) == ("_Z1kPfi", [])
    assert entry == FLAT
    assert own["StaticHash"] == "0000000000000011"
    assert own["DemangledName"] == "k(float*, int)"
    (variant,) = own["Variants"]
    assert variant["Match"] == {
        "GridDim": {"x": 8, "y": 1, "z": 1},
        "BlockDim": {"x": 128, "y": 1, "z": 1},
        "SharedMem": 0,
        "Args": [],
    }
    assert variant["Guards"] == []
    assert "Launch" not in variant


def test_entry_without_a_launch_is_that_of_existing_tools(record: RecordedExecution) -> None:
    config = ExperimentConfiguration(
        block=dim3(128), set_launch_bounds=True, max_threads=128, passes="default<Os>"
    )
    assert tuned_kernel(record, config) == FLAT


def test_values_of_arguments_come_from_the_recording(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(GOLDEN / "16372073875777044691.json")
    (launch,) = record.values()
    config = ExperimentConfiguration(grid=launch.grid_dim, block=launch.block_dim, specialize=True)
    convert_to_json(tmp_path / "tuned.json", record, launch, config)
    (kernel,) = read_tuned_file(tmp_path / "tuned.json").values()
    (variant,) = kernel.variants
    assert variant.specialized_args == ("1", "2")
    assert [(one.name, one.value) for one in variant.match.args] == [("count", 40), ("stride", 1)]


def test_specialised_arguments_are_named_without_their_values(
    record: RecordedExecution, tmp_path: Path
) -> None:
    convert_to_json(
        tmp_path / "tuned.json", record, record["5"], ExperimentConfiguration(specialize=True)
    )
    (kernel,) = read_tuned_file(tmp_path / "tuned.json").values()
    assert kernel.variants[0].specialize_args
    assert kernel.variants[0].specialized_args == ("1",)
    assert kernel.variants[0].match.args == ()


def test_usage_names_file_and_annotation(record: RecordedExecution, tmp_path: Path) -> None:
    config = ExperimentConfiguration(specialize=True)
    usage = tmp_path / "usage.txt"
    export_proteus_tuned_kernel(
        tmp_path / "tuned.json", record, record["5"], config, usage_filename=usage
    )
    text = usage.read_text()
    assert f"PROTEUS_TUNED_KERNELS={tmp_path / 'tuned.json'}" in text
    assert 'annotate("jit", 2)' in text
