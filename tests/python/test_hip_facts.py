"""What is recorded of HIP's headers: how it was read from them, and that nothing used is left out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "tests" / "unit" / "device_hip"
SCRIPT = ROOT / "scripts" / "hip_facts.py"
FACTS = UNIT / "hip_facts.json"


def listed(kind: str) -> set[str]:
    """Return the names of one kind in the list of what mneme uses."""
    return set(re.findall(rf"^{kind}\((\w+)", (UNIT / "names.inc").read_text(), re.MULTILINE))


def used(pattern: str, *files: str) -> set[str]:
    """Return what a pattern finds in sources."""
    found = (one for file in files for one in re.finditer(pattern, (ROOT / file).read_text()))
    return {name for one in found for name in one.groups() if name}


@pytest.mark.parametrize(
    ("kind", "pattern", "files"),
    [
        ("DRIVER", r"MNEME_FUNCTION\w*\([^,]+, (hip\w+)", ["runtime/devices/hip/driver_functions.def"]),
        (
            "INTERPOSED",
            r"MNEME_(?:RECORD_API int|TRANSFERS?\()\s*(hip\w+)(?:,\s*(hip\w+))?",
            [f"runtime/recorder/interpose/{name}.cpp" for name in ("hip", "hip_addresses", "hip_copies", "hip_graphs", "hip_graph_changes", "hip_launches", "hip_modules")],
        ),
        ("RECORDER", r'find<.*>\(\s*"(hip\w+)"\)', ["runtime/recorder/backends/hip/runtime.h"]),
        (
            "GRAPHS",
            r'find<[^"]*>\(\s*"(hip\w+)"\)',
            ["runtime/recorder/interpose/hip_graphs.cpp"],
        ),
        (
            "CHANGES",
            r'changeNode<hip\w+>\(\s*"hip\w+",\s*"(hip\w+)"',
            ["runtime/recorder/interpose/hip_graph_changes.cpp"],
        ),
        ("TUNED", r'look\(\w+\.\w+, "(hip\w+)"\)', ["runtime/jit/backends/hip/runtime.cpp"]),
    ],
)  # fmt: skip
def test_every_function_that_is_used_is_listed(kind: str, pattern: str, files: list[str]) -> None:
    found = used(pattern, *files)
    assert found
    assert found == listed(kind)


def test_every_number_of_ours_is_listed() -> None:
    header = "runtime/devices/hip/driver_types.h"
    assert used(r"\b((?:hip[A-Z]|HIP_)\w+) = \d+[,; ]", header) == listed("VALUE")


def headers(include: Path) -> tuple[str, dict[str, str]]:
    """Return the version and the facts that the script reads from headers."""
    done = subprocess.run(
        [sys.executable, SCRIPT, include], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["version"], told["facts"]


def test_facts_are_what_the_headers_of_a_distribution_say() -> None:
    include = Path("/usr/include")
    if not (include / "hip" / "hip_runtime_api.h").is_file():
        pytest.skip("there are no headers of HIP here (libamdhip64-dev)")
    version, found = headers(include)
    recorded = json.loads(FACTS.read_text())
    if version not in recorded["headers"]:
        pytest.skip(f"nothing is recorded of HIP {version}")
    told = {
        name: fact
        for name, by_fact in recorded["facts"].items()
        for fact, versions in by_fact.items()
        if version in versions
    }
    assert found == told


def test_headers_that_say_something_else_are_seen(tmp_path: Path) -> None:
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_version.h").write_text(
        "#define HIP_VERSION_MAJOR 9\n#define HIP_VERSION_MINOR 1\n#define HIP_VERSION_PATCH 2\n"
    )
    (tmp_path / "hip" / "hip_ext.h").touch()
    (tmp_path / "hip" / "hip_runtime_api.h").write_text(
        "enum hipError_t { hipSuccess = 7 };\n"
        "struct hipMemLocation { int id; int type; };\n"
        'extern "C" hipError_t hipInit(unsigned long flags);\n'
    )
    assert headers(tmp_path)[1] == {
        "hipSuccess": "7",
        "hipInit": "4(8)",
        "hipMemLocation.type": "4",
        "hipMemLocation.id": "0",
        "sizeof hipMemLocation": "8",
    }


def test_a_folder_without_headers_is_told_in_a_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == f"hip_facts: there is no hip/hip_version.h in {tmp_path}\n"
