"""Which pass pipelines the built-in search spaces choose from."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument, NotFound
from mneme.files.regular_file import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = [
    "LEVELS",
    "PROVEN",
    "UNROLLED",
    "checked_pipelines",
    "known_pipelines",
    "near_good_pipelines",
    "needs_plugins",
    "read_pipeline_file",
]

LEVELS = ("default<O3>", "default<O2>", "default<O1>", "default<Os>", "default<Oz>", "default<O0>")
"""LLVM's own pipelines, those that usually win first."""

UNROLLED = "default<O3>,function(mneme-unroll<full>),default<O3>"
"""Unrolls loops of known length completely after inlining, and simplifies the result: loops over
fixed arguments disappear."""

_VARIABLES_FIRST = "function(mem2reg)"
_BRANCHES_LAST = "function(structurizecfg),default<O3>"
_INLINED = "default<O0>,cgscc(inline)"
_FUSED = "function(loop-mssa(loop-rotate<prepare-for-lto>),loop-fusion)"

PROVEN = (
    UNROLLED,
    # Moves variables into registers before LLVM processes branches and loops; this changes
    # unrolling.
    f"{_VARIABLES_FIRST},default<O3>",
    # Short branches become selects.
    f"{UNROLLED},{_BRANCHES_LAST}",
    f"{_VARIABLES_FIRST},{UNROLLED},{_BRANCHES_LAST}",
    # Few passes: the assembler may do better with the rest.
    f"{_INLINED},{_VARIABLES_FIRST}",
    f"{_INLINED},function(early-cse<memssa>,instcombine<no-verify-fixpoint>,structurizecfg)",
    # Fuses loops of a function over the same range before the usual passes.
    f"function(gvn,instcombine<no-verify-fixpoint>),module-inline,{_FUSED},default<O3>",
)
"""Pipelines that were the best of thousands for kernels on an H200, without passes that had no
effect (benchmarks/pipelines.py). Those that help most come first."""


def checked_pipelines(pipelines: Sequence[str], plugins: str = "", llvm: str = "") -> list[str]:
    """Return pipelines, each once.

    Args:
        pipelines: The pipelines.
        plugins: Pass plugins whose passes they may name, as in configurations.
        llvm: What loads the plugins, as in configurations.

    Raises:
        InvalidArgument: If neither LLVM nor a plugin knows one.
        BackendUnavailable: If a plugin that one needs cannot be loaded.
    """
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    for pipeline in pipelines:
        if not isinstance(pipeline, str):
            raise InvalidArgument(f"a pass pipeline has to be a text, not {pipeline!r}")
        if not plugins:
            _native.check_passes(pipeline)
        elif needs_plugins(pipeline):
            _native.check_passes(pipeline, plugins, "", llvm)
    return list(dict.fromkeys(pipelines))


def needs_plugins(pipeline: str) -> bool:
    """Whether LLVM alone does not know a pipeline."""
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    try:
        _native.check_passes(pipeline)
    except InvalidArgument:
        return True
    return False


def known_pipelines(pipelines: Sequence[str]) -> list[str]:
    """Return the pipelines whose passes the LLVM in use knows."""

    def is_known(pipeline: str) -> bool:
        try:
            return bool(checked_pipelines([pipeline]))
        except InvalidArgument:
            return False

    return [one for one in pipelines if is_known(one)]


def read_pipeline_file(path: str | Path) -> list[str]:
    """Return the pipelines of a file: one a line, '#' begins a comment; or a JSON list of texts.

    Raises:
        NotFound: If there is no such file.
        InvalidArgument: If it is not a text or has no pipeline.
    """
    try:
        text = read_text(path)
    except FileNotFoundError as error:
        raise NotFound(f"there is no pipeline file '{path}'") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"cannot read the pipeline file '{path}': {error}") from error
    pipelines = _json_texts(text)
    if pipelines is None:
        lines = (line.partition("#")[0].strip() for line in text.splitlines())
        pipelines = [line for line in lines if line]
    if not pipelines:
        raise InvalidArgument(f"the pipeline file '{path}' has no pipeline")
    return pipelines


@functools.cache
def near_good_pipelines(count: int) -> tuple[str, ...]:
    """Return LLVM's pipelines written out, and variations of them; deterministic for an LLVM."""
    from mneme.pipelines.mutation import KNOWN_GOOD, known_pipeline, mutations  # noqa: PLC0415
    from mneme.pipelines.pipeline import PipelineManager  # noqa: PLC0415 - asks LLVM

    manager = PipelineManager()
    known = [known_pipeline(name, manager) for name in KNOWN_GOOD]
    return (*known, *mutations(manager, count - len(known), bases=known))


def _json_texts(text: str) -> list[str] | None:
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None
    is_list = isinstance(found, list) and all(isinstance(item, str) for item in found)
    return found if is_list else None
