"""What can be tuned of kernels whose code has no IR, and what cannot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mneme.errors import MnemeError
from mneme.kernel_names import qualified_name
from mneme.recording.configured import form_of_knobs
from mneme.recording.launch_facts import leaves_changes
from mneme.recording.without_ir import COMPILERS_TEXTS, form_text
from mneme.search.recorded_code import why_launch_stays

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mneme.optimize.heavy import Target
    from mneme.optimize.profile import KernelTime
    from mneme.recording.recorded_execution import RecordedExecution

__all__ = ["idle_records", "takes_other_code", "told_of_bare_code", "why_nothing_to_search"]

# As hasOwnVariables() and hasHandles() of runtime/jit/loaded/loaded_engine.cpp.
_HANDLES: Final = re.compile(rb"\.(?:tex|sampler|surf)ref")
_OF_PTX = "carve-outs, limits of registers, launch bounds and what ptxas takes"

_BUILD = "need a build with add_mneme() or the compiler wrappers"
_NEEDS_IR = f"pipelines, constants and launch bounds {_BUILD}"
_PTX_NEEDS_IR = f"pipelines and constants {_BUILD}"


def idle_records(
    kernel: KernelTime, records: Iterable[RecordedExecution]
) -> list[RecordedExecution]:
    """Return records without IR of a kernel whose launches left memory as it was.

    No replay tells right dimensions from wrong ones then. Where recording began in the middle, the
    first launch may change memory: a kernel that is launched again and again with the same input.
    """
    if not any(kernel.middles.values()):
        return []
    return [
        one
        for one in records
        if one.kernel_name == kernel.name
        and one.code_form
        and not any(map(leaves_changes, one.values()))
    ]


def takes_other_code(record: RecordedExecution) -> bool:
    """Whether production runs can have other code of a kernel without IR: PTX without variables.

    Other code would have device variables, textures and samplers of its own.
    """
    if form_of_knobs(record) != "ptx":
        return False
    from mneme import _native  # noqa: PLC0415 - loads native code

    path = Path(record.llvm_files[0])
    try:
        has_variables = any(
            not name.startswith(COMPILERS_TEXTS)
            for one in _native.describe_device_code(path)
            for name, _size, _is_constant in one["variables"]
        )
        return not has_variables and not _HANDLES.search(path.read_bytes())
    except (MnemeError, OSError):  # the search says what is wrong with it
        return False


def why_nothing_to_search(target: Target) -> str:
    """Return why nothing of a launch can be searched; empty if something can."""
    form = target.record.code_form
    if not form or takes_other_code(target.record):
        return ""
    if target.instance.is_cooperative or target.instance.cluster_dim:
        why = "blocks of its launches depend on each other"
    elif not target.may_change_launch:
        why = "each of its launches has other arguments"
    else:
        why = why_launch_stays(target.instance)
    about = f"its code is {_form(target.record)}, of which only grid and block can change"
    return f"{about}: they stay, because {why}; {_NEEDS_IR}" if why else ""


def told_of_bare_code(targets: Iterable[Target]) -> list[str]:
    """Return what is searched of kernels without IR, one sentence for each kind of code."""
    names: dict[tuple[str, str, str], dict[str, None]] = {}
    for target in targets:
        if target.record.code_form and not why_nothing_to_search(target):
            has_other = takes_other_code(target.record)
            searched = f"grid, block, {_OF_PTX}" if has_other else "grid and block"
            needs = _PTX_NEEDS_IR if has_other else _NEEDS_IR
            found = names.setdefault((searched, _form(target.record), needs), {})
            found[qualified_name(target.record.demangled_name)] = None
    return [
        f"{', '.join(found)}: only {searched} are searched, because the code is {form}; {needs}"
        for (searched, form, needs), found in names.items()
    ]


def _form(record: RecordedExecution) -> str:
    has_variables = form_of_knobs(record) == "ptx" and not takes_other_code(record)
    return f"{form_text(record.code_form)} without IR" + (
        ", with device variables that other code would have of its own" if has_variables else ""
    )
