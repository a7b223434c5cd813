"""Checks whether variants of a tuned kernel compile, as in a production run."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mneme.errors import MnemeError
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mneme.deploy.tuned_variant import TunedVariant
    from mneme.programs.kernels import EmbeddedKernel

__all__ = ["compile_variants"]

_SECONDS = 300.0  # as MNEME_JIT_TIMEOUT
_MOST_PROCESSES = 8
_USUAL_PIPELINE = "default<O3>"
_CODE_NUMBERS = tuple(one.key for one in CODE_NUMBERS)
# What decides whether code compiles; values and dimensions hardly matter.
_CODE_TEXTS = tuple(one.key for one in CODE_TEXTS)
_DECISIVE = (
    *("pipeline", "codegen_opt_level", "launch_bounds", "specialize_dims"),
    *(*_CODE_NUMBERS, *_CODE_TEXTS),
)


def compile_variants(
    variants: Sequence[TunedVariant], program: EmbeddedKernel
) -> Iterator[tuple[int, str]]:
    """Yield the numbers of variants that do not compile, and ` for ARCH: why`.

    Each way to compile is tried once, in processes that may crash or hang.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    for number, variant in enumerate(variants):
        settings = (_arch(variant, program), *(getattr(variant, name) for name in _DECISIVE))
        alike.setdefault(settings, []).append(number)
    with ThreadPoolExecutor(min(_MOST_PROCESSES, os.cpu_count() or 1)) as threads:
        tries = [
            threads.submit(_why_not, variants[numbers[0]], program) for numbers in alike.values()
        ]
        for numbers, one in zip(alike.values(), tries, strict=True):
            if reason := one.result():
                yield from ((number, reason) for number in numbers)


def _arch(variant: TunedVariant, program: EmbeddedKernel) -> str:
    return variant.match.arch or program.arch


def _why_not(variant: TunedVariant, program: EmbeddedKernel) -> str:
    """Return why it does not compile; empty if it does, or if that is unknown here."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        if not (variant.pass_plugins or variant.llvm):  # they have names of their own
            _native.check_passes(variant.pipeline)
    except MnemeError as error:
        return f": {error}"
    # Code that is linked with other units, or for a target this compiler lacks, cannot be tried.
    if program.is_linked:
        return ""
    try:
        _compile(variant, program)
    except MnemeError as error:
        arch = _arch(variant, program)
        return f" for {arch}: {error}" if _compiles_usually(variant, program) else ""
    return ""


def _compiles_usually(variant: TunedVariant, program: EmbeddedKernel) -> bool:
    try:
        _compile(replace(variant, pipeline=_USUAL_PIPELINE), program)
    except MnemeError:
        return False
    return True


def _compile(variant: TunedVariant, program: EmbeddedKernel) -> None:
    from mneme import _native  # noqa: PLC0415 - loads native code

    match, arch = variant.match, _arch(variant, program)
    block = variant.launch.block if variant.launch else match.block
    grid = variant.launch.grid if variant.launch else match.grid
    dims: dict[str, Any] = {}
    if block is not None and grid is not None:
        dims = {"grid": (grid.x, grid.y, grid.z), "block": (block.x, block.y, block.z)}
    threads = 0 if block is None else block.x * block.y * block.z
    _native.compile_ir(
        [program.bitcode],
        program.kernel_name,
        target=arch,
        passes=variant.pipeline,
        codegen_opt=variant.codegen_opt_level,
        set_launch_bounds=variant.launch_bounds and threads > 0,
        max_threads=threads if variant.launch_bounds else 0,
        specialize_dims=variant.specialize_dims and bool(dims),
        options_json=program.options,
        placed_globals=dict.fromkeys(program.variables, 0) if arch != "cpu" else {},
        code_numbers={key: getattr(variant, key) for key in _CODE_NUMBERS},
        code_texts={key: getattr(variant, key) for key in _CODE_TEXTS},
        **_values(variant, program),
        apart_seconds=_SECONDS,
        **dims,
    )


def _values(variant: TunedVariant, program: EmbeddedKernel) -> dict[str, Any]:
    """Return those recorded values of constants that the file contains, for the compiler."""
    if not variant.specialize_args:
        return {}
    known = {one.index: bytes.fromhex(one.bytes) for one in variant.match.args}
    paths = variant.specialized_args
    return {
        "specialized_args": {
            index: value
            for index, value in known.items()
            if program.args[index].is_specializable and (paths is None or str(index) in paths)
        },
        "specialized_members": {
            (index, member.offset): member.of(value)
            for index, value in known.items()
            for member in program.args[index].members or ()
            if f"{index}+{member.offset}" in (paths or ())
        },
    }
