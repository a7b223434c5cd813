"""Every example on the GPU: same output in every mode, every launch replays under every pipeline."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import DEVICE, EXAMPLE_NAMES, launches, on_gpus
from mneme import _native

# Atomics of all blocks in any order.
NO_DEFINED_ORDER = ("reduction",)
# Elsewhere a pipeline may fuse other multiplications with additions than the ahead-of-time compiler:
# such results are not exact, and this bounds them.
BOUND = "rel:1e-4"
FREE = ({}, {"specialize": True}, {"specialize_dims": True}, {"set_launch_bounds": True},
        {"specialize": True, "specialize_dims": True, "set_launch_bounds": True})  # fmt: skip
OPTIONS = {"iterations": 1, "warmup": 0}


@pytest.mark.parametrize("name", on_gpus(EXAMPLE_NAMES))
def test_output_is_the_same_in_every_mode(name: str, tmp_path: Path) -> None:
    instrumented = support.run(support.example(name))
    assert instrumented.returncode == 0, instrumented.stderr
    assert instrumented.stdout.endswith("PASSED\n")
    recorded = support.record(tmp_path, support.example(name))
    assert (recorded.stdout, recorded.returncode) == (instrumented.stdout, 0), recorded.stderr
    twin = support.BUILD / "examples" / f"{name}_plain"
    if support.IS_GPU and twin.exists():
        plain = support.run_command(twin)
        assert (plain.stdout, plain.returncode) == (instrumented.stdout, 0), plain.stderr


# Those in C++ need a compiler and a toolkit as well.
@pytest.mark.parametrize("name", ["matrix_product", "saxpy"])
def test_kernels_made_at_run_time(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = support.example(f"jit/{name}")
    done = support.run(program)
    assert done.stdout.endswith("PASSED\n"), done.stderr
    recorded = support.record(tmp_path, program)
    assert recorded.stdout == done.stdout
    ((record, launch),) = launches(tmp_path)
    assert support.replay(record, launch, "default<O3>").result["verified"]


def configurations(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    block = recorded["block"]
    threads = block["x"] * block["y"] * block["z"]
    return [
        {**recorded, "max_threads": threads, **free, "passes": pipeline}
        for pipeline in support.helpers.PIPELINES
        for free in FREE
    ]


def within_bound(session: Any, configuration: dict[str, Any], element: str) -> dict[str, Any]:
    options = {**OPTIONS, "tolerances": [f"{BOUND}:{element}"]}
    text, _, _ = session.run(json.dumps(configuration), json.dumps(options))
    return dict(json.loads(text))


@pytest.mark.parametrize("name", on_gpus(EXAMPLE_NAMES))
def test_every_instance_verifies_under_every_pipeline_and_specialisation(
    name: str,
    recording: Callable[[str], Path],
    record_property: Callable[[str, object], None],
) -> None:
    for path, record_id in launches(recording(name)):
        kernel = json.loads(path.read_text())["DemangledName"][:40]
        classes: Counter[str] = Counter()
        largest = 0
        with closing(_native.ReplaySession(str(path), record_id, DEVICE)) as session:
            for configuration in configurations(json.loads(session.recorded())):
                text, _, _ = session.run(json.dumps(configuration), json.dumps(OPTIONS))
                result = json.loads(text)
                where = f"{name} {kernel} {record_id} {configuration}: {result}"
                assert not result["failed"], where
                largest = max(largest, result["max_ulp"])
                if not result["verified"]:
                    may_differ = name in NO_DEFINED_ORDER or "O3" not in configuration["passes"]
                    assert support.IS_GPU or name in NO_DEFINED_ORDER, where
                    assert may_differ, where
                    near = [within_bound(session, configuration, kind) for kind in ("f32", "f64")]
                    assert any(entry["verified"] for entry in near), where
                    result = next(entry for entry in near if entry["verified"])
                classes[result["result_class"]] += 1
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(classes.items()))
        record_property(f"{name} {kernel} {record_id}", f"{counts}; at most {largest} ULP")


@pytest.mark.parametrize("name", on_gpus(EXAMPLE_NAMES))
@pytest.mark.parametrize(
    ("recorded_on", "replayed_on"), on_gpus([(DEVICE, "cpu"), ("cpu", DEVICE)])
)
def test_a_recording_replays_on_the_other_device(
    name: str, recorded_on: str, replayed_on: str, tmp_path: Path
) -> None:
    done = support.record(tmp_path, support.example(name), device=recorded_on)
    assert done.returncode == 0, done.stderr
    for path, record_id in launches(tmp_path):
        tries = []
        # Components near zero are relatively far off where fusion differs: the whole counts.
        for tolerance in ((), (f"{BOUND}:l2:f32",), (f"{BOUND}:l2:f64",)):
            options = [part for text in tolerance for part in ("--tolerance", text)]
            tries.append(
                support.replay(path, record_id, *options, "default<O3>", device=replayed_on)
            )
            if tries[-1].returncode == 0:
                break
        assert tries[-1].returncode == 0, "\n".join(
            entry.stdout[-600:] + entry.stderr for entry in tries
        )
