"""Names of kernels for people."""

from __future__ import annotations

import pytest

from mneme.kernel_names import (
    KernelName,
    names_in_tables,
    own_part,
    qualified_name,
    short_name,
    shortened,
)
from mneme.source_place import SourcePlace, places_in_tables


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


LONG = "void Kokkos::Impl::ParallelFor<{}, Kokkos::RangePolicy<Kokkos::Cuda>>(Kokkos::Impl::Driver<{}>)"


def test_short_names_stay_in_tables() -> None:
    assert names_in_tables(["step(Grid, int)", "step(Grid)"]) == ["step(Grid, int)", "step(Grid)"]
    assert names_in_tables(["step(Grid, int)"], has_parameters=False) == ["step"]


def test_long_names_lose_their_parameters_then_their_middle() -> None:
    (name,) = names_in_tables([LONG.format("Kokkos::Fill", "x" * 200)])
    assert len(name) == 60
    assert name.startswith("Kokkos::Impl::ParallelFor<")
    assert name.endswith("Kokkos::RangePolicy<Kokkos::Cuda>>"[-30:])


@pytest.mark.parametrize(
    ("qualified", "own"),
    [
        ("K::ParallelFor<advec::'lambda0', K::Range<K::Cuda, advec::'lambda0'>>", "advec::'lambda0'"),
        ("K::launch<K::ParallelFor<mini::MatVec<double>, K::Range>>", "mini::MatVec<double>"),
        ("K::launch<K::Impl::ViewFill<double, 1>, 256, (anonymous namespace)::Body>",
         "(anonymous namespace)::Body"),
        ("am::launch<256, am::For<int, main_main::'lambda', void>::'lambda'>", "main_main::'lambda'"),
        ("am::launch<256, am::Fab<double>::setVal::'lambda'>", "am::Fab<double>::setVal::'lambda'"),
        ("run<Stream<double>::copy::{lambda#2}>", "Stream<double>::copy::{lambda#2}"),
        ("run<main::'lambda'::operator() const::'lambda0', int>",
         "main::'lambda'::operator() const::'lambda0'"),
        ("app::axpy<double, 4, app::Grid, std::plus<int>, unsigned int*>", ""),
        ("axpy<double, Grid>", ""),
        ("plain", ""),
        ("operator< <", ""),
        ("a<b>>c<,", ""),
    ],
)  # fmt: skip
def test_what_a_program_gave_to_a_framework(qualified: str, own: str) -> None:
    assert own_part(qualified) == own


def test_names_may_be_as_deep_as_they_like() -> None:
    deep = "K::run" + "<K::Type" * 5000 + "<app::Body>" + ">" * 5000
    assert own_part(deep) == "app::Body"
    assert short_name(f"void {deep}(int{'(*' * 5000}{')' * 5000})") == "app::Body"


def test_a_long_name_is_what_the_program_gave_to_the_framework() -> None:
    names = [LONG.format(f"advec_mom(double*)::'lambda{n}'(int)", "x") for n in ("", "0")]
    assert names_in_tables(names) == ["advec_mom::'lambda'", "advec_mom::'lambda0'"]
    assert [short_name(one) for one in names] == ["advec_mom::'lambda'", "advec_mom::'lambda0'"]
    launched = "void run<main::'lambda0'(int)>(main::'lambda0'(int), int)"
    assert shortened([launched], 28) == ["run<main::'lambda0'>"]


@pytest.mark.parametrize(
    "kernels",
    [
        [LONG.format("a" * 80 + "1", "f"), LONG.format("a" * 80 + "2", "f")],
        [LONG.format("f", "a" * 80 + "1"), LONG.format("f", "a" * 80 + "2")],
        [LONG.format("f", "x" * 90), LONG.format("f", "x" * 90 + "y")],
        [
            f"void update_halo_kernel<main::'lambda{n}'(int)>(int, double, {'T, ' * 20}int)"
            for n in range(30)
        ],
        ["step(int)", "step(float)"],
    ],
    ids=["arguments", "parameters", "one longer", "lambdas", "overloads"],
)
@pytest.mark.parametrize("has_parameters", [True, False])
def test_no_two_kernels_are_shown_alike(kernels: list[str], has_parameters: bool) -> None:
    names = names_in_tables(kernels, has_parameters=has_parameters)
    assert len(set(names)) == len(kernels)
    assert all(len(name) <= 60 for name in names)
    # The same kernel twice, for two launches, has one name.
    assert names_in_tables([*kernels, kernels[0]], has_parameters=has_parameters)[-1] == names[0]


