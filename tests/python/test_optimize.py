"""The parts of `mneme optimize` that need no program."""

from __future__ import annotations

import json
import math
import os
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.deploy import Deployment
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.mneme_types import dim3
from mneme.optimize import measuring
from mneme.optimize.application import Run, is_input_waiting
from mneme.optimize.as_built import observe
from mneme.optimize.events import OptimizeListener
from mneme.optimize.heavy import (
    came_before,
    choose_targets,
    heavy_kernels,
    kernels_pattern,
    launches_pattern,
)
from mneme.optimize.keeping import Keeper
from mneme.optimize.options import OptimizeOptions, parse_budget
from mneme.optimize.production import Comparison, ratio_of
from mneme.optimize.profile import KernelTime, Profile, read_profile
from mneme.optimize.result import KernelResult, OptimizeResult, Ratio
from mneme.optimize.verdict import verdict
from mneme.programs.record_request import RecordRequest, check_request
from mneme.report.optimized import write_optimized_page


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("1h30m", 5400), ("2min", 120)],
)
def test_a_budget_is_a_time(text: str, seconds: float) -> None:
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "ten", "-5m", "5 m", "10x", "nan", "inf", "m"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="--budget"):
        parse_budget(text)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"command": ()}, "no program"),
        ({"min_gain": 0.5}, "--min-gain"),
        ({"compare": ("(",)}, r"--compare '\('"),
        ({"compare": ("sum",)}, "has no group"),
        ({"compare": ("(.)",), "check": "true"}, "give one of them"),
        ({"compare_tolerance": -1.0}, "--compare-tolerance"),
        ({"budget": 0.0}, "--budget"),
    ],
)
def test_options_that_make_no_sense_are_named(more: dict[str, Any], sentence: str) -> None:
    options = OptimizeOptions(**{"command": ("app",), **more})
    with pytest.raises(InvalidArgument, match=sentence):
        options.validate()


def times(**milliseconds: float) -> Profile:
    profile = Profile()
    for name, one in milliseconds.items():
        profile.kernels[name] = KernelTime(name=name, launches=1, total_ns=round(one * 1e6))
    return profile


def test_what_is_heavy_makes_up_nearly_all_time() -> None:
    profile = times(a=60.0, b=30.0, c=6.0, d=3.0, e=1.0)
    assert [one.name for one in heavy_kernels(profile)] == ["a", "b", "c"]
    assert kernels_pattern(heavy_kernels(profile)) == "^(a|b|c)$"
    assert kernels_pattern([]) is None
    many = times(**{f"kernel{number:04}": 1.0 for number in range(2000)})
    assert heavy_kernels(many) == []
    assert kernels_pattern([KernelTime(name="x" * 5000)]) is None


def test_heavy_dimensions_are_recorded_whenever_they_are_launched() -> None:
    kernel = KernelTime(name="_Z1kv", launches=9, total_ns=100)
    kernel.shapes = {
        ((1, 1, 1), (32, 1, 1), 0): 2,
        ((64, 8, 1), (256, 1, 1), 0): 60,
        ((9, 1, 1), (64, 1, 1), 512): 36,
        ((5, 1, 1), (64, 1, 1), 0): 2,
    }
    expected = "_Z1kv:64x8x1/256x1x1/0;_Z1kv:9x1x1/64x1x1/512"
    assert launches_pattern([kernel], 4) == expected
    assert launches_pattern([kernel], 1) == expected.partition(";")[0]
    assert launches_pattern([], 4) is None
    check_request(RecordRequest(directory=Path("d"), dims=expected))
    shape = ((64, 8, 1), (256, 1, 1), 0)
    kernel.middles, kernel.counts = {shape: 7}, {shape: 20}
    late = launches_pattern([kernel], 4)
    assert late == expected.replace("256x1x1/0", "256x1x1/0@7")
    kernel.middles = {shape: 19}
    assert launches_pattern([kernel], 4) == expected.replace("256x1x1/0", "256x1x1/0@16")
    kernel.counts = {shape: 3}
    assert launches_pattern([kernel], 4) == expected
    check_request(RecordRequest(directory=Path("d"), dims=late))


