"""The parts of `mneme optimize` that need no program."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.deploy import Deployment
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.mneme_types import dim3
from mneme.optimize import measuring
from mneme.optimize.events import OptimizeListener
from mneme.optimize.heavy import choose_targets, heavy_kernels, kernels_pattern, launches_pattern
from mneme.optimize.keeping import Keeper
from mneme.optimize.options import OptimizeOptions, parse_budget
from mneme.optimize.outputs import CommandCheck, ExactCheck, NumbersCheck, make_check
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


def test_every_byte_of_the_output_counts() -> None:
    check = ExactCheck([b"sum 1.5\ndone\n"])
    assert check.rule == "every byte"
    assert check.fault(b"sum 1.5\ndone\n") == ""
    assert check.fault(b"sum 1.6\ndone\n") == "line 1 of its output has '1.6' instead of '1.5'"
    assert check.fault(b"sum 1.5\nDone\n") == "line 2 of its output has 'Done' instead of 'done'"
    assert check.fault(b"sum 1.5\n") == "it prints 8 bytes instead of 13"
    assert check.fault(b"sum 1.5\ndone\nmore\n") != ""


def test_words_that_differ_between_runs_as_built_do_not_count() -> None:
    check = ExactCheck([b"sum 1.5 in 20 ms\n", b"sum 1.5 in 21 ms\n"])
    assert "but 1 word that differ" in check.rule.replace("words", "word")
    assert check.fault(b"sum 1.5 in 99 ms\n") == ""
    assert check.fault(b"sum 1.4 in 20 ms\n") != ""


def test_an_output_of_another_form_each_time_is_not_compared() -> None:
    check = ExactCheck([b"a\nb\n", b"a\n"])
    assert check.rule.startswith("not compared")
    assert check.fault(b"anything") == ""
    assert ExactCheck([b"a\nb", b"a b"]).rule.startswith("not compared")


def test_numbers_are_compared_with_a_tolerance() -> None:
    check = NumbersCheck(b"e = 1.0 f = nan\n", [r"e = (\S+) f = (\S+)"], 1e-3)
    assert check.rule == "2 numbers by --compare, within 0.001 of each"
    assert check.fault(b"e = 1.0005 f = nan\n") == ""
    assert check.fault(b"e = 1.1 f = nan\n") == r"'e = (\S+) f = (\S+)' finds 1.1 instead of 1"
    assert check.fault(b"e = 1 f = 2\n") != ""
    assert check.fault(b"nothing\n") != ""
    assert check.fault(b"e = x f = nan\n") != ""
    with pytest.raises(InvalidArgument, match="finds nothing"):
        NumbersCheck(b"", [r"e = (\S+)"], 0)
    with pytest.raises(InvalidArgument, match="no number"):
        NumbersCheck(b"e = x", [r"e = (\S+)"], 0)


def test_a_command_says_what_is_right() -> None:
    check = CommandCheck("grep -q PASSED", b"PASSED\n")
    assert check.fault(b"PASSED\n") == ""
    assert "ends with 1" in check.fault(b"FAILED\n")
    with pytest.raises(InvalidArgument, match="output of the program as built"):
        CommandCheck("grep -q PASSED", b"FAILED\n")


def test_runs_as_built_have_to_agree_on_what_is_compared() -> None:
    with pytest.raises(InvalidArgument, match="two runs of the program as built differ"):
        make_check([b"x 1", b"x 2"], check=None, compare=[r"x (\d)"], tolerance=0.1)


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


def test_launches_with_one_shape_are_tuned_once() -> None:
    record: Any = Record(
        "k", 100, instance("1", 8, 1, 50), instance("2", 8, 90, 60), instance("3", 4, 9, 1000)
    )
    profile = Profile()
    shapes = {((8, 1, 1), (64, 1, 1), 0): 900, ((4, 1, 1), (64, 1, 1), 0): 100}
    profile.kernels["k"] = KernelTime(name="k", launches=100, total_ns=1000, shapes=shapes)
    targets = choose_targets([record], profile)
    assert [(one.instance.dynamic_hash, one.weight) for one in targets] == [("2", 0.9), ("3", 0.1)]
    # Without a profile, recorded times count.
    targets = choose_targets([record], Profile())
    assert [one.instance.dynamic_hash for one in targets] == ["3", "2"]
    assert sum(one.weight for one in targets) == pytest.approx(1)
    assert choose_targets([], profile) == []


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
    """Of runs that vary by 1 %: at least 93 % (of 2,000: 95 ± 1.5 %); and next to no claims."""
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
    assert "1 kernel tuned, not measured" in verdict(found(status="interrupted", application=None))


def test_the_page_shows_names_as_text(tmp_path: Path) -> None:
    result = found(verdict="<b>x</b>", notes=["a & b"], tuned_file=tmp_path / "tuned.json")
    page = write_optimized_page(result.to_dict(), tmp_path / "report.html").read_text()
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "a &amp; b" in page
    assert "2.00 times as fast" in page
    assert "PROTEUS_TUNED_KERNELS=" in page
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
    assert "need not show" in result.kernels[0].reason


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
    keeper.prove(6, 1.01, lambda: False)
    assert [one.is_kept for one in result.kernels] == [True, False]
    assert result.application is None
    assert "left out after the last runs" in result.notes[-1]
    assert "was not measured" in verdict(result)
