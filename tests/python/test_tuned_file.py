"""Tuned-kernels files: what is read is what was written, and what other tools meant."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mneme.deploy.tuned_file import TunedKernel, read_tuned_file, write_tuned_file
from mneme.deploy.tuned_json import Place
from mneme.deploy.tuned_variant import Gain, LaunchOverride, Match, MatchedArgument, TunedVariant
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound, Unsupported
from mneme.mneme_types import dim3

DOCS = Path(__file__).resolve().parents[2] / "docs" / "tuned-kernels.md"

names = st.text(string.ascii_letters + string.digits + "_<>:é", max_size=8)
extents = st.builds(dim3, *[st.integers(1, 2**31)] * 3)
reals = st.floats(0, 1e15, allow_nan=False)
values = st.one_of(st.booleans(), st.integers(), st.sampled_from(["nan", "inf"]), reals)
arguments = st.lists(
    st.builds(
        MatchedArgument,
        index=st.integers(0, 30),
        name=names,
        type=names,
        bytes=st.binary(min_size=1, max_size=8).map(bytes.hex),
        value=values,
    ),
    max_size=3,
    unique_by=lambda one: one.index,
)
matches = st.builds(
    Match,
    arch=names,
    device=names,
    grid=st.none() | extents,
    block=st.none() | extents,
    shared_mem=st.none() | st.integers(0, 2**20),
    args=arguments.map(tuple),
)


@st.composite
def variants(draw: st.DrawFn) -> TunedVariant:
    match = draw(matches)
    possible = ["Args", *(f"Arg:{one.index}" for one in match.args)]
    possible += ["Arch"] if match.arch else []
    possible += ["Grid"] if match.grid is not None else []
    possible += ["Block"] if match.block is not None else []
    possible += ["SharedMem"] if match.shared_mem is not None else []
    rules = st.sampled_from(["exact", "cover", "agnostic"])
    return draw(
        st.builds(
            TunedVariant,
            launch_bounds=st.booleans(),
            specialize_args=st.booleans(),
            specialize_dims=st.booleans(),
            pipeline=names,
            codegen_opt_level=st.integers(0, 3),
            tuned_max_threads=st.integers(-1, 1024),
            min_blocks_per_sm=st.integers(0, 32),
            max_registers=st.integers(0, 255),
            specialized_args=st.none() | st.lists(st.integers(0, 30), max_size=4).map(tuple),
            match=st.just(match),
            guards=st.lists(st.sampled_from(possible), unique=True).map(tuple),
            launch=st.builds(LaunchOverride, rule=rules, grid=extents, block=extents)
            if None not in (match.grid, match.block, match.shared_mem) and draw(st.booleans())
            else st.none(),
            baseline_ns=reals,
            tuned_ns=reals,
            gain=st.none() | st.builds(Gain, ratio=reals, low=reals, high=reals),
            weight=reals,
            static_hash=st.just("")
            | st.integers(0, 2**64 - 1).map(lambda number: f"{number:016x}"),
        )
    )


kernels = st.builds(
    TunedKernel,
    variants=st.lists(variants(), min_size=1, max_size=3).map(tuple),
    demangled_name=names,
    codegen=st.sampled_from(["rtc", "serial"]),
)


@given(st.dictionaries(names, kernels, max_size=3))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, TunedKernel]
) -> None:
    path = tmp_path_factory.mktemp("tuned") / "tuned.json"
    write_tuned_file(path, content)
    assert read_tuned_file(path) == content
    assert [one.name for one in path.parent.iterdir()] == ["tuned.json"]


@given(variants())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_flat_keys_say_the_same_to_other_tools(variant: TunedVariant) -> None:
    entry = TunedKernel(variants=(variant,)).to_json()
    del entry["Mneme"]
    (read,) = read_entry(entry).variants
    told = {**variant.flat_json(), "SpecializeArgs": variant.fixes_every_scalar}
    assert read.flat_json() == told


@pytest.mark.parametrize(
    ("fixed", "is_told"), [(None, True), ((0, 2), True), ((2,), False), ((), False)]
)
def test_other_tools_make_constants_of_all_scalars_or_none(
    fixed: tuple[int, ...] | None, is_told: bool
) -> None:
    match = Match(
        args=(
            MatchedArgument(index=0, type="i32", bytes="01000000", value=1),
            MatchedArgument(index=1, bytes="0102030405"),
            MatchedArgument(index=2, type="i32", bytes="02000000", value=2),
        )
    )
    variant = TunedVariant(specialize_args=True, specialized_args=fixed, match=match)
    assert TunedKernel(variants=(variant,)).to_json()["SpecializeArgs"] is is_told


def test_flat_keys_repeat_the_variant_that_weighs_most() -> None:
    light, heavy = (TunedVariant(pipeline=name, weight=w) for name, w in (("a", 0.2), ("b", 0.8)))
    entry = TunedKernel(variants=(light, heavy)).to_json()
    assert entry["Pipeline"] == "b"
    assert entry["OptLevel"] == 1


def read_entry(entry: Any) -> TunedKernel:
    return TunedKernel.from_json(Place(entry, "'f.json': k"))


def test_entry_of_another_tool_has_the_documented_defaults() -> None:
    kernel = read_entry({})
    (variant,) = kernel.variants
    assert kernel.is_flat
    assert kernel.static_hashes == [""]
    assert variant.flat_json() == {
        "LaunchBounds": True,
        "SpecializeArgs": False,
        "SpecializeDims": True,
        "Pipeline": "default<O3>",
        "CodeGenOptLevel": 3,
        "TunedMaxThreads": -1,
        "MinBlocksPerSM": 0,
    }


@pytest.mark.parametrize(
    ("level", "pipeline"),
    [("1", "default<O1>"), ("s", "default<Os>"), (1, "default<O3>"), (None, "default<O3>")],
)
def test_level_counts_only_as_a_text(level: object, pipeline: str) -> None:
    assert read_entry({"OptLevel": level}).variants[0].pipeline == pipeline


def test_pipeline_wins_over_the_level() -> None:
    entry = {"OptLevel": "1", "Pipeline": "default<Oz>"}
    assert read_entry(entry).variants[0].pipeline == "default<Oz>"


def test_keys_nobody_knows_are_ignored() -> None:
    assert read_entry({"Later": [1], "CodeGen": "serial"}).codegen == "serial"


def test_example_of_the_documentation_is_read() -> None:
    text = DOCS.read_text()
    start = text.index("```json") + len("```json")
    content = json.loads(text[start : text.index("```", start)])
    ((name, entry),) = content.items()
    kernel = read_entry(entry)
    assert name == "_Z7stencilPKdPdii"
    assert kernel.static_hashes == ["8c0f4d6a1b2e3f70"]
    (variant,) = kernel.variants
    assert variant.guards == ("Arch",)
    assert variant.match.args[0].bytes == (2048).to_bytes(4, "little").hex()
    assert variant.launch == LaunchOverride(rule="cover", grid=dim3(64, 256), block=dim3(32, 8))
    assert kernel.to_json() == entry


BAD: list[tuple[Any, str]] = [
    ([], "k is not a JSON object"),
    ({"LaunchBounds": 1}, "LaunchBounds is 1, neither true nor false"),
    ({"CodeGenOptLevel": "3"}, "CodeGenOptLevel is '3', no whole number"),
    ({"Pipeline": 3}, "Pipeline is 3, no text"),
    ({"Mneme": 1}, "Mneme is not a JSON object"),
    ({"Mneme": {"Version": 0}}, "Version is 0, no whole number from 1"),
    ({"Mneme": {"Version": 1}}, "Variants is missing or empty"),
    ({"Mneme": {"Version": 1, "StaticHash": "12", "Variants": [{}]}}, "16 hexadecimal digits"),
]
BAD += [
    ({"Mneme": {"Version": 1, "Variants": [variant]}}, sentence)
    for variant, sentence in (
        ({"Guards": ["Arch"]}, "compares with nothing in Match"),
        ({"Guards": ["Arg:1"]}, "names an argument that Match does not list"),
        ({"Guards": ["Colour"]}, "'Colour', which is unknown"),
        ({"Guards": [1]}, "Guards is not a list of texts"),
        ({"Match": {"Args": [{"Index": 1, "Bytes": "xy"}]}}, "not the hexadecimal digits"),
        ({"Match": {"Args": [{"Index": 1, "Bytes": ""}]}}, "not the hexadecimal digits"),
        ({"Match": {"Args": [{"Index": 1, "Bytes": "01"}] * 2}}, "lists an argument twice"),
        (
            {"Launch": {"Rule": "exact", "GridDim": {"x": 1}, "BlockDim": {"x": 1}}},
            "Match lacks grid, block or shared memory",
        ),
        ({"Match": {"GridDim": {"x": -1}}}, "GridDim: x is -1, no whole number from 1"),
        ({"Launch": {"Rule": "any"}}, "Rule is 'any', none of exact, cover, agnostic"),
        ({"Launch": {"Rule": "exact", "GridDim": {"x": 0}}}, "GridDim: x is 0, no whole number"),
        ({"Weight": "1"}, "Weight is '1', no number"),
        ({"SpecializedArgs": [True]}, "SpecializedArgs is not a list of whole numbers"),
    )
]


@pytest.mark.parametrize(("entry", "sentence"), BAD, ids=lambda one: str(one)[:40])
def test_malformed_entries_are_named(entry: Any, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(json.dumps({"k": entry}))
    with pytest.raises(ArtifactCorrupt) as caught:
        read_tuned_file(tmp_path / "f.json")
    assert sentence in str(caught.value)
    assert "f.json': k" in str(caught.value)


def test_file_of_a_later_version_is_refused() -> None:
    with pytest.raises(Unsupported, match="use a newer mneme"):
        read_entry({"Mneme": {"Version": 3, "Variants": [{}]}})


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"k": NaN', "\0", "[" * 100_000])
def test_files_that_are_none_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(ArtifactCorrupt, match="f.json"):
        read_tuned_file(tmp_path / "f.json")


def test_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="none.json"):
        read_tuned_file(tmp_path / "none.json")


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    write_tuned_file(path, {"k": TunedKernel(variants=(TunedVariant(),))})
    before = path.read_bytes()
    with pytest.raises(InvalidArgument, match="k: a variant has the guard 'Grid'"):
        write_tuned_file(path, {"k": TunedKernel(variants=(TunedVariant(guards=("Grid",)),))})
    with pytest.raises(IoFailed, match="cannot write"):
        write_tuned_file(tmp_path / "no" / "where.json", {})
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["tuned.json"]
