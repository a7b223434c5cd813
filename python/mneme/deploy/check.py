"""Checks whether a tuned-kernels file fits a program. Prints nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.arguments import ArgKind, constant_paths
from mneme.deploy.compile import compile_variants
from mneme.deploy.tuned_file import read_tuned_file
from mneme.kernel_names import KernelName, short_name
from mneme.programs.elf import read_elf
from mneme.programs.kernels import EmbeddedKernel, embedded_kernels
from mneme.programs.needed import with_libraries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mneme.deploy.tuned_file import TunedKernel
    from mneme.deploy.tuned_variant import TunedVariant

__all__ = ["KernelCheck", "check_tuned_file", "kernels_for"]

MATCHES, STALE, ABSENT, UNINSTRUMENTED = "matches", "stale", "not there", "not instrumented"
UNFIT, UNCOMPILED, LOADED = "does not fit", "does not compile", "loaded by the program"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCheck:
    """Whether the file's entry for a kernel fits a kernel of the program."""

    kernel_name: str
    """Mangled."""

    demangled_name: str
    place: str
    """Where its body is, from the program: "src/advec_mom.cpp:120"; empty if unknown."""
    """As in the source, if file or program contain it."""

    status: str
    """matches, does not fit, does not compile, stale, not there, not instrumented, or loaded by the
    program."""

    reason: str
    """The reason, for users."""

    file: str
    """Program or library that has the kernel; empty if none."""

    @property
    def is_match(self) -> bool:
        """Whether a production run uses the entry, with all its variants, as far as files tell."""
        return self.status in (MATCHES, LOADED)

    @property
    def name(self) -> KernelName:
        """What people recognise the kernel by."""
        return KernelName(demangled=self.demangled_name, place=self.place)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def check_tuned_file(tuned: str | Path, programs: Iterable[str | Path]) -> list[KernelCheck]:
    """Compare a tuned-kernels file with programs and the libraries they are linked to.

    Variants are compiled as a production run does: for the architecture they state, or the one the
    program was built for. An empty list means that the file names no kernel.

    Args:
        tuned: The tuned-kernels file.
        programs: Executables and libraries; their linked libraries are checked, too.

    Raises:
        NotFound: If a file does not exist.
        ArtifactCorrupt: If the tuned-kernels file, or code in a program, is damaged.
    """
    kernels = read_tuned_file(tuned)
    named = list(programs)
    found = embedded_kernels(named)
    text = ", ".join(f"'{path}'" for path in named)
    makes_modules = _makes_modules(named)
    return [
        _check(name, kernel.for_code(code), found, text, makes_modules=makes_modules)
        for name, kernel in kernels.items()
        for code in kernel.static_hashes
    ]


def _makes_modules(programs: Iterable[str | Path]) -> bool:
    """Whether a program makes kernels at run time."""
    files = (file for path in programs for file in with_libraries(Path(path)))
    facts = (read_elf(file) for file in files)
    return any(name.startswith("libmneme_frontend.") for one in facts if one for name in one.needed)


def _check(
    name: str,
    kernel: TunedKernel,
    found: dict[str, list[EmbeddedKernel]],
    programs: str,
    *,
    makes_modules: bool,
) -> KernelCheck:
    """Return the check of one entry; `programs` names the checked programs."""
    if any(one.code_form for one in kernel.variants):
        return _loaded(name, kernel)
    candidates = found.get(name, [])
    (wanted,) = kernel.static_hashes
    matching = kernels_for(kernel, name, found)
    unfit = next(filter(None, (_why_unfit(kernel, one) for one in matching)), "")
    broken = "" if unfit else _why_uncompiled(kernel, matching)
    if unfit:
        status, reason = UNFIT, unfit
    elif broken:
        status, reason = UNCOMPILED, broken
    elif matching:
        status = MATCHES
        reason = f"{_variants_text(kernel)}; " + (f"code {wanted}" if wanted else "any code")
        if matching[0].kernel_name != name:
            reason += f"; in this build it is {short_name(matching[0].demangled_name)}"
    elif candidates:
        status = STALE
        reason = (
            f"the code changed since it was tuned: {wanted} then, {candidates[0].static_hash} now; "
            "record and tune it again"
        )
    elif found or makes_modules:
        status = ABSENT
        reason = f"{programs} and the libraries beside have no such kernel"
        if makes_modules:
            reason += " before they run; a production run says whether one they make then fits"
    else:
        status = UNINSTRUMENTED
        reason = f"{programs} has no kernel that carries its IR; build it with add_mneme()"
    best = next(iter(matching or candidates), None)
    return KernelCheck(
        kernel_name=name,
        demangled_name=kernel.demangled_name or (best.demangled_name if best else name),
        place=str((best and best.place) or ""),
        status=status,
        reason=reason,
        file=str(best.file) if best else "",
    )


def _loaded(name: str, kernel: TunedKernel) -> KernelCheck:
    """Return the check of an entry for code without IR."""
    return KernelCheck(
        kernel_name=name,
        demangled_name=kernel.demangled_name or name,
        place="",
        status=LOADED,
        reason=(
            f"{_variants_text(kernel)}; its code, {', '.join(kernel.static_hashes)}, has no IR and "
            "is loaded while the program runs: a production run says whether it has it then"
        ),
        file="",
    )


def kernels_for(
    kernel: TunedKernel, name: str, found: Mapping[str, list[EmbeddedKernel]]
) -> list[EmbeddedKernel]:
    """Return the kernels of programs that run as an entry says: of its name, else of its code."""
    own = [
        one
        for one in found.get(name, [])
        if any(variant.is_for(one.static_hash, one.code_hash) for variant in kernel.variants)
    ]
    codes = {variant.code_hash for variant in kernel.variants} - {""}
    return own or [one for group in found.values() for one in group if one.code_hash in codes]


def _why_unfit(kernel: TunedKernel, program: EmbeddedKernel) -> str:
    """Return which variants a production run skips for this kernel; empty if none."""
    reasons = [
        f"variant {number} is not used: {reason}"
        for number, variant in enumerate(kernel.variants)
        if (reason := _why_variant_unfit(variant, program))
    ]
    return "; ".join(reasons)


def _why_uncompiled(kernel: TunedKernel, programs: list[EmbeddedKernel]) -> str:
    """Return which variants do not compile; empty if none."""
    reasons = {
        f"variant {number} cannot be compiled{reason}; the kernel runs as it was built there"
        for program in programs
        for number, reason in compile_variants(kernel.variants, program)
    }
    return "; ".join(sorted(reasons))


def _why_variant_unfit(variant: TunedVariant, program: EmbeddedKernel) -> str:
    """Return the result of whyUnfit() in runtime/jit/request.h."""
    args = program.args
    for one in variant.match.args:
        known = args[one.index] if one.index < len(args) else None
        if known is None or known.kind is ArgKind.POINTER or known.size != one.size:
            return (
                f"Match names argument {one.index} as a value of {one.size} bytes, "
                "which the kernel does not have"
            )
    known_constants = constant_paths(args)
    for path in (variant.specialized_args or ()) if variant.specialize_args else ():
        if path not in known_constants:
            key = "SpecializedMembers" if "+" in path else "SpecializedArgs"
            return f"{key} names argument {path}, whose value cannot become a constant"
    return ""


def _variants_text(kernel: TunedKernel) -> str:
    """Return the number of variants and their architectures: "2 variants (sm_90)"."""
    count = len(kernel.variants)
    places = sorted({one.match.arch for one in kernel.variants} - {""})
    text = f"{count} variant{'' if count == 1 else 's'}"
    return f"{text} ({', '.join(places)})" if places else text
