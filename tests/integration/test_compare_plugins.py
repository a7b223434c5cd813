"""`mneme compare` with passes that miscompile, slow down, crash and never end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import mneme
from pass_plugins import HAS_SHARED_LLVM, built_plugin

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not HAS_SHARED_LLVM, reason="no shared LLVM"),
]
VARIANTS = {
    "wrong": "planted-drop-stores,default<O3>",
    "slow": "default<O3>,planted-slow",
    "crash": "planted-crash,default<O3>",
    "endless": "planted-for-ever,default<O3>",
    "nothing": "planted-nothing,default<O3>",
}


@pytest.fixture(scope="module")
def found(
    recordings: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What becomes of each variant, by kernel."""
    place = tmp_path_factory.mktemp("compare")
    plugin = built_plugin("planted")
    file = place / "variants.json"
    variants = {"base": "--passes 'default<O3>'"} | {
        name: {"passes": passes, "pass-plugin": str(plugin)} for name, passes in VARIANTS.items()
    }
    file.write_text(json.dumps(variants))
    done = mneme(
        *("compare", recordings["vector_add"], recordings["reduction"], "--device", "cpu"),
        *("--rounds", "6", "--iterations", "1", "--compile-timeout", "5", "--variants", file),
        *("--results-dir", place / "results", "--json", "--html", place / "page.html"),
        *("--fail-on", "wrong", "--fail-on", "failed"),
        MNEME_CACHE_DIR=str(place / "cache"),
    )
    assert done.returncode == 9, done.stderr
    assert (place / "page.html").stat().st_size
    return {one["name"]: one["variants"] for one in json.loads(done.stdout)["kernels"]}


def test_wrong_code_is_named_with_its_kernel_and_place(found: dict[str, Any]) -> None:
    one = found["vectorAdd"]["wrong"]
    assert one["verdict"] == "wrong result"
    assert one["reason"].startswith("argument 'c' at 0x")
    assert found["blockSum"]["wrong"]["verdict"] == "wrong result"


def test_a_crash_of_the_compiler_costs_its_variant(found: dict[str, Any]) -> None:
    for variants in found.values():
        assert variants["crash"]["verdict"] == "not compiled"
        assert "died of signal 11" in variants["crash"]["reason"]


def test_a_compiler_that_never_ends_costs_its_variant(found: dict[str, Any]) -> None:
    for variants in found.values():
        assert variants["endless"]["verdict"] == "not compiled"
        assert "5 s" in variants["endless"]["reason"]


def test_what_adds_work_is_measured(found: dict[str, Any]) -> None:
    for variants in found.values():
        assert variants["slow"]["ratio"] > 0
        assert variants["slow"]["code_bytes"] > variants["nothing"]["code_bytes"]


def test_a_pass_that_changes_nothing_gives_the_same_code(found: dict[str, Any]) -> None:
    assert {one["nothing"]["verdict"] for one in found.values()} == {"same code"}
