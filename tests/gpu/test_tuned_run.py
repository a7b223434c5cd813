"""Programs that run with tuned kernels print what they print without."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import BUILD, tuned_runs

APPS = BUILD / "tests" / "apps" / "tuned"
PROGRAMS = (
    "variables",
    "units",
    "templates",
    "constants",
    "streams",
    "per_thread",
    "graphs",
    "graph_edits",
    "forms",
    "errors",
    "reset",
    "library",
)
LIBRARIES = {"library": ("libplugin.so",)}
# Launches that cannot be tuned: refused ones, clusters on the CPU device, and in graphs on a GPU
# kernels with variables in constant memory.
PARTLY_TUNED = {"errors", "forms", "graphs"}
WAYS: dict[str, dict[str, Any]] = {
    "bounds": {},
    "specialized": {
        "SpecializeArgs": True,
        "SpecializeDims": True,
        "Pipeline": "default<O2>",
        "CodeGenOptLevel": 2,
    },
    "barely optimised": {"LaunchBounds": False, "Pipeline": "default<O1>", "CodeGenOptLevel": 1},
}


def program(name: str) -> Path:
    path = APPS / name
    assert path.exists(), f"{path} is not built: run scripts/test"
    return path


def kernels_of(name: str) -> list[str]:
    files = [program(name), *(APPS / library for library in LIBRARIES.get(name, ()))]
    found: list[str] = tuned_runs.kernels_of(files)
    return found


@pytest.fixture(scope="module")
def plain_runs() -> dict[str, Any]:
    """How each program ends without tuned kernels."""
    return {name: support.run(program(name)) for name in PROGRAMS}


def tuned_environment(directory: Path, kernels: list[str], keys: Any) -> dict[str, str]:
    file = tuned_runs.write_tuned(directory / "tuned.json", kernels, **keys)
    return {
        "PROTEUS_TUNED_KERNELS": str(file),
        "PROTEUS_CACHE_DIR": str(directory / "cache"),
        "PROTEUS_TRACE_OUTPUT": tuned_runs.TRACE,
    }


def run_tuned(name: str, directory: Path, kernels: list[str], keys: Any, **environment: str) -> Any:
    return support.run(program(name), **tuned_environment(directory, kernels, keys), **environment)


def check_same(plain: Any, tuned: Any) -> None:
    assert tuned.stdout == plain.stdout, tuned.stderr
    assert tuned.returncode == plain.returncode, tuned.stderr


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_tuned_programs_print_the_same(
    name: str, way: str, plain_runs: dict[str, Any], tmp_path: Path
) -> None:
    done = run_tuned(name, tmp_path, kernels_of(name), WAYS[way])
    check_same(plain_runs[name], done)
    counts = tuned_runs.counts(done.stderr)
    assert counts.tuned > 0, done.stderr
    if name not in PARTLY_TUNED:
        assert counts.failed == 0, done.stderr
        # A thread's first launch may be the one that gives it a context.
        allowed = 2 if way != "specialized" else 1 << 20
        assert counts.as_built <= allowed, done.stderr


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("name", ["variables", "units", "library", "graphs"])
def test_tuned_and_other_kernels_share_variables(
    name: str, half: int, plain_runs: dict[str, Any], tmp_path: Path
) -> None:
    done = run_tuned(name, tmp_path, kernels_of(name)[half::2], WAYS["specialized"])
    check_same(plain_runs[name], done)
    assert tuned_runs.counts(done.stderr).tuned > 0


def test_other_dimensions_are_launched(plain_runs: dict[str, Any], tmp_path: Path) -> None:
    def dims(x: int) -> dict[str, int]:
        return {"x": x, "y": 1, "z": 1}

    def launch(
        rule: str, args: dict[int, str], *, found: tuple[int, int], tuned: tuple[int, int]
    ) -> dict[str, Any]:
        match, other = (
            {"GridDim": dims(grid), "BlockDim": dims(block)} for grid, block in (found, tuned)
        )
        values = [{"Index": index, "Bytes": value} for index, value in args.items()]
        variant = {
            "Match": {**match, "SharedMem": 0, "Args": values},
            "Launch": {"Rule": rule, **other},
        }
        return {"Mneme": {"Version": 1, "Variants": [variant]}}

    kernels = kernels_of("templates")
    count, zero = "e8030000", "00000000"
    # The content of a struct with pointers is not known beforehand, so it cannot match.
    arguments = {"fill": {1: count, 2: zero}, "twin": {1: count},
                 "run": {0: "00" * 24, 1: "00" * 8, 2: "78"}}  # fmt: skip
    entries = {}
    for name in kernels:
        (args,) = (args for short, args in arguments.items() if short in name)
        if "fill" in name:
            entries[name] = launch("agnostic", args, found=(8, 64), tuned=(3, 96))
        else:
            entries[name] = launch("cover", args, found=(8, 128), tuned=(16, 64))
    environment = tuned_environment(tmp_path, [], {})
    Path(environment["PROTEUS_TUNED_KERNELS"]).write_text(json.dumps(entries))
    done = support.run(program("templates"), **environment)
    check_same(plain_runs["templates"], done)
    assert tuned_runs.counts(done.stderr).as_built == 0, done.stderr
    assert "keeps the program's" not in done.stderr
    # Both twins; "run" keeps its dimensions, with structs it was not tuned for.
    assert done.stderr.count("launched <<<16x1x1, 64x1x1>>>") == 2
    # fill<int, 4> with the matched integers; fill<float, 8>, whose value may be another, three
    # times; fill<unsigned, 16> has other blocks.
    assert done.stderr.count("launched <<<3x1x1, 96x1x1>>>") == 4


@pytest.mark.parametrize("name", ["variables", "streams"])
def test_kernels_compiled_behind_the_program_print_the_same(
    name: str, plain_runs: dict[str, Any], tmp_path: Path
) -> None:
    done = run_tuned(name, tmp_path, kernels_of(name), {}, PROTEUS_ASYNC_COMPILATION="1")
    check_same(plain_runs[name], done)


def test_a_program_with_a_runtime_of_its_own(only_gpu: None, tmp_path: Path) -> None:
    plain = support.run_command(program("static_runtime"))
    tuned = tuned_environment(tmp_path, kernels_of("static_runtime"), {})
    done = support.run_command(program("static_runtime"), **tuned)
    check_same(plain, done)
    # Stripped, as in a bundle, it does not say which default stream its launches mean.
    is_stripped = "MNEME_BUNDLE" in os.environ
    counts = tuned_runs.counts(done.stderr)
    assert (counts.tuned > 0, counts.as_built > 0) == (not is_stripped, is_stripped), done.stderr


def test_the_second_run_compiles_nothing(plain_runs: dict[str, Any], tmp_path: Path) -> None:
    first, second = (run_tuned("variables", tmp_path, kernels_of("variables"), {}) for _ in "12")
    for done in (first, second):
        check_same(plain_runs["variables"], done)
    built = tuned_runs.counts(first.stderr)
    assert built.binaries > 0
    assert built.stored_before == 0
    again = tuned_runs.counts(second.stderr)
    assert again.stored_before == again.binaries == built.binaries
