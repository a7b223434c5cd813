"""The reproducer of `mneme scaffold replay` on a real driver: the recorded launch gives what it gave.

Where there is no LLVM, mneme makes the image; tests/integration shows that both are the same code.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu import support
from gpu.support import IS_GPU, launches, on_gpus
from mneme import _native
from mneme.devices import device_by_number
from mneme.scaffold.rendering import ScaffoldRequest, load_template, render, write

NOTHING_RUN = 77


def build(folder: Path, record: Path, record_id: str) -> Path:
    """Write the reproducer of a launch and build it without LLVM's tools."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    target = _native.describe_device(support.DEVICE)["target"] if IS_GPU else "sm_90"
    request = ScaffoldRequest(
        template=load_template("replay"),
        out=folder,
        values={"target": target},
        record_database=record,
        record_id=record_id,
    )
    write(render(request))
    # What kernel.ll is made of, through the pipeline the README names.
    code = _native.RecordedCode(record, record_id)
    recorded = json.loads(record.read_text())["instances"][record_id]
    configuration = {"grid": recorded["GridDims"], "block": recorded["BlockDims"]}
    made = code.compile(json.dumps(configuration), code.recorded_target(target))
    (folder / "image").write_bytes(made["image"])
    places = (f'-DIMAGE="{folder}/image"', f'-DMEMORY="{folder}/memory/"')
    program = folder / "reproduce"
    done = support.run_command(
        compiler, "-std=c++17", *places, folder / "main.cpp", "-o", program, "-ldl"
    )
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("name", on_gpus(["vector_add", "stencil2d", "nbody", "linked_list"]))
def test_reproducer_leaves_what_was_recorded(
    name: str, recording: Callable[[str], Path], tmp_path: Path
) -> None:
    for number, (record, record_id) in enumerate(launches(recording(name))):
        program = build(tmp_path / str(number), record, record_id)
        done = support.run_command(program)
        if not IS_GPU and device_by_number(0) == "cpu":
            assert done.returncode == NOTHING_RUN
            assert "nothing was run" in done.stderr
            continue
        assert done.returncode == 0, done.stdout + done.stderr
        assert "SAME" in done.stdout
