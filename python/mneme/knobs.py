# fmt: off
# ruff: noqa: E501 - lines are as long as the table's sentences
"""Knobs that change the code alone, numbers and texts. Written by scripts/knobs.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mneme.knob_kinds import CodeNumber, CodeText
from mneme.option import option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CODE_NUMBERS",
    "CODE_TEXTS",
    "CodeKnobs",
    "FixedCodeKnobs",
    "SearchedCodeNumbers",
    "SearchedCodeTexts",
]

_SPACE = "Search space"


CODE_NUMBERS: Final = (
    CodeNumber(
        key="max_registers",
        default=0,
        high=1024,
        deployed="MaxRegisters",
        searched=(32, 48, 64, 96, 128),
        is_for_gpus=True,
        label="most registers of a thread",
        text="Registers a thread may have on a GPU; 0: no limit.",
    ),
    CodeNumber(
        key="shared_carveout",
        default=0,
        high=100,
        deployed="SharedCarveout",
        searched=(),
        is_for_gpus=True,
        label="percent of the L1 cache that is shared memory",
        text="Shared memory in an NVIDIA GPU's L1 cache, in percent, 1: least; 0: as the program.",
    ),
)
"""Those that are whole numbers."""

CODE_TEXTS: Final = (
    CodeText(
        key="pass_plugins",
        deployed="PassPlugins",
        option="--pass-plugin",
        metavar="FILE",
        between=":",
        has_files=True,
        label="pass plugins",
        text="An LLVM pass plugin, whose passes pipelines can name; may be repeated.",
    ),
    CodeText(
        key="llvm",
        deployed="Llvm",
        option="--llvm",
        metavar="LLVM",
        between="\n",
        has_files=True,
        label="LLVM",
        text="Another LLVM that compiles, of 'mneme compiler ls'; 'recorded' or 'ptx': none, what ran.",
    ),
    CodeText(
        key="llvm_options",
        deployed="LlvmOptions",
        option="--mllvm",
        metavar="OPTION",
        between=" ",
        has_files=False,
        label="options of LLVM",
        text="For LLVM, as unroll-threshold=300; may be repeated.",
    ),
    CodeText(
        key="assembler_options",
        deployed="AssemblerOptions",
        option="--ptxas",
        metavar="OPTION",
        between=" ",
        has_files=False,
        label="options of ptxas",
        text="For ptxas, values behind '='; may be repeated.",
    ),
)
"""Those that are texts."""


@dataclass(kw_only=True)
class CodeKnobs:
    """Their values."""

    max_registers: int = 0
    """Registers a thread may have on a GPU; 0: no limit."""

    shared_carveout: int = 0
    """Shared memory in an NVIDIA GPU's L1 cache, in percent, 1: least; 0: as the program."""

    pass_plugins: str = ""
    """Pass plugins, in the form of `mneme.code_texts`."""

    llvm: str = ""
    """LLVM, in the form of `mneme.code_texts`."""

    llvm_options: str = ""
    """Options of LLVM, divided by blanks."""

    assembler_options: str = ""
    """Options of ptxas, divided by blanks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCodeKnobs:
    """Their values, which do not change."""

    max_registers: int = 0
    """Registers a thread may have on a GPU; 0: no limit."""

    shared_carveout: int = 0
    """Shared memory in an NVIDIA GPU's L1 cache, in percent, 1: least; 0: as the program."""

    pass_plugins: str = ""
    """Pass plugins, in the form of `mneme.code_texts`."""

    llvm: str = ""
    """LLVM, in the form of `mneme.code_texts`."""

    llvm_options: str = ""
    """Options of LLVM, divided by blanks."""

    assembler_options: str = ""
    """Options of ptxas, divided by blanks."""


@dataclass(kw_only=True)
class SearchedCodeNumbers:
    """Which numbers are tried."""

    max_registers_range: str | Sequence[int] | None = option(
        None, _SPACE, "Values that are tried besides 0: most registers of a thread.", metavar="LOW:HIGH[:STEP]"
    )
    fixed_max_registers: int | None = option(
        None, _SPACE, "The only value: most registers of a thread.", metavar="N"
    )

    shared_carveout_range: str | Sequence[int] | None = option(
        None, _SPACE, "Values that are tried besides 0: percent of the L1 cache that is shared memory.", metavar="LOW:HIGH[:STEP]"
    )
    fixed_shared_carveout: int | None = option(
        None, _SPACE, "The only value: percent of the L1 cache that is shared memory.", metavar="N"
    )


@dataclass(kw_only=True)
class SearchedCodeTexts:
    """Which texts that name no files are tried."""

    llvm_options: str | Sequence[str] = option(
        (), _SPACE, "In all configurations but the baseline: options of LLVM; may be repeated.", names=("--mllvm",), metavar="OPTION"
    )
    llvm_choices: str | Sequence[str] = option(
        (), _SPACE, "Values of such an option to choose from; may be repeated.", names=("--mllvm-choice",), metavar="NAME=V,W.."
    )

    assembler_options: str | Sequence[str] = option(
        (), _SPACE, "In all configurations but the baseline: options of ptxas; may be repeated.", names=("--ptxas",), metavar="OPTION"
    )
    assembler_choices: str | Sequence[str] = option(
        (), _SPACE, "Values of such an option to choose from; may be repeated.", names=("--ptxas-choice",), metavar="NAME=V,W.."
    )