def instance(name: str, blocks: int, occ: int, ns: int) -> Any:
    return SimpleNamespace(
        dynamic_hash=name,
        grid_dim=dim3(blocks, 1, 1),
        block_dim=dim3(64, 1, 1),
        shared_mem=0,
        occ=occ,
        recorded_ns=ns,
    )


class Record(dict[str, Any]):
    def __init__(self, name: str, launches: int, *instances: Any) -> None:
        super().__init__({one.dynamic_hash: one for one in instances})
        self.kernel_name = self.demangled_name = name
        self.extras = {"Launches": launches}


def two_shapes(
    record: Any, *, counts: tuple[int, int]
) -> list[tuple[str, float, tuple[int, ...] | None]]:
    """Targets of a kernel that spends nine tenths of its time with 8 blocks, the rest with 4."""
    of_8, of_4 = (((blocks, 1, 1), (64, 1, 1), 0) for blocks in (8, 4))
    profile = Profile()
    profile.kernels["k"] = KernelTime(
        name="k",
        launches=sum(counts),
        total_ns=1000,
        shapes={of_8: 900, of_4: 100},
        counts={of_8: counts[0], of_4: counts[1]},
    )
    return [
        (one.instance.dynamic_hash, pytest.approx(one.weight), one.fixed_args)
        for one in choose_targets([record], profile)
    ]


def test_launches_with_other_arguments_are_tuned_apart() -> None:
    record: Any = Record(
        "k", 100, instance("1", 8, 40, 50), instance("2", 8, 50, 100), instance("3", 4, 10, 1000)
    )
    expected = [("2", 900 * 5 / 7 / 1000, None), ("1", 900 * 2 / 7 / 1000, None), ("3", 0.1, None)]
    assert two_shapes(record, counts=(90, 10)) == expected
    # The profile is of four processes, the recording of one.
    assert two_shapes(record, counts=(360, 40)) == expected
    # Without a profile, recorded times count.
    targets = choose_targets([record], Profile())
    assert [one.instance.dynamic_hash for one in targets] == ["3", "2", "1"]
    assert sum(one.weight for one in targets) == pytest.approx(1)
    assert choose_targets([], Profile()) == []


def test_arguments_that_are_others_each_time_are_no_constants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "mneme.recording.launch_facts.leaves_changes", lambda one: one.dynamic_hash != "9"
    )
    monkeypatch.setattr(
        "mneme.optimize.heavy.unchanging_arguments", lambda _, alike: (0, len(alike))
    )
    monkeypatch.setattr("mneme.optimize.heavy.differ_in_floats_only", lambda _, alike: bool(alike))
    steps: Any = Record(
        "k", 100, instance("1", 8, 1, 60), instance("2", 8, 1, 50), instance("3", 4, 10, 1000)
    )
    assert two_shapes(steps, counts=(90, 10)) == [("1", 0.9, (0, 2)), ("3", 0.1, None)]
    # What changes no memory shows least.
    first: Any = Record("k", 90, instance("9", 8, 1, 60), instance("2", 8, 1, 50))
    assert two_shapes(first, counts=(90, 0))[0][0] == "2"
    # Two of each step, of which one was recorded.
    pairs: Any = Record("k", 100, instance("1", 8, 2, 60), instance("3", 4, 10, 1000))
    assert two_shapes(pairs, counts=(90, 10)) == [("1", 0.9, ()), ("3", 0.1, None)]
    # A short run, all of which was recorded.
    short: Any = Record(
        "k", 3, instance("1", 8, 1, 50), instance("2", 8, 1, 60), instance("3", 4, 1, 1)
    )
    assert two_shapes(short, counts=(2, 1)) == [("2", 0.9, (0, 2)), ("3", 0.1, None)]
    # Without a profile.
    few: Any = Record("k", 100, instance("1", 8, 2, 50), instance("2", 8, 2, 60))
    assert [one.fixed_args for one in choose_targets([few], Profile())] == [(0, 2)]
    # Other dimensions are for launches whose arguments are known to be alike.
    assert [one.may_change_launch for one in choose_targets([few], Profile())] == [True]
    (one,) = choose_targets([Record("k", 100, instance("1", 8, 2, 60))], Profile())
    assert not one.may_change_launch


