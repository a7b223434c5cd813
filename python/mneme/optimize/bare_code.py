"""What can be tuned of kernels whose code has no IR, and what cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.kernel_names import qualified_name
from mneme.recording.without_ir import form_text
from mneme.search.recorded_code import why_launch_stays

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mneme.optimize.heavy import Target

__all__ = ["told_of_bare_code", "why_nothing_to_search"]

_NEEDS_IR = (
    "pipelines, constants and launch bounds need a build with add_mneme() or the compiler wrappers"
)


def why_nothing_to_search(target: Target) -> str:
    """Return why nothing of a launch can be searched; empty if something can."""
    form = target.record.code_form
    if form in ("", "ptx"):
        return ""
    if target.instance.is_cooperative or target.instance.cluster_dim:
        why = "blocks of its launches depend on each other"
    elif not target.may_change_launch:
        why = "each of its launches has other arguments"
    else:
        why = why_launch_stays(target.instance)
    about = f"its code is {form_text(form)} without IR, of which only grid and block can change"
    return f"{about}: they stay, because {why}; {_NEEDS_IR}" if why else ""


def told_of_bare_code(targets: Iterable[Target]) -> list[str]:
    """Return what is searched of kernels without IR, one sentence for each form of code."""
    names: dict[str, dict[str, None]] = {}
    for target in targets:
        if target.record.code_form and not why_nothing_to_search(target):
            found = names.setdefault(target.record.code_form, {})
            found[qualified_name(target.record.demangled_name)] = None
    return [
        f"{', '.join(found)}: only {_searched(form)} are searched, because the code is "
        f"{form_text(form)} without IR; {_NEEDS_IR}"
        for form, found in names.items()
    ]


def _searched(form: str) -> str:
    more = ", limits of registers and what ptxas takes" if form == "ptx" else ""
    return f"grid, block{more}" if more else "grid and block"
