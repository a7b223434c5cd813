"""Explains how a kernel changes if arguments are constants, one by one and together."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mneme.arguments import ArgKind
from mneme.errors import InvalidArgument, Unsupported
from mneme.explain.advice import Advice, advise
from mneme.explain.case import Case, Figures
from mneme.explain.shape import WHOLE, Constants, Shape
from mneme.explain.values import members_of, values_of
from mneme.programs.elf import code_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.arguments import Member
    from mneme.explain.shape import Place
    from mneme.explain.values import Value
    from mneme.programs.kernels import EmbeddedKernel

__all__ = ["ExplainOptions", "Explanation", "explain"]

_PASSES = "default<O3>"  # as marked kernels are compiled
_MOST_COMPILATIONS = 8
_VGPR_BYTES = 4  # of a work-item


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """What is known about a launch."""

    values: tuple[str, ...] = ()
    """In the format of `values_of()`."""

    block: tuple[int, int, int] | None = None
    grid: tuple[int, int, int] | None = None
    """Set together with `block` or not at all."""

    target: str = ""
    """ "sm_90", "cpu"; empty: the target of the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything about one kernel."""

    kernel: EmbeddedKernel = field(repr=False)
    target: str
    passes: str
    """LLVM pass pipeline of marked kernels."""

    shape: Shape
    values: Mapping[Place, Value]
    built: Figures
    """Without constants."""

    cases: tuple[Case, ...]
    """Each argument alone, block and grid, all together."""

    advice: Advice

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values. Arguments are numbered from 1, as in marks."""
        return {
            "kernel": self.kernel.kernel_name,
            "demangled": self.kernel.demangled_name,
            "place": str(self.kernel.place or ""),
            "file": str(self.kernel.file),
            "target": self.target,
            "passes": self.passes,
            "arguments": [
                {
                    "position": index + 1,
                    "name": one.name,
                    "type": one.type,
                    "marked": any(mark.arg == index for mark in self.kernel.marks or ()),
                    **self._value(index, WHOLE),
                    **self._members(index),
                }
                for index, one in enumerate(self.kernel.args)
            ],
            "hang_on": [
                {"kind": one.kind, "line": one.line, **_needs(one.needs)}
                for one in self.shape.things
            ],
            "built": asdict(self.built),
            "cases": [
                {
                    **_needs(one.known),
                    "folds": asdict(one.folds),
                    "figures": asdict(one.figures) if one.figures else None,
                }
                for one in self.cases
            ],
            "advice": self.advice.sentence,
        }

    def place_name(self, place: Place) -> str:
        """Return "n", or "f.s.n" for a member of a struct."""
        argument, member = self.kernel.args[place[0]], self.members.get(place)
        return argument.member_name(member) if member else argument.name

    @property
    def members(self) -> dict[Place, Member]:
        """The members of structs that can become constants by themselves."""
        return members_of(self.kernel)

    def _value(self, index: int, offset: int) -> dict[str, Any]:
        value = self.values.get((index, offset))
        return {
            "value": value.text if value else None,
            "is_probe": value is not None and value.is_probe,
        }

    def _members(self, index: int) -> dict[str, Any]:
        """Return what the kernel reads of a struct; nothing for other arguments."""
        argument = self.kernel.args[index]
        if argument.members is None:
            return {}
        members = [
            {
                "path": f"{index}+{one.offset}",
                "name": argument.member_name(one),
                "type": one.type,
                "kind": one.kind.value,
                "can_be_constant": (index, one.offset) in self.members,
                **self._value(index, one.offset),
            }
            for one in argument.members
        ]
        read = sum(one.size for one in argument.members)
        return {"size": argument.size, "read_bytes": read, "members": members}


def _needs(known: Constants) -> dict[str, Any]:
    return {
        "arguments": [index + 1 for index in sorted(known.args)],
        "members": [f"{index}+{offset}" for index, offset in sorted(known.members)],
        "contents": [index + 1 for index in sorted(known.contents)],
        "dims": known.dims,
    }


def explain(kernel: EmbeddedKernel, options: ExplainOptions | None = None) -> Explanation:
    """Compile a kernel with and without constants and compare the results; nothing runs.

    Raises:
        Unsupported: If the kernel calls functions that the program does not contain.
        InvalidArgument: If a value is invalid.
        CompileFailed: If the compiler refuses the kernel.
    """
    if kernel.is_linked and not kernel.linked:
        raise Unsupported(
            f"'{kernel.demangled_name}' calls functions of other units, which '{kernel.file}' does "
            "not carry; build them with mneme too"
        )
    compiler = _Compiler(kernel, options or ExplainOptions())
    statistics, built = compiler.compiled(Constants())
    shape = Shape.of(statistics["shape"], members_of(kernel))
    compiler.values = values_of(kernel, shape, compiler.options.values)
    known = _cases(kernel, shape, compiler)
    with ThreadPoolExecutor(min(_MOST_COMPILATIONS, os.cpu_count() or 1)) as threads:
        figures = list(threads.map(compiler.figures, known))
    cases = tuple(
        Case(known=one, folds=shape.folded(one), figures=got)
        for one, got in zip(known, figures, strict=True)
    )
    return Explanation(
        kernel=kernel,
        target=compiler.target,
        passes=_PASSES,
        shape=shape,
        values=compiler.values,
        built=built,
        cases=cases,
        advice=advise(kernel, shape, built, cases, compiler.figures),
    )


