"""Pipelines drawn at random, compiled for AMD GPUs: a code object or a sentence."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, mneme, records, run_command

from mneme.errors import CompileFailed
from mneme.measure.compile_apart import compile_apart
from mneme.measure.compile_record import CompileOptions
from mneme.search.pass_choices import PROVEN
from mneme.search.pipeline_param import PipelineParam

WIDE = ("gfx90a", "gfx942", "gfx950")
NARROW = ("gfx1030", "gfx1100", "gfx1201")
PIPELINES = 4
LONGEST = 120


@pytest.fixture(scope="module", params=[WIDE, NARROW], ids=["waves of 64", "waves of 32"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, tuple[str, ...]]:
    """Return a record of a kernel, and the GPUs it can be compiled for."""
    folder = tmp_path_factory.mktemp("amd-pipelines")
    source = ROOT / "examples/stencil2d/stencil2d.cu"
    options = [
        "-O3",
        f"-I{ROOT / 'examples/hip'}",
        "-x",
        "hip",
        f"--offload-arch={request.param[0]}",
    ]
    done = run_command(
        BUILD / "bin/mneme-cxx", *options, source, "-o", folder / "stencil2d", "-lamdhip64"
    )
    if done.returncode != 0 and "HIP" in done.stderr:
        pytest.skip(f"no HIP here: {done.stderr.strip()[:200]}")
    assert done.returncode == 0, done.stderr
    where = ("record", "-rdb", folder / "rec", "--device", "cpu", "-mr", "1")
    assert mneme(*where, "--", folder / "stencil2d").returncode == 0
    return records(folder / "rec")[0], request.param


@pytest.mark.compile
@pytest.mark.parametrize("seed", range(PIPELINES))
def test_a_random_pipeline_gives_code_or_a_sentence(
    recorded: tuple[Path, tuple[str, ...]], seed: int
) -> None:
    record, gpus = recorded
    rng = random.Random(seed)
    passes = PipelineParam("passes", LONGEST).sample_random(rng)
    for gpu in gpus:
        try:
            done = compile_apart(record, None, CompileOptions(target=gpu, passes=passes))
        except CompileFailed as error:
            assert str(error).strip()  # noqa: PT017 - either is right
        else:
            assert done.image.startswith(b"\x7fELF")
            assert done.statistics


@pytest.mark.compile
@pytest.mark.parametrize("passes", PROVEN)
def test_pipelines_that_searches_begin_with_give_code(
    recorded: tuple[Path, tuple[str, ...]], passes: str
) -> None:
    record, gpus = recorded
    done = compile_apart(record, None, CompileOptions(target=gpus[1], passes=passes))
    assert done.image.startswith(b"\x7fELF")
