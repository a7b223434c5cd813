"""Which memory the pointers of a function lead to, as far as the code tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mneme.ir.module_text import NAME, split_list

if TYPE_CHECKING:
    from mneme.ir.module_text import Function, Instruction, Module

__all__ = ["SPACES", "Pointers"]

SPACES: Final = ("global", "shared", "constant", "local", "generic")
"""Kinds of memory; generic: any, or not known."""

# By address space; NVPTX and AMDGPU agree, or only one of them has the number.
_NUMBERS: Final = {
    "1": "global",
    "3": "shared",
    "4": "constant",
    "5": "local",
    "7": "shared",
    "101": "constant",
}
_SPACE: Final = re.compile(r"\baddrspace\((\d+)\)")
_VALUE: Final = re.compile(rf"\bptr(?: addrspace\((\d+)\))? ([%@])({NAME})")
_PARAMETER: Final = re.compile(rf"%({NAME})$")
_KEEPS: Final = ("getelementptr", "addrspacecast", "bitcast", "freeze")
_MAKES: Final = (*_KEEPS, "alloca", "load")
_MOST_STEPS: Final = 64


class Pointers:
    """The pointers of one function."""

    def __init__(self, function: Function, module: Module) -> None:
        """Look at the instructions that make pointers from others."""
        self._module = module
        self._made: dict[str, Instruction] = {}
        self._stored: dict[str, set[str]] = {}
        for block in function.blocks:
            for one in block.instructions:
                if one.opcode in _MAKES:
                    self._made[one.name] = one
                elif one.opcode == "store" and one.operands.startswith("ptr"):
                    value, place, *_ = split_list(one.operands)
                    self._stored.setdefault(place, set()).add(value)
        names = set(map(_named, function.parameters))
        # What a kernel is given by its host is in global memory.
        self._given = names if function.is_kernel else set()
        self._by_value = {_named(one) for one in function.parameters if "byval(" in one}

    def space(self, operand: str) -> str:
        """Return the kind of memory that an operand such as "ptr %out" leads to."""
        for _ in range(_MOST_STEPS):
            if number := _SPACE.search(operand):
                return _NUMBERS.get(number[1], "generic")
            found = _VALUE.search(operand)
            if found is None:
                return "generic"
            sigil, name = found[2], found[3].strip('"')
            if sigil == "@":
                return self._of_variable(name)
            made = self._made.get(name)
            if made is None:
                return self._of_parameter(name)
            if made.opcode == "alloca":
                return "local"
            operand = _source(made) if made.opcode != "load" else self._loaded(made)
        return "generic"

    def _loaded(self, made: Instruction) -> str:
        """Return the value that is stored where a pointer is loaded; empty if there are several.

        Code that is not optimised keeps arguments in local variables.
        """
        parts = split_list(made.operands)
        values = self._stored.get(parts[1], set()) if len(parts) > 1 else set()
        is_local = len(values) == 1 and self.space(parts[1]) == "local"
        return next(iter(values)) if is_local else ""

    def _of_variable(self, name: str) -> str:
        told = self._module.variables.get(name, "")
        number = _SPACE.search(told)
        if number is not None:
            return _NUMBERS.get(number[1], "generic")
        return "global" if told else "generic"

    def _of_parameter(self, name: str) -> str:
        if name in self._by_value:
            return "constant"
        return "global" if name in self._given else "generic"


def _named(parameter: str) -> str:
    """Return the name of a parameter; empty if it has none."""
    found = _PARAMETER.search(parameter)
    return found[1].strip('"') if found else ""


def _source(made: Instruction) -> str:
    """Return the operand that an instruction makes its pointer from."""
    parts = split_list(made.operands)
    text = parts[1] if made.opcode == "getelementptr" and len(parts) > 1 else parts[0]
    # "ptr addrspace(3) %a to ptr": what it was counts, not what it becomes.
    return text.partition(" to ")[0]