def _cases(kernel: EmbeddedKernel, shape: Shape, compiler: _Compiler) -> list[Constants]:
    """Return the cases to try, without those that fold nothing and have no value."""
    loaded = {index for one in shape.things for index in one.needs.contents}
    cases = []
    members = members_of(kernel)
    everything = Constants(members=frozenset(members))
    for index in range(len(kernel.args)):
        cases += [Constants(members=frozenset({one})) for one in members if one[0] == index]
        value = compiler.values.get((index, WHOLE))
        is_content = index in loaded or (value is not None and _is_pointer(kernel, index))
        place = frozenset({index})
        one = Constants(contents=place) if is_content else Constants(place)
        if value is not None:
            everything |= one
        if value is not None or is_content:
            cases.append(one)
    if compiler.options.block:
        cases.append(Constants(dims=True))
        everything |= cases[-1]
    if everything not in cases and everything:
        cases.append(everything)
    return cases


def _is_pointer(kernel: EmbeddedKernel, index: int) -> bool:
    return kernel.args[index].kind is ArgKind.POINTER


class _Compiler:
    """Compiles one kernel with any constants, as marked kernels are compiled."""

    def __init__(self, kernel: EmbeddedKernel, options: ExplainOptions) -> None:
        self.kernel = kernel
        self.options = options
        self.values: Mapping[Place, Value] = {}
        own = kernel.arch if kernel.is_host_function or _has_target(kernel.arch) else "cpu"
        self.target = options.target or own
        if kernel.is_host_function and (self.target != own or options.block):
            raise InvalidArgument(
                f"'{kernel.demangled_name}' is a function of the host: it has no block and no "
                "grid, and is compiled for the processor alone"
            )
        self._told: dict[Constants, Figures] = {}

    def compiled(self, known: Constants) -> tuple[dict[str, Any], Figures]:
        """Return the compiler's statistics and the figures of the code."""
        from mneme import _native  # noqa: PLC0415 - loads native code

        values = {place: self.values[place] for place in known.places}
        dims: dict[str, Any] = {}
        if known.dims:
            dims = {"block": self.options.block, "grid": self.options.grid}
            dims |= {"specialize_dims": True, "set_launch_bounds": True}
        variables = (*self.kernel.variables, *self.kernel.linked_variables)
        is_for_processor = self.target.startswith(("cpu", "host"))
        compiled = _native.compile_ir(
            [self.kernel.bitcode, *self.kernel.linked],
            self.kernel.kernel_name,
            target=self.target,
            passes=_PASSES,
            specialized_args={
                index: one.data
                for (index, offset), one in values.items()
                if offset == WHOLE and one.content is None
            },
            specialized_members={
                place: one.data for place, one in values.items() if place[1] != WHOLE
            },
            specialized_contents={
                index: (one.content, one.data)
                for (index, _), one in values.items()
                if one.content is not None
            },
            options_json=self.kernel.options,
            placed_globals={} if is_for_processor else dict.fromkeys(variables, 0),
            want_shape=True,
            **dims,
        )
        told: dict[str, Any] = json.loads(compiled["statistics"])
        return told, _figures(told, compiled["image"])

    def figures(self, known: Constants) -> Figures | None:
        if not set(known.places) <= self.values.keys():
            return None
        if known not in self._told:
            _, self._told[known] = self.compiled(known)
        return self._told[known]


def _has_target(arch: str) -> bool:
    """Return whether the compiler supports a GPU; LLVM may have been built without AMD's."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    if arch.startswith("gfx"):
        return "amdgpu" in json.loads(_native.compiler_version())["targets"]
    return arch.startswith("sm_")


def _figures(statistics: Mapping[str, Any], image: bytes) -> Figures:
    registers = statistics.get("reg_usage") or None  # of GPUs
    spills = statistics.get("spill_store_bytes", 0) + statistics.get("spill_load_bytes", 0)
    spills += _VGPR_BYTES * statistics.get("vgpr_spill_count", 0)
    return Figures(
        **statistics["code"],
        code_bytes=code_bytes(image),
        registers=registers,
        spill_bytes=None if registers is None else spills,
    )
