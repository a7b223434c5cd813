"""Finds reasons in a program's file why it cannot be recorded, or run on the CPU device."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from mneme._vendors import (
    DEVICE_BY_RUNTIME,
    DEVICE_CODE_SECTIONS,
    DRIVER_LIBRARY,
    RUNTIME_BY_SECTION,
    SEEN_BY_DRIVER,
    SHARED_RUNTIME_HINT,
    STATIC_RUNTIME_MARKS,
)
from mneme.programs.elf import ElfFacts, has_symbol, read_elf

__all__ = ["brings_own_runtime", "remark_on_cpu_run", "remark_on_program"]

_RIGHTS = "gets more rights than you have (set-user-id or file capabilities)"
# The libraries of programs with instrumented kernels, and of those that make kernels at run time.
_OUR_LIBRARIES = ("libmneme_rt.so", "libmneme_frontend.so")

# Programs whose purpose is to start others, which are then recorded.
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


def remark_on_program(path: str | Path, *, device: str = "cpu") -> str:
    """Return a message about a program that cannot be recorded, or not whole; else empty.

    Nothing is known about programs that scripts and launchers start.

    Args:
        path: The program.
        device: The device it is recorded on, as `--device` names it.
    """
    facts = _facts_of(Path(path))
    if facts is None:
        return ""
    if _gains_rights(Path(path)):
        return f"'{path}' {_RIGHTS}, so no recorder is loaded into it; start it as its owner"
    if facts.is_static:
        return (
            f"'{path}' is statically linked, so no recorder can be loaded into it; link it shared"
        )
    runtime = _missing_runtime(facts)
    kind = device.partition(":")[0]
    is_seen = kind in SEEN_BY_DRIVER and kind == DEVICE_BY_RUNTIME.get(runtime)
    is_replaced = kind == "cpu" and _has_static_runtime(Path(path), runtime)
    if runtime and not is_seen and not is_replaced:
        return (
            f"'{path}' is linked to no shared {runtime}, so its allocations and launches cannot "
            f"be seen; {_advice(facts, runtime)}"
        )
    is_ours = any(name.startswith(_OUR_LIBRARIES) for name in facts.needed)
    if is_ours or _has_no_kernel(Path(path), facts, kind):
        return ""
    return _remark_on_plain_program(path, kind)


def _has_no_kernel(path: Path, facts: ElfFacts, kind: str) -> bool:
    """Whether a program uses a vendor's runtime, but has no device code itself.

    Its libraries may have kernels: the recorder reports what was launched.
    """
    if DEVICE_CODE_SECTIONS & facts.sections:
        return False
    if any(name.startswith(tuple(RUNTIME_BY_SECTION.values())) for name in facts.needed):
        return True
    inside = STATIC_RUNTIME_MARKS if kind == "cpu" else ()
    return any(_has_static_runtime(path, runtime) for runtime in inside)


def _remark_on_plain_program(path: str | Path, kind: str) -> str:
    """Return what becomes of a program that was not built with mneme."""
    if kind in SEEN_BY_DRIVER:
        return (
            f"'{path}' itself is not built with mneme: its kernels are recorded without IR, so "
            "that they can be verified, and tuned by grid and block, but not compiled anew (see "
            "docs/recording.md)"
        )
    return (
        f"'{path}' itself is not instrumented: only kernels built with add_mneme() are "
        "recorded, and those of code that it loads itself (see docs/cmake.md)"
    )


def remark_on_cpu_run(path: str | Path) -> str:
    """Return a message about a program of which nothing would run on the CPU device; else empty.

    Like `remark_on_program`.
    """
    facts = _facts_of(Path(path))
    if facts is None:
        return ""
    nothing = "so nothing of it runs on the CPU device"
    if _gains_rights(Path(path)):
        return f"'{path}' {_RIGHTS}, {nothing}; start it as its owner"
    runtime = _missing_runtime(facts)
    if facts.is_static and (runtime or not facts.sections):
        return f"'{path}' is statically linked, {nothing}; link it shared"
    if runtime and not _has_static_runtime(Path(path), runtime):
        return (
            f"'{path}' is linked to no shared {runtime}, {nothing}: its kernels go to a GPU, if "
            f"there is one; {_advice(facts, runtime)}"
        )
    return ""


def brings_own_runtime(path: Path) -> bool:
    """Whether a program contains a vendor's runtime, which stays in use, and no other needs ours.

    The CPU device's runtime takes the place of one whose symbols are there.
    """
    facts = read_elf(path)
    runtime = _missing_runtime(facts) if facts else ""
    return bool(
        facts
        and runtime
        and DRIVER_LIBRARY not in facts.needed
        and not _has_static_runtime(path, runtime)
    )


def _has_static_runtime(path: Path, runtime: str) -> bool:
    """Whether a program contains the static form of a vendor's runtime, with its symbols."""
    mark = STATIC_RUNTIME_MARKS.get(runtime)
    return mark is not None and has_symbol(path, mark)


def _advice(facts: ElfFacts, runtime: str) -> str:
    is_stripped = runtime in STATIC_RUNTIME_MARKS and ".symtab" not in facts.sections
    others = "do not strip it, or " if is_stripped else ""
    return f"{others}link the shared runtime ({SHARED_RUNTIME_HINT})"


def _facts_of(program: Path) -> ElfFacts | None:
    """Return the facts in a program's file; None for launchers and files that are not programs."""
    starts_others = program.name in _LAUNCHERS or program.name.startswith("python")
    return None if starts_others else read_elf(program)


def _gains_rights(program: Path) -> bool:
    """Whether the loader ignores LD_PRELOAD for a program this user starts."""
    with suppress(OSError):
        status = program.stat()
        if status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid():
            return True
        if status.st_mode & stat.S_ISGID and status.st_gid != os.getegid():
            return True
        return os.geteuid() != 0 and bool(os.getxattr(program, "security.capability"))
    return False


def _missing_runtime(facts: ElfFacts) -> str:
    """Return the vendor's runtime that device code needs and the program is not linked to."""
    for section in DEVICE_CODE_SECTIONS & facts.sections:
        runtime = RUNTIME_BY_SECTION[section]
        if not any(name.startswith(runtime) for name in facts.needed):
            return runtime
    return ""
