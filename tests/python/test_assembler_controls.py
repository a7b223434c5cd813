"""Files of ptxas's advanced controls: their content decides on the code, and a bad one costs itself.

NVIDIA alone makes files that ptxas takes. So a program that stands for ptxas reads an option from
the file and gives it to the real one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from native_parts import needs_native

GOLDEN = Path(__file__).parents[1] / "golden" / "v2"
PTXAS = Path(os.environ.get("CUDA_HOME", "/none"), "bin", "ptxas")
STAND_IN = f"""#!/bin/sh
for word; do
  shift
  case "$word" in
  --apply-controls=*) word=$(cat "${{word#*=}}") || exit 1 ;;
  esac
  set -- "$@" "$word"
done
exec '{PTXAS}' "$@"
"""

pytestmark = [
    needs_native,
    pytest.mark.compile,
    pytest.mark.skipif(not PTXAS.is_file(), reason="CUDA_HOME names no toolkit with ptxas"),
]


def mneme(verb: str, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mneme", verb, GOLDEN, "walk@1", *words, "--arch", "sm_90"]
    variables = {**os.environ, "MNEME_ASSEMBLER": "ptxas", **environment}
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, env=variables
    )


@pytest.fixture
def stand_in(tmp_path: Path) -> str:
    path = tmp_path / "ptxas"
    path.write_text(STAND_IN)
    path.chmod(0o700)
    return str(path)


def test_the_content_of_the_file_decides_on_the_code(tmp_path: Path, stand_in: str) -> None:
    file = tmp_path / "fast.acf"
    found = []
    for content in ("-w", "-w", "--def-load-cache=cg"):
        file.write_text(content)
        done = mneme("compile", f"--ptxas=--apply-controls={file}", MNEME_PTXAS=stand_in)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout)["statistics"]["image_hash"])
    assert found[0] == found[1] != found[2]


def test_a_bad_file_costs_one_configuration_and_says_why(tmp_path: Path) -> None:
    bad = tmp_path / "bad.acf"
    bad.write_text("nothing of NVIDIA's")
    variants = ("--variant", "usual=", "--variant", f"acf=--ptxas=--apply-controls={bad}")
    done = mneme("explain", *variants, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [one["name"] for one in told["configurations"]] == ["usual"]
    (failed,) = told["failed"]
    assert failed["name"] == "acf"
    assert f"Input file '{bad.resolve()}' not in expected format" in failed["reason"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = mneme("compile", f"--ptxas=--apply-controls={tmp_path / 'none.acf'}")
    assert done.returncode == 3
    assert f"there is no file of controls '{tmp_path / 'none.acf'}'" in done.stderr


def test_another_ptxas_is_a_choice_of_one_configuration(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text(f"#!/bin/sh\necho ran >>'{tmp_path}/log'\nexec '{PTXAS}' \"$@\"\n")
    other.chmod(0o700)
    usual, named = (
        mneme("compile", *words) for words in ((), (f"--ptxas=--ptxas-program={other}",))
    )
    assert (usual.returncode, named.returncode) == (0, 0), named.stderr
    assert (tmp_path / "log").read_text().startswith("ran\nran\n")
    hashes = {json.loads(done.stdout)["statistics"]["image_hash"] for done in (usual, named)}
    assert len(hashes) == 1
    done = mneme("compile", f"--ptxas=--ptxas-program={tmp_path / 'none'}")
    assert done.returncode == 3
    assert f"there is no program '{tmp_path / 'none'}'" in done.stderr
    done = mneme("compile", f"--ptxas=--ptxas-program={other}@{'0' * 16}")
    assert "has changed since it was named" in done.stderr
