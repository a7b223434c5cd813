"""Every example: same output in every mode, and every recorded launch replays verified."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE_NAMES, PIPELINES, example, instances, mneme, records

import mneme as mneme_package
from mneme import _native
from mneme.search.pass_choices import PROVEN

EXPECTED_KERNELS = {
    "vector_add": 1,
    "stencil2d": 1,
    "heat3d": 1,
    "reduction": 1,
    "spmv_cg": 2,
    "nbody": 1,
    "linked_list": 2,
    "multi_unit": 3,
}


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_output_is_the_same_in_every_mode(name: str, tmp_path: Path) -> None:
    plain = mneme("run", "--device", "cpu", "--", example(name))
    recorded = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", example(name))
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.endswith("PASSED\n")
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, plain.returncode)


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_every_kernel_is_recorded(name: str, recordings: dict[str, Path]) -> None:
    assert len(records(recordings[name])) == EXPECTED_KERNELS[name]


SPECIALISATIONS = (
    {},
    {"specialize": True},
    {"specialize_dims": True},
    {"set_launch_bounds": True},
    {"specialize": True, "specialize_dims": True, "set_launch_bounds": True},
)


def configurations(recorded: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The recorded launch under every pipeline, without specialisations and with all of them.

    Each alone comes with the least and the most of LLVM's own: they are made before the pipeline runs.
    """
    block = recorded["block"]
    threads = block["x"] * block["y"] * block["z"]
    none, *alone, together = SPECIALISATIONS
    for pipeline, specialisation in (
        *product((*PIPELINES, *PROVEN), (none, together)),
        *product(("default<O0>", "default<O3>"), alone),
    ):
        yield {**recorded, "max_threads": threads, **specialisation, "passes": pipeline}


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_every_instance_verifies_under_every_pipeline_and_specialisation(
    name: str, recordings: dict[str, Path]
) -> None:
    accepted = (
        {"exact"} if name != "reduction" else {"exact", "within_tolerance", "nondeterministic"}
    )
    for record in records(recordings[name]):
        for record_id in instances(record):
            with closing(_native.ReplaySession(str(record), record_id, "cpu")) as session:
                for configuration in configurations(json.loads(session.recorded())):
                    text, _, _ = session.run(
                        json.dumps(configuration), '{"iterations": 1, "warmup": 0}'
                    )
                    result = json.loads(text)
                    where = f"{record.name} {record_id} {configuration}: {result}"
                    assert result["verified"], where
                    assert result["result_class"] in accepted, where


def test_load_gives_the_recorded_kernels(recordings: dict[str, Path]) -> None:
    recording = mneme_package.load(recordings["nbody"])
    kernels = list(recording.values()) if hasattr(recording, "values") else list(recording)
    assert kernels
