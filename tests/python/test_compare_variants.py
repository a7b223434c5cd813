"""How variants of `mneme compare` are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from compare_samples import variant
from mneme.cli._variants import variant_of, variants_in, variants_with_passes
from mneme.compare import BASELINE_NAME
from mneme.compare.variants import complete
from mneme.errors import InvalidArgument
from native_parts import needs_native

pytestmark = needs_native
A, B, C = variant("a", "default<O1>"), variant("b", "default<O2>"), variant("c", "default<O3>")


def test_a_variant_takes_every_option_of_replay_that_is_of_configurations() -> None:
    one = variant_of(
        "fast=--passes 'default<O2>,adce' --codegen-opt 2 --max-registers 64 --specialize "
        "--specialized-args 0,2 --block-dim-x 128 --shared-mem 16"
    )
    assert (one.name, one.changes.block) == ("fast", (128, None, None))
    given = {key: value for key, value in one.changes.values.items() if value not in {None, ""}}
    assert given == {
        "passes": "default<O2>,adce",
        "codegen_opt": 2,
        "max_registers": 64,
        "specialize": True,
        "specialized_args": "0,2",
        "shared_mem": 16,
        "min_blocks_per_sm": 0,
    }


@pytest.mark.parametrize("text", ["x='default<O1>'", "x=--passes='default<O1>'"])
def test_a_pipeline_may_be_a_word_or_an_option(text: str) -> None:
    assert variant_of(text).changes.values["passes"] == "default<O1>"


def test_a_variant_may_be_what_was_recorded() -> None:
    one = variant_of("recorded=")
    assert one.changes.values["passes"] is None
    assert one.options == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("default<O2>", "has no name"),
        ("--codegen-opt=2", "has no name"),
        ("x=--nosuch 1", r"'x' is not understood: No such option.*--nosuch"),
        ("x=--codegen-opt 7", r"'x' is not understood: .*7"),
        ("x=--iterations 9", "--iterations, which does not change"),
        ("x=--output-ll f", "--output-ll, which does not change"),
        ("x=--device cpu", "--device, which does not change"),
        ("x='a", "cannot be split into words"),
        ("x=--passes", "no pipeline after"),
        ("x=--passes a b", "several pipelines"),
        ("x=--help", "replay --help-all"),
    ],
)
def test_a_variant_that_cannot_be_meant_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(typer.BadParameter, match=sentence):
        variant_of(text)


def test_pipelines_are_variants_called_by_them() -> None:
    long = "default<O3>," + ",".join(["adce"] * 40)
    names = [one.name for one in variants_with_passes(["default<O1>", long, long + ",dse"])]
    assert names[0] == "default<O1>"
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 40


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_file_has_options_as_text_list_or_map(suffix: str, tmp_path: Path) -> None:
    content = {
        "base": None,
        "text": "--passes 'default<O1>'",
        "list": ["--passes", "default<O2>"],
        "map": {"passes": "default<O3>", "codegen_opt": 1, "specialize": True},
    }
    file = tmp_path / f"variants.{suffix}"
    file.write_text(json.dumps(content))  # which is YAML, too
    found = variants_in(file)
    assert [one.name for one in found] == ["base", "text", "list", "map"]
    assert [one.changes.values["passes"] for one in found] == [
        None,
        "default<O1>",
        "default<O2>",
        "default<O3>",
    ]
    assert found[3].changes.values["codegen_opt"] == 1
    assert found[3].changes.values["specialize"] is True


def test_one_variant_is_compared_with_what_was_recorded() -> None:
    assert [one.name for one in complete([A])] == [BASELINE_NAME, "a"]
    assert [one.name for one in complete([A, B])] == ["a", "b"]


@pytest.mark.parametrize("given", [[], [A, A], [A, variant("x" * 61)]])
def test_variants_need_names_of_their_own(given: list[Any]) -> None:
    with pytest.raises(InvalidArgument, match="variant"):
        complete(given)
