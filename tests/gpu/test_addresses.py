"""A recorded address that is taken is an ordinary error, and another process is tried."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu import support
from gpu.support import BUILD, DEVICE, launches
from mneme import _native

# Takes the recorded address in the first process before anything else, then does what ARGUMENTS say.
TAKE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
MAP_PRIVATE, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE = 0x02, 0x20, 0x100000
address = int(sys.argv[1], 16)
if "MNEME_REPLAY_ATTEMPT" not in os.environ:
    flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE
    taken = libc.mmap(address, 1 << 20, 0, flags, -1, 0)
    assert taken == address, (hex(address), ctypes.get_errno())
sys.argv[1:] = sys.argv[2:]
"""
RETRY = "from mneme.cli import main\nsys.exit(main())\n"
OPEN = """
from mneme.errors import AddressUnavailable
from mneme.measure.replay_executor import BaseExecutor
try:
    BaseExecutor(sys.argv[1], sys.argv[2], device=sys.argv[3]).open()
except AddressUnavailable as error:
    print("unavailable:", error)
"""


@pytest.fixture(scope="module")
def launch(recording: Callable[[str], Path]) -> tuple[Path, str, str]:
    path, record_id = next(launches(recording("vector_add")))
    return path, record_id, json.loads(path.read_text())["VAddr"]


def test_a_taken_address_is_named(launch: tuple[Path, str, str]) -> None:
    path, record_id, address = launch
    code = (sys.executable, "-c", TAKE + OPEN, address)
    done = support.run_command(*code, path, record_id, DEVICE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("unavailable:"), done.stdout


def test_the_command_tries_another_process(launch: tuple[Path, str, str]) -> None:
    path, record_id, address = launch
    place = ("-rdb", path, "-rid", record_id, "--device", DEVICE)
    code = (sys.executable, "-c", TAKE + RETRY, address)
    done = support.run_command(*code, "replay", *place, "default<O3>")
    assert done.returncode == 0, done.stderr
    assert "trying again in a new process" in done.stderr


def test_variables_whose_place_is_taken_move_with_pointers_to_them(tmp_path: Path) -> None:
    done = support.record(tmp_path, BUILD / "tests" / "apps" / "gpu_record" / "reach")
    assert done.returncode == 0, done.stderr
    code = (sys.executable, "-c", TAKE + RETRY)
    seen = set()
    for path, record_id in launches(tmp_path):
        facts = json.loads(path.read_text())
        prologue = facts["instances"][record_id]["Prologue"]
        regions = _native.Snapshot(tmp_path / prologue).regions()
        for name in {region["name"] for region in regions} & {"head", "scanState", "direct"}:
            (address,) = (region["address"] for region in regions if region["name"] == name)
            place = ("-rdb", path, "-rid", record_id, "--device", DEVICE)
            taken = hex(address & ~0xFFFFF)
            # Other addresses may be taken by chance, which another process does not repeat.
            for _ in range(3):
                done = support.run_command(*code, taken, "replay", *place, "default<O3>")
                if "trying again" not in done.stderr:
                    break
            assert done.returncode == 0, f"{facts['DemangledName']} {name}: {done.stderr}"
            assert "trying again" not in done.stderr
            seen.add(name)
    assert seen == {"head", "scanState", "direct"}
