"""Keeps variants from launches that are faster as built."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mneme.arguments import ArgKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.deploy.tuned_variant import Match, TunedVariant

__all__ = ["guard_against", "telling_guards"]


def guard_against(
    variant: TunedVariant, others: Sequence[Match]
) -> tuple[TunedVariant, list[Match]]:
    """Return a variant with guards that exclude other launches.

    Args:
        variant: A variant, found for one launch of a kernel.
        others: Launches of the kernel for which nothing faster than the baseline was found.

    Returns:
        The variant, and the launches that it still applies to, because no guard can distinguish
        them.
    """
    guards = list(variant.guards)
    served = []
    for other in others:
        telling = telling_guards(variant.match, other)
        if not telling:
            served.append(other)
        elif not _is_guarded(guards, telling):
            # One is enough; the first is the simplest.
            guards.append(telling[0])
    return replace(variant, guards=tuple(guards)), served


def telling_guards(match: Match, other: Match) -> list[str]:
    """Return the guards that hold for one launch and not for another.

    Only integer arguments count: sizes decide how long a kernel runs, while other scalars change
    from launch to launch.
    """
    telling = []
    if match.arch and other.arch and match.arch != other.arch:
        telling.append("Arch")
    if match.grid is not None and match.grid != other.grid:
        telling.append("Grid")
    if match.block is not None and match.block != other.block:
        telling.append("Block")
    if match.shared_mem is not None and match.shared_mem != other.shared_mem:
        telling.append("SharedMem")
    values = {one.index: one.bytes for one in other.args}
    sizes = [one for one in match.args if one.kind is ArgKind.INTEGER]
    return telling + [f"Arg:{one.index}" for one in sizes if values.get(one.index) != one.bytes]


def _is_guarded(guards: Sequence[str], telling: Sequence[str]) -> bool:
    """Whether one of the present guards already distinguishes the launches."""
    has_args = "Args" in guards and any(one.startswith("Arg:") for one in telling)
    return has_args or not set(guards).isdisjoint(telling)
