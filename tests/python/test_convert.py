"""Tuned-kernel files, as production runs read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mneme.convert import convert_to_json, export_proteus_tuned_kernel
from mneme.mneme_types import ExperimentConfiguration, dim3
from mneme.recorded_execution import RecordedExecution
from record_samples import record_data


@pytest.fixture
def record(tmp_path: Path) -> RecordedExecution:
    (tmp_path / "17.json").write_text(json.dumps(record_data("5")))
    return RecordedExecution.from_json(tmp_path / "17.json")


def test_file_has_the_documented_entry(record: RecordedExecution, tmp_path: Path) -> None:
    config = ExperimentConfiguration(
        block=dim3(128), set_launch_bounds=True, max_threads=128, passes="default<Os>"
    )
    convert_to_json(tmp_path / "tuned.json", record, record["5"], config)
    assert json.loads((tmp_path / "tuned.json").read_text()) == {
        "_Z1kPfi": {
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
    }


def test_usage_names_file_and_annotation(record: RecordedExecution, tmp_path: Path) -> None:
    config = ExperimentConfiguration(specialize=True)
    usage = tmp_path / "usage.txt"
    export_proteus_tuned_kernel(
        tmp_path / "tuned.json", record, record["5"], config, usage_filename=usage
    )
    text = usage.read_text()
    assert f"PROTEUS_TUNED_KERNELS={tmp_path / 'tuned.json'}" in text
    assert 'annotate("jit", 2)' in text
