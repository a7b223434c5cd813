"""Options of a program's build that a replay follows, and those it does not."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from native_parts import needs_native

pytestmark = [pytest.mark.compile, needs_native]

DIVISION = b"""
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @kernel(ptr %p, float %a) {
  %x = load float, ptr %p
  %q = fdiv float %a, %x
  store float %q, ptr %p
  ret void
}
"""


def _compiled(**options: object) -> tuple[str, list[str]]:
    """Return the assembly and the options that were not followed."""
    from mneme import _native  # noqa: PLC0415

    compiled = _native.compile_ir(
        [DIVISION],
        "kernel",
        target="sm_90",
        passes="default<O3>",
        options_json=json.dumps({"opt_level": "3", "fp_contract": "fast", **options}),
        use_cache=False,
        want_assembly=True,
    )
    statistics = compiled["statistics"]
    if isinstance(statistics, str):
        statistics = json.loads(statistics)
    return compiled["assembly"], statistics["refused_options"]


def test_a_number_is_set_while_its_kernel_is_compiled() -> None:
    assert "div.approx" in _compiled(llvm_options=["nvptx-prec-divf32=0"])[0]
    assert "div.rn" in _compiled()[0]


def test_compilations_at_the_same_time_keep_their_options() -> None:
    def is_exact(level: int) -> bool:
        return "div.rn" in _compiled(llvm_options=[f"nvptx-prec-divf32={level}"])[0]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(is_exact, [0, 2] * 12)) == [False, True] * 12


@pytest.mark.parametrize(
    "option",
    ["no-such-option=1", "info-output-file=1", "unroll-count=/tmp/x", "print-after-all", "=", ""],
)
def test_what_prints_or_names_files_is_not_followed(option: str) -> None:
    text, refused = _compiled(llvm_options=[option])
    assert "div.rn" in text
    assert refused == [f"-mllvm -{option}"]


@pytest.mark.parametrize("option", ["-o=/tmp/x", "--output-file=/tmp/x", "-c", "word", "-optf=/x"])
def test_assembler_options_are_checked_like_a_users(option: str) -> None:
    assert _compiled(assembler_options=[option])[1] == [f"-Xcuda-ptxas {option}"]


def test_options_of_the_assembler_are_followed() -> None:
    assert _compiled(assembler_options=["--fmad=false", "-maxrregcount=32"])[1] == []
