"""What searches choose of pass plugins, and of options of LLVM and ptxas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from launch_samples import GPU, kernel
from mneme.code_texts import (
    assembler_option,
    assembler_words,
    compiler_text,
    plugin_files,
    plugin_names,
    shown_text,
    taken_texts,
)
from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.install.paths import library
from mneme.knobs import CODE_TEXTS
from mneme.mneme_types import ExperimentConfiguration
from mneme.search import builtin_spaces
from mneme.search.builtin_spaces import BuiltinTuneSearchSpace
from mneme.search.code_choices import (
    option_choices,
    options_of_plugins,
    passes_of,
    plugin_choices,
    plugin_llvm,
    plugin_llvms,
    with_plugin_passes,
)
from mneme.search.space_view import SpaceView
from native_parts import needs_native

pytestmark = needs_native


def drawn(count: int = 60, **options: Any) -> list[ExperimentConfiguration]:
    view = SpaceView.of(BuiltinTuneSearchSpace(kernel(), limits=GPU, preset="quick", **options))
    view.seed(1)
    return [view.draw().config for _ in range(count)]


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("unroll-threshold=100,300", ["", "unroll-threshold=100", "unroll-threshold=300"]),
        ("-a-flag", ["", "-a-flag"]),
        ("--def-load-cache=cg", ["", "--def-load-cache=cg"]),
    ],
)
def test_leaving_an_option_out_is_a_choice(text: str, choices: list[str]) -> None:
    name = text.lstrip("-").partition("=")[0]
    assert option_choices("--mllvm-choice", [text]) == {name: choices}


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["=1"], "'=1'; it is a name with values"),
        (["a="], "'a='; it is a name with values"),
        (["a=1,,2"], "it is a name with values"),
        (["a b=1"], "it is a name with values"),
        (["-"], "it is a name with values"),
        (["a=1", "-a=2"], "names 'a' twice"),
    ],
)
def test_choices_that_cannot_be_meant_are_refused(texts: list[str], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        option_choices("--mllvm-choice", texts)


@pytest.mark.parametrize(
    ("pipeline", "choice", "whole"),
    [
        ("default<O3>", "", "default<O3>"),
        ("default<O3>", "p,*", "p,default<O3>"),
        ("default<O3>", "*,function(p<2,3>)", "default<O3>,function(p<2,3>)"),
        ("", "p,*", "p"),
        ("", "*,p", "p"),
        ("", "*", ""),
        ("default<O1>", "*", "default<O1>"),
    ],
)
def test_passes_stand_before_or_behind_a_pipeline(pipeline: str, choice: str, whole: str) -> None:
    assert with_plugin_passes(pipeline, choice) == whole


def test_plugins_say_their_passes_without_being_loaded(tmp_path: Path) -> None:
    plugin = tmp_path / "p.so"
    plugin.write_bytes(b"\x7fELF..mneme-passes:one,two<a,b>,function(x,y)\0..")
    assert passes_of(plugin_files([str(plugin)])) == ["one", "two<a,b>", "function(x,y)"]
    plugin.write_bytes(b"nothing")
    assert passes_of(f"{plugin}:/none.so") == []


def test_passes_without_a_plugin_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="no plugin is named with --pass-plugin"):
        plugin_choices("", ["my-pass"])
    assert plugin_choices("", []) == [""]


def test_options_are_dimensions_of_a_search_and_fixed_ones_are_in_all() -> None:
    options = {
        "llvm_options": ["vectorize-loops=false"],
        "llvm_choices": ["unroll-threshold=100,300", "disable-licm-promotion"],
        "assembler_choices": ["--def-load-cache=cg"],
    }
    found = drawn(**options)
    said = {one.llvm_options for one in found}
    assert all(text.split()[0] == "vectorize-loops=false" for text in said)
    assert any("unroll-threshold=300 disable-licm-promotion" in text for text in said)
    assert {one.assembler_options for one in found} == {"", "--def-load-cache=cg"}
    space = BuiltinTuneSearchSpace(kernel(), limits=GPU, **options)
    assert space.baseline().llvm_options == ""
    assert next(iter(space.dimensions()["llvm_options unroll-threshold"].values())) == ""


def test_options_of_a_plugin_are_those_that_llvm_alone_lacks() -> None:
    options = ["vectorize-loops=false my-option=1", "", "unroll-threshold=300", "my-other"]
    assert options_of_plugins(options, "my.so@1") == {"my-option=1", "my-other"}
    assert options_of_plugins(options, "") == set()


def test_plugins_are_loaded_by_the_first_llvm_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    from mneme import _native  # noqa: PLC0415 - only where it is built

    def check(passes: str, plugins: str, options: str = "", llvm: str = "") -> None:
        del passes, plugins, options
        if llvm != "shared":
            raise BackendUnavailable("this kernel compiler cannot load pass plugins")

    monkeypatch.setattr(_native, "check_passes", check)
    assert plugin_llvm("my.so@1", ["", "static", "shared"]) == "shared"
    assert plugin_llvm("my.so@1", ["", "static"]) == ""
    assert plugin_llvm("", ["shared"]) == ""
    assert plugin_llvms("my.so@1", ["", "static", "shared"]) == ["shared"]


def test_another_llvm_is_a_choice_and_the_baseline_has_ours() -> None:
    other = str(library("libmneme_compile.so"))
    text = compiler_text([other])
    assert {one.llvm for one in drawn(llvm=[other, text])} == {"", text}
    space = BuiltinTuneSearchSpace(kernel(), limits=GPU, llvm=[other])
    assert space.baseline().llvm == ""
    assert list(space.dimensions()["llvm"].values()) == ["", text]


def test_without_them_a_space_has_no_such_dimension() -> None:
    names = " ".join(BuiltinTuneSearchSpace(kernel(), limits=GPU).dimensions())
    assert "llvm" not in names
    assert "plugin" not in names


@pytest.mark.parametrize("name", ["llvm_options", "llvm_choices"])
def test_options_that_llvm_does_not_have_are_refused_at_once(name: str) -> None:
    with pytest.raises(InvalidArgument, match="LLVM has no option '-no-such-option"):
        drawn(**{name: ["no-such-option=1"]})
    with pytest.raises(InvalidArgument, match="does not take 'many'"):
        drawn(**{name: ["unroll-threshold=many"]})


def test_configurations_have_plugins_where_a_pass_of_theirs_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = str(library("libMnemePasses.so"))
    monkeypatch.setattr(
        "mneme.search.space_options.plugin_choices", lambda *_: ["", "my-pass,*", "*,my-pass"]
    )
    found = drawn(pass_plugins=[plugin])
    for one in found:
        assert bool(one.pass_plugins) == ("my-pass" in one.passes)
    assert {one.passes.count("my-pass") for one in found} == {0, 1}
    assert (
        builtin_spaces.BuiltinTuneSearchSpace(kernel(), limits=GPU, pass_plugins=[plugin])
        .baseline()
        .pass_plugins
        == ""
    )


def test_plugins_are_drawn_with_an_llvm_that_loads_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without a plugin, every LLVM is a choice."""
    plugin, names = str(library("libMnemePasses.so")), ("static", "shared", "newer")
    files = [tmp_path / f"{name}.so" for name in names]
    for file in files:
        file.write_bytes(library("libmneme_compile.so").read_bytes()[:64] + file.name.encode())
    static, shared, newer = (compiler_text([str(file)]) for file in files)
    prefix = "mneme.search.space_options"
    monkeypatch.setattr(f"{prefix}.plugin_choices", lambda *_: ["", "my-pass,*"])
    monkeypatch.setattr(f"{prefix}.plugin_llvms", lambda *_: [shared, newer])
    found = drawn(100, pass_plugins=[plugin], llvm=[static, shared, newer])
    assert {one.llvm for one in found if one.pass_plugins} == {shared, newer}
    assert {one.llvm for one in found if not one.pass_plugins} == {"", static, shared, newer}


