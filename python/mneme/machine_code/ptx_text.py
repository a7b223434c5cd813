"""What stands in PTX text: functions, their instructions in order, and what is declared of them.

Text that is damaged or cut off gives fewer functions or instructions, and no error.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "PtxCode",
    "PtxFunction",
    "PtxInstruction",
    "PtxModule",
    "PtxVariable",
    "bytes_of_type",
    "read_ptx",
]

# Comments, texts in quotes, and lines for debuggers, which end without a semicolon.
_NOT_CODE: Final = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"|^[ \t]*\.(?:loc|file)\b[^\n]*', re.DOTALL | re.MULTILINE
)
# Operands and values in braces; blocks of code have semicolons or blocks in theirs.
_OPERANDS: Final = re.compile(r"\{([^{};]*)\}")
_MARK: Final = re.compile(r"[;{}]")
_HEAD: Final = re.compile(r"\.(entry|func)\b\s*(?:\([^()]*\)\s*)?([\w$%]+)")
_CALLEE: Final = re.compile(r"\s*(?:\([^()]*\)\s*,\s*)?([\w$%]+)")
_PARENTHESES: Final = re.compile(r"\([^()]*\)")
_PRAGMA: Final = re.compile(r"\.pragma\s*;")
_NUMBER: Final = re.compile(r"0[xX]([0-9a-fA-F]{1,16})|([0-9]{1,18})")
_DIRECTIVE: Final = re.compile(r"(\.[a-z]\w*)((?:\s*,?\s*(?:0[xX][0-9a-fA-F]+|[0-9]+)\b)*)")
_LABEL: Final = re.compile(r"\s*([\w$%]+)\s*:(?!:)")
_INSTRUCTION: Final = re.compile(
    r"\s*(?:@!?([\w$%]+)\s+)?([a-z]\w*)((?:\s*\.[\w:]+)*)(?:\s+(.*))?", re.DOTALL
)
_TARGETS: Final = re.compile(r"\s*\.branchtargets\b(.*)", re.DOTALL)
_WORD: Final = re.compile(r"[\w$%]+")
# A declaration, and no instruction with such a modifier.
_VARIABLES: Final = re.compile(
    r"(?<![\w$%.])\.(shared|local)(?:\s+\.align\s+[0-9]+|\s+\.v([0-9])|\s+\.attribute\s*\([^()]*\))*"
    r"\s+(\.\w+)\s+([\w$%][^;=]*)"
)
_VARIABLE: Final = re.compile(r"([\w$%]+)\s*((?:\[\s*\w*\s*\]\s*)*)")
_EXTENT: Final = re.compile(r"\[\s*([0-9]{1,18})?\s*\]")
_TYPE: Final = re.compile(r"\.?(?:[bufs]|bf)([0-9]{1,3})(?:x([0-9]))?")
_BITS_OF_BYTE: Final = 8


def bytes_of_type(name: str) -> int:
    """Return 4 of ".f32" and of "f16x2"; 0 if it is not the name of such a type."""
    found = _TYPE.fullmatch(name)
    return int(found[1]) * int(found[2] or 1) // _BITS_OF_BYTE if found else 0


class PtxInstruction(NamedTuple):
    """One instruction."""

    opcode: str
    """Without modifiers: "ld"."""

    modifiers: tuple[str, ...]
    """As "global", "v4", "f32"; "shared::cta" is one."""

    operands: str
    is_guarded: bool
    """Whether a predicate decides if it is executed."""

    @property
    def callee(self) -> str:
        """What a call calls: a name, or a register."""
        found = _CALLEE.match(self.operands)
        return found[1] if found else ""


@dataclass(frozen=True, kw_only=True)
class PtxFunction:
    """A function with a body."""

    name: str
    is_kernel: bool
    directives: Mapping[str, tuple[int, ...]]
    """Numbers behind each directive between parameters and body: {".maxntid": (128, 1, 1)}."""

    body: str = field(repr=False)

    @cached_property
    def code(self) -> PtxCode:
        """What the body executes."""
        code = PtxCode()
        for text in _MARK.split(self.body):
            code.add(text)
        return code

    def mentions(self, name: str) -> bool:
        """Whether the body names a variable or function."""
        at = self.body.find(name)
        while at >= 0:
            end = at + len(name)
            around = self.body[max(0, at - 1) : at] + self.body[end : end + 1]
            if not _WORD.search(around):
                return True
            at = self.body.find(name, end)
        return False

    @property
    def variables(self) -> list[PtxVariable]:
        """Those of the body."""
        return list(_variables(self.body))


@dataclass(slots=True, kw_only=True)
class PtxCode:
    """The instructions of a function, and where branches lead to."""

    instructions: list[PtxInstruction] = field(default_factory=list)
    labels: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of the instructions behind labels; blocks may have labels of one name."""

    target_lists: dict[str, list[str]] = field(default_factory=dict)
    """What indexed branches choose from."""

    def add(self, text: str) -> None:
        """Add what stands up to a semicolon or brace."""
        label = ""
        while named := _LABEL.match(text):
            label, text = named[1], text[named.end() :]
            self.labels.setdefault(label, []).append(len(self.instructions))
        if targets := _TARGETS.match(text):
            self.target_lists[label] = _WORD.findall(targets[1])
        elif one := _INSTRUCTION.match(text):
            self.instructions.append(
                PtxInstruction(
                    opcode=one[2],
                    modifiers=tuple(part.strip() for part in one[3].split(".")[1:]),
                    operands=one[4] or "",
                    is_guarded=one[1] is not None,
                )
            )

    def loops(self) -> dict[int, int]:
        """Return where each loop begins and ends: a place, and the last branch back to it."""
        found: dict[int, int] = {}
        for number, one in enumerate(self.instructions):
            for label in self._targets(one):
                before = [place for place in self.labels.get(label, ()) if place <= number]
                if before:
                    found[before[-1]] = number
        return found

    def in_loops(self) -> list[bool]:
        """Return which instructions are between the begin and the end of a loop."""
        loops, end = self.loops(), -1
        found = []
        for number in range(len(self.instructions)):
            end = max(end, loops.get(number, end))
            found.append(number <= end)
        return found

    def _targets(self, one: PtxInstruction) -> Sequence[str]:
        words = _WORD.findall(one.operands) if one.opcode in ("bra", "brx") else ()
        if one.opcode == "brx" and words:
            return self.target_lists.get(words[-1], ())
        return words[:1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PtxVariable:
    """A variable in shared or local memory."""

    space: str
    name: str
    size_bytes: int
    """0: given at the launch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PtxModule:
    """A text."""

    version: str
    """Version of the PTX ISA: "8.3"; empty: unknown."""

    target: str
    """"sm_90"; empty: unknown."""

    functions: Mapping[str, PtxFunction]
    """Those with a body, by name."""

    shared: Mapping[str, int]
    """Bytes of shared variables outside of functions, by name; 0: given at the launch."""

    is_whole: bool
    """Whether the last block ends."""

    def reached_from(self, kernel: str) -> list[PtxFunction]:
        """Return a kernel and the functions that it calls or names, in turn."""
        others = [name for name, one in self.functions.items() if not one.is_kernel]
        found = {kernel: self.functions[kernel]} if kernel in self.functions else {}
        waiting = list(found)
        while waiting:
            caller = self.functions[waiting.pop()]
            named = [one for one in others if one not in found and caller.mentions(one)]
            found |= {name: self.functions[name] for name in named}
            waiting += named
        return list(found.values())


def read_ptx(text: str) -> PtxModule:
    """Return what stands in a text; without functions if it is not PTX."""
    plain = _OPERANDS.sub(r"(\1)", _NOT_CODE.sub(" ", text.partition("\0")[0]))
    functions: dict[str, PtxFunction] = {}
    outside: list[str] = []
    for head, body in _blocks(plain):
        outside.append(head)
        function = _function(head, body)
        if function is not None:
            functions[function.name] = function
    front = "\n".join(outside)
    return PtxModule(
        version=_word_behind(".version", front),
        target=_word_behind(".target", front),
        functions=functions,
        shared={one.name: one.size_bytes for one in _variables(front) if one.space == "shared"},
        is_whole=plain.count("{") == plain.count("}"),
    )


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each block that is in no other, and its content."""
    depth, begin, head = 0, 0, ""
    for mark in _MARK.finditer(text):
        if mark[0] == "{":
            if depth == 0:
                head, begin = text[begin : mark.start()], mark.end()
            depth += 1
        elif mark[0] == "}" and depth > 0:
            depth -= 1
            if depth == 0:
                yield head, text[begin : mark.start()]
                begin = mark.end()
    yield (head, text[begin:]) if depth else (text[begin:], "")


def _function(head: str, body: str) -> PtxFunction | None:
    """Return the function of a block; None for data of debuggers."""
    found = deque(_HEAD.finditer(head), maxlen=1)  # declarations stand before it
    rest = head[found[0].end() :] if found else ""
    directives = _PARENTHESES.sub(" ", _PRAGMA.sub(" ", rest))
    if not found or not body or ";" in directives:
        return None
    return PtxFunction(
        name=found[0][2],
        is_kernel=found[0][1] == "entry",
        directives={
            one[1]: tuple(
                int(hexadecimal, 16) if hexadecimal else int(decimal)
                for hexadecimal, decimal in _NUMBER.findall(one[2])
            )
            for one in _DIRECTIVE.finditer(directives)
        },
        body=body,
    )


def _word_behind(directive: str, text: str) -> str:
    found = re.search(rf"{re.escape(directive)}\s+([\w.]+)", text)
    return found[1] if found else ""


def _variables(text: str) -> Iterator[PtxVariable]:
    for found in _VARIABLES.finditer(text):
        element = bytes_of_type(found[3]) * int(found[2] or 1)
        for one in _VARIABLE.finditer(found[4]):
            count = 1
            for extent in _EXTENT.findall(one[2]):
                count *= int(extent or 0)
            yield PtxVariable(space=found[1], name=one[1], size_bytes=element * count)
