"""What the table of knobs, runtime/core/abi/knobs.def, says of those that change code alone."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CodeNumber", "CodeText"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeNumber:
    """A knob that is a whole number."""

    key: str
    """Field of configurations, name of the search dimension."""

    default: int
    """The value if none is given."""

    high: int
    """The largest value."""

    deployed: str
    """Key in files of tuned kernels."""

    searched: tuple[int, ...]
    """What the larger search spaces try besides the default."""

    is_for_gpus: bool
    """It has no effect on the CPU device."""

    label: str
    """What reports call it."""

    text: str
    """A sentence that describes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeText:
    """A knob that is a text; the empty one is the default."""

    key: str
    """Field of configurations."""

    deployed: str
    """Key in files of tuned kernels."""

    option: str
    """On the command line, where it may be repeated."""

    metavar: str
    """What stands for its value there."""

    between: str
    """Divides the parts of the text."""

    has_files: bool
    """It names files, with hashes of their contents; `mneme.code_texts` says how."""

    label: str
    """What reports call it."""

    text: str
    """A sentence that describes it."""

    @property
    def choices(self) -> str:
        """What spaces call the values to choose from."""
        return self.key.removesuffix("_options") + "_choices"

    @property
    def choice_option(self) -> str:
        """The option that says these."""
        return f"{self.option}-choice"

    def options(self, value: str) -> list[str]:
        """Return the words of a command line that say this value."""
        parts = [one for one in value.split(self.between) if one]
        return [f"{self.option}={one}" for one in parts]
