"""Pipelines with `structurizecfg` in files that other tools read."""

from __future__ import annotations

import pytest

from mneme import _native
from mneme.deploy.tuned_file import TunedKernel
from mneme.deploy.tuned_variant import TunedVariant
from mneme.pipelines.structurizing import with_what_structurizecfg_needs
from native_parts import needs_native

BEFORE = "lower-switch,break-crit-edges,fix-irreducible,unify-loop-exits"


@needs_native
@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("structurizecfg", f"{BEFORE},structurizecfg"),
        (
            "globaldce,function<eager-inv>(sroa,structurizecfg<skip-uniform-regions>)",
            f"globaldce,function<eager-inv>(sroa,{BEFORE},structurizecfg<skip-uniform-regions>)",
        ),
        ("cgscc(function(structurizecfg))", f"cgscc(function({BEFORE},structurizecfg))"),
        ("default<O3>", "default<O3>"),
    ],
)
def test_what_structurizecfg_needs_stands_before_it(given: str, left: str) -> None:
    assert with_what_structurizecfg_needs(given) == left
    _native.check_passes(left)


def test_tuned_kernels_for_other_tools_are_right_there_too() -> None:
    passes = "function(mneme-unroll<4>),function(structurizecfg),default<O3>"
    entry = TunedKernel(variants=(TunedVariant(pipeline=passes),)).to_json()
    assert entry["Pipeline"] == f"function({BEFORE},structurizecfg),default<O3>"
    (variant,) = entry["Mneme"]["Variants"]
    assert variant["Pipeline"] == passes
