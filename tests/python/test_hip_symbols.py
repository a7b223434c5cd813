"""What is recorded of the functions that AMD's libraries export, against what mneme asks for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "tests" / "unit" / "device_hip"
SCRIPT = ROOT / "scripts" / "hip_symbols.py"
FACTS = json.loads((UNIT / "hip_symbols.json").read_text())
# In hip_hcc.map.in of HIP 7 (projects/clr of github.com/ROCm/rocm-systems), and declared by its headers
# (hip_facts.json); copies and fills: declared by them.
OF_HIP_7 = {
    "hipDrvLaunchKernelEx", "hipLaunchKernelExC", "hipModuleLoadFatBinary",
    "hipMemcpy3DBatchAsync", "hipMemcpy3DPeer", "hipMemcpy3DPeerAsync", "hipMemcpyBatchAsync",
    "hipMemsetD2D16", "hipMemsetD2D16Async", "hipMemsetD2D32", "hipMemsetD2D32Async",
    "hipMemsetD2D8", "hipMemsetD2D8Async",
}  # fmt: skip
# What is looked up beside a newer function, which some releases lack.
INSTEAD = {"hipStreamGetDevice": "hipGetStreamDeviceId"}


def lacking(name: str) -> list[str]:
    """Return the releases that lack a function."""
    _, *releases = FACTS["symbols"][name]
    return list(releases)


def listed(*kinds: str) -> set[str]:
    """Return names in the list of what mneme uses."""
    text = (UNIT / "names.inc").read_text()
    return {one for kind in kinds for one in re.findall(rf"^{kind}\((\w+)", text, re.MULTILINE)}


def bound(kind: str) -> set[str]:
    """Return what the driver binds: FUNCTION, or FUNCTION_IF_THERE."""
    text = (ROOT / "runtime" / "devices" / "hip" / "driver_functions.def").read_text()
    return set(re.findall(rf"^MNEME_{kind}\([^,]+,\s*(hip\w+),", text, re.MULTILINE))


def test_what_the_driver_needs_is_in_every_release() -> None:
    needed = bound("FUNCTION")
    assert len(needed) > 40
    assert {name: lacking(name) for name in needed if lacking(name)} == {}


def test_what_the_driver_takes_where_it_is_is_lacking_somewhere() -> None:
    optional = bound("FUNCTION_IF_THERE") - {"hipGetDeviceProperties"}
    assert optional
    assert [name for name in optional if not lacking(name)] == []


def test_what_the_recorder_and_the_engine_look_up_is_in_every_release() -> None:
    names = listed("RECORDER", "TUNED")
    assert names >= set(INSTEAD) | set(INSTEAD.values())
    assert {name: lacking(name) for name in names - set(INSTEAD) if lacking(name)} == {}
    assert [name for name in INSTEAD if not lacking(name)] == []


def test_the_recorder_takes_the_place_of_functions_that_are_there() -> None:
    unknown = listed("INTERPOSED") - FACTS["symbols"].keys()
    assert unknown == OF_HIP_7


def test_what_the_recorder_calls_on_graphs_is_there() -> None:
    names = listed("GRAPHS", "CHANGES")
    assert len(names) > 25
    assert names - FACTS["symbols"].keys() == set()


def test_programs_find_every_version_of_symbols_in_the_stand_in() -> None:
    exports = ROOT / "tests" / "hip_stand_in" / "exports.map"
    offered = set(re.findall(r"hip_[\d.]+", exports.read_text()))
    asked = {version for version, *_ in FACTS["symbols"].values()}
    assert {"hip_4.2", "hip_6.4"} <= asked
    assert asked - offered == set()
    assert {"hip_6.5", "hip_7.1", "hip_7.2"} <= offered


def test_symbols_are_what_the_library_of_a_distribution_exports() -> None:
    library = Path("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5")
    if not library.is_file() or library.resolve().name != "libamdhip64.so.5.2.21153":
        pytest.skip("there is no libamdhip64 5.2.3 here")
    done = subprocess.run(
        [sys.executable, SCRIPT, library, "5.2.3"], capture_output=True, text=True, check=True
    )
    recorded = {
        name: version
        for name, (version, *releases) in FACTS["symbols"].items()
        if "5.2.3" not in releases
    }
    assert json.loads(done.stdout) == recorded


def test_a_version_script_is_read(tmp_path: Path) -> None:
    file, out = tmp_path / "hip.map.in", tmp_path / "out.json"
    file.write_text("hip_4.2 {\nglobal:\n  hipInit;\n  hipGone;\nlocal:\n  *;\n};\n")
    add = [sys.executable, str(SCRIPT), str(file), "1.2", "--add", str(out), "--source", "here"]
    subprocess.run(add, check=True)
    file.write_text("hip_4.2 {\n  hipInit;\n};\nhip_4.3 {\n  hipNew;\n} hip_4.2;\n")
    add[3] = "1.10"
    subprocess.run(add, check=True)
    assert json.loads(out.read_text()) == {
        "releases": {"1.2": "here", "1.10": "here"},
        "symbols": {
            "hipGone": ["hip_4.2", "1.10"],
            "hipInit": ["hip_4.2"],
            "hipNew": ["hip_4.3", "1.2"],
        },
    }
