"""Control runs whose kernels are compiled again as they are: what they show, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.cli._optimize_output import output_for
from mneme.deploy.tuned_file import TunedKernel, read_tuned_file, write_tuned_file
from mneme.deploy.tuned_variant import LaunchOverride, Match, TunedVariant
from mneme.mneme_types import dim3
from mneme.optimize.application import Disturbance, Run
from mneme.optimize.outputs import ExactCheck
from mneme.optimize.production import Production
from mneme.optimize.profile import Profile
from mneme.optimize.recompiled import write_recompiled
from native_parts import needs_native

pytestmark = needs_native

_BUILT = "sum 1.5\ntime 20 ms\n"


def tuned_file(folder: Path, name: str = "tuned.json") -> Path:
    """Write two kernels, one of which has variants for two codes."""
    match = Match(grid=dim3(4), block=dim3(64), shared_mem=0)
    launch = LaunchOverride(rule="exact", grid=dim3(8), block=dim3(32))
    variant = TunedVariant(specialize_args=True, match=match, guards=("Grid",), launch=launch)
    two = [
        TunedVariant(pipeline="default<O2>", static_hash=16 * digit, max_registers=32)
        for digit in "12"
    ]
    kernels = {
        "_Z1av": TunedKernel(variants=(variant,), demangled_name="a()"),
        "_Z1bv": TunedKernel(variants=tuple(two), codegen="serial"),
    }
    write_tuned_file(folder / name, kernels)
    return folder / name


class Program:
    """Prints what it is told to; a control run is known by its file."""

    def __init__(self, *, tuned: str, recompiled: str, code: int = 0, error: bytes = b"") -> None:
        self.texts = {"tuned": tuned, "recompiled": recompiled}
        self.code, self.error = code, error
        self.runs: list[str] = []
        self.at_most: list[float] = []

    def run(
        self,
        *,
        tuned: Path | None = None,
        disturbed: Disturbance = Disturbance(),  # noqa: B008 - it is constant
        at_most: float = math.inf,
        **_: Any,
    ) -> Run:
        del disturbed
        how = "built" if tuned is None else tuned.stem
        self.runs.append(how)
        is_control = how == "recompiled"
        if is_control:
            self.at_most.append(at_most)
        return Run(
            seconds=1.0,
            code=self.code if is_control else 0,
            output=self.texts.get(how, _BUILT).encode(),
            error=self.error if is_control else b"",
        )

    def production(
        self,
        folder: Path,
        left: Callable[[], float] = lambda: math.inf,
        detail: Callable[[str], None] = lambda _sentence: None,
    ) -> Production:
        run = Run(seconds=1.0, code=0, output=_BUILT.encode(), error=b"")
        built: Any = SimpleNamespace(
            runs=[run], seconds=1.0, measures_apart=False, profile=Profile()
        )
        program: Any = self
        check = ExactCheck([_BUILT.encode()] * 3)
        return Production(program, built, check, folder, left, detail)


def test_kernels_that_are_compiled_again_are_those_that_are_tuned_and_as_they_are(
    tmp_path: Path,
) -> None:
    names = write_recompiled(tuned_file(tmp_path), tmp_path / "recompiled.json")
    assert names == ("_Z1av", "_Z1bv")
    found = read_tuned_file(tmp_path / "recompiled.json")
    assert found["_Z1av"].demangled_name == "a()"
    assert found["_Z1bv"].codegen == "serial"
    assert found["_Z1bv"].static_hashes == [16 * "1", 16 * "2"]
    for kernel in found.values():
        for one in kernel.variants:
            assert one.pipeline == "default<O1>"
            assert (one.codegen_opt_level, one.max_registers) == (3, 0)
            changes = (one.specialize_args, one.specialize_dims, one.launch_bounds)
            assert not any(changes)
            assert (one.guards, one.launch) == ((), None)


@pytest.mark.parametrize(
    ("tuned", "recompiled", "fault"),
    [
        ("sum 1.5\ntime 5 ms\n", "sum 1.5\ntime 60 ms\n", ""),
        # The results depend on how the program is compiled; only the time is not a result.
        ("sum 1.5\ntime 5 ms\n", "sum 1.4\ntime 60 ms\n", ""),
        ("sum 1.6\ntime 5 ms\n", "sum 1.4\ntime 60 ms\n", "'1.6'"),
        ("sum 1.5\ntime 5 ms\n", _BUILT, "'5'"),
    ],
)
def test_a_time_that_follows_kernels_alone_is_none_of_the_results(
    tmp_path: Path, tuned: str, recompiled: str, fault: str
) -> None:
    program = Program(tuned=tuned, recompiled=recompiled)
    _, found = program.production(tmp_path).try_out(tuned_file(tmp_path))
    assert (fault in found) if fault else not found


def test_what_looks_like_no_time_has_no_such_run(tmp_path: Path) -> None:
    program = Program(tuned="sum 1.6\ntime 20 ms\n", recompiled="sum 1.6\ntime 20 ms\n")
    assert "'1.6'" in program.production(tmp_path).try_out(tuned_file(tmp_path))[1]
    assert "recompiled" not in program.runs


def test_the_same_kernels_are_compiled_again_once(tmp_path: Path) -> None:
    program = Program(tuned="sum 1.5\ntime 5 ms\n", recompiled=_BUILT)
    production = program.production(tmp_path)
    for _ in range(3):
        assert production.try_out(tuned_file(tmp_path))[1]
    assert program.runs.count("recompiled") == 1


@pytest.mark.parametrize(("left", "at_most"), [(4.0, []), (100.0, [20.0])])
def test_a_budget_that_is_nearly_spent_has_no_such_run(
    tmp_path: Path, left: float, at_most: list[float]
) -> None:
    details: list[str] = []
    program = Program(tuned="sum 1.5\ntime 5 ms\n", recompiled=_BUILT)
    program.production(tmp_path, lambda: left, details.append).try_out(tuned_file(tmp_path))
    assert program.at_most == at_most
    assert any("more time than there is" in one for one in details) is not bool(at_most)


@pytest.mark.parametrize(
    ("code", "error", "why"),
    [(3, b"", "exit code 3"), (0, b"mneme: k runs as it was built: no", "not be compiled")],
)
def test_a_run_that_fails_says_nothing(tmp_path: Path, code: int, error: bytes, why: str) -> None:
    details: list[str] = []
    program = Program(
        tuned="sum 1.5\ntime 5 ms\n", recompiled="sum 1.5\ntime 60 ms\n", code=code, error=error
    )
    production = program.production(tmp_path, detail=details.append)
    assert "'5'" in production.try_out(tuned_file(tmp_path))[1]
    assert any(why in one for one in details)


def test_a_file_that_is_no_more_there_has_no_such_run(tmp_path: Path) -> None:
    program = Program(tuned="sum 1.5\ntime 5 ms\n", recompiled=_BUILT)
    assert "'5'" in program.production(tmp_path).try_out(tmp_path / "tuned.json")[1]
    assert "recompiled" not in program.runs


@pytest.mark.parametrize(("level", "is_said"), [("info", True), ("warn", False), ("", False)])
def test_details_are_for_who_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], level: str, is_said: bool
) -> None:
    monkeypatch.setenv("MNEME_LOG_LEVEL", level)
    with output_for(is_quiet=False) as output:
        output.detail("no control run")  # type: ignore[attr-defined]
    assert ("no control run" in capsys.readouterr().err) is is_said
