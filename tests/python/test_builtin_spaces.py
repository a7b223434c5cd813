from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from launch_samples import GPU, dims, kernel, launches
from mneme.errors import InvalidArgument, NotFound
from mneme.knobs import CODE_NUMBERS, SearchedCodeNumbers
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.search.builtin_spaces import (
    MAX_THREADS_POLICIES,
    PRESETS,
    BuiltinTuneSearchSpace,
    SpaceOptions,
    describe_search_space,
    iter_finite_params,
)
from mneme.search.launch_shapes import (
    LAUNCH_SAFETY,
    RecordedLaunch,
    covering_grid,
    fits_device,
)
from mneme.search.pass_choices import PROVEN
from native_parts import needs_native

optuna.logging.set_verbosity(optuna.logging.ERROR)

pytestmark = needs_native


def make(recorded: Any = None, **options: Any) -> BuiltinTuneSearchSpace:
    return BuiltinTuneSearchSpace(recorded or kernel(), limits=GPU, **options)


def values(space: BuiltinTuneSearchSpace, name: str) -> list[Any]:
    return list(space.dimensions()[name].values())


def test_the_dimensions_have_their_documented_names() -> None:
    assert list(make().dimensions()) == [
        "block_shape",
        "blocks",
        "passes",
        "unroll",
        "codegen_opt",
        *(one.key for one in CODE_NUMBERS),
        "specialize",
        "specialize_dims",
        "set_launch_bounds",
        "min_blocks_per_sm",
        "max_threads",
    ]


def test_the_baseline_is_the_recorded_launch_compiled_as_usual() -> None:
    space = make(kernel("64x2x1", "96x4x1", shared_mem=512), passes=["default<O1>", "default<O2>"])
    assert space.baseline() == ExperimentConfiguration(
        grid=dims("64x2x1"),
        block=dims("96x4x1"),
        shared_mem=512,
        max_threads=0,
        min_blocks_per_sm=0,
        passes="default<O1>",
        codegen_opt=3,
    )
    assert make(codegen_opt_range="0:2").baseline().codegen_opt == 2
    assert make(codegen_opt_range="0:3:2").baseline().codegen_opt == 2


@settings(max_examples=40, deadline=None)
@given(launches(), st.sampled_from(sorted(PRESETS)), st.integers(0, 99))
def test_every_sample_is_possible_and_covers(
    launch: RecordedLaunch, preset: str, seed: int
) -> None:
    recorded = kernel(shared_mem=launch.shared_mem, is_cooperative=launch.is_cooperative)
    recorded.grid_dim, recorded.block_dim = launch.grid, launch.block
    space = make(recorded, preset=preset)
    rng = random.Random(seed)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    for config in [space.sample_random(rng), space.sample_optuna(study)[0]]:
        assert config.is_valid()
        assert space.constraints(config)
        assert config.shared_mem == launch.shared_mem
        if config.block == launch.block:
            assert config.grid == launch.grid
        else:
            assert config.grid == covering_grid(launch, config.block)
            assert fits_device(config.grid, config.block, GPU)
        if config.set_launch_bounds:
            assert config.max_threads == config.block.volume
            assert config.min_blocks_per_sm >= 1
            assert config.min_blocks_per_sm * config.max_threads <= 2048
        else:
            assert (config.max_threads, config.min_blocks_per_sm) == (0, 0)


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
@pytest.mark.parametrize(
    "make_sampler",
    [
        lambda: optuna.samplers.TPESampler(seed=1, multivariate=True, group=True),
        lambda: optuna.samplers.NSGAIISampler(seed=1, population_size=6),
        lambda: optuna.samplers.CmaEsSampler(seed=1, warn_independent_sampling=False),
        lambda: optuna.samplers.QMCSampler(seed=1, warn_independent_sampling=False),
        lambda: optuna.samplers.BruteForceSampler(seed=1),
    ],
    ids=["tpe", "nsga2", "cmaes", "qmc", "brute-force"],
)
def test_samplers_of_optuna_give_members(make_sampler: Any) -> None:
    study = optuna.create_study(sampler=make_sampler())
    space = make(kernel("64x64x1", "16x16x1"), preset="full")
    for _ in range(12):
        config, trial = space.sample_optuna(study)
        assert space.constraints(config)
        study.tell(trial, config.block.x)


