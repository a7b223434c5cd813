"""Advises in one sentence which arguments to mark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme.arguments import ArgKind
from mneme.explain.shape import WHOLE, Constants

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mneme.explain.case import Case, Figures
    from mneme.explain.shape import Folds, Place, Shape
    from mneme.programs.kernels import EmbeddedKernel

__all__ = ["Advice", "advise", "change_text", "folds_text"]

# A constant that folds nothing must save at least this share of the code, and more than a few
# bytes.
_SHARE = 0.05
_INSTRUCTIONS, _BYTES = 3, 129  # GPU code comes in steps of 128 bytes

_OBJECT = 12  # in runtime/core/abi/jit_mark.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The arguments to mark, and the reason."""

    known: Constants
    """Arguments to mark."""

    sentence: str


def advise(
    kernel: EmbeddedKernel,
    shape: Shape,
    built: Figures,
    cases: Sequence[Case],
    figures_of: Callable[[Constants], Figures | None],
) -> Advice:
    """Return which arguments are worth marking.

    Args:
        kernel: The kernel.
        shape: What depends on its arguments.
        built: Its code without constants.
        cases: Its code with some constants.
        figures_of: Compiles it with other constants.
    """
    alone = [one for one in cases if len(one.known.places) == 1 and not one.known.dims]
    with_value = {place for one in alone if one.figures for place in one.known.places}
    # A mark makes block and grid constant as well.
    dims = any(one.known.dims for one in cases)

    def compiled(known: Constants) -> Figures:
        has_value = frozenset(index for index, offset in with_value if offset == WHOLE)
        members = known.members & with_value
        now = Constants(known.args & has_value, known.contents & has_value, dims, members)
        return (figures_of(now) if now.places else None) or built

    known = Constants()
    marked = {mark.arg for mark in kernel.marks or ()}
    data = (_pointers(kernel) if kernel.is_host_function else shape.scattered) - marked
    for one in shape.things:
        if not one.needs.contents & data:
            known |= Constants(one.needs.args, one.needs.contents, members=one.needs.members)
    for case in alone:
        if case.figures and _is_shorter(compiled(known | case.known), compiled(known)):
            known |= case.known
    if not known:
        return Advice(known=known, sentence=_nothing(shape))
    folds = folds_text(shape.folded(known | Constants(dims=True)))
    effects = [f"folds {folds}"] if folds else []
    effects += _changes(built, compiled(known))
    names = [_name(kernel, place) for place in known.places]
    is_marked = set(known.indices) <= marked and not known.members
    head = f"marked already ({', '.join(names)})" if is_marked else _marks(kernel, known)
    missing = [_name(kernel, one) for one in known.places if one not in with_value]
    note = (
        f" (compiled without a value for {', '.join(missing)}; --value gives one)"
        if missing
        else ""
    )
    return Advice(known=known, sentence=f"{head}: {', '.join(effects)}{note}.")


def _pointers(kernel: EmbeddedKernel) -> frozenset[int]:
    """Return pointer arguments that likely lead to data: one thread reads all of it in turn."""
    return frozenset(index for index, one in enumerate(kernel.args) if one.kind is ArgKind.POINTER)


def _is_shorter(figures: Figures, than: Figures) -> bool:
    """Return whether a constant shortens the code (a division may become several shifts)."""
    pairs = (
        (figures.instructions, than.instructions, _INSTRUCTIONS),
        (figures.code_bytes, than.code_bytes, _BYTES),
    )
    return any(
        now is not None and was is not None and was - now >= max(least, was * _SHARE)
        for now, was, least in pairs
    )


def _nothing(shape: Shape) -> str:
    if any(shape.totals.values()):
        return (
            "nothing to mark: no loop and no branch depends on arguments alone, "
            "and constants hardly shorten the code."
        )
    return "nothing to mark: there are no loops and no branches."


def _name(kernel: EmbeddedKernel, place: Place) -> str:
    argument = kernel.args[place[0]]
    found = (one for one in argument.members or () if one.offset == place[1])
    member = next(found, None)
    return argument.member_name(member) if member else argument.name


def _marks(kernel: EmbeddedKernel, known: Constants) -> str:
    """Return the marks as they would appear in the source, and for members an option."""
    marks = _source_marks(kernel, Constants(known.args, known.contents))
    if not known.members:
        return marks
    paths = ",".join(f"{index}+{offset}" for index, offset in sorted(known.members))
    names = ", ".join(_name(kernel, one) for one in sorted(known.members))
    chosen = f"mneme tune --specialized-args {paths} ({names})"
    return f"{marks}, {chosen}" if marks else chosen


def _source_marks(kernel: EmbeddedKernel, known: Constants) -> str:
    args = kernel.args
    if not known:
        return ""
    is_plain = not known.contents and all(
        args[index].kind in (ArgKind.INTEGER, ArgKind.FLOAT) for index in known.args
    )
    if is_plain:
        return 'annotate("jit", ' + ", ".join(str(index + 1) for index in known.indices) + ")"
    return ", ".join(
        _call(kernel, index, is_content=index in known.contents) for index in known.indices
    )


def _call(kernel: EmbeddedKernel, index: int, *, is_content: bool) -> str:
    one = kernel.args[index]
    if is_content:
        mark = next((mark for mark in kernel.marks or () if mark.arg == index), None)
        if mark is not None and mark.type == _OBJECT:
            return f"proteus::jit_object({one.name})"
        has_count = mark is not None and mark.count_arg >= 0
        count = kernel.args[mark.count_arg].name if mark and has_count else "<elements>"
        return f"proteus::jit_array({one.name}, {count})"
    if one.type.startswith("class.anon"):
        return f"proteus::jit_variable(...) in the lambda {one.name}"
    kind = "jit_object" if one.kind is ArgKind.AGGREGATE else "jit_arg"
    return f"proteus::{kind}({one.name})"


def folds_text(folds: Folds) -> str:
    """Return "2 loops, 1 branch"; empty if there are none."""
    counts = (
        (folds.loops, "loop", "loops"),
        (folds.branches, "branch", "branches"),
        (folds.loads, "load", "loads"),
    )
    return ", ".join(
        f"{count} {one if count == 1 else many}" for count, one, many in counts if count
    )


def change_text(before: int | None, after: int | None) -> str:
    """Return " (-38 %)"; empty if nothing changes or the change is unknown."""
    if before == after or not before or after is None:
        return ""
    return f" ({(after - before) / before * 100:+.0f} %)"


def _changes(built: Figures, now: Figures | None) -> list[str]:
    if now is None:
        return []
    named = (
        ("instructions", built.instructions, now.instructions),
        ("bytes of code", built.code_bytes, now.code_bytes),
        ("registers", built.registers, now.registers),
        ("bytes spilled", built.spill_bytes, now.spill_bytes),
    )
    texts = [
        f"{name} {before} -> {after}{change_text(before, after)}"
        for name, before, after in named
        if before != after and None not in (before, after)
    ]
    is_unrolled = now.instructions > built.instructions and now.loops < built.loops
    return [*texts, "unrolled"] if is_unrolled else texts
