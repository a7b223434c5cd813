"""Tuned kernels of modules that carry mneme's IR and are loaded by the program, on the CPU device."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, Finished, made_once, mneme, records, run_command
from test_without_ir_runs import pytestmark  # noqa: F401
from without_ir_parts import KERNEL, LOADER, SUMS, write_results

WRAPPER = BUILD / "bin" / "mneme-cxx"
# Code with a variable would have its own.
PLAIN = KERNEL.replace("__device__ double bias = 0.5;", "").replace("+ bias", "+ 2.5")
OWN = "[kernel-trace] scale <<<8x1x1, 128x1x1, 0>>> on device 0: "


def _make(folder: Path) -> None:
    """Make the program, two modules that carry IR, and a recording of each."""
    asked = run_command(BUILD / "bin" / "nvcc", "-", "__cmake_determine_cuda").stdout
    toolkit = re.findall(r"TOP=(.*)", asked)[0]
    host = ("-isystem", f"{toolkit}/include", "-lcuda")
    loader = folder / "loader"
    done = run_command(WRAPPER, LOADER, *host, "-o", loader)
    assert done.returncode == 0, done.stderr
    for name, text in (("plain", PLAIN), ("variable", KERNEL)):
        source, cubin = folder / f"{name}.cu", folder / f"{name}.cubin"
        source.write_text(text)
        device = ("-O2", "--offload-arch=sm_90", "--cuda-device-only", "-c")
        done = run_command(WRAPPER, *device, source, "-o", cubin)
        assert done.returncode == 0, done.stderr
        where = ("record", "-rdb", folder / name, "--device", "cpu", "--", loader, cubin)
        done = mneme(*where)
        assert done.stdout.endswith(SUMS), done.stderr  # the loader misses a variable


@pytest.fixture(scope="module")
def made() -> Path:
    return made_once("loaded_ir", _make)


def _deployed(made: Path, folder: Path, name: str = "plain", **configured: Any) -> Path:
    (record,) = records(made / name)
    launches = json.loads(record.read_text())["instances"]
    launch = next(key for key, one in launches.items() if one["Occurrences"] == 2)
    results = write_results(folder / "results", record, launch, "cpu", **configured)
    done = mneme("deploy", results, "-o", folder / "tuned.json")
    assert done.returncode == 0, done.stderr
    return folder / "tuned.json"


def _run(made: Path, tuned: Path | str, name: str = "plain", **environment: str) -> Finished:
    return mneme(
        *("run", "--device", "cpu", "--", made / "loader", made / f"{name}.cubin"),
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_TRACE_OUTPUT="kernel-trace",
        **environment,
    )


def _traced(stderr: str) -> list[str]:
    return [line.partition(OWN)[2] for line in stderr.splitlines() if OWN in line]


@pytest.mark.parametrize("specialize", [False, True])
def test_modules_that_carry_ir_are_compiled_as_tuned(
    made: Path, tmp_path: Path, specialize: bool
) -> None:
    tuned = _deployed(made, tmp_path, passes="default<O1>", specialize=specialize)
    cache = tmp_path / "cache"
    for _time in range(2):  # then from the cache
        done = _run(made, tuned, PROTEUS_CACHE_DIR=str(cache))
        assert done.stdout.endswith(SUMS), done.stderr
        first, second = _traced(done.stderr)
        assert first == "variant 0, fits this launch"
        # An argument that became a constant has another value in the second.
        assert second.startswith("no variant is allowed" if specialize else "variant 0, ")
        assert list(cache.iterdir())
        assert "is not used" not in done.stderr


def test_other_code_stays_as_it_is(made: Path, tmp_path: Path) -> None:
    tuned = _deployed(made, tmp_path, passes="default<O1>")
    content = json.loads(tuned.read_text())
    (variant,) = content["scale"]["Mneme"]["Variants"]
    variant["StaticHash"] = "0" * 16
    del variant["CodeHash"], content["scale"]["Mneme"]["StaticHash"]
    tuned.write_text(json.dumps(content))
    done = _run(made, tuned)
    assert done.stdout.endswith(SUMS), done.stderr
    assert _traced(done.stderr) == []


def test_code_with_variables_stays_as_it_is(made: Path, tmp_path: Path) -> None:
    tuned = _deployed(made, tmp_path, "variable", passes="default<O1>")
    done = _run(made, tuned, "variable")
    assert done.stdout.endswith(SUMS), done.stderr
    assert "its code has device variables, of which other code would have its own" in done.stderr
    assert set(_traced(done.stderr)) == {"runs as built"}


def test_a_pipeline_that_does_not_exist_costs_nothing(made: Path, tmp_path: Path) -> None:
    tuned = _deployed(made, tmp_path, passes="default<O1>")
    tuned.write_text(tuned.read_text().replace("default<O1>", "no-such-pass"))
    done = _run(made, tuned)
    assert done.stdout.endswith(SUMS), done.stderr
    assert "no-such-pass" in done.stderr
    assert set(_traced(done.stderr)) == {"runs as built"}
