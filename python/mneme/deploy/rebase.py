"""Carries a tuned-kernels file over to another build of its program. Prints nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mneme.deploy.check import kernels_for
from mneme.deploy.tuned_file import TunedKernel, read_tuned_file
from mneme.programs.kernels import embedded_kernels

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mneme.deploy.tuned_variant import TunedVariant

__all__ = ["rebase"]


def rebase(
    tuned: str | Path, programs: Iterable[str | Path]
) -> tuple[dict[str, TunedKernel], list[str]]:
    """Return a file's entries with the names and hashes that kernels have in these programs.

    The compiler numbers lambdas: where one is inserted, all later ones have other names.

    Args:
        tuned: The tuned-kernels file.
        programs: Programs and libraries of the new build; their linked libraries count, too.

    Returns:
        The entries by mangled name, and a sentence for each that is left out: no kernel of these
        programs has its code.

    Raises:
        NotFound: If a file does not exist.
        ArtifactCorrupt: If the tuned-kernels file, or code in a program, is damaged.
    """
    found = embedded_kernels(programs)
    entries: dict[str, TunedKernel] = {}
    sentences = []
    for name, kernel in read_tuned_file(tuned).items():
        for code in kernel.static_hashes:
            part = kernel.for_code(code)
            if any(variant.code_form for variant in part.variants):
                entries[name] = _with(entries.get(name), part)  # it is loaded, not built
                continue
            kernels = kernels_for(part, name, found)
            if not kernels:
                called = kernel.demangled_name or name
                wanted = f"the code {code}" if code else "its name"
                sentences.append(f"{called} is left out: no kernel has {wanted}")
            for one in {(each.kernel_name, each.static_hash): each for each in kernels}.values():
                moved = replace(
                    part,
                    variants=tuple(_moved(variant, one.static_hash) for variant in part.variants),
                    demangled_name=one.demangled_name if part.demangled_name else "",
                )
                entries[one.kernel_name] = _with(entries.get(one.kernel_name), moved)
    return entries, sentences


def _with(there: TunedKernel | None, more: TunedKernel) -> TunedKernel:
    return replace(more, variants=(*(there.variants if there else ()), *more.variants))


def _moved(variant: TunedVariant, static_hash: str) -> TunedVariant:
    return replace(variant, static_hash=static_hash) if variant.static_hash else variant