@pytest.mark.parametrize(
    ("instances", "launches", "lacks"),
    [
        ((), 10, True),
        ((instance("1", 8, 10, 1),), 10, False),
        ((instance("1", 8, 5, 1),), 10, True),
        # As many as are recorded anyway, or another each time: what came before is not new.
        (tuple(instance(str(n), 8, 2, 1) for n in range(4)), 100, False),
        (tuple(instance(str(n), 8, 1, 1) for n in range(3)), 100, False),
    ],
)
def test_what_came_before_the_middle_is_missed(
    instances: tuple[Any, ...], launches: int, lacks: bool
) -> None:
    kernel = KernelTime(name="k", launches=launches, middles={((8, 1, 1), (64, 1, 1), 0): 5})
    record: Any = Record("k", launches, *instances)
    assert came_before(kernel, [record, Record("other", 99, instance("9", 8, 99, 1))], 4) is lacks
    assert not came_before(KernelTime(name="k", launches=launches), [record], 4)


def test_profiles_of_all_processes_are_added_up(tmp_path: Path) -> None:
    row = {"grid": [1, 1, 1], "block": [32, 1, 1], "shared": 0, "launches": 2, "total_ns": 10}
    made = {**row, "kernel": "_Z1kPf$jit$123$"}
    (tmp_path / "1-x.json").write_text(json.dumps({"rows": [{**row, "kernel": "_Z1kPf"}, made]}))
    (tmp_path / "2-x.json").write_text(json.dumps({"rows": [{**row, "kernel": "_Z1kPf"}]}))
    profile = read_profile(tmp_path)
    assert profile.total_ns == 30
    assert profile.kernels["_Z1kPf"].launches == 6
    (tmp_path / "3-x.json").write_text("{")
    with pytest.raises(ArtifactCorrupt):
        read_profile(tmp_path)


def test_a_ratio_has_an_interval_from_three_pairs_on() -> None:
    same = ratio_of([2.0] * 3, [1.0] * 3)
    assert same is not None
    # Never closer than to 0.2 %.
    assert (same.ratio, same.low, same.high) == pytest.approx((2.0, 1.996, 2.004))
    assert same.is_interval
    few = ratio_of([1.9, 2.0, 2.1], [1.0, 1.0, 1.0])
    assert few is not None
    # Student's t with two degrees of freedom, as wide as further runs may differ.
    spread = math.log(few.high / few.ratio)
    assert spread == pytest.approx(4.303 * 0.0501 / 3**0.5 * 2**0.5, rel=1e-2)
    assert few.low * few.high == pytest.approx(few.ratio**2)
    assert ratio_of([], []) is None
    for pairs in (1, 2):
        one = ratio_of([2.0] * pairs, [1.0] * pairs)
        assert one is not None
        assert not one.is_interval
        assert not one.is_certain


@pytest.mark.parametrize("pairs", [3, 5, 6, 12])
def test_intervals_hold_what_further_runs_show(pairs: int) -> None:
    """Runs vary by 1 %: at least 93 % hold (of 2,000: 95 ± 1.5 %), with next to no claims."""
    rng = random.Random(1)
    held = claims = 0
    for _ in range(2000):
        shown, further = (
            ratio_of(*([rng.lognormvariate(0, 0.01) for _ in range(pairs)] for _ in range(2)))
            for _ in range(2)
        )
        assert shown is not None
        assert further is not None
        held += shown.low <= further.ratio <= shown.high
        claims += shown.low > 1 and shown.ratio >= 1.01
    assert held >= 0.93 * 2000
    assert claims <= 0.02 * 2000


def found(**values: Any) -> OptimizeResult:
    result = OptimizeResult(command=["./app"], directory=Path("d"), status="completed")
    result.built_seconds, result.tuned_seconds = [2.0] * 6, [1.0] * 6
    result.application = ratio_of(result.built_seconds, result.tuned_seconds)
    kernel = KernelResult(name="k", demangled_name="k()", share=1.0, is_kept=True)
    result.kernels.append(kernel)
    for name, value in values.items():
        setattr(result, name, value)
    return result