def test_exhaustive_sampling_repeats_no_configuration() -> None:
    for preset in ("quick", "standard", "launch", "compiler"):
        hashes = [config.hash() for config in make(preset=preset).sample_exhaustive()]
        assert len(set(hashes)) == len(hashes)
        assert make(preset=preset).baseline().hash() in hashes


def test_presets_vary_what_they_say() -> None:
    assert len(list(make(preset="quick").sample_exhaustive())) == 16
    assert len(list(make(preset="standard", launch_dim="none").sample_exhaustive())) == 840
    assert len(values(make(preset="quick"), "block_shape")) == 1
    assert len(values(make(preset="launch"), "block_shape")) > 5
    assert values(make(preset="launch"), "specialize") == [False]
    compiler = make(preset="compiler")
    assert len(values(compiler, "block_shape")) == 1
    assert len(values(compiler, "passes")) > 40
    assert values(compiler, "codegen_opt") == [0, 1, 2, 3]
    full = make(preset="full")
    assert len(values(full, "block_shape")) > 5
    assert "drawn" in values(full, "passes")
    with pytest.raises(InvalidArgument, match="'pipeline' .* cannot be listed"):
        list(iter_finite_params(full))


def test_every_pipeline_of_a_preset_parses() -> None:
    from mneme import _native  # noqa: PLC0415 - tests may run without it

    full = make(preset="full")
    rng = random.Random(0)
    drawn = [full.sample_random(rng).passes for _ in range(200)]
    for text in {*values(full, "passes"), *drawn} - {"drawn"}:
        _native.check_passes(text)
    behind = [text for text in drawn if text.startswith("default<O3>,")]
    assert behind


