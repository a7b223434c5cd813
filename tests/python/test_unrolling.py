from __future__ import annotations

import json
from pathlib import Path

import pytest

from mneme.deploy.tuned_file import TunedKernel, read_tuned_file, write_tuned_file
from mneme.deploy.tuned_variant import TunedVariant
from mneme.pipelines.unrolling import (
    split_behind_unrolling,
    split_unrolling,
    unrolling_of,
    with_unrolling,
    without_unrolling,
)
from mneme.search.pass_choices import UNROLLED
from native_parts import needs_native

PIPELINES = ["default<O3>", "function(gvn),globaldce", "function<eager-inv>(mneme-other<2>)", ""]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_what_is_put_in_front_is_found_again(pipeline: str) -> None:
    assert split_unrolling(with_unrolling(pipeline, 16)) == ("function(mneme-unroll<16>)", pipeline)
    assert split_unrolling(pipeline) == ("", pipeline)
    assert with_unrolling(pipeline, 0) == pipeline


@pytest.mark.parametrize("count", [0, 1, 16])
def test_how_often_is_read_again(count: int) -> None:
    assert unrolling_of(with_unrolling("default<O3>", count)) == count
    assert unrolling_of(f"default<O1>,{with_unrolling('gvn', count)}") == 0


FULL = "function(mneme-unroll<full>)"


@pytest.mark.parametrize(
    ("pipeline", "front", "behind"),
    [
        (f"default<O3>,{FULL},default<O1>", f"default<O3>,{FULL}", "default<O1>"),
        (f"{FULL},cgscc(inline),{FULL}", f"{FULL},cgscc(inline),{FULL}", ""),
        ("default<O2>", "", "default<O2>"),
        (f"cgscc(inline,{FULL},gvn)", "", f"cgscc(inline,{FULL},gvn)"),
    ],
)
def test_a_pipeline_is_split_behind_the_pass(pipeline: str, front: str, behind: str) -> None:
    assert split_behind_unrolling(pipeline) == (front, behind)


@pytest.mark.parametrize(
    ("pipeline", "left"),
    [
        (UNROLLED, "default<O3>,default<O3>"),
        ("function(mneme-unroll<2>),default<O1>", "default<O1>"),
        ("function<eager-inv>(gvn,mneme-unroll<full>),dce", "function<eager-inv>(gvn),dce"),
        ("function(mneme-unroll<full>,gvn<no-pre>,mneme-unroll<2>)", "function(gvn<no-pre>)"),
        ("cgscc(inline,function(mneme-unroll<4>)),globaldce", "cgscc(inline),globaldce"),
        ("cgscc(function(mneme-unroll<4>)),globaldce", "globaldce"),
        ("function(mneme-unroll<4>)", ""),
        ("default<O3>", "default<O3>"),
    ],
)
def test_other_tools_get_a_pipeline_without_it(pipeline: str, left: str) -> None:
    assert without_unrolling(pipeline) == left


def test_only_a_pass_of_its_own_in_front_is_split_off() -> None:
    for text in ("function(mneme-unroll<2>,gvn)", "default<O1>,function(mneme-unroll<2>)"):
        assert split_unrolling(text) == ("", text)
    spaced = " function<eager-inv>(mneme-unroll<2>) , default<O1>"
    assert split_unrolling(spaced) == ("function<eager-inv>(mneme-unroll<2>)", "default<O1>")


@needs_native
def test_the_compiler_knows_the_pass() -> None:
    from mneme import _native  # noqa: PLC0415 - tests may run without it
    from mneme.pipelines.pipeline import PipelineManager  # noqa: PLC0415 - asks LLVM

    text = with_unrolling("default<O3>", 8)
    _native.check_passes(text)
    manager = PipelineManager()
    assert [str(one) for one in manager.from_string(text)] == ["mneme-unroll<8>", "default<O3>"]
    _native.check_passes(manager.to_string(manager.from_string(text)))
    _native.check_passes(UNROLLED)
    assert "mneme-unroll" in manager.left_out()


@needs_native
def test_existing_tools_read_a_pipeline_they_know(tmp_path: Path) -> None:
    pipeline = with_unrolling("default<O2>", 4)
    file = tmp_path / "tuned.json"
    kernel = TunedKernel(variants=(TunedVariant(pipeline=pipeline, static_hash="0" * 16),))
    write_tuned_file(file, {"walk": kernel})
    entry = json.loads(file.read_text())["walk"]
    assert entry["Pipeline"] == "default<O2>"
    assert entry["Mneme"]["Variants"][0]["Pipeline"] == pipeline
    assert read_tuned_file(file)["walk"] == kernel
