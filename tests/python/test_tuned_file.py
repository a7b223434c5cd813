"""Tuned-kernels files: what is read is what was written, and what other tools meant."""

from __future__ import annotations

import json
import string
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mneme.deploy.tuned_file import TunedKernel, read_tuned_file, write_tuned_file
from mneme.deploy.tuned_variant import Gain, LaunchOverride, Match, MatchedArgument, TunedVariant
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound, Unsupported
from mneme.knobs import CODE_NUMBERS
from mneme.mneme_types import dim3
from native_parts import needs_native

pytestmark = needs_native

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


numbers = st.integers(0, 30)
CONSTANTS = st.tuples(
    st.lists(numbers.map(str), max_size=4),
    st.lists(st.tuples(numbers, numbers).map(lambda one: "{}+{}".format(*one)), max_size=3),
).map(lambda both: (*both[0], *both[1]))


@st.composite
def variants(draw: st.DrawFn) -> TunedVariant:
    match = draw(matches)
    possible = ["Args", *(f"Arg:{one.index}" for one in match.args)]
    possible += [f"Arg:{one.index}+8" for one in match.args]
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
            specialized_args=st.none() | CONSTANTS,
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
    ("fixed", "is_told"), [(None, True), (("0", "2"), True), (("2",), False), ((), False)]
)
def test_other_tools_make_constants_of_all_scalars_or_none(
    fixed: tuple[str, ...] | None, is_told: bool
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


def test_members_of_structures_are_listed_with_their_offsets() -> None:
    variant = TunedVariant(specialize_args=True, specialized_args=("2", "0+8"))
    written = variant.to_json()
    assert written["SpecializedArgs"] == [2]
    assert written["SpecializedMembers"] == [{"Arg": 0, "Offset": 8}]
    assert TunedVariant.from_json(written) == variant


def test_flat_keys_repeat_the_variant_that_weighs_most() -> None:
    light, heavy = (TunedVariant(pipeline=name, weight=w) for name, w in (("a", 0.2), ("b", 0.8)))
    entry = TunedKernel(variants=(light, heavy)).to_json()
    assert entry["Pipeline"] == "b"
    assert entry["OptLevel"] == 1


def read_entry(entry: Any) -> TunedKernel:
    return TunedKernel.from_json(entry)


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


def example() -> str:
    """Return the file that the documentation shows."""
    text = DOCS.read_text()
    start = text.index("```json") + len("```json")
    return text[start : text.index("```", start)]


def test_example_of_the_documentation_is_read() -> None:
    content = json.loads(example())
    ((name, entry),) = content.items()
    kernel = read_entry(entry)
    assert name == "_Z7stencilPKdPdii"
    assert kernel.static_hashes == ["8c0f4d6a1b2e3f70"]
    (variant,) = kernel.variants
    assert variant.guards == ("Arch",)
    assert variant.match.args[0].bytes == (2048).to_bytes(4, "little").hex()
    assert variant.launch == LaunchOverride(rule="cover", grid=dim3(64, 256), block=dim3(32, 8))
    # Knobs that the table has got since are in every file that is written.
    added = {one.deployed: one.default for one in CODE_NUMBERS}
    assert kernel.to_json() == with_added(added, entry)


def with_added(added: dict[str, int], entry: dict[str, Any]) -> dict[str, Any]:
    own = entry["Mneme"]
    return {**entry, "Mneme": {**own, "Variants": [{**added, **one} for one in own["Variants"]]}}


ONE = {"GridDim": {"x": 1}, "BlockDim": {"x": 1}}
LAUNCH = {"Match": {**ONE, "SharedMem": 0}}
BAD: list[tuple[Any, str]] = [
    ([], "kernel 'k' has to be an object"),
    ({"LaunchBounds": 1}, "LaunchBounds is 1 but has to be true or false"),
    ({"CodeGenOptLevel": "3"}, 'CodeGenOptLevel is "3" but has to be a whole number from 0 to 3'),
    ({"Pipeline": 3}, "Pipeline is 3 but has to be a text"),
    ({"Mneme": 1}, "Mneme has to be an object"),
    ({"Mneme": {"Version": 0}}, "Version is 0 but has to be a whole number from 1"),
    ({"Mneme": {"Version": 1}}, "there is no variant"),
    ({"Mneme": {"Version": 1, "StaticHash": "12", "Variants": [{}]}}, "16 hexadecimal digits"),
]
BAD += [
    ({"Mneme": {"Version": 1, "Variants": [{}, variant]}}, f"Mneme, Variants 1{sentence}")
    for variant, sentence in (
        ({"Guards": ["Arch"]}, ": Guards has 'Arch' but Match does not say what it has to be"),
        ({"Guards": ["Arg:1"]}, ": Guards has 'Arg:1' but Match does not say"),
        ({"Guards": ["Colour"]}, ": Guards has 'Colour', which this release does not know"),
        ({"Guards": [1]}, ": Guards is [1] but has to be an array of texts"),
        (
            {"Match": {"Args": [{"Index": 1, "Bytes": "xy"}]}},
            ', Match, Args 0: Bytes is "xy" but has to be the bytes of a value',
        ),
        ({"Match": {"Args": [{"Index": 1, "Bytes": ""}]}}, ', Match, Args 0: Bytes is ""'),
        ({"Match": {"Args": [{"Index": 1}]}}, ", Match, Args 0: Bytes is missing"),
        (
            {"Match": {"Args": [{"Index": 1, "Bytes": "01"}] * 2}},
            ", Match, Args 1: Index names an argument that is listed already",
        ),
        (
            {"Launch": {"Rule": "exact", "GridDim": {"x": 1}, "BlockDim": {"x": 1}}},
            ": Launch needs GridDim, BlockDim and SharedMem in Match",
        ),
        ({"Match": {"GridDim": {"x": -1}}}, ", Match, GridDim: x is -1 but has to be a whole"),
        ({**LAUNCH, "Launch": {**ONE, "Rule": "any"}}, ', Launch: Rule is "any" but has to be exa'),
        ({"Launch": {"GridDim": {"x": 0}}}, ", Launch, GridDim: x is 0 but has to be a whole"),
        ({"Weight": "1"}, ': Weight is "1" but has to be a number'),
        ({"SpecializedArgs": [True]}, ": SpecializedArgs is [true] but has to be an array of whol"),
        (
            {"Pipeline": list(range(99))},
            ": Pipeline is [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,1...",
        ),
    )
]


@pytest.mark.parametrize(("entry", "sentence"), BAD, ids=lambda one: str(one)[:40])
def test_malformed_entries_are_named(entry: Any, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(json.dumps({"k": entry}))
    with pytest.raises(ArtifactCorrupt) as caught:
        read_tuned_file(tmp_path / "f.json")
    assert sentence in str(caught.value)
    assert "f.json', kernel 'k'" in str(caught.value)


def test_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('{"k": {"Mneme": {"Version": 4, "Variants": [{}]}}}')
    with pytest.raises(Unsupported, match="Version 4 is newer than this release of mneme; update"):
        read_tuned_file(tmp_path / "f.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"k": NaN', "\0", "[" * 100_000])
def test_files_that_are_none_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(ArtifactCorrupt, match="f.json"):
        read_tuned_file(tmp_path / "f.json")


def damaged(text: str, random: Random) -> bytes:
    """Return a text with up to three pieces deleted, repeated or overwritten."""
    content = bytearray(text.encode())
    for _ in range(random.randrange(1, 4)):
        start, size = random.randrange(len(content)), random.randrange(20)
        piece = content[start : start + size]
        by = (b"", piece * 2, bytes([random.choice(b'0189-"{}[],:.eux\xff')]))
        content[start : start + max(1, size // 4)] = random.choice(by)
    return bytes(content)


def test_damaged_files_are_refused_or_can_be_kept(tmp_path: Path) -> None:
    path, again = tmp_path / "f.json", tmp_path / "again.json"
    random, read = Random(7), 0
    for _ in range(1000):
        path.write_bytes(damaged(example(), random))
        try:
            kernels = read_tuned_file(path)
        except (ArtifactCorrupt, Unsupported):
            continue
        write_tuned_file(again, kernels)
        assert read_tuned_file(again) == kernels
        read += 1
    assert 50 < read < 950


def test_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="none.json"):
        read_tuned_file(tmp_path / "none.json")


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    write_tuned_file(path, {"k": TunedKernel(variants=(TunedVariant(),))})
    before = path.read_bytes()
    with pytest.raises(InvalidArgument, match="'k', .*: Guards has 'Grid' but Match"):
        write_tuned_file(path, {"k": TunedKernel(variants=(TunedVariant(guards=("Grid",)),))})
    with pytest.raises(IoFailed, match="cannot write"):
        write_tuned_file(tmp_path / "no" / "where.json", {})
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["tuned.json"]
