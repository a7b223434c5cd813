"""Labels of launches of Python scripts: mneme's own, NVTX's package, and PyTorch's ranges."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import mneme, records

pytestmark = pytest.mark.compile
BEGIN = """
import ctypes
import mneme, proteus

source = 'extern "C" __global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }'
module = proteus.compile(source, "cpp", target="cuda")
kernel = module.get_kernel("scale", [proteus.ptr, proteus.f32])
cuda = ctypes.CDLL("libcudart.so.13")
x, factors = ctypes.c_void_p(), iter(range(9))
assert cuda.cudaMalloc(ctypes.byref(x), ctypes.c_size_t(128)) == 0
def scale():
    kernel.launch(1, 32, [x.value, float(next(factors))])
"""
OWN = """
@mneme.label("function")
def labelled():
    scale()

with mneme.label("step 3"):
    labelled()
    try:
        with mneme.label("x" * 300):
            raise KeyError
    except KeyError:
        scale()
scale()
"""
NVTX = """
import nvtx
with nvtx.annotate("outer"):
    with nvtx.annotate("inner", color="green", domain="other"):
        scale()
    scale()
nvtx.push_range("pushed")
scale()
nvtx.pop_range()
"""
# What PyTorch has of it: a class with a name, used by `with` and as a decorator.
STAND_IN = """
class record_function:
    def __init__(self, name, args=None):
        self.name = name
    def __enter__(self):
        print("enter", self.name)
        return self
    def __exit__(self, kind, error, traceback):
        print("exit", self.name)
"""
TORCH = """
from torch.autograd.profiler import record_function
mneme.labels_from_torch()
mneme.labels_from_torch()
with record_function("forward"), record_function("layer 1"):
    scale()
scale()
"""


def labels(directory: Path, script: str) -> tuple[str, list[list[str]]]:
    """Record a script; return what it prints and the labels of its launches, without order."""
    guest = (sys.executable, "-c", BEGIN + script)
    done = mneme("record", "--device", "cpu", "-rdb", directory, "--", *guest)
    assert done.returncode == 0, done.stderr
    (record,) = records(directory)
    found = json.loads(record.read_text())["instances"].values()
    return done.stdout, sorted(launch.get("Labels", []) for launch in found)


def test_labels_of_a_script(tmp_path: Path) -> None:
    _, found = labels(tmp_path, OWN)
    assert found == [[], ["step 3"], ["step 3", "function"]]


def test_ranges_of_the_package_nvtx_are_labels(tmp_path: Path) -> None:
    pytest.importorskip("nvtx")
    _, found = labels(tmp_path, NVTX)
    assert found == [["outer"], ["outer", "inner"], ["pushed"]]


def test_ranges_of_torch_are_labels_if_asked(tmp_path: Path) -> None:
    package = tmp_path / "modules" / "torch" / "autograd"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "profiler.py").write_text(STAND_IN)
    script = f"import sys; sys.path.insert(0, {str(tmp_path / 'modules')!r})\n{TORCH}"
    said, found = labels(tmp_path / "db", script)
    assert said == "enter forward\nenter layer 1\nexit layer 1\nexit forward\n"
    assert found == [[], ["forward", "layer 1"]]
