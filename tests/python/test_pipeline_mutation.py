from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mneme.errors import InvalidArgument
from mneme.pipelines.mutation import KNOWN_GOOD, known_pipeline, mutate, mutations
from mneme.pipelines.pipeline import PipelineManager, flatten_passes
from native_parts import needs_native

pytestmark = needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"


@pytest.fixture(scope="module")
def manager() -> PipelineManager:
    return PipelineManager()


def check(text: str) -> None:
    from mneme import _native  # noqa: PLC0415 - tests may run without it

    _native.check_passes(text)


@pytest.mark.parametrize("name", KNOWN_GOOD)
def test_known_pipelines_parse(manager: PipelineManager, name: str) -> None:
    text = known_pipeline(name, manager)
    check(text)
    # Nothing was lost for the LLVM we are written for.
    assert text == KNOWN_GOOD[name]


def test_known_pipelines_lose_what_an_older_llvm_lacks() -> None:
    old = PipelineManager({"function": ["sroa", "gvn"], "module": ["globaldce", "default"]})
    text = known_pipeline("gpu", old)
    assert text == "default<O0>,function<eager-inv>(sroa<modify-cfg>,gvn),globaldce"
    check(text)
    with pytest.raises(InvalidArgument, match="no pipeline 'O7'"):
        known_pipeline("O7", old)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(sorted(KNOWN_GOOD)), st.integers(1, 30))
def test_every_mutation_parses(seed: int, name: str, changes: int) -> None:
    manager = PipelineManager()
    check(mutate(KNOWN_GOOD[name], manager, random.Random(seed), changes))


def test_one_change_is_one_change(manager: PipelineManager) -> None:
    before = Counter(flatten_passes(KNOWN_GOOD["gpu"]))
    rng = random.Random(4)
    kinds = set()
    for _ in range(120):
        after = Counter(flatten_passes(mutate(KNOWN_GOOD["gpu"], manager, rng)))
        added, removed = (after - before).total(), (before - after).total()
        assert max(added, removed) <= 1
        kinds.add((added, removed))
    assert kinds == {(0, 0), (1, 0), (0, 1), (1, 1)}


def test_what_is_not_changed_keeps_its_order(manager: PipelineManager) -> None:
    rng = random.Random(7)
    original = flatten_passes(KNOWN_GOOD["gpu"])
    for _ in range(60):
        changed = flatten_passes(mutate(KNOWN_GOOD["gpu"], manager, rng))
        if Counter(changed) - Counter(original) and len(changed) > len(original):
            (extra,) = (Counter(changed) - Counter(original)).elements()
            positions = [i for i, item in enumerate(changed) if item == extra]
            assert any([*changed[:i], *changed[i + 1 :]] == original for i in positions)


def test_mutations_are_different_and_repeat_themselves(manager: PipelineManager) -> None:
    found = mutations(manager, 60, seed=3)
    assert len(set(found)) == 60
    assert set(found).isdisjoint(KNOWN_GOOD.values())
    assert found == mutations(PipelineManager(), 60, seed=3)
    assert found != mutations(manager, 60, seed=4)
    assert mutations(manager, 0) == []
    assert len(mutations(manager, 5, bases=["default<O3>"])) == 5


def test_whole_pipelines_are_never_removed(manager: PipelineManager) -> None:
    rng = random.Random(2)
    changed = [mutate("default<O3>", manager, rng, 20) for _ in range(20)]
    assert all("default<O3>" in flatten_passes(text) for text in changed)


def test_nonsense_cannot_be_mutated(manager: PipelineManager) -> None:
    with pytest.raises(InvalidArgument, match="empty"):
        mutate("", manager, random.Random(0))
    with pytest.raises(RuntimeError, match="Unknown pass nonsense"):
        mutate("nonsense", manager, random.Random(0))


COMPILE = """
import json, sys
from mneme import _native
code = _native.RecordedCode(sys.argv[1])
target = code.recorded_target(sys.argv[2])
for line in sys.stdin:
    config = {"grid": {"x": 4}, "block": {"x": 64}, "passes": json.loads(line)}
    made = code.compile(json.dumps(config), target, '{"use_cache": false}')
    print(len(made["image"]), flush=True)
"""


@pytest.mark.compile
def test_pipelines_compile_without_taking_the_caller_along(manager: PipelineManager) -> None:
    record = next(
        path for path in sorted(GOLDEN.rglob("*.json")) if "StaticHash" in path.read_text()
    )
    pipelines = [*mutations(manager, 12, seed=11, most_changes=12), *manager.generate(12, 20, 5)]
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, str(record), "cpu"],
        input="".join(json.dumps(text) + "\n" for text in pipelines),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "MNEME_CACHE_DIR": ""},
    )
    sizes = done.stdout.split()
    assert done.returncode == 0, (pipelines[len(sizes)], done.stderr[-2000:])
    assert len(sizes) == len(pipelines)
    assert all(int(size) > 500 for size in sizes)