def test_a_space_is_the_same_every_time() -> None:
    first, second = (describe_search_space(make(preset="full")) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_a_space_is_the_same_in_every_process() -> None:
    source = (
        "import hashlib, json; from test_builtin_spaces import *;"
        "text = json.dumps(describe_search_space(make(preset='full')));"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    here = str(Path(__file__).parent)
    digests = {
        subprocess.run(
            [sys.executable, "-c", source],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{here}",
            },
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_a_space_keeps_the_block_where_other_shapes_are_wrong() -> None:
    def replay(config: ExperimentConfiguration) -> ExperimentResult:
        return ExperimentResult(executed=True, verified=config.block.x == 16)

    space = make(kernel("64x64x1", "16x16x1"))
    assert len({shape.x for shape in space.shapes}) > 5
    space.adapt(replay)
    assert {shape.x for shape in space.shapes} == {16}
    assert {shape.y for shape in space.shapes} == {2, 4, 8, 16, 32, 64}
    assert values(space, "block_shape") == [f"16x{shape.y}x1" for shape in space.shapes]
    assert all(config.block.x == 16 for config in space.sample_exhaustive())
    assert space.description()["metadata"]["fixed_axes"] == "x"


@pytest.mark.parametrize("changes", [True, False])
def test_a_space_keeps_the_launch_where_its_result_shows_too_little(
    monkeypatch: pytest.MonkeyPatch, changes: bool
) -> None:
    """Right with any blocks, which the code cannot count, or without any change at all."""
    of_spaces = "mneme.search.builtin_spaces"
    monkeypatch.setattr("mneme.search.recorded_code.changes_memory", lambda _: changes)
    monkeypatch.setattr(f"{of_spaces}.takes_any_grid", lambda _: not changes)
    tried = []

    def replay(config: ExperimentConfiguration) -> ExperimentResult:
        tried.append(config)
        return ExperimentResult(executed=True, verified=True)

    space = make(kernel("64x64x1", "16x16x1"), preset="full")
    space.adapt(replay)
    assert values(space, "block_shape") == ["16x16x1"]
    assert values(space, "blocks") == [0]
    assert "does not show" in space.remark if changes else "left memory" in space.remark
    assert len(tried) == changes


def test_what_adapting_cannot_change_is_not_replayed() -> None:
    def replay(config: ExperimentConfiguration) -> ExperimentResult:
        raise AssertionError(config)

    make(preset="compiler").adapt(replay)
    make(preset="quick").adapt(replay)
    make(launch_dim="none").adapt(replay)
    make(kernel("64x64x1", "16x16x1", shared_mem=64, is_cooperative=True)).adapt(replay)
    always = make(kernel("64x64x1", "16x16x1"))
    before = values(always, "block_shape")
    always.adapt(lambda _: ExperimentResult(executed=True, verified=True))
    assert values(always, "block_shape") == before


def test_options_override_the_preset() -> None:
    space = make(
        preset="compiler",
        launch_dim="x",
        passes=["default<O2>", "default<O2>", "default<Os>"],
        codegen_opt_range="1:3:2",
        specialize_space="on",
        specialize_dims_space="fixed",
        launch_bounds_space="on",
        min_blocks_per_sm_range="2:4:2",
        max_threads_range="128:1024:128",
    )
    assert len(values(space, "block_shape")) > 5
    assert values(space, "passes") == ["default<O2>", "default<Os>"]
    assert values(space, "codegen_opt") == [1, 3]
    assert values(space, "specialize") == [True]
    assert values(space, "specialize_dims") == [False]
    assert values(space, "set_launch_bounds") == [True]
    assert values(space, "min_blocks_per_sm") == [2, 4]
    assert values(space, "max_threads") == list(range(128, 1025, 128))
    assert all(config.is_valid() for config in space.sample_exhaustive())


def test_fixed_values_leave_no_choice() -> None:
    space = make(
        preset="quick",
        fixed_passes="function(instcombine<no-verify-fixpoint>)",
        fixed_codegen_opt=0,
        fixed_min_blocks_per_sm=0,
        launch_bounds_space="on",
        specialize_space="off",
        specialize_dims_space="off",
        codegen_method="rtc",
    )
    (config,) = space.sample_exhaustive()
    assert config.passes == "function(instcombine<no-verify-fixpoint>)"
    assert (config.codegen_opt, config.min_blocks_per_sm, config.max_threads) == (0, 0, 128)


def test_a_kernel_with_nothing_to_specialise_is_not() -> None:
    assert values(make(kernel(available_specializations=[])), "specialize") == [False]


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ("recorded", {128}),
        ("block-threads", {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}),
        ("powers-of-two", {32, 64, 128, 256, 512, 1024}),
        ("hardware", {1024}),
    ],
)
def test_policies_of_launch_bounds(policy: str, found: set[int]) -> None:
    space = make(preset="launch", max_threads_policy=policy, launch_bounds_space="on")
    configs = list(space.sample_exhaustive())
    assert {config.max_threads for config in configs} == found
    assert all(config.max_threads >= config.block.volume for config in configs)


def test_pipelines_come_from_files(tmp_path: Path) -> None:
    lines = tmp_path / "pipelines.txt"
    lines.write_text("# mine\ndefault<O2>  # fast\n\nfunction(gvn)\n")
    texts = tmp_path / "pipelines.json"
    texts.write_text('["default<Oz>"]')
    assert values(make(pipeline_file=lines), "passes") == ["default<O2>", "function(gvn)"]
    space = make(passes=["default<O3>"], pipeline_file=texts)
    assert values(space, "passes") == ["default<O3>", "default<Oz>"]


def test_useless_pipeline_files_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NotFound, match="no pipeline file"):
        make(pipeline_file=tmp_path / "absent")
    with pytest.raises(InvalidArgument, match="has no pipeline"):
        make(pipeline_file=empty)
    with pytest.raises(InvalidArgument, match="cannot read"):
        make(pipeline_file=binary)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"preset": "huge"}, "preset 'huge' is unknown; known: quick, standard"),
        ({"launch_dim": "yz"}, "launch dim 'yz'"),
        ({"launch_safety": "bold"}, "launch safety 'bold'"),
        ({"specialize_space": "maybe"}, "specialize-space 'maybe'"),
        ({"max_threads_policy": "any"}, "max-threads policy 'any'"),
        ({"passes": ["nonsense"]}, "nonsense"),
        ({"passes": [3]}, "has to be a text, not 3"),
        ({"fixed_passes": "a", "passes": ["b"]}, "fixed_passes and passes exclude"),
        ({"fixed_codegen_opt": 1, "codegen_opt_range": "0:1"}, "exclude one another"),
        ({"fixed_min_blocks_per_sm": 1, "min_blocks_per_sm_range": "0:1"}, "exclude one another"),
        ({"codegen_opt_range": "0:4"}, "level goes from 0 to 3"),
        ({"fixed_codegen_opt": -1}, "level goes from 0 to 3"),
        ({"codegen_opt_range": "high"}, "'high' is not a range"),
        ({"min_blocks_per_sm_range": "-1:2"}, "min_blocks_per_sm goes from 0"),
        ({"max_threads_range": "1:2000"}, "max_threads goes from 0 to 1024"),
    ],
)
def test_senseless_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidArgument, match=sentence):
        make(**options)


