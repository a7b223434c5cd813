"""Why a program could not be recorded, as far as its file tells before it runs."""

from __future__ import annotations

from pathlib import Path

from mneme._elf import ElfFacts, read_elf
from mneme._vendors import DEVICE_CODE_SECTIONS, RUNTIME_BY_SECTION, SHARED_RUNTIME_HINT

__all__ = ["remark_on_program"]

_OUR_RUNTIME = "libmneme_rt.so"

# Programs whose purpose is to start others; what they start is what gets recorded.
_LAUNCHERS = frozenset(
    (
        *(
            "mpiexec",
            "mpirun",
            "mpiexec.hydra",
            "orterun",
            "prterun",
            "srun",
            "flux",
            "jsrun",
            "aprun",
        ),
        *("env", "nice", "numactl", "taskset", "time", "timeout", "xargs", "stdbuf"),
        *("sh", "dash", "bash", "zsh", "ksh", "perl", "ruby", "gdb", "valgrind"),
    )
)


def remark_on_program(path: str | Path) -> str:
    """Return a sentence about a program that cannot be recorded; empty if nothing is wrong.

    Scripts and launchers start other programs, which only their own run can tell about.
    """
    program = Path(path)
    facts = read_elf(program)
    starts_others = program.name in _LAUNCHERS or program.name.startswith("python")
    if facts is None or starts_others:
        return ""
    if facts.is_static:
        return (
            f"'{path}' is statically linked, so no recorder can be loaded into it; link it shared"
        )
    runtime = _missing_runtime(facts)
    if runtime:
        return (
            f"'{path}' is linked to no shared {runtime}, so its allocations and launches cannot "
            f"be seen; link the shared runtime ({SHARED_RUNTIME_HINT})"
        )
    if not any(name.startswith(_OUR_RUNTIME) for name in facts.needed):
        return (
            f"'{path}' itself is not instrumented: only kernels built with add_mneme() are "
            "recorded (see docs/cmake.md)"
        )
    return ""


def _missing_runtime(facts: ElfFacts) -> str:
    """Return the vendor's runtime that device code needs and the program is not linked to."""
    for section in DEVICE_CODE_SECTIONS & facts.sections:
        runtime = RUNTIME_BY_SECTION[section]
        if not any(name.startswith(runtime) for name in facts.needed):
            return runtime
    return ""
