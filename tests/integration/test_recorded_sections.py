"""Sections that a program marks itself: what is recorded of them, and where it goes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, made_once, records, run_command

pytestmark = pytest.mark.compile
SCRIPT = """
import ctypes, threading
import mneme, proteus

source = '''
extern "C" __global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }
extern "C" __global__ void shift(float* x, float a) { x[threadIdx.x] += a; }
'''
module = proteus.compile(source, "cpp", target="cuda")
scale, shift = (module.get_kernel(name, [proteus.ptr, proteus.f32]) for name in ("scale", "shift"))
cuda = ctypes.CDLL("libcudart.so.13")
x, host = ctypes.c_void_p(), (ctypes.c_float * 32)(*range(32))
assert cuda.cudaMalloc(ctypes.byref(x), ctypes.c_size_t(128)) == 0
assert cuda.cudaMemcpy(x, host, ctypes.c_size_t(128), 1) == 0

def both(a):
    scale.launch(1, 32, [x.value, a])
    shift.launch(1, 32, [x.value, a])

both(1.0)
section = mneme.recording("inside", kernels="sca.*|step/inner")
with section:
    both(2.0)
    with section, mneme.recording(kernels="nothing"):
        both(3.0)
    with mneme.label("step"), mneme.label("inner"):
        shift.launch(1, 32, [x.value, 4.0])
    thread = threading.Thread(target=both, args=(5.0,))
    thread.start()
    thread.join()
both(6.0)
try:
    mneme.recording(kernels="(").__enter__()
except ValueError as error:
    print(error)
with mneme.recording("elsewhere", kernels="shift"):
    both(7.0)
assert cuda.cudaMemcpy(host, x, ctypes.c_size_t(128), 2) == 0
print(host[31])
"""


def recorded(directory: Path) -> dict[str, int]:
    """Return how many launches of each kernel a recording holds."""
    kernels = [json.loads(path.read_text()) for path in records(directory)]
    return {one["DemangledName"].partition("(")[0]: len(one["instances"]) for one in kernels}


def record(folder: Path, *options: str | Path, program: tuple[str | Path, ...]) -> Finished:
    return run_command(
        "env", "-C", folder, sys.executable, "-m", "mneme",
        "record", "--device", "cpu", *options, "--", *program,
    )  # fmt: skip


def test_a_script_is_recorded_in_its_sections(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    done = record(tmp_path, program=(sys.executable, "train.py"))
    assert done.stdout.endswith("its own message says why\n43309.0\n"), done.stderr
    assert recorded(tmp_path / "inside") == {"scale": 3, "shift": 2}
    assert not (tmp_path / "elsewhere").exists()
    for sentence in (
        "recorded 5 instances of 2 kernels (13 launches) into '" + str(tmp_path / "inside"),
        "a section is not recorded: '(' is not a regular expression",
        "they began 4 times and had 5 of 13 launches",
        "the filter of a section, 'nothing', matches none of the kernels launched in it",
        f"asked for the directory '{tmp_path / 'elsewhere'}'; a run is recorded in one directory",
    ):
        assert sentence in done.stderr, done.stderr


def test_a_directory_on_the_command_line_wins(tmp_path: Path) -> None:
    done = record(tmp_path, "-rdb", "chosen", program=(sys.executable, "-c", SCRIPT))
    assert recorded(tmp_path / "chosen") == {"scale": 3, "shift": 2}, done.stderr
    assert not (tmp_path / "inside").exists()


def program(folder: Path) -> None:
    done = run_command(
        BUILD / "bin/mneme-cxx", "-O2", "--offload-arch=sm_90",
        ROOT / "tests/apps/sections/sections.cu", "-o", folder / "sections", "-lcudart",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"scale": 1}),
        (("--sections", "--kernels", "shift"), {}),
        (("--no-sections",), {"scale": 3, "shift": 3}),
    ],
)
def test_a_program_that_is_linked_with_the_functions(
    tmp_path: Path, options: tuple[str, ...], expected: dict[str, int]
) -> None:
    built = made_once("sections", program) / "sections"
    done = record(tmp_path, *options, program=(built,))
    assert done.stdout == "21\n", done.stderr
    inside = tmp_path / "inside"
    assert recorded(inside if inside.exists() else tmp_path) == expected, done.stderr


def test_a_program_without_sections_has_to_mark_some(tmp_path: Path) -> None:
    script = SCRIPT.partition("section =")[0]
    done = record(tmp_path, "--sections", program=(sys.executable, "-c", script))
    assert "and none began (mneme.recording, mneme_record_begin)" in done.stderr
    assert recorded(tmp_path) == {}
