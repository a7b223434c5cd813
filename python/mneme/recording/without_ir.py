"""Recordings whose code is an image without IR, as the program gave it to its driver."""

from __future__ import annotations

from typing import Final

from mneme.errors import Unsupported

__all__ = ["POSSIBLE_WITHOUT_IR", "form_text", "refusal"]

_FORMS: Final = {
    "cubin": "a cubin",
    "ptx": "PTX",
    "fatbin": "a fat binary",
    "cpu": "an image for the CPU device",
}
POSSIBLE_WITHOUT_IR: Final = (
    "its grid, block and dynamic shared memory can be changed, nothing about its code"
)
"""What replays and searches can do with such a recording."""


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
        f"{purpose} needs; {POSSIBLE_WITHOUT_IR}"
    )
