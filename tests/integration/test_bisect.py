"""`mneme bisect` on a recorded kernel of the CPU device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from native_parts import needs_native

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "stencil2d"

pytestmark = [pytest.mark.compile, needs_native]


def mneme(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mneme", *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bisect") / "recording"
    mneme("record", "-rdb", path, "--device", "cpu", "--", PROGRAM, "64", "64", "1")
    return path


def test_a_pass_that_makes_code_larger(recording: Path, tmp_path: Path) -> None:
    """Without a device: O3 unrolls, and one run of a pass makes more of it than O1 has."""
    out = tmp_path / "found"
    words = ("bisect", recording, "default<O3>", "--than", "default<O1>", "--for", "size")
    found = json.loads(mneme(*words, "--arch", "cpu", "-o", out, "--json").stdout)
    assert found["symptom"] == "size"
    assert 1 <= found["run"] <= found["runs"]
    assert found["pass"]
    assert int(found["before"]) < int(found["after"])
    assert (out / "before.ll").read_text() != (out / "after.ll").read_text()
    assert {Path(one).name for one in found["files"]} == {
        *("bisect.json", "before.ll", "after.ll", "replay.sh"),
    }


def test_the_pipeline_has_to_be_worse(recording: Path) -> None:
    words = ("bisect", recording, "default<O1>", "--than", "default<O3>", "--for", "size")
    done = mneme(*words, "--arch", "cpu", code=3)
    assert "'default<O1>' is not worse than 'default<O3>'" in done.stderr
    assert (
        "does not have the symptom 'wrong'"
        in mneme(
            *("bisect", recording, "default<O2>", "--for", "wrong", "--device", "cpu"), code=3
        ).stderr
    )
