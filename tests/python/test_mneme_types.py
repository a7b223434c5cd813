"""Configurations and results: field order, hashes and round trips that users' files rely on."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.errors import InvalidArgument, MnemeError
from mneme.mneme_types import (
    ConfigurationChanges,
    ExperimentConfiguration,
    ExperimentResult,
    dim3,
)

EXTENT = st.integers(min_value=0, max_value=2**32 - 1)


def test_dim3_starts_at_one() -> None:
    assert dim3().to_dict() == {"x": 1, "y": 1, "z": 1}
    assert dim3(4, z=2).volume == 8


@given(EXTENT, EXTENT, EXTENT)
def test_dim3_survives_json_and_pickle(x: int, y: int, z: int) -> None:
    dims = dim3(x, y, z)
    assert dim3.from_dict(json.loads(json.dumps(dims.to_dict()))) == dims
    assert pickle.loads(pickle.dumps(dims)) == dims


@pytest.mark.parametrize("value", [-1, 2**32, 1.5, "2", None, True])
def test_dim3_refuses_what_is_no_extent(value: object) -> None:
    with pytest.raises(InvalidArgument, match="dimension y"):
        dim3.from_dict({"x": 1, "y": value})  # type: ignore[dict-item]


def test_configuration_keeps_the_documented_order() -> None:
    assert list(ExperimentConfiguration().to_dict()) == [
        "grid",
        "block",
        "shared_mem",
        "specialize",
        "set_launch_bounds",
        "max_threads",
        "min_blocks_per_sm",
        "specialize_dims",
        "passes",
        "codegen_opt",
        "prune",
        "internalize",
    ]


def test_hash_of_the_default_configuration_is_the_reference_vector() -> None:
    expected = "afc197d35054b502a0e774177d5672d750becf2cf225be27b4fd2f7c4a959e0b"
    assert ExperimentConfiguration().hash() == expected


def test_configuration_survives_a_round_trip() -> None:
    config = ExperimentConfiguration(
        grid=dim3(7), block=dim3(32, 4), passes="default<Oz>", prune=False
    )
    again = ExperimentConfiguration.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert again.hash() == config.hash()


def test_configuration_accepts_the_removed_codegen_method() -> None:
    config = ExperimentConfiguration(codegen_method="serial")
    assert config == ExperimentConfiguration()
    data = {**config.to_dict(), "codegen_method": "serial"}
    assert ExperimentConfiguration.from_dict(data) == config


def test_configuration_needs_its_dimensions() -> None:
    with pytest.raises(InvalidArgument, match="lacks 'block'"):
        ExperimentConfiguration.from_dict({"grid": {"x": 1}})


def test_launch_bounds_have_to_admit_the_block() -> None:
    config = ExperimentConfiguration(block=dim3(64, 4), set_launch_bounds=True, max_threads=255)
    assert not config.is_valid()
    config.max_threads = 256
    assert config.is_valid()


def test_ground_clears_bounds_only_when_they_are_off() -> None:
    config = ExperimentConfiguration(max_threads=128, min_blocks_per_sm=2, set_launch_bounds=True)
    config.ground()
    assert (config.max_threads, config.min_blocks_per_sm) == (128, 2)
    config.set_launch_bounds = False
    config.ground()
    assert (config.max_threads, config.min_blocks_per_sm) == (0, 0)


def test_changes_keep_what_was_recorded() -> None:
    recorded = ExperimentConfiguration(grid=dim3(8, 2), block=dim3(128), max_threads=0)
    changed = ConfigurationChanges(
        block=(64, None, None), values={"passes": "default<O1>", "specialize": None}
    ).apply(recorded)
    assert changed.grid == dim3(8, 2)
    assert changed.block == dim3(64)
    assert changed.passes == "default<O1>"
    assert not changed.specialize
    assert recorded.block == dim3(128)


def test_launch_bounds_without_a_number_are_those_of_the_block() -> None:
    recorded = ExperimentConfiguration(block=dim3(128), max_threads=0)
    changed = ConfigurationChanges(values={"set_launch_bounds": True}).apply(recorded)
    assert changed.max_threads == 128
    assert changed.is_valid()


def test_result_begins_with_the_documented_fields() -> None:
    assert list(ExperimentResult().to_dict())[:15] == [
        "preprocess_ir_time",
        "opt_time",
        "codegen_time",
        "obj_size",
        "exec_time",
        "verified",
        "executed",
        "failed",
        "start_time",
        "end_time",
        "gpu_id",
        "const_mem_usage",
        "local_mem_usage",
        "reg_usage",
        "error",
    ]


def test_result_survives_a_round_trip_and_ignores_unknown_keys() -> None:
    result = ExperimentResult(exec_time=[3, 2, 1], verified=True, mismatches=[{"region": "out"}])
    data = json.loads(json.dumps({**result.to_dict(), "from_the_future": 1}))
    assert ExperimentResult.from_dict(data) == result


def test_errors_of_the_request_are_value_errors() -> None:
    assert issubclass(InvalidArgument, ValueError)
    assert issubclass(InvalidArgument, MnemeError)
