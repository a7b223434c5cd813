"""Programs that open a vendor's runtime by its name, as Python's ctypes does: mneme's answers on the CPU device."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import mneme, records

pytestmark = pytest.mark.compile

NAMES = {
    "cuda": ("libcudart.so", "libcudart.so.12", "/none/libcudart.so.13"),
    "hip": ("libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"),
}
COUNT = """
import ctypes, sys
for name in sys.argv[2:]:
    count = ctypes.c_int(-1)
    status = getattr(ctypes.CDLL(name), sys.argv[1] + "GetDeviceCount")(ctypes.byref(count))
    print(name, status, count.value)
"""
SCALE = """
import ctypes
import proteus
source = '''
extern "C" __global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }
'''
module = proteus.compile(source, "cpp", target="cuda")
kernel = module.get_kernel("scale", [proteus.ptr, proteus.f32])
cuda = ctypes.CDLL("libcudart.so.13")
values = (ctypes.c_float * 32)(*range(32))
device = ctypes.c_void_p()
assert cuda.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(128)) == 0
assert cuda.cudaMemcpy(device, values, ctypes.c_size_t(128), 1) == 0
kernel.launch(1, 32, [device.value, 2.0])
assert cuda.cudaMemcpy(values, device, ctypes.c_size_t(128), 2) == 0
print(values[31])
"""


@pytest.mark.parametrize("vendor", NAMES)
@pytest.mark.parametrize("verb", ["run", "record"])
def test_every_name_leads_to_what_is_preloaded(vendor: str, verb: str, tmp_path: Path) -> None:
    options = ("-rdb", tmp_path / "db") if verb == "record" else ()
    guest = (sys.executable, "-c", COUNT, vendor, *NAMES[vendor])
    done = mneme(verb, "--device", "cpu", *options, "--", *guest)
    assert done.stdout.splitlines() == [f"{name} 0 1" for name in NAMES[vendor]], done.stderr


def test_what_an_opened_runtime_allocates_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    guest = (sys.executable, "-c", SCALE)
    done = mneme("record", "--device", "cpu", "-rdb", tmp_path / "db", "--", *guest)
    assert done.stdout == "62.0\n", done.stderr
    (record,) = records(tmp_path / "db")
    replayed = mneme("replay", "-rdb", record, "default<O3>")
    assert "verified: exact" in replayed.stderr


def test_other_libraries_are_found_as_their_caller_says(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("clang-22")
    assert compiler
    (tmp_path / "own").mkdir()
    (tmp_path / "own.c").write_text("int own(void) { return 7; }")
    (tmp_path / "caller.c").write_text(
        "#include <dlfcn.h>\nvoid* find(const char* name) { return dlopen(name, RTLD_NOW); }"
    )
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nvoid* find(const char*);\n"
        'int main(void) { printf("%d %d\\n", !!find("libown.so"), !!find("libnone.so")); }'
    )
    library = (compiler, "-shared", "-fPIC")
    for command in (
        (*library, "own.c", "-o", "own/libown.so"),
        (*library, "caller.c", "-o", "libcaller.so", "-Wl,-rpath,$ORIGIN/own"),
        (compiler, "main.c", "-o", "main", "-L.", "-lcaller", "-Wl,-rpath,$ORIGIN"),
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    assert mneme("run", "--device", "cpu", "--", tmp_path / "main").stdout == "1 0\n"
