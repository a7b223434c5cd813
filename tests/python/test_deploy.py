"""What of a tuning goes to production, and what does not."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from deploy_samples import (
    BLOCK,
    GRID,
    OTHER_BLOCK,
    OTHER_GRID,
    best,
    config,
    facts,
    gain,
    write_result,
)
from mneme.cli.exit_codes import ExitCode
from mneme.deploy import DeployOptions, plan_deployment, write_deployment
from mneme.deploy.tuned_file import TunedKernel, read_tuned_file, write_tuned_file
from mneme.deploy.tuned_variant import Gain, LaunchOverride, TunedVariant
from mneme.errors import ArtifactCorrupt, InvalidArgument, NotFound
from native_parts import needs_native

pytestmark = needs_native


def deploy(tmp_path: Path, *contents: dict[str, Any], **options: Any) -> TunedKernel:
    """Deploy results and return the one kernel of the file that was written."""
    directories = [write_result(tmp_path / str(i), one) for i, one in enumerate(contents)]
    plan = plan_deployment(directories, DeployOptions(**options))
    write_deployment(plan, tmp_path / "tuned.json")
    (kernel,) = read_tuned_file(tmp_path / "tuned.json").values()
    return kernel


OTHER_DIMENSIONS = "with other dimensions it is 1.500 times as fast: --launch takes them"


def reason(tmp_path: Path, content: dict[str, Any], **options: Any) -> str:
    """Return why a result is left out."""
    plan = plan_deployment([write_result(tmp_path / "r", content)], DeployOptions(**options))
    assert plan.deployed == []
    (left_out,) = plan.left_out
    return left_out.reason


def test_recorded_launch_is_deployed_unless_others_are_wanted(tmp_path: Path) -> None:
    kernel = deploy(tmp_path, best())
    (variant,) = kernel.variants
    assert variant.launch is None
    assert (variant.pipeline, variant.specialized_args) == ("default<O2>", ("0",))
    assert variant.gain == Gain(ratio=1.2, low=1.19, high=1.21)
    assert (variant.baseline_ns, variant.tuned_ns, variant.weight) == (3000, 2500, 0.75)
    assert (variant.match.grid, variant.match.block) == (GRID, BLOCK)


def test_default_guards_are_code_and_architecture(tmp_path: Path) -> None:
    kernel = deploy(tmp_path, best())
    assert kernel.static_hashes == ["00000000000000ab"]
    assert kernel.variants[0].guards == ("Arch",)
    assert kernel.variants[0].match.arch == "cpu"


@pytest.mark.parametrize("rule", ["exact", "cover", "agnostic"])
def test_other_dimensions_are_deployed_with_their_rule(tmp_path: Path, rule: str) -> None:
    kernel = deploy(tmp_path, best(launch_rule=rule), use_launch=True, guards=("none",))
    (variant,) = kernel.variants
    assert variant.launch == LaunchOverride(rule=rule, grid=OTHER_GRID, block=OTHER_BLOCK)
    assert (variant.match.grid, variant.match.block) == (GRID, BLOCK)
    assert (variant.tuned_max_threads, variant.min_blocks_per_sm) == (256, 2)
    assert variant.guards == ()
    assert kernel.static_hashes == ["00000000000000ab"], "the rule was shown for this code only"


def test_structs_are_matched_and_never_compiled_in(tmp_path: Path) -> None:
    functor = {"index": 1, "name": "f", "type": "struct.F", "size": 2, "bytes": "0102"}
    kernel = deploy(tmp_path, best(facts=facts(values=[functor])))
    (variant,) = kernel.variants
    assert [(one.index, one.bytes) for one in variant.match.args] == [(0, "14000000"), (1, "0102")]
    assert (variant.specialize_args, variant.specialized_args) == (True, ("0",))


def test_code_of_any_hash_is_served_without_guards(tmp_path: Path) -> None:
    assert deploy(tmp_path, best(), guards=("none",)).static_hashes == [""]


@pytest.mark.parametrize(
    ("chosen", "guards"),
    [
        (("launch",), ("Grid", "Block", "SharedMem")),
        (("args", "arch"), ("Args", "Arch")),
        (("launch", "args"), ("Grid", "Block", "SharedMem", "Args")),
    ],
)
def test_guards_are_those_asked_for(
    tmp_path: Path, chosen: tuple[str, ...], guards: tuple[str, ...]
) -> None:
    assert deploy(tmp_path, best(), guards=chosen).variants[0].guards == guards


@pytest.mark.parametrize(("varies", "guards"), [(True, ("Arch", "Arg:0")), (False, ("Arch",))])
def test_values_that_change_are_not_compiled_in_again(
    tmp_path: Path, varies: bool, guards: tuple[str, ...]
) -> None:
    content = best()
    content["facts"]["args"][0]["varies"] = varies
    assert deploy(tmp_path, content).variants[0].guards == guards


@pytest.mark.parametrize("guards", [("colour",), ("none", "arch")])
def test_guards_that_make_no_sense_are_refused(guards: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArgument, match="guard"):
        DeployOptions(guards=guards)


def same(**changes: Any) -> dict[str, Any]:
    """A result whose best configuration keeps the launch."""
    return best(config=config(), same_launch=None, **changes)


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (same(gain=gain(1.005, significant=False)), {}, "no significant gain (0.995 to 1.015)"),
        (same(trial=-1), {}, "nothing faster than the program as built"),
        (
            same(trial=-1, contender={"gain": gain(11.664, significant=False, margin=10.9)}),
            {},
            "nothing was significantly faster than the program as built: at best 11.664 (95 %: 0.764",
        ),
        (
            same(trial=-1, contender={"gain": gain(1.01, significant=False, margin=0.1)}),
            {},
            "nothing faster than the program as built was found",
        ),
        (same(gain=gain(1.05)), {"min_gain": 1.045}, "gains 1.040 at least, less than 1.045"),
        (
            best(same_launch=None),
            {},
            "measured with the recorded dimensions; with other dimensions it is 1.500 times as fast: ",
        ),
        (
            best(same_launch={**best()["same_launch"], "trial": -1}),
            {},
            "found with the recorded dimensions; with other dimensions it is 1.500 times as fast: --l",
        ),
        (
            best(
                same_launch={**best()["same_launch"], "trial": -1},
                gain={**gain(1.5, significant=False, margin=0.6), "replayed_low": 1.4},
            ),
            {},
            "it is 1.500 times as fast in replays: --launch --measure finds out",
        ),
        (
            best(config=config(shared_mem=64), same_launch=None),
            {"use_launch": True},
            "another amount of shared memory",
        ),
        (same(gain=None, best_metric=3001), {}, "no significant gain"),
    ],
)
def test_what_is_not_worth_it_is_left_out(
    tmp_path: Path, content: dict[str, Any], options: dict[str, Any], sentence: str
) -> None:
    assert sentence in reason(tmp_path, content, **options)


def test_better_dimensions_are_told_of_where_they_are_left_out(tmp_path: Path) -> None:
    plan = plan_deployment([write_result(tmp_path / "r", best())], DeployOptions())
    assert "it is 1.500 times as fast: --launch takes them" in plan.deployed[0].note
    plan = plan_deployment([tmp_path / "r"], DeployOptions(use_launch=True))
    assert "--launch" not in plan.deployed[0].note
    same_dimensions = write_result(tmp_path / "s", same())
    assert not plan_deployment([same_dimensions], DeployOptions()).deployed[0].note


def test_what_only_replays_show_is_for_who_measures_production(tmp_path: Path) -> None:
    wide = {
        **gain(1.05, significant=False, margin=0.1),
        "replayed_low": 1.04,
        "replayed_high": 1.06,
    }
    assert "no significant gain (0.950 to 1.150); --measure" in reason(tmp_path, same(gain=wide))
    assert deploy(tmp_path, same(gain=wide), takes_unproven=True).variants
    slower = {**wide, "replayed_low": 0.99}
    assert "too little" in reason(tmp_path, same(gain=slower), takes_unproven=True)


def test_gain_at_the_limit_is_enough(tmp_path: Path) -> None:
    assert deploy(tmp_path, same(gain=gain(1.5, margin=0.25)), min_gain=1.25).variants


def test_results_without_an_interval_count_by_their_times(tmp_path: Path) -> None:
    (variant,) = deploy(tmp_path, same(gain=None)).variants
    assert variant.gain is None
    assert (variant.baseline_ns, variant.tuned_ns) == (3000, 2000)


def test_architecture_is_that_of_the_measuring_device(tmp_path: Path) -> None:
    gpu = best(result={"device": "cuda:0"})
    assert deploy(tmp_path, gpu).variants[0].match.arch == "sm_90"
    named = best(device={"id": "cuda:0", "arch": "sm_100", "name": "A GPU"})
    match = deploy(tmp_path, named).variants[0].match
    assert (match.arch, match.device) == ("sm_100", "A GPU")


def test_unknown_architecture_guards_nothing(tmp_path: Path) -> None:
    assert deploy(tmp_path, best(result={})).variants[0].guards == ()


def other_launch(weight: float) -> dict[str, Any]:
    return best(facts=facts(grid={"x": 4, "y": 4, "z": 1}), weight=weight, config=config())


def test_launches_of_one_kernel_become_variants(tmp_path: Path) -> None:
    first, second = best(weight=0.25), best(facts=facts(args=[]), weight=0.75)
    second["same_launch"]["config"]["passes"] = "default<Oz>"
    kernel = deploy(tmp_path, first, second)
    assert [one.weight for one in kernel.variants] == [0.25, 0.75]
    assert kernel.to_json()["Pipeline"] == "default<Oz>"


def test_kernels_with_one_name_share_an_entry(tmp_path: Path) -> None:
    """Units, and modules made at run time, may each have a kernel of the same name."""
    one, two = "00000000000000ab", "00000000000000cd"
    other = facts(static_hash=two)
    contents = [
        same(weight=0.5, gain=gain(1.5), facts=facts(static_hash=one)),
        same(weight=0.3, gain=gain(1.5), facts=other),
        same(weight=0.3, gain=gain(1.5), facts={**other, "grid": {"x": 1, "y": 1, "z": 1}}),
    ]
    contents[2]["config"]["grid"] = {"x": 1, "y": 1, "z": 1}
    # Each is bound to its code, whatever is asked for.
    kernel = deploy(tmp_path, *contents, guards=("none",))
    assert [variant.static_hash for variant in kernel.variants] == [one, two, two]
    assert kernel.static_hashes == [one, two]
    assert len(kernel.for_code(two).variants) == 2
    assert json.loads((tmp_path / "tuned.json").read_text())["_Z4walki"]["Mneme"]["Version"] == 2
    # What stays as built of one kernel guards no variant of the other.
    contents[0]["trial"] = -1
    kernel = deploy(tmp_path, *contents)
    assert {one.guards for one in kernel.variants} == {("Arch",)}
    assert json.loads((tmp_path / "tuned.json").read_text())["_Z4walki"]["Mneme"]["Version"] == 1


def test_parent_directory_stands_for_what_it_lists(tmp_path: Path) -> None:
    for name, kernel in (("a", "_Z1ai"), ("b", "_Z1bi")):
        write_result(tmp_path / name, best(facts=facts(kernel_name=kernel)))
    names = [one.kernel_name for one in plan_deployment([tmp_path]).deployed]
    assert names == ["_Z1ai", "_Z1bi"]
    listed = {"instances": [{"directory": "b"}, {"directory": "failed"}]}
    (tmp_path / "all.json").write_text(json.dumps(listed))
    assert [one.kernel_name for one in plan_deployment([tmp_path]).deployed] == ["_Z1bi"]


def test_result_without_facts_reads_its_recording(tmp_path: Path) -> None:
    record = Path(__file__).resolve().parents[1] / "golden/v2/16372073875777044691.json"
    names = {"record_database": str(record), "record_id": "3913246467672645478"}
    content = same(record=names)
    del content["facts"]
    content["config"] = config(grid={"x": 1}, block={"x": 64}, specialize=True)
    (variant,) = deploy(tmp_path, content).variants
    assert variant.specialized_args == ("1", "2")
    assert variant.launch is None


@pytest.mark.parametrize("key", ["config", "best_metric", "trial", "facts"])
def test_damaged_results_are_named(tmp_path: Path, key: str) -> None:
    content = best()
    content[key] = {"x": 1}
    with pytest.raises(ArtifactCorrupt, match="best.json"):
        plan_deployment([write_result(tmp_path, content)])


def test_no_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no winner of a tuning"):
        plan_deployment([tmp_path])


def nothing_for(**changes: Any) -> dict[str, Any]:
    """A result for another launch of the kernel, whose baseline is best."""
    return same(trial=-1, facts=facts(**changes))


def argument(value: int, kind: str = "i32") -> list[dict[str, Any]]:
    digits = value.to_bytes(4, "little").hex()
    one = {"index": 0, "name": "n", "type": kind, "size": 4, "bytes": digits, "value": value}
    return [one]


@pytest.mark.parametrize(
    ("changes", "guard"),
    [
        ({"grid": {"x": 4, "y": 4, "z": 1}}, "Grid"),
        ({"block": {"x": 8, "y": 8, "z": 1}}, "Block"),
        ({"shared_mem": 64}, "SharedMem"),
        ({"args": argument(21)}, "Arg:0"),
    ],
)
def test_launches_better_off_as_built_are_guarded_against(
    tmp_path: Path, changes: dict[str, Any], guard: str
) -> None:
    (variant,) = deploy(tmp_path, best(), nothing_for(**changes)).variants
    assert variant.guards == ("Arch", guard)


def test_guards_there_already_are_enough(tmp_path: Path) -> None:
    other = nothing_for(grid={"x": 4, "y": 4, "z": 1}, args=argument(21))
    assert deploy(tmp_path, best(), other, guards=("args",)).variants[0].guards == ("Args",)
    assert deploy(tmp_path, best(), other, guards=("none",)).variants[0].guards == ()


def test_launches_no_guard_tells_apart_are_said(tmp_path: Path) -> None:
    number = [{**argument(20)[0], "type": "float"}]
    other = [{**argument(21)[0], "type": "float"}]
    write_result(tmp_path / "a", best(facts=facts(args=number)))
    write_result(tmp_path / "b", nothing_for(args=other))
    (one,) = plan_deployment([tmp_path]).deployed
    assert one.variant.guards == ("Arch",)
    assert "it also serves 1 launch(es) for which nothing faster was found" in one.note


def test_second_result_of_the_same_launch_guards_nothing(tmp_path: Path) -> None:
    write_result(tmp_path / "a", best())
    write_result(tmp_path / "b", nothing_for())
    (one,) = plan_deployment([tmp_path]).deployed
    assert (one.variant.guards, one.note) == (("Arch",), OTHER_DIMENSIONS)


def merge(tmp_path: Path, content: dict[str, Any]) -> tuple[dict[str, TunedKernel], list[str]]:
    plan = plan_deployment([write_result(tmp_path / "merged", content)])
    sentences = write_deployment(plan, tmp_path / "tuned.json", merge=True)
    return read_tuned_file(tmp_path / "tuned.json"), sentences


def test_merging_replaces_the_same_launch_and_keeps_the_rest(tmp_path: Path) -> None:
    deploy(tmp_path, best())
    other = best(facts=facts(grid={"x": 4, "y": 4, "z": 1}), gain=gain(1.9))
    other["config"]["grid"] = {"x": 4, "y": 4, "z": 1}
    other["config"]["block"] = BLOCK.to_dict()
    kernels, sentences = merge(tmp_path, other)
    assert [one.gain and one.gain.ratio for one in kernels["_Z4walki"].variants] == [1.2, 1.9]
    other["gain"] = gain(2.5)
    kernels, sentences = merge(tmp_path, other)
    assert [one.gain and one.gain.ratio for one in kernels["_Z4walki"].variants] == [1.2, 2.5]
    kernels, sentences = merge(tmp_path, best(facts=facts(kernel_name="_Z5otherv")))
    assert set(kernels) == {"_Z4walki", "_Z5otherv"}
    assert sentences == []


def test_merging_drops_what_was_found_for_older_code(tmp_path: Path) -> None:
    deploy(tmp_path, best())
    kernels, sentences = merge(tmp_path, best(facts=facts(static_hash="00000000000000cd")))
    assert len(kernels["_Z4walki"].variants) == 1
    assert kernels["_Z4walki"].static_hashes == ["00000000000000cd"]
    assert sentences == ["walk(int): 1 variant for older code is dropped"]


def test_merging_replaces_an_entry_of_another_tool(tmp_path: Path) -> None:
    flat = TunedKernel(variants=(TunedVariant(),), is_flat=True)
    write_tuned_file(tmp_path / "tuned.json", {"_Z4walki": flat, "_Z5otherv": flat})
    kernels, sentences = merge(tmp_path, best())
    assert not kernels["_Z4walki"].is_flat
    assert kernels["_Z5otherv"] == flat
    assert "another tool" in sentences[0]


def test_better_of_two_results_for_one_launch_is_deployed(tmp_path: Path) -> None:
    gains = [same(gain=gain(1.3)), same(gain=gain(1.6)), same(gain=gain(1.65, margin=0.2))]
    kernel = deploy(tmp_path, *gains)
    assert [one.gain and one.gain.ratio for one in kernel.variants] == [1.6]
    plan = plan_deployment([tmp_path / "0", tmp_path / "1"])
    assert [one.directory.name for one in plan.left_out] == ["0"]
    assert "found something better for the same launch" in plan.left_out[0].reason


def test_files_of_another_kind_are_not_replaced(tmp_path: Path) -> None:
    plan = plan_deployment([write_result(tmp_path / "r")])
    other = tmp_path / "r" / "best.json"
    before = other.read_bytes()
    with pytest.raises(ArtifactCorrupt, match="best.json"):
        write_deployment(plan, other)
    assert other.read_bytes() == before


def test_deployments_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    names = [f"_Z{number}k" for number in range(12)]
    plans = [
        plan_deployment([write_result(tmp_path / name, best(facts=facts(kernel_name=name)))])
        for name in names
    ]
    with ThreadPoolExecutor(len(plans)) as pool:
        write = functools.partial(write_deployment, output=tmp_path / "tuned.json", merge=True)
        list(pool.map(write, plans))
    assert sorted(read_tuned_file(tmp_path / "tuned.json")) == sorted(names)


def mneme(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mneme", "deploy", *(str(one) for one in arguments)]
    return subprocess.run(
        line,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "COLUMNS": "160"},
    )


def test_command_prints_what_it_deployed(tmp_path: Path) -> None:
    write_result(tmp_path / "a", best())
    write_result(tmp_path / "b", same(gain=gain(1, significant=False)))
    done = mneme(tmp_path / "a", tmp_path / "b", "-o", tmp_path / "t.json", "--launch")
    assert done.returncode == ExitCode.OK, done.stderr
    for text in ("walk(int)", "16x16 of 16x16 -> 8x32 of 32x8 (cover)", "1.500 (1.490 to 1.510)"):
        assert text in done.stdout
    assert "walk(int) is left out: no significant gain" in done.stderr
    assert len(read_tuned_file(tmp_path / "t.json")) == 1


def test_command_writes_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    write_result(tmp_path / "a", same(trial=-1))
    done = mneme(tmp_path / "a", "-o", tmp_path / "t.json")
    assert done.returncode == ExitCode.NOT_VERIFIED
    assert "nothing is worth deploying" in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "t.json").exists()


def test_command_prints_json_alone(tmp_path: Path) -> None:
    write_result(tmp_path / "a", best())
    done = mneme(tmp_path / "a", "-o", tmp_path / "t.json", "--json")
    ((deployed,), left_out) = (json.loads(done.stdout)[key] for key in ("deployed", "left_out"))
    assert deployed["Gain"]["Ratio"] == 1.2
    assert left_out == []


def test_command_wants_to_know_where_the_file_goes(tmp_path: Path) -> None:
    done = mneme(write_result(tmp_path / "a"))
    assert done.returncode == ExitCode.USAGE
    assert "-o FILE" in done.stderr
