"""All examples, built by the oldest LLVM's clang and compiled by the oldest and the newest LLVM.

Runs where MNEME_BUILD_DIR holds an LLVM and MNEME_NEWER_BUILD names a build with a newer one, as
in the part of scripts/test for the oldest LLVM.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, mneme, run_command

from mneme.cli.exit_codes import ExitCode

EXAMPLES = ROOT / "examples"
NEWER = os.environ.get("MNEME_NEWER_BUILD", "")
# Programs with the arguments that make them small.
PROGRAMS = {
    "vector_add": ("10000",),
    "stencil2d": (),
    "heat3d": (),
    "reduction": ("20000",),
    "nbody": (),
    "spmv_cg": (),
    "linked_list": (),
}

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not NEWER, reason="MNEME_NEWER_BUILD names no build with a newer LLVM"),
]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("two_llvms")
    for name, arguments in PROGRAMS.items():
        source, program = EXAMPLES / name / f"{name}.cu", made / name
        flags = ("-x", "cuda", "-O2", f"-I{EXAMPLES}")
        done = run_command(BUILD / "bin" / "mneme-cxx", *flags, source, "-o", program)
        assert done.returncode == 0, done.stderr
        done = mneme(
            *("record", "-rdb", made / "recordings" / name, "-mr", "1", "--device", "cpu"),
            *("--", program, *arguments),
        )
        assert done.returncode == 0, done.stderr
    return made / "recordings"


def test_every_example_is_right_with_both(recordings: Path, tmp_path: Path) -> None:
    done = mneme(
        *("compare", recordings, "--device", "cpu", "--rounds", "6", "--json"),
        *("--variant", "oldest=", "--variant", f"newest=--llvm {NEWER}"),
        *("--results-dir", tmp_path / "results", "--fail-on", "wrong", "--fail-on", "failed"),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told["kernels"]) >= len(PROGRAMS)
    verdicts = {one["name"]: one["variants"]["newest"]["verdict"] for one in told["kernels"]}
    assert "wrong" not in verdicts.values()
    assert "failed" not in verdicts.values()
    assert [one["problem"] for one in told["kernels"] if one["problem"]] == []
    library = Path(NEWER, "lib", "libmneme_compile.so").resolve()
    assert told["compilers"]["newest"]["library"] == str(library)


def test_code_of_two_llvms_is_told_apart(recordings: Path) -> None:
    replay = ("replay", recordings / "stencil2d", "default<O3>", "--device", "cpu")
    first = mneme(*replay).result
    other = mneme(*replay, "--llvm", NEWER).result
    assert {first["result_class"], other["result_class"]} == {"exact"}
    assert first["image_hash"] != other["image_hash"]
    assert mneme(*replay, "--llvm", NEWER).result["image_hash"] == other["image_hash"]
    assert mneme(*replay).result["image_hash"] == first["image_hash"]


def test_a_run_of_a_pass_tells_two_llvms_apart(recordings: Path, tmp_path: Path) -> None:
    """Which of them makes larger code is up to the processor."""
    words = ("default<O3>", "--for", "size", "--arch", "cpu", "-o", tmp_path, "--json")
    bisect = ("bisect", recordings / "stencil2d", *words)
    done = mneme(*bisect, "--llvm", NEWER, "--than-llvm", "mneme")
    if done.returncode == ExitCode.INVALID_CONFIGURATION:
        assert "is not worse than" in done.stderr
        done = mneme(*bisect, "--than-llvm", NEWER)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["llvm"] in ("mneme", NEWER)
    assert found["run"] == 0 or found["before"] != found["after"]
