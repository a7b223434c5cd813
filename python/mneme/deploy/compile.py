"""Checks whether variants of a tuned kernel compile, as in a production run."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.knobs import CODE_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mneme.deploy.tuned_variant import TunedVariant
    from mneme.programs.kernels import EmbeddedKernel

__all__ = ["compile_variants"]

_SECONDS = 300.0  # as MNEME_JIT_TIMEOUT
_MOST_PROCESSES = 8
_USUAL_PIPELINE = "default<O3>"


@dataclass(frozen=True, slots=True)
class _Build:
    """The settings that decide whether code compiles; values and dimensions hardly matter."""

    arch: str
    pipeline: str
    codegen_opt: int
    launch_bounds: bool
    code_numbers: tuple[tuple[str, int], ...]
    specialize_dims: bool


def compile_variants(
    variants: Sequence[TunedVariant], program: EmbeddedKernel
) -> Iterator[tuple[int, str]]:
    """Yield the numbers of variants that do not compile, and ` for ARCH: why`.

    Each way to compile is tried once, in processes that may crash or hang.
    """
    numbers: dict[_Build, list[tuple[int, TunedVariant]]] = {}
    for number, variant in enumerate(variants):
        numbers.setdefault(_build_of(variant, program), []).append((number, variant))
    with ThreadPoolExecutor(min(_MOST_PROCESSES, os.cpu_count() or 1)) as threads:
        tries = [
            threads.submit(_why_not, build, users[0][1], program)
            for build, users in numbers.items()
        ]
        for users, one in zip(numbers.values(), tries, strict=True):
            if reason := one.result():
                yield from ((number, reason) for number, _ in users)


def _build_of(variant: TunedVariant, program: EmbeddedKernel) -> _Build:
    return _Build(
        arch=variant.match.arch or program.arch,
        pipeline=variant.pipeline,
        codegen_opt=variant.codegen_opt_level,
        launch_bounds=variant.launch_bounds,
        code_numbers=tuple((one.key, getattr(variant, one.key)) for one in CODE_NUMBERS),
        specialize_dims=variant.specialize_dims,
    )


def _why_not(build: _Build, variant: TunedVariant, program: EmbeddedKernel) -> str:
    """Return why it does not compile; empty if it does, or if that is unknown here."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        _native.check_passes(build.pipeline)
    except MnemeError as error:
        return f": {error}"
    # Code that is linked with other units, or for a target this compiler lacks, cannot be tried.
    if program.is_linked:
        return ""
    try:
        _compile(build, variant, program, build.pipeline)
    except MnemeError as error:
        return f" for {build.arch}: {error}" if _compiles_usually(build, variant, program) else ""
    return ""


def _compiles_usually(build: _Build, variant: TunedVariant, program: EmbeddedKernel) -> bool:
    try:
        _compile(build, variant, program, _USUAL_PIPELINE)
    except MnemeError:
        return False
    return True


def _compile(build: _Build, variant: TunedVariant, program: EmbeddedKernel, pipeline: str) -> None:
    from mneme import _native  # noqa: PLC0415 - loads native code

    match = variant.match
    block = variant.launch.block if variant.launch else match.block
    grid = variant.launch.grid if variant.launch else match.grid
    dims: dict[str, Any] = {}
    if block is not None and grid is not None:
        dims = {"grid": (grid.x, grid.y, grid.z), "block": (block.x, block.y, block.z)}
    threads = 0 if block is None else block.x * block.y * block.z
    _native.compile_ir(
        [program.bitcode],
        program.kernel_name,
        target=build.arch,
        passes=pipeline,
        codegen_opt=build.codegen_opt,
        set_launch_bounds=build.launch_bounds and threads > 0,
        max_threads=threads if build.launch_bounds else 0,
        specialize_dims=build.specialize_dims and bool(dims),
        options_json=program.options,
        placed_globals=dict.fromkeys(program.variables, 0) if build.arch != "cpu" else {},
        code_numbers=dict(build.code_numbers),
        specialized_args=_values(variant, program),
        apart_seconds=_SECONDS,
        **dims,
    )


def _values(variant: TunedVariant, program: EmbeddedKernel) -> dict[int, bytes]:
    """Return those recorded values of constant arguments that the file contains."""
    if not variant.specialize_args:
        return {}
    return {
        one.index: bytes.fromhex(one.bytes)
        for one in variant.match.args
        if variant.specialized_args is None or one.index in variant.specialized_args
        if program.args[one.index].is_specializable
    }
