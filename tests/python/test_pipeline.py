from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mneme.errors import InvalidArgument
from mneme.pipelines import pipeline
from mneme.pipelines.pass_options import PassOption
from mneme.pipelines.pass_table import LEFT_OUT, LEFT_OUT_PREFIXES
from mneme.pipelines.pipeline import (
    AbstractPass,
    ConcretePass,
    PassLevel,
    PipelineManager,
    flatten_passes,
    parse_llvm_pass_options,
    reason_left_out,
    split_top_level,
)
from native_parts import needs_native

SECTIONS = {
    "module": ["globalopt", "always-inline", "verify", "invalidate<all>", "metarenamer"],
    "module_with_params": [["globaldce", "vfe-linkage-unit-visibility"], ["default", "O0;O3"]],
    "cgscc": ["argpromotion"],
    "cgscc_with_params": [["inline", "only-mandatory"]],
    "function": ["adce", "sink", "lower-atomic", "guard-widening"],
    "function_with_params": [
        ["instcombine", "no-verify-fixpoint;verify-fixpoint;max-iterations=N"],
        ["gvn", "no-pre;pre;no-memdep;memdep"],
        ["loop-unroll", "O0;O1;O2;full-unroll-max=N;no-partial;partial"],
        ["sroa", "preserve-cfg;modify-cfg"],
        ["unheard-of", "depth=N"],
    ],
    "loopnest": ["loop-interchange"],
    "loop": ["indvars", "guard-widening", "loop-simplifycfg"],
    "loop_with_params": [["licm", "allowspeculation;no-allowspeculation"]],
}


@pytest.fixture
def manager() -> PipelineManager:
    return PipelineManager(SECTIONS)


@pytest.fixture(scope="module")
def llvm() -> PipelineManager:
    return PipelineManager()


def check(text: str) -> None:
    from mneme import _native  # noqa: PLC0415 - tests may run without it

    _native.check_passes(text)


# Texts.


def test_text_is_split_outside_brackets() -> None:
    assert split_top_level("a,b<c;d,e>, f(g,h<i>(j))") == ["a", "b<c;d,e>", "f(g,h<i>(j))"]
    assert split_top_level("a;b<c;d>", ";") == ["a", "b<c;d>"]
    assert split_top_level("  ") == []


@pytest.mark.parametrize("text", ["f(a", "a)", "f(a>", "f<a)", "f(a))"])
def test_brackets_have_to_match(text: str) -> None:
    with pytest.raises(InvalidArgument, match="pass pipeline"):
        split_top_level(text)


def test_flattening_drops_adaptors_and_keeps_the_order() -> None:
    text = "globalopt,cgscc(devirt<4>(inline,function<eager-inv>(sroa<a;b>,loop(licm)))),adce"
    assert flatten_passes(text) == ["globalopt", "inline", "sroa<a;b>", "licm", "adce"]


def test_options_are_read_from_descriptions() -> None:
    assert parse_llvm_pass_options("no-pre;pre;fast;O1;O2;n=N") == [
        PassOption("pre", ("pre", "no-pre")),
        PassOption("fast", ("fast",)),
        PassOption("level", ("O1", "O2")),
    ]
    assert parse_llvm_pass_options("<max-iterations=N>", "instcombine") == [
        PassOption("max-iterations", ("max-iterations=1", "max-iterations=2", "max-iterations=4"))
    ]
    assert parse_llvm_pass_options("preserve-cfg;modify-cfg", "sroa") == [
        PassOption("preserve-cfg", ("preserve-cfg", "modify-cfg"))
    ]
    assert parse_llvm_pass_options("") == []


# Passes.


def test_passes_are_sorted_and_without_what_makes_no_sense(manager: PipelineManager) -> None:
    names = [item.name for item in manager.get_passes()]
    assert names == sorted(names)
    assert {"globalopt", "inline", "gvn", "indvars", "licm", "unheard-of"} <= set(names)
    assert set(names).isdisjoint(
        {"verify", "invalidate", "metarenamer", "lower-atomic", "guard-widening", "default"}
    )
    assert manager.left_out()["lower-atomic"] == "drops the atomicity other threads rely on"


