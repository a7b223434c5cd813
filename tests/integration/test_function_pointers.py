"""Addresses of device functions survive: tables, virtual functions, arguments, several units."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import BUILD, Finished, mneme, records, replay_all, run_command
from tuned_runs import TRACE, counts, kernels_of, warnings, write_tuned

from mneme.measure.replay_executor import BaseExecutor

APPS = BUILD / "tests" / "apps" / "api"
PROGRAMS = ("dispatch_table", "function_arguments", "function_units", "virtual_objects")
# They change the device's heap, of which a recording holds the blocks alone.
USES_DEVICE_HEAP = ("makeOnHeap", "destroy")

pytestmark = pytest.mark.skipif(
    not all((APPS / name).is_file() for name in PROGRAMS),
    reason="tests/apps/api is not built: no CUDA toolkit",
)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Finished, Path]]:
    found = {}
    for name in PROGRAMS:
        directory = tmp_path_factory.mktemp(name)
        done = mneme(
            "record", "-rdb", directory, "-mr", "8", "--device", "cpu", "--", APPS / name
        )  # fmt: skip
        found[name] = (done, directory)
    return found


def launches(directory: Path) -> list[tuple[str, Path, str]]:
    """Kernel, record and id of every launch but those that change the device's heap."""
    found = []
    for record in records(directory):
        described = json.loads(record.read_text())
        name = described["DemangledName"].split("(")[0]
        if name not in USES_DEVICE_HEAP:
            found += [(name, record, record_id) for record_id in described["instances"]]
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_recording_changes_nothing(
    recordings: dict[str, tuple[Finished, Path]], program: str
) -> None:
    done, _ = recordings[program]
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"{program}: ok\n"
    assert "not known here" not in done.stderr
    assert "cannot be found" not in done.stderr


def test_launches_that_change_the_device_s_heap_are_named(
    recordings: dict[str, tuple[Finished, Path]],
) -> None:
    said = [line for line in recordings["virtual_objects"][0].stderr.splitlines() if "heap" in line]
    assert len(said) == len(USES_DEVICE_HEAP)
    for name in USES_DEVICE_HEAP:
        assert any(f"kernel '{name}(" in line for line in said)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("passes", ["default<O3>", "default<O0>"])
def test_every_launch_replays_exactly(
    recordings: dict[str, tuple[Finished, Path]], program: str, passes: str
) -> None:
    _, directory = recordings[program]
    replayed = [one for one in replay_all(directory, passes) if one.kernel not in USES_DEVICE_HEAP]
    assert len(replayed) == len(launches(directory))
    assert [one for one in replayed if one.result_class != "exact"] == []


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_launch_compiles_for_a_gpu(
    recordings: dict[str, tuple[Finished, Path]], program: str, tmp_path: Path
) -> None:
    _, directory = recordings[program]
    for name, record, record_id in launches(directory):
        ptx = tmp_path / "kernel.ptx"
        done = mneme(
            "compile", record, "-rid", record_id, "--arch", "sm_90", "--ptx", ptx, "default<O2>"
        )  # fmt: skip
        assert done.returncode == 0, f"{name}: {done.stderr}"
        assert "mneme.callee" not in ptx.read_text()


def test_show_names_the_functions_a_launch_may_call(
    recordings: dict[str, tuple[Finished, Path]],
) -> None:
    _, directory = recordings["dispatch_table"]
    (record, record_id), *_ = [
        (record, one) for name, record, one in launches(directory) if name == "callSteps"
    ]
    done = mneme("show", "--json", record, "-rid", record_id)
    (launch,) = json.loads(done.stdout)["instances"]
    names = {one["name"] for one in launch["functions"]}
    assert {"add(float, float)", "multiply(float, float)"} <= names


def test_show_names_the_function_an_argument_points_to(
    recordings: dict[str, tuple[Finished, Path]],
) -> None:
    _, directory = recordings["function_arguments"]
    (record, record_id), *_ = [
        (record, one) for name, record, one in launches(directory) if name == "callOne"
    ]
    shown = mneme("show", record, "-rid", record_id).stdout
    assert "twice(int)" in shown
    assert "__mneme_function_" not in shown


def test_abstract_classes_build_without_optimisation(tmp_path: Path) -> None:
    """Their vtables name __cxa_pure_virtual, which no device library defines."""
    flags = {key: mneme("config", key).stdout.split() for key in ("cxx", "cflags", "ldflags")}
    program = tmp_path / "app"
    built = run_command(
        *flags["cxx"], "-O0", "-std=c++20", "--offload-arch=sm_90", *flags["cflags"],
        Path(__file__).parents[1] / "apps" / "api" / "virtual_objects.cu", "-o", program,
        *flags["ldflags"], "-lcudart",
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    done = mneme("run", "--device", "cpu", "--", program)
    assert done.stdout == "virtual_objects: ok\n", done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("part", ["all", "even", "odd"])
def test_tuned_kernels_and_those_as_built_call_each_others_functions(
    program: str, part: str, tmp_path: Path
) -> None:
    kernels = kernels_of([APPS / program])
    chosen = {"all": kernels, "even": kernels[::2], "odd": kernels[1::2]}[part]
    tuned = write_tuned(tmp_path / "tuned.json", chosen)
    done = mneme(
        "run", "--device", "cpu", "--", APPS / program,
        PROTEUS_TUNED_KERNELS=str(tuned), PROTEUS_CACHE_DIR=str(tmp_path / "cache"),
        PROTEUS_TRACE_OUTPUT=TRACE,
    )  # fmt: skip
    assert done.stdout == f"{program}: ok\n", done.stderr
    assert warnings(done.stderr) == []
    assert counts(done.stderr).tuned > 0
    assert counts(done.stderr).as_built == 0


def test_a_launch_that_allocates_on_the_heap_gets_the_same_blocks_again(
    recordings: dict[str, tuple[Finished, Path]],
) -> None:
    """One process replays several configurations, each with warm-ups: the heap begins anew."""
    _, directory = recordings["virtual_objects"]
    (record,) = [one for one in records(directory) if "makeOnHeap" in one.read_text()]
    with BaseExecutor(record, device="cpu", iterations=3) as executor:
        config = executor.recorded_configuration()
        results = [executor.evaluate(config).result_class for _ in range(3)]
    assert results == ["exact", "exact", "exact"]


def test_tuning_finds_a_configuration_that_is_verified(
    recordings: dict[str, tuple[Finished, Path]], tmp_path: Path
) -> None:
    _, directory = recordings["virtual_objects"]
    (record, record_id), *_ = [
        (record, one) for name, record, one in launches(directory) if name == "scaleAll"
    ]
    done = mneme(
        "tune", "-rdb", record, "-rid", record_id, "--device", "cpu", "--trials", "4",
        "--iterations", "2", "--warmup", "0", "--seed", "1", "--results-dir", tmp_path / "results",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["num_verified"] >= 1
    assert summary["num_failed_verification"] == 0