def test_repeated_options_become_the_texts_of_a_configuration() -> None:
    plugin = str(library("libMnemePasses.so"))
    texts = taken_texts({"pass_plugins": [plugin], "llvm_options": ["a=1", " -b "]})
    assert texts["llvm_options"] == "a=1 -b"
    assert texts["assembler_options"] == ""
    assert plugin_names(texts["pass_plugins"]) == "libMnemePasses.so"
    assert plugin_files([texts["pass_plugins"]]) == texts["pass_plugins"]
    with pytest.raises(InvalidArgument, match="--mllvm is '--', which is not an option"):
        taken_texts({"llvm_options": ["--"]})
    plugins, _, llvm, ptxas = CODE_TEXTS
    assert plugins.options("/a@1:/b") == ["--pass-plugin=/a@1", "--pass-plugin=/b"]
    assert llvm.options("a=1 b") == ["--mllvm=a=1", "--mllvm=b"]
    assert ptxas.options("") == []


def test_a_file_of_controls_has_the_hash_of_its_content(tmp_path: Path) -> None:
    file = tmp_path / "fast.acf"
    file.write_text("one")
    told = taken_texts({"assembler_options": [f"--apply-controls={file}"]})
    first = told["assembler_options"]
    assert re.fullmatch(re.escape(f"--apply-controls={file.resolve()}@") + "[0-9a-f]{16}", first)
    assert taken_texts({"assembler_options": [first]})["assembler_options"] == first
    file.write_text("two")
    assert assembler_option(f"--apply-controls={file}") not in (first, f"--apply-controls={file}")
    assert assembler_option("--def-load-cache=cg") == "--def-load-cache=cg"
    assert assembler_words(f"-w {first}") == ["-w", f"--apply-controls={file.resolve()}"]
    with pytest.raises(InvalidArgument, match="there is no file of controls '/no.acf'"):
        assembler_option("--apply-controls=/no.acf")
    blank = tmp_path / "a b.acf"
    blank.touch()
    with pytest.raises(InvalidArgument, match="has a blank, which divides options"):
        assembler_option(f"-apply-controls={blank}")


def test_files_of_controls_are_a_dimension_of_a_search(tmp_path: Path) -> None:
    files = [tmp_path / "one.acf", tmp_path / "two.acf"]
    for number, file in enumerate(files):
        file.write_text(str(number))
    named = ",".join(map(str, files))
    found = drawn(assembler_choices=[f"--apply-controls={named}"])
    wanted = {assembler_option(f"--apply-controls={file}") for file in files}
    assert {one.assembler_options for one in found} == {"", *wanted}


def test_values_are_shown_without_directories_and_hashes() -> None:
    plugins, llvm, options, ptxas = CODE_TEXTS
    controls = "-w --apply-controls=/opt/fast.acf@0123456789abcdef"
    assert shown_text(ptxas, controls) == "-w --apply-controls=fast.acf"
    plugin = "/opt/passes/mine.so@0123456789abcdef"
    assert [shown_text(plugins, one) for one in ("", plugin)] == ["none", "mine.so"]
    assert [shown_text(llvm, one) for one in ("", "/a/lib.so@0123456789abcdef")] == [
        "mneme's",
        "/a/lib.so",
    ]
    assert [shown_text(options, one) for one in ("", "a=1 b")] == ["none", "a=1 b"]