def test_the_sentence_claims_only_what_runs_showed() -> None:
    assert "2.000x (95 %: 1.996 to 2.004) as fast: 2 s → 1 s" in verdict(found())
    no_gain = Ratio(ratio=1.1, low=0.9, high=1.2, rounds=6, is_interval=True)
    assert "not measurably" in verdict(found(application=no_gain))
    assert "was not measured" in verdict(found(application=None))
    assert "faster in replays" in verdict(found(application=None))
    assert verdict(found(kernels=[])).startswith("the program stays as it is")
    failed = KernelResult(name="k", demangled_name="k", share=1.0, reason="the disk is full")
    assert verdict(found(kernels=[failed])) == "no kernel could be tuned: the disk is full"
    failed.is_searched = True
    assert verdict(found(kernels=[failed])).startswith("the program stays as it is")
    assert "1 kernel tuned, not measured" in verdict(found(status="interrupted", application=None))


def test_how_to_use_it_holds_in_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["bash", "run it.sh"]
    result = found(tuned_file=Path("out/tuned.json"), command=command, device="cuda:0")
    line = f"PROTEUS_TUNED_KERNELS={tmp_path}/out/tuned.json"
    assert result.use == f"{line} bash 'run it.sh'"
    # Without a GPU it needs what stands in for one.
    result.device = "cpu"
    assert result.use == f"{line} mneme run --device cpu -- bash 'run it.sh'"
    assert result.to_dict()["use"] == result.use
    assert found().use == ""


def test_the_page_shows_names_as_text(tmp_path: Path) -> None:
    result = found(verdict="<b>x</b>", notes=["a & b"], tuned_file=tmp_path / "tuned.json")
    page = write_optimized_page(result.to_dict(), tmp_path / "report.html").read_text()
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "a &amp; b" in page
    assert "2.00 times as fast" in page
    assert "PROTEUS_TUNED_KERNELS=" in page
    # One pair of runs says little, and the page no more than the sentence.
    once = found(application=ratio_of([2.0], [1.0]), tuned_file=tmp_path / "tuned.json")
    assert "not significantly (2.000x (in one pair of runs))" in verdict(once)
    assert (
        "2.00 times as fast" not in write_optimized_page(once.to_dict(), tmp_path / "r").read_text()
    )
    nothing = OptimizeResult(command=["./app"], directory=tmp_path, status="completed")
    page = write_optimized_page(nothing.to_dict(), tmp_path / "report.html").read_text()
    assert "as fast" not in page


def test_what_only_replays_show_of_a_kernel_that_is_not_launched_is_left_out() -> None:
    def deployed(name: str, low: float) -> Any:
        variant = SimpleNamespace(gain=SimpleNamespace(low=low), match=None)
        facts = {"kernel_name": name, "demangled_name": name, "code": "", "directory": Path(name)}
        return SimpleNamespace(**facts, variant=variant)

    plan = Deployment(deployed=[deployed("k", 0.9), deployed("wide", 0.9), deployed("sure", 1.2)])
    worth = measuring._worth(plan, found())
    assert [one.kernel_name for one in worth.deployed] == ["k", "sure"]
    assert "does not launch it" in worth.left_out[0].reason


def test_an_interrupted_run_keeps_what_is_expected_of_it_only(tmp_path: Path) -> None:
    wide = Ratio(ratio=1.1, low=0.9, high=1.3, rounds=12, is_interval=True)
    sure = Ratio(ratio=1.5, low=1.4, high=1.6, rounds=12, is_interval=True)
    result = found(application=None)
    result.kernels = [
        KernelResult(name=name, demangled_name=name, share=0.3, is_kept=True, replay=replay)
        for name, replay in (("wide", wide), ("sure", sure), ("shown", wide))
    ]
    result.kernels[2].production = sure
    production: Any = SimpleNamespace()
    Keeper(production, tmp_path / "tuned.json", result, OptimizeListener()).drop_unproven()
    assert [one.is_kept for one in result.kernels] == [False, True, True]
    assert "may show none" in result.kernels[0].reason