def test_unknown_options_are_mistakes() -> None:
    with pytest.raises(TypeError, match="presets"):
        make(presets="quick")


def test_the_description_is_plain_json() -> None:
    found = json.loads(json.dumps(describe_search_space(make(preset="quick"))))
    assert found["type"] == "builtin"
    assert found["preset"] == "quick"
    assert found["dimensions"]["block_shape"] == {"type": "fixed", "value": "128x1x1"}
    assert found["dimensions"]["passes"] == {
        "type": "categorical",
        "choices": ["default<O3>", "default<O2>"],
    }
    assert found["dimensions"]["max_threads"] == {
        "type": "fixed",
        "value": "block-threads",
        "when": {"set_launch_bounds": True},
        "otherwise": 0,
    }
    assert found["metadata"]["recorded_threads"] == {"x": 8192, "y": 1, "z": 1}


def test_old_scripts_may_leave_the_device_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_DEVICE", "cpu")
    assert BuiltinTuneSearchSpace(kernel()).limits.id == "cpu"


PAGE = Path(__file__).resolve().parents[2] / "docs" / "search-spaces.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("source", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_of_the_page_run(source: str) -> None:
    names: dict[str, Any] = {}
    exec(source, names)
    if "Stencil" in names:
        configs = list(names["Stencil"](kernel("64x64x1", "16x16x1")).sample_exhaustive())
        assert len(configs) == 4 * (4 + 1)
        assert all(config.grid.volume * config.block.volume == 1024**2 for config in configs)
    else:
        assert len(names["near_good_ones"]) == 50


def test_the_page_names_presets_and_options() -> None:
    text = PAGE.read_text()
    words = [*PRESETS, *LAUNCH_SAFETY, *MAX_THREADS_POLICIES]
    words += [item.name for item in fields(SpaceOptions) if item.name not in _UNSAID | _MADE]
    assert [word for word in words if f"`{word}`" not in text] == []


# The heading of the table, and what is ignored.
_UNSAID = {"preset", "codegen_method"}
# Made from the table of knobs, as what docs/reference/cli.md says of them.
_MADE = {item.name for item in fields(SearchedCodeNumbers)}


def test_pipelines_that_this_llvm_does_not_know_are_no_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    all_of_them = values(make(preset="compiler"), "passes")
    first, *others = PROVEN
    changed = (first, "function(pass-of-tomorrow),default<O3>", *others)
    monkeypatch.setattr("mneme.search.space_options.PROVEN", changed)
    monkeypatch.setitem(PRESETS, "compiler", replace(PRESETS["compiler"], proven=len(changed)))
    assert values(make(preset="compiler"), "passes") == all_of_them