def test_loop_passes_know_their_adaptor(manager: PipelineManager) -> None:
    levels = {item.name: item.level for item in manager.get_passes()}
    assert levels["licm"] is levels["loop-simplifycfg"] is PassLevel.LOOP_MSSA
    assert levels["indvars"] is levels["loop-interchange"] is PassLevel.LOOP
    assert levels["inline"] is PassLevel.CGSCC
    assert levels["adce"] is PassLevel.FUNCTION
    assert levels["globaldce"] is PassLevel.MODULE


def test_concrete_passes_have_at_most_one_option_of_choice(manager: PipelineManager) -> None:
    texts = [str(item) for item in manager.get_concrete_passes()]
    assert {"gvn", "gvn<pre>", "gvn<no-pre>", "gvn<memdep>", "gvn<no-memdep>"} <= set(texts)
    assert {"loop-unroll<O2>", "loop-unroll<full-unroll-max=8>"} <= set(texts)
    assert len(set(texts)) == len(texts)
    combines = {text for text in texts if text.startswith("instcombine")}
    assert all("no-verify-fixpoint" in text for text in combines)
    assert "instcombine<max-iterations=2;no-verify-fixpoint>" in combines
    assert not any(";verify-fixpoint" in text or "<verify-fixpoint" in text for text in combines)


def test_sampled_options_never_contradict(manager: PipelineManager) -> None:
    rng = random.Random(1)
    for item in manager.get_passes():
        for _ in range(50):
            chosen = item.sample(rng).options
            assert len(set(chosen)) == len(chosen)
            for option in item.options:
                assert len(set(option.choices) & set(chosen)) <= 1


def test_reasons_name_prefixes_too() -> None:
    assert reason_left_out("print<domtree>") == LEFT_OUT_PREFIXES["print"]
    assert reason_left_out("instcombine") is None
    assert all(LEFT_OUT.values())


# Pipelines.


def concrete(name: str, level: PassLevel, *options: str) -> ConcretePass:
    return ConcretePass(name, level, options)


def test_neighbours_share_their_adaptors() -> None:
    passes = [
        concrete("globalopt", PassLevel.MODULE),
        concrete("always-inline", PassLevel.MODULE),
        concrete("inline", PassLevel.CGSCC),
        concrete("argpromotion", PassLevel.CGSCC),
        concrete("sroa", PassLevel.FUNCTION, "modify-cfg"),
        concrete("licm", PassLevel.LOOP_MSSA),
        concrete("loop-rotate", PassLevel.LOOP_MSSA),
        concrete("indvars", PassLevel.LOOP),
        concrete("gvn", PassLevel.FUNCTION),
        concrete("globalopt", PassLevel.MODULE),
    ]
    text = PipelineManager.to_string(passes)
    assert text == (
        "globalopt,always-inline,cgscc(inline,argpromotion),"
        "function<eager-inv>(sroa<modify-cfg>,loop-mssa(licm,loop-rotate),loop(indvars),gvn),"
        "globalopt"
    )
    assert PipelineManager.to_string(text) == text
    assert PipelineManager.to_string([]) == ""
    assert PipelineManager.to_string(["default<O2>", passes[4]]) == (
        "default<O2>,function<eager-inv>(sroa<modify-cfg>)"
    )


def test_pipelines_are_read_back(manager: PipelineManager) -> None:
    text = "default<O3>,cgscc(inline),function<eager-inv>(gvn<pre;no-memdep>,loop-mssa(licm))"
    found = manager.from_string(text)
    assert [(str(item), item.level) for item in found] == [
        ("default<O3>", PassLevel.MODULE),
        ("inline", PassLevel.CGSCC),
        ("gvn<pre;no-memdep>", PassLevel.FUNCTION),
        ("licm", PassLevel.LOOP_MSSA),
    ]
    assert manager.to_string(found) == text
    assert manager.from_string("") == []


def test_passes_without_adaptors_get_them(manager: PipelineManager) -> None:
    assert manager.to_string(manager.from_string("adce,licm,inline")) == (
        "function<eager-inv>(adce,loop-mssa(licm)),cgscc(inline)"
    )


