"""Errors that HIP keeps for the program to ask for: the recorder's and the engine's calls leave them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import mneme
from test_hip import APPS, build, hip  # noqa: F401 - skips where there is no HIP
from test_hip_stand_in import STAND_IN, on_stand_in, stand_in  # noqa: F401 - skips without it
from tuned_runs import TRACE, counts, kernels_of, write_tuned

pytestmark = [pytest.mark.hip, pytest.mark.compile]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that asks for the last error after calls that fail."""
    program = tmp_path_factory.mktemp("errors") / "errors"
    build(APPS / "errors.hip", "-o", program, "-lamdhip64")
    return program


@pytest.mark.parametrize("version", ["60200000", "70000000"])
def test_a_call_that_succeeds_forgets_errors_up_to_hip_6(version: str, program: Path) -> None:
    done = on_stand_in(program, MNEME_STAND_IN_VERSION=version)
    assert "launch 9, then 9\nthen 0\n" in done.stdout
    assert f"overwritten {0 if version < '7' else 9}\n" in done.stdout


@pytest.mark.parametrize("version", ["60200000", "70000000"])
def test_a_recorded_program_sees_its_errors(version: str, program: Path, tmp_path: Path) -> None:
    plain = on_stand_in(program, MNEME_STAND_IN_VERSION=version)
    done = mneme(
        *("record", "-rdb", tmp_path, "-mr", "8", "--device", "hip:0", "--", program),
        LD_LIBRARY_PATH=str(STAND_IN),
        MNEME_HIP_LIBRARY=str(STAND_IN / "libamdhip64.so.6"),
        MNEME_STAND_IN_VERSION=version,
    )
    assert (done.stdout, done.returncode) == (plain.stdout, 0), done.stderr


@pytest.mark.parametrize("version", ["60200000", "70000000"])
def test_a_tuned_program_sees_its_errors(version: str, program: Path, tmp_path: Path) -> None:
    plain = on_stand_in(program, MNEME_STAND_IN_VERSION=version)
    done = on_stand_in(
        program,
        PROTEUS_TUNED_KERNELS=str(write_tuned(tmp_path / "tuned.json", kernels_of([program]))),
        PROTEUS_CACHE_DIR=str(tmp_path / "cache"),
        PROTEUS_TRACE_OUTPUT=TRACE,
        MNEME_CARRY_IR="1",
        MNEME_STAND_IN_VERSION=version,
    )
    assert done.stdout == plain.stdout, done.stderr
    assert counts(done.stderr).tuned > 0
