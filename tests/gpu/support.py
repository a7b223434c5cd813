"""Where things are, and how commands are run: what the end-to-end tests use, on another device."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest

from mneme.devices import choose_device
from mneme.errors import MnemeError

Case = TypeVar("Case")
DEVICE = os.environ.get("MNEME_TEST_DEVICE", "cuda:0")
IS_GPU = DEVICE != "cpu"
ROOT = Path(__file__).resolve().parents[2]
# A bundle for a node has built programs where a checkout has their sources.
SOURCES = ROOT / "source" if (ROOT / "source").is_dir() else ROOT
needs_nvcc = pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not on PATH")


def only_on_gpus(reason: str) -> pytest.MarkDecorator:
    """Skip on the CPU device, which `reason` says something about."""
    return pytest.mark.skipif(not IS_GPU, reason=reason)


BY_NVCC = [only_on_gpus("nvcc leaves code for GPUs only"), needs_nvcc]


def _integration_helpers(module_name: str) -> ModuleType:
    name = f"mneme_integration_{module_name}"
    path = Path(__file__).resolve().parents[1] / "integration" / f"{module_name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


helpers = _integration_helpers("conftest")
tuned_runs = _integration_helpers("tuned_runs")
graph_cases = _integration_helpers("graph_cases")
without_ir = _integration_helpers("without_ir_parts")
mneme = helpers.mneme
run_command = helpers.run_command
example = helpers.example
records = helpers.records
replay_all = helpers.replay_all
instances = helpers.instances
EXAMPLE_NAMES: tuple[str, ...] = helpers.EXAMPLE_NAMES


def on_gpus(cases: Sequence[Case]) -> Sequence[Case]:
    """All cases on a GPU; on the CPU device, of which tests/integration asks the same, the first."""
    return cases if IS_GPU else cases[:1]


BUILD: Path = helpers.BUILD


def why_no_device() -> str:
    """The device's own reason for not being there; empty if it is."""
    try:
        choose_device(DEVICE)
    except MnemeError as error:
        return str(error)
    return ""


def run(program: Path, *arguments: str, **environment: str) -> Any:
    """Run a program on the device, unrecorded."""
    return mneme("run", "--device", DEVICE, "--", program, *arguments, **environment)


def compile_by_nvcc(source: Path, program: Path) -> None:
    """Build a program for the GPU at hand as users of nvcc do: with its static runtime."""
    done = run_command(
        *("nvcc", "-std=c++20", "-O2", "-arch=native"), *(source, "-o", program, "-lcuda")
    )
    assert done.returncode == 0, done.stderr


def program_of(kind: str, name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program of tests/apps/gpu_record, made one of two ways.

    Args:
        kind: "nvcc": with the static runtime and no IR; "mneme": with the shared runtime and IR.
        name: The source, without ".cu".
        tmp_path_factory: Where nvcc puts it.
    """
    folder = Path("tests") / "apps" / "gpu_record"
    if kind == "mneme":
        built: Path = BUILD / folder / name
        if not built.is_file():
            pytest.skip("tests/apps/gpu_record is not built")
        return built
    if not shutil.which("nvcc"):
        pytest.skip("nvcc is not on PATH")
    place: Path = tmp_path_factory.mktemp(name) / name
    compile_by_nvcc(SOURCES / folder / f"{name}.cu", place)
    return place


def record(directory: Path, program: Path, *arguments: str, device: str = DEVICE) -> Any:
    """Record a program on the device."""
    return mneme("record", "-rdb", directory, "--device", device, "--", program, *arguments)


def replay(record_file: Path, record_id: str, *arguments: str, device: str = DEVICE) -> Any:
    """Replay one recorded launch in a process of its own."""
    place = ("-rdb", record_file, "-rid", record_id, "--device", device)
    return mneme("replay", *place, "-it", "1", "--warmup", "0", *arguments)


def launches(directory: Path) -> Iterator[tuple[Path, str]]:
    """Every recorded launch of a directory."""
    for path in records(directory):
        for record_id in instances(path):
            yield path, record_id
