"""Names of kernels for people."""

from __future__ import annotations

import pytest

from mneme.kernel_names import qualified_name


@pytest.mark.parametrize(
    ("demangled", "name"),
    [
        ("step(Grid, int)", "step"),
        ("plain_c", "plain_c"),
        ("void ns::axpy<double>(int, double)", "ns::axpy<double>"),
        ("app::(anonymous namespace)::dot(double const*, long)", "app::(anonymous namespace)::dot"),
        ("(anonymous namespace)::step(float*)", "(anonymous namespace)::step"),
        ("void run<main::'lambda0'(long)>(long, main::'lambda0'(long))", "run<main::'lambda0'>"),
        (
            "void run<axpy(double, void (*)(int))::'lambda'(long)>(long, axpy(double)::'lambda'())",
            "run<axpy::'lambda'>",
        ),
        (
            "std::enable_if<(3)>(2), void>::type ns::fill<unsigned int, 4>(unsigned int*)",
            "ns::fill<unsigned int, 4>",
        ),
        ("void Body::operator()<int>(int*)", "Body::operator()<int>"),
        ("", ""),
        ("()", "()"),
    ],
)
def test_names_tell_kernels_apart(demangled: str, name: str) -> None:
    assert qualified_name(demangled) == name
