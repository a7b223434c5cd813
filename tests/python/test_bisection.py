"""The search for the run of a pass, with pipelines whose times and sizes are made up."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mneme.bisect import Bisection, BisectOptions, programs
from mneme.bisect.bisection import Culprit
from mneme.bisect.probe import Answer, Probe
from mneme.bisect.reduction import name_in_pipeline
from mneme.bisect.symptom import Symptom
from mneme.errors import InvalidArgument

RUNS = 40


@dataclass
class Machine:
    """Gets slower with each measurement, as one that becomes busy."""

    load: float = 1.0

    def busy(self) -> float:
        self.load *= 1.02
        return self.load


@dataclass(eq=False)
class Compiler:
    """Answers as a `Probe` does, for pipelines of RUNS runs."""

    numbers: list[float]
    """Nanoseconds or bytes after so many runs."""
    machine: Machine = field(default_factory=Machine)
    symptom: Symptom | None = None
    answers: dict[str, Answer] = field(default_factory=dict)

    def after(self, passes: str) -> float:
        told = re.match(r"mneme-opt-bisect<(?:1-)?(\d+)(;\d+-\d+)?>", passes)
        count = RUNS if told is None or told[2] else min(int(told[1]), RUNS)
        return self.numbers[count]

    def ask(self, passes: str) -> Answer:
        number = self.after(passes)
        is_time = self.symptom in (None, Symptom.SLOWER)
        told = number * self.machine.busy() if is_time else number
        answer = Answer(number=told, image_hash=f"{id(self)} {number}")
        return self.answers.setdefault(passes, answer)

    def time(self, passes: str) -> float:
        return self.after(passes) * self.machine.busy()

    def compile(self, passes: str, *, want_ir: bool = False) -> Any:
        told = re.match(r"mneme-opt-bisect<(?:1-)?(\d+)", passes)
        assert told is not None
        runs = {"count": RUNS, "last": f"pass{told[1]} on function f", "next": ""}
        return SimpleNamespace(statistics={"pass_runs": runs}, ir=passes if want_ir else "")


def bisected(
    bad: Compiler, good: Compiler, symptom: Symptom, said: list[str] | None = None
) -> Culprit:
    options = BisectOptions(
        passes="default<O3>", than="default<O3>", symptom=symptom, llvm="new", than_llvm="old"
    )
    tell = (said if said is not None else []).append
    return Bisection(cast("Probe", bad), options, tell, cast("Probe", good)).run()


def test_a_machine_that_becomes_busy_does_not_mislead() -> None:
    machine = Machine()
    bad = Compiler([100.0] * 17 + [200.0] * (RUNS - 16), machine)
    good = Compiler([100.0] * (RUNS + 1), machine)
    culprit = bisected(bad, good, Symptom.SLOWER)
    assert (culprit.number, culprit.name, culprit.llvm) == (17, "pass17 on function f", "new")
    assert machine.load > 2
    assert culprit.ratio is not None
    assert culprit.ratio[1] > 1.5


def test_what_the_better_llvm_has_more_is_found_there() -> None:
    bad = Compiler([5000.0] * (RUNS + 1))
    good = Compiler([5000.0] * 30 + [4000.0] * (RUNS - 29))
    said: list[str] = []
    culprit = bisected(bad, good, Symptom.SIZE, said)
    assert (culprit.number, culprit.is_missing, culprit.llvm) == (30, True, "old")
    assert any("makes 'default<O3>' of old better" in one for one in said)


def test_an_llvm_that_is_not_worse_is_refused() -> None:
    same = Compiler([4000.0] * (RUNS + 1))
    with pytest.raises(InvalidArgument, match="'default<O3>' of new is not worse than .* of old"):
        bisected(same, Compiler([4000.0] * (RUNS + 1)), Symptom.SIZE)


@pytest.mark.parametrize(
    ("name", "passes", "said"),
    [
        ("FlipCompare", "default<O1>,function(flip-compare),default<O3>", "flip-compare"),
        ("Crash", "function(loop(crash<4>))", "crash"),
        ("instcombine", "default<O3>", "instcombine"),
        ("Planted<crash>", "planted-crash,default<O3>", "Planted<crash>"),
    ],
)
def test_a_pass_of_a_plugin_has_the_name_that_the_pipeline_gives_it(
    name: str, passes: str, said: str
) -> None:
    assert name_in_pipeline(name, passes) == said


@pytest.mark.parametrize(
    ("changes", "target", "ir_after", "why"),
    [
        ({}, "cpu", "ir", "programs are for NVIDIA GPUs, and the code is for cpu"),
        ({}, "sm_90", "", "the compiler leaves no code after the run"),
        (
            {"llvm": "/llvm", "codegen_opt": 2},
            *("sm_90", "ir", "programs are made with mneme's own LLVM, without --llvm"),
        ),
        (
            {"pass_plugins": "/a.so@0123456789abcdef:/b.so"},
            *("sm_90", "ir", "a program takes one pass plugin, and --pass-plugin names 2"),
        ),
        (
            {"specialize": True, "codegen_opt": 2, "pass_plugins": "/a.so@0123456789abcdef"},
            *("sm_90", "ir", "the launch sees 4097 MiB, more than the 256 MiB that are written "),
        ),
    ],
)
def test_it_says_why_there_is_no_program_without_mneme(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    changes: dict[str, object],
    target: str,
    ir_after: str,
    why: str,
) -> None:
    monkeypatch.setattr(programs, "_mebibytes", lambda _: 4097)
    found = programs.write_programs(
        Culprit(symptom=Symptom.SIZE, passes="default<O3>", number=3, ir_after=ir_after),
        tmp_path / "program",
        database=Path("r.json"),
        instance=cast("Any", SimpleNamespace(dynamic_hash="12")),
        changes=changes,
        target=target,
    )
    assert found.directory is None
    assert not (tmp_path / "program").exists()
    assert found.why_none.startswith(why)
    if "MiB" in why:
        command = found.why_none.partition("; run ")[2]
        assert shlex.split(command) == [
            *("mneme", "scaffold", "replay", "-rdb", "r.json", "-rid", "12"),
            *("--out", str(tmp_path / "program" / "after"), "--specialize", "--codegen-opt=2"),
            *("--pass-plugin=/a.so", "--target=sm_90"),
            *("--passes=mneme-opt-bisect<1-3>,default<O3>", "--max-mebibytes=4097"),
        ]
