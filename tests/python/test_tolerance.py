"""The grammar of tolerances."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.errors import InvalidArgument
from mneme.measure.tolerance import Tolerance


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1e-6", "f32:abs:1e-06:none:nan-equal"),
        ("rel:1e-6", "f32:rel:1e-06:none:nan-equal"),
        ("ulp:4", "f32:ulp:4.0:none:nan-equal"),
        ("out=rel:1e-6:f32", "out=f32:rel:1e-06:none:nan-equal"),
        ("f64:abs:0.5:l2:nan-never", "f64:abs:0.5:l2:nan-never"),
        ("0x600000000000=double:1e-3", "0x600000000000=f64:abs:0.001:none:nan-equal"),
        ("a=b=u32:0", "a=b=u32:abs:0.0:none:nan-equal"),
    ],
)
def test_tolerance_is_read_in_any_order(text: str, canonical: str) -> None:
    assert Tolerance.parse(text).to_text() == canonical


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "unknown part"),
        ("rel", "no threshold"),
        ("rel:abs:1", "twice"),
        ("1:2", "two thresholds"),
        ("rel:tiny", "unknown part 'tiny'"),
        ("-1", "zero or more"),
        ("nan", "zero or more"),
        ("inf", "zero or more"),
        ("=1e-6", "names no region"),
    ],
)
def test_what_is_no_tolerance_gets_a_sentence(text: str, word: str) -> None:
    with pytest.raises(InvalidArgument, match=word):
        Tolerance.parse(text)


@given(st.floats(min_value=0, allow_infinity=False), st.sampled_from(["abs", "rel", "ulp"]))
def test_canonical_text_reads_back(threshold: float, kind: str) -> None:
    rule = Tolerance(threshold=threshold, kind=kind, region="out")
    assert Tolerance.parse(rule.to_text()) == rule