def test_a_name_at_two_levels_is_that_of_its_place(manager: PipelineManager) -> None:
    text = "function(guard-widening,loop(guard-widening),require<x>)"
    levels = [item.level for item in manager.from_string(text)]
    assert levels == [PassLevel.FUNCTION, PassLevel.LOOP, PassLevel.FUNCTION]


@pytest.mark.parametrize("text", ["nonsense", "function(nonsense)", "nonsense(gvn)"])
def test_unknown_passes_are_named(manager: PipelineManager, text: str) -> None:
    with pytest.raises(RuntimeError, match="Unknown pass nonsense"):
        manager.from_string(text)
    with pytest.raises(InvalidArgument):
        manager.from_string(text)


def test_pipelines_are_split_into_pipelines(manager: PipelineManager) -> None:
    parts = manager.split_pipeline("globalopt,function(gvn,loop-mssa(licm))")
    assert parts == [
        "globalopt",
        "function<eager-inv>(gvn)",
        "function<eager-inv>(loop-mssa(licm))",
    ]


def test_generated_pipelines_follow_the_numbers(manager: PipelineManager) -> None:
    found = manager.generate(200, 12, 3)
    counts = [len(flatten_passes(text)) for text in found]
    assert 11 < sum(counts) / len(counts) < 13
    assert min(counts) >= 1
    assert len(set(counts)) > 5
    assert manager.generate(20, 12, 3) == found[:20]
    assert manager.generate(20, 12, 3, seed=1) != found[:20]
    assert manager.generate(20, 12, 3, seed=None) != manager.generate(20, 12, 3, seed=None)
    assert {len(flatten_passes(text)) for text in manager.generate(9, 4, 0)} == {4}
    assert manager.generate(0, 4, 0) == []


def test_passes_do_not_repeat_unless_they_may(manager: PipelineManager) -> None:
    for text in manager.generate(40, 10, 2, allow_repeats=False):
        names = [part.partition("<")[0] for part in flatten_passes(text)]
        assert len(set(names)) == len(names)
    many = manager.generate(1, 1000, 0, allow_repeats=False)[0]
    assert len(flatten_passes(many)) == len(manager.get_passes())


@pytest.mark.parametrize("numbers", [(-1, 2, 0), (1, -2, 0), (1, 2, -1)])
def test_negative_numbers_are_refused(manager: PipelineManager, numbers: Any) -> None:
    with pytest.raises(InvalidArgument, match="at least 0"):
        manager.generate(*numbers)


def test_scripts_find_the_class_of_concrete_passes() -> None:
    assert AbstractPass.ConcretePass is ConcretePass  # type: ignore[attr-defined]
    assert set(pipeline.__all__) >= {"PassLevel", "PassOption", "AbstractPass", "PipelineManager"}


# The LLVM in use.


@needs_native
def test_every_pass_that_is_drawn_parses(llvm: PipelineManager) -> None:
    passes = llvm.get_concrete_passes()
    assert len(llvm.get_passes()) > 80
    assert len(passes) > 150
    for item in passes:
        check(llvm.to_string([item]))


@needs_native
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 40))
def test_every_generated_pipeline_parses(seed: int, count: int) -> None:
    llvm = PipelineManager()
    (text,) = llvm.generate(1, count, 0, seed=seed)
    check(text)
    assert llvm.to_string(llvm.from_string(text)) == text
    for part in llvm.split_pipeline(text):
        check(part)


@needs_native
def test_the_table_of_passes_names_passes_of_llvm(llvm: PipelineManager) -> None:
    known = set(llvm.left_out()) | {item.name for item in llvm.get_passes()}
    # Other releases have these, ours renamed or dropped them.
    of_others = {"expand-large-div-rem", "expand-fp", "debug-ata"}
    assert set(LEFT_OUT) - known <= of_others


@needs_native
def test_instcombine_alone_would_end_the_process(llvm: PipelineManager) -> None:
    found = [item for item in llvm.get_concrete_passes() if item.name == "instcombine"]
    assert found
    assert all("no-verify-fixpoint" in item.options for item in found)
