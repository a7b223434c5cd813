"""Reads the text of LLVM IR: functions, their blocks and instructions, and global variables.

Only what LLVM prints is read, not all that it accepts: an instruction begins a line after two
blanks, and its further lines are indented more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["NAME", "Block", "Function", "Instruction", "Module", "read_module", "split_list"]

NAME: Final = r'(?:"[^"]*"|[-\w.$]+)'
"""Pattern of a name without its first character, % or @."""

_GLOBAL: Final = re.compile(rf"^@({NAME}) = (.*)")
_TYPE: Final = re.compile(rf"^(%{NAME}) = type (.*)")
_FUNCTION: Final = re.compile(rf"@({NAME})\(")
_LABEL: Final = re.compile(rf"^({NAME}):")
_INSTRUCTION: Final = re.compile(
    rf"^  (?:%({NAME}) = )?(?:(?:tail|musttail|notail) )?([a-z][a-z_]*)\b ?(.*)", re.DOTALL
)
_TARGET: Final = re.compile(rf"\blabel %({NAME})")
_METADATA: Final = re.compile(r", ![\w.]+ !.*", re.DOTALL)
_KERNEL: Final = re.compile(r"\b(?:ptx_kernel|amdgpu_kernel|spir_kernel)\b")
_BRACKETS: Final = {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1, ">": -1}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction."""

    opcode: str
    """ "load", "call", ..."""

    operands: str
    """What follows the opcode, without metadata."""

    name: str = ""
    """The value it makes; empty: none."""


@dataclass(slots=True)
class Block:
    """A basic block."""

    name: str
    """Its label; empty for a first block that has none."""

    instructions: list[Instruction] = field(default_factory=list)
    """In their order."""

    successors: tuple[str, ...] = ()
    """Labels of the blocks that may follow, each once."""


@dataclass(slots=True)
class Function:
    """A function with a body."""

    name: str
    """Mangled."""

    is_kernel: bool
    """Whether hosts launch it."""

    parameters: list[str]
    """As in the text: "ptr noundef %out"."""

    blocks: list[Block] = field(default_factory=list)
    """In the order of the text; the first is where it begins."""

    mentions: set[str] = field(default_factory=set)
    """Functions and variables that its body names."""


@dataclass(slots=True)
class Module:
    """What a text of IR holds."""

    functions: dict[str, Function] = field(default_factory=dict)
    """Those with a body, by name."""

    variables: dict[str, str] = field(default_factory=dict)
    """Definitions of global variables, by name."""

    types: dict[str, str] = field(default_factory=dict)
    """What types with a name are: "%struct.Pair" is "{ i32, float }"."""

    triple: str = ""
    """What it is for: "nvptx64-nvidia-cuda"."""

    def reached_from(self, name: str) -> Module:
        """Return what a function reaches, itself included; all if there is no such function."""
        if name not in self.functions:
            return self
        reached = Module(types=self.types, triple=self.triple)
        waiting = [name]
        while waiting:
            one = waiting.pop()
            if one in self.functions and one not in reached.functions:
                reached.functions[one] = self.functions[one]
                waiting += self.functions[one].mentions
            elif one in self.variables and one not in reached.variables:
                reached.variables[one] = self.variables[one]
                waiting += names_in(self.variables[one])
        return reached


def read_module(texts: str | Sequence[str]) -> Module:
    """Return what one or more texts hold; of functions with one name, the first counts."""
    module = Module()
    for text in (texts,) if isinstance(texts, str) else texts:
        _read(text, module)
    return module


def _read(text: str, module: Module) -> None:
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("define "):
            function = _function(line, lines)
            if function is not None:
                module.functions.setdefault(function.name, function)
        elif line.startswith("@") and (found := _GLOBAL.match(line)):
            module.variables.setdefault(found[1].strip('"'), found[2])
        elif line.startswith("%") and (type_found := _TYPE.match(line)):
            module.types.setdefault(type_found[1], type_found[2])
        elif line.startswith("target triple = "):
            module.triple = module.triple or line.partition('"')[2].rstrip('"')


def _function(head: str, lines: Iterator[str]) -> Function | None:
    found = _FUNCTION.search(head)
    if found is None:
        return None
    function = Function(
        name=found[1].strip('"'),
        is_kernel=bool(_KERNEL.search(head[: found.start()])),
        parameters=split_list(_within(head, found.end())),
    )
    block = Block("")
    for text in _statements(lines):
        if label := _LABEL.match(text):
            _add(function, block)
            block = Block(label[1].strip('"'))
        elif instruction := _INSTRUCTION.match(text):
            name, opcode, operands = instruction.groups(default="")
            if "label %" in operands:
                targets = (one.strip('"') for one in _TARGET.findall(operands))
                block.successors = tuple(dict.fromkeys(targets))
            if "@" in operands:
                function.mentions |= names_in(operands)
            told = _METADATA.sub("", operands)
            block.instructions.append(Instruction(opcode, told, name.strip('"')))
    _add(function, block)
    return function


def _add(function: Function, block: Block) -> None:
    if block.instructions or block.name:
        function.blocks.append(block)


def _statements(lines: Iterator[str]) -> Iterator[str]:
    """Yield labels and instructions up to the end of a body, each as one text."""
    whole = ""
    for line in lines:
        if line == "}":
            break
        begins = line[:2] == "  " and line[2:3] not in ("", " ", "]")
        if whole and not begins and line[:1] == " ":
            whole += " " + line.strip()
            continue
        if whole:
            yield whole
        # Records for debuggers are no instructions.
        whole = "" if line.lstrip().startswith((";", "#")) or not line.strip() else line
    if whole:
        yield whole


def _within(text: str, start: int) -> str:
    """Return a text from a place up to the bracket that closes the one before it."""
    depth, quoted = 1, False
    for place in range(start, len(text)):
        one = text[place]
        quoted ^= one == '"'
        if not quoted:
            depth += {"(": 1, ")": -1}.get(one, 0)
        if depth == 0:
            return text[start:place]
    return text[start:]


def split_list(text: str) -> list[str]:
    """Return the parts of a text between its commas, those in brackets apart."""
    parts, depth, quoted, start = [], 0, False, 0
    for place, one in enumerate(text):
        quoted ^= one == '"'
        if quoted:
            continue
        depth += _BRACKETS.get(one, 0)
        if one == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, last] if (last := text[start:].strip()) else parts


def names_in(text: str) -> set[str]:
    """Return the functions and variables that a text names."""
    return {one.strip('"') for one in re.findall(rf"@({NAME})", text)}
