"""What the runtime tells about devices and about the compiler's passes."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mneme.errors import InvalidArgument
from native_parts import needs_native

pytestmark = needs_native

Passes = dict[str, list[Any]]

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@pytest.fixture
def native() -> ModuleType:
    return importlib.import_module("mneme._native")


@pytest.fixture
def passes(native: ModuleType) -> Passes:
    listed: Passes = json.loads(native.llvm_passes())
    return listed


def test_the_cpu_device_tells_its_limits(native: ModuleType) -> None:
    facts = native.describe_device("cpu")
    assert facts["id"] == "cpu"
    assert facts["target"] == "cpu"
    assert facts["max_threads_per_block"] == 1024
    assert facts["max_block"] == (1024, 1024, 64)
    assert facts["max_grid"] == (2147483647, 65535, 65535)
    assert facts["warp_size"] == 32
    assert facts["max_cluster_blocks"] >= 1
    assert 0 < facts["max_shared_per_block_bytes"] <= facts["max_shared_per_block_optin_bytes"]
    assert facts["total_memory_bytes"] > 0
    listed = [one.read_text() for one in CACHES.glob("index*/size")]
    sizes = [int(one.rstrip("KM\n")) * (1 << (20 if "M" in one else 10)) for one in listed]
    assert facts["l2_cache_bytes"] == max(sizes, default=0)


def test_an_unknown_device_is_named(native: ModuleType) -> None:
    with pytest.raises(InvalidArgument, match="'abacus' is not a device"):
        native.describe_device("abacus")


def test_passes_are_listed_by_what_they_run_on(passes: Passes) -> None:
    assert "deadargelim" in passes["module"]
    assert "argpromotion" in passes["cgscc"]
    assert "adce" in passes["function"]
    assert "loop-idiom" in passes["loop"]
    assert "loop-interchange" in [*passes["loopnest"], *passes["loop"]]
    assert "adce" not in passes["module"]


def test_parameters_are_apart_from_the_name(passes: Passes) -> None:
    parameters = dict(passes["function_with_params"])
    assert parameters["early-cse"] == "memssa"
    assert dict(passes["loop_with_params"])["licm"] == "allowspeculation;no-allowspeculation"


def test_analyses_and_passes_of_code_generation_are_no_passes(passes: Passes) -> None:
    assert {key.removesuffix("_with_params") for key in passes} == {
        "module",
        "cgscc",
        "function",
        "loopnest",
        "loop",
    }
    assert "domtree" not in passes["function"]


def test_listed_passes_parse_on_their_level(native: ModuleType, passes: Passes) -> None:
    # Others need the machine the code is for, which a check does not have.
    native.check_passes(",".join(passes["module"]))
    for level in ("cgscc", "loopnest", "loop"):
        inner = "function(loop({}))" if level.startswith("loop") else f"{level}({{}})"
        for name in passes[level]:
            native.check_passes(inner.format(name))
