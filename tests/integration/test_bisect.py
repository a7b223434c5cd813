"""`mneme bisect` on a recorded kernel of the CPU device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Finished, example, mneme, run_command

pytestmark = pytest.mark.compile


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bisect") / "recording"
    line = ("record", "-rdb", path, "--device", "cpu", "--", example("stencil2d"), "64", "1")
    assert mneme(*line).returncode == 0
    return path


def bisect(recording: Path, *words: str, out: Path, code: int = 0) -> Finished:
    done = mneme("bisect", recording, *words, "-o", out, "--json")
    assert done.returncode == code, done.stderr
    return done


def test_a_pass_that_makes_code_larger(recording: Path, tmp_path: Path) -> None:
    """O3 unrolls and vectorises what O1 leaves alone; nothing has to run for it."""
    words = ("default<O3>", "--than", "default<O1>", "--for", "size", "--arch", "cpu")
    found = json.loads(bisect(recording, *words, out=tmp_path / "found").stdout)
    assert found["symptom"] == "size"
    assert 1 <= found["run"] <= found["runs"]
    assert found["pass"]
    assert int(found["before"]) < int(found["after"])
    before, after = (tmp_path / "found" / f"{name}.ll" for name in ("before", "after"))
    assert before.read_text() != after.read_text()
    assert found["no_program"] == "programs are for NVIDIA GPUs, and the code is for cpu"
    written = {"bisect.json", "before.ll", "after.ll", "replay.sh"}
    assert {Path(one).name for one in found["files"]} == written


def test_a_pass_that_crashes(recording: Path, tmp_path: Path) -> None:
    """Nobody says what is the matter, and the end of the pipeline cannot be reached."""
    passes = "default<O1>,trigger-crash-module,default<O1>"
    done = bisect(recording, passes, "--device", "cpu", out=tmp_path / "found")
    found = json.loads(done.stdout)
    assert (found["symptom"], found["pass"], found["on"]) == (
        *("failed", "trigger-crash-module", "the module"),
    )
    assert found["runs"] == 0
    assert found["before"] == "right"
    assert found["after"].startswith("failed: ")
    assert found["without"] == "right"
    assert not (tmp_path / "found" / "after.ll").exists()
    before, small = (
        (tmp_path / "found" / f"{name}.ll").read_text() for name in ("before", "reduced")
    )
    assert len(small.splitlines()) < len(before.splitlines()) / 4
    assert found["reduced"].endswith("on which trigger-crash-module still crashes")
    test = run_command(tmp_path / "found" / "crashes.sh", tmp_path / "found" / "reduced.ll")
    assert test.returncode == 0
    one_less = f"mneme-opt-bisect<1-{found['run'] - 1}>,{passes}"
    assert one_less in (tmp_path / "found" / "replay.sh").read_text()


def test_a_pass_that_is_missing(recording: Path, tmp_path: Path) -> None:
    """No beginning of O0 keeps the lambda's captures in registers; O3 inlines it."""
    words = ("default<O0>", "--for", "local-memory", "--arch", "sm_90")
    found = json.loads(bisect(recording, *words, out=tmp_path / "found").stdout)
    assert found["is_missing"]
    assert (found["passes"], found["pass"]) == ("default<O3>", "inline")
    assert int(found["before"]) > int(found["after"])
    for name in ("before", "after"):
        program = tmp_path / "found" / "program" / name
        assert "alloca" in (program / "kernel.ll").read_text() or name == "after"
        assert (program / "opt.rsp").read_text().strip() == '"-passes=verify"'
    assert (found["program"], found["no_program"]) == (str(tmp_path / "found" / "program"), "")
    programs = tmp_path / "found" / "program"
    memory = {
        name: {one.name: one.stat().st_ino for one in (programs / name / "memory").iterdir()}
        for name in ("before", "after")
    }
    assert memory["before"]
    assert memory["before"] == memory["after"]


def test_the_pipeline_has_to_be_worse(recording: Path, tmp_path: Path) -> None:
    words = ("default<O1>", "--than", "default<O3>", "--for", "size", "--arch", "cpu")
    done = bisect(recording, *words, out=tmp_path, code=3)
    assert "'default<O1>' is not worse than 'default<O3>'" in done.stderr
    done = bisect(
        recording, "default<O2>", "--for", "wrong", "--device", "cpu", out=tmp_path, code=3
    )
    assert "does not have the symptom 'wrong'" in done.stderr


def test_options_that_do_not_fit(recording: Path, tmp_path: Path) -> None:
    done = bisect(
        recording, "default<O2>", "--for", "wrong", "--arch", "sm_90", out=tmp_path, code=2
    )
    assert "--arch is for size, registers and local-memory" in done.stderr
    assert "no pipeline is named" in bisect(recording, out=tmp_path, code=2).stderr
