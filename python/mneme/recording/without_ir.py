"""Recordings whose code is an image without IR, as the program gave it to its driver."""

from __future__ import annotations

from typing import Final

from mneme.errors import Unsupported

__all__ = ["COMPILERS_TEXTS", "FORMS_OF_GPUS", "form_text", "possible_with", "refusal"]

COMPILERS_TEXTS: Final = ("_$_str", "$str")
"""How names of variables begin that are texts of the compiler's: LLVM's, and nvcc's."""

FORMS_OF_GPUS: Final = ("cubin", "ptx", "fatbin")
"""Code that tells what it uses."""

_FORMS: Final = {
    "cubin": "a cubin",
    "ptx": "PTX",
    "fatbin": "a fat binary",
    "cpu": "an image for the CPU device",
}


def possible_with(form: str) -> str:
    """Return what replays and searches can do with code of this form."""
    if form == "ptx":
        return (
            "its grid, block, dynamic shared memory, carve-out, limit of registers, launch bounds "
            "and options of ptxas can be changed"
        )
    if form == "cpu":
        return "its grid, block and dynamic shared memory can be changed, nothing about its code"
    if form == "fatbin":
        return (
            "its grid, block, dynamic shared memory and carve-out can be changed, and of PTX in it "
            "what PTX takes"
        )
    return (
        "its grid, block, dynamic shared memory and carve-out can be changed, nothing about its "
        "code"
    )


def form_text(form: str) -> str:
    """Return what the code is, with an article: "a cubin"."""
    return _FORMS.get(form, form)


def refusal(kernel: str, form: str, purpose: str) -> Unsupported:
    """Return the error of what needs IR, for a kernel whose code has this form.

    Args:
        kernel: The kernel's name.
        form: As of `form_text`.
        purpose: What needs the IR, in the singular: "mneme explain".
    """
    return Unsupported(
        f"kernel '{kernel}' was recorded without IR (its code is {form_text(form)}), which "
        f"{purpose} needs; {possible_with(form)}"
    )