def named(number: int, label: str = "halo", place: str = "") -> KernelName:
    return KernelName(demangled=LONG.format("f", f"a{number}"), label=label, place=place)


def test_a_label_is_the_name() -> None:
    assert names_in_tables([named(1), named(2, "fill")]) == ["halo", "fill"]


def test_kernels_of_one_label_differ_by_place_or_by_name() -> None:
    apart = [named(n, place=f"halo.cpp:{n}") for n in range(3)]
    assert names_in_tables(apart) == ["halo"] * 3
    together = [named(n, place="halo.cpp:1") for n in range(3)]
    names = names_in_tables(together)
    assert len(set(names)) == 3
    assert all(name.startswith("halo: ") for name in names)
    assert len(set(names_in_tables([named(n) for n in range(3)]))) == 3


@pytest.mark.parametrize("longest", [8, 20, 60])
def test_shortened_texts_stay_different(longest: int) -> None:
    texts = [f"/very/long/folder/number/{n}/with/the/same/end.json" for n in range(40)]
    short = shortened(texts, longest)
    assert len(set(short)) == len(texts)
    assert all(len(one) <= longest for one in short)
    assert shortened(["short", "short"], longest) == ["short", "short"]


def test_places_have_as_many_folders_as_they_need() -> None:
    places = ["src/a/x.cu:1", "src/b/x.cu:2", "src/y.cu:3", "", "x.cu:4", "src/a/x.cu:9"]
    assert places_in_tables(places) == ["a/x.cu:1", "b/x.cu:2", "y.cu:3", "", "x.cu:4", "a/x.cu:9"]


def test_a_line_of_the_body_names_a_kernel() -> None:
    place = SourcePlace(file="src/advec_mom.cpp", line=118, end_line=122)
    assert place.is_named("advec_mom.cpp:118")
    assert place.is_named("src/advec_mom.cpp:122")
    for other in (
        "advec_mom.cpp:117",
        "advec_mom.cpp:123",
        "mom.cpp:120",
        "advec_mom.cpp",
        "k:120",
    ):
        assert not place.is_named(other)


def test_a_function_loses_its_parameters_before_its_middle() -> None:
    texts = ["vectorAdd(float const*, float const*, int)", "run<int>(float*)", "heat step (fast)"]
    assert shortened(texts, 14) == ["vectorAdd", "run<int>", "heat s… (fast)"]
    alike = ["add(float const*)", "add(double const*)"]
    assert len(set(shortened(alike, 12))) == 2


def test_pass_pipelines_lose_their_middle_only() -> None:
    pipelines = [
        "module(function(sroa,gvn,instcombine),cgscc(inline))",
        "default<O3>,function(dce)",
    ]
    short = shortened(pipelines, 24, are_functions=False)
    assert short == ["module(func…scc(inline))", "default<O3>…unction(dce)"]


def test_what_differs_is_what_is_kept() -> None:
    kinds = ("copy", "mul", "triad", "init_arrays")
    texts = [f"for_each_kernel<Stream<double>::{kind}::'lambda'>" for kind in kinds]
    for longest in (16, 20):
        short = shortened(texts, longest)
        assert all(kind[:7] in text for kind, text in zip(kinds, short, strict=True))
        assert all(len(text) <= longest for text in short)
    versions = [f"cub::CUB_300001_SM_900::detail::Kernel<{'x' * 30}, {n}>" for n in ("int", "long")]
    assert all(text.startswith("cub::detail::") for text in shortened(versions, 30))
    apart = [f"cub::CUB_{n}_SM_900::detail::Kernel<{'x' * 30}>" for n in (300001, 300002)]
    assert len(set(shortened(apart, 30))) == 2


def test_different_groups_of_alike_texts_stay_different() -> None:
    texts = [f"begin{'x' * 40}{a}{'y' * 40}{b}end" for a in "12" for b in range(30)]
    for longest in (10, 20, 45):
        short = shortened(texts, longest)
        assert len(set(short)) == len(texts)
        assert all(len(text) <= longest for text in short)
        assert len(set(shortened(short, 9))) == len(texts)