def test_nothing_is_claimed_from_runs_of_another_file(tmp_path: Path) -> None:
    """The last runs had a kernel that was left out because of them."""
    result = found(application=None)
    result.kernels.append(KernelResult(name="l", demangled_name="l()", share=0.1, is_kept=True))
    slower = {"k": [2.0] * 6, "l": [1.0] * 6}
    comparison = Comparison(
        built_seconds=[2.0] * 6,
        tuned_seconds=[1.0] * 6,
        built_kernels=slower,
        tuned_kernels={"k": [1.0] * 6, "l": [1.1] * 6},
    )
    production: Any = SimpleNamespace(compare=lambda *_: comparison)
    keeper = Keeper(production, tmp_path / "tuned.json", result, OptimizeListener())
    keeper.prove(6, 1.01, lambda _seconds: False)
    assert [one.is_kept for one in result.kernels] == [True, False]
    assert result.application is None
    assert "left out after the last runs" in result.notes[-1]
    assert "was not measured" in verdict(result)


def test_kernels_that_make_the_whole_program_slower_are_not_kept(tmp_path: Path) -> None:
    result = found(application=None)
    comparison = Comparison(
        built_seconds=[1.0] * 6,
        tuned_seconds=[1.5] * 6,
        built_kernels={"k": [2.0] * 6},
        tuned_kernels={"k": [1.0] * 6},
    )
    production: Any = SimpleNamespace(compare=lambda *_: comparison)
    keeper = Keeper(production, tmp_path / "tuned.json", result, OptimizeListener())
    keeper.prove(6, 1.01, lambda _seconds: True)
    assert [one.is_kept for one in result.kernels] == [False]
    assert "the whole program is slower with tuned kernels: 0.667x" in result.kernels[0].reason


def test_a_gain_that_is_not_certain_is_called_so(tmp_path: Path) -> None:
    result = found()
    result.kernels.append(KernelResult(name="l", demangled_name="l()", share=0.1, is_kept=True))
    comparison = Comparison(
        built_kernels={"k": [2.0, 1.0, 2.0], "l": [1.0] * 3},
        tuned_kernels={"k": [1.0, 1.5, 1.0], "l": [1.1] * 3},
    )
    production: Any = SimpleNamespace(compare=lambda *_: comparison)
    keeper = Keeper(production, tmp_path / "tuned.json", result, OptimizeListener())
    keeper.prove(3, 1.01, lambda _seconds: True)
    shown = [one.reason.partition(":")[0] for one in result.kernels]
    assert shown == [
        "the program shows no significant gain from it",
        "the program shows no gain from it",
    ]


def test_a_budget_that_the_first_runs_would_spend_is_refused(tmp_path: Path) -> None:
    runs: list[Any] = []

    def run(**_how: Any) -> Run:
        runs.append(_how)
        return Run(seconds=60.0, code=0, output=b"", error=b"")

    def second_is_short(**_how: Any) -> Run:
        runs.append(_how)
        return Run(seconds=60.0 if len(runs) == 1 else 1.0, code=0, output=b"", error=b"")

    application: Any = SimpleNamespace(
        program="./app", run=run, expect=lambda _seconds: None, leaves_running=False
    )
    with pytest.raises(InvalidArgument, match=r"takes 60\.0 s.*--budget 1200s is enough"):
        observe(application, tmp_path, OptimizeListener(), short=1.0, longest=20 / 6)
    assert runs == [{}, {"at_most": 20 / 6}]
    observe(application, tmp_path, OptimizeListener(), short=1.0, longest=60.0)
    # Only the first run compiles kernels for the CPU device, or reads from a cold disk.
    runs.clear()
    application.run = second_is_short
    built = observe(application, tmp_path, OptimizeListener(), short=0.5, longest=20 / 6)
    assert [one.seconds for one in built.runs] == [1.0, 1.0]


def test_input_that_no_run_reads_is_noticed(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        assert not is_input_waiting(reading)
        os.write(writing, b"1 2 3")
        assert is_input_waiting(reading)
    finally:
        os.close(reading)
        os.close(writing)
    (tmp_path / "input.dat").write_text("1 2 3")
    with (tmp_path / "input.dat").open("rb") as file:
        assert not is_input_waiting(file.fileno())
