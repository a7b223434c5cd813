"""Blocks and grids a recorded launch can be replayed with."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.mneme_types import dim3
from mneme.search.recorded_code import bound_of_image, recorded_ir

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mneme.devices import DeviceLimits

__all__ = [
    "LAUNCH_DIMS",
    "LAUNCH_SAFETY",
    "RecordedLaunch",
    "block_shapes",
    "covering_grid",
    "fits_device",
    "grid_of",
    "static_max_threads",
]

LAUNCH_DIMS = ("none", "auto", "x", "xy", "xyz")
"""Which axes of a block may change; auto: those along which the launch has more than one thread."""

LAUNCH_SAFETY = ("conservative", "balanced", "aggressive")
"""How far a block may be from the recorded one, see `block_shapes`."""

# A launch may have this many times the recorded threads where blocks do not fit evenly.
_MOST_EXCESS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLaunch:
    """The facts about a recorded launch that decide which other launches to try."""

    grid: dim3
    """Blocks."""

    block: dim3
    """Threads of a block."""

    shared_mem: int = 0
    """Dynamic shared memory in bytes; its size usually follows from the block's."""

    max_threads: int = 0
    """Maximum of threads per block that the source promises (`__launch_bounds__`); 0: none."""

    is_cooperative: bool = False
    """Blocks wait for one another."""

    @classmethod
    def of(cls, kernel: Any, max_threads: int | None = None) -> RecordedLaunch:  # noqa: ANN401
        """Return the launch of a recorded kernel instance.

        Args:
            kernel: Has `grid_dim`, `block_dim` and `shared_mem`.
            max_threads: As the field; None reads the recorded code.
        """
        return cls(
            grid=kernel.grid_dim,
            block=kernel.block_dim,
            shared_mem=int(getattr(kernel, "shared_mem", 0)),
            max_threads=static_max_threads(kernel) if max_threads is None else max_threads,
            is_cooperative=bool(getattr(kernel, "is_cooperative", False)),
        )

    @property
    def extents(self) -> tuple[int, int, int]:
        """Threads along x, y and z."""
        grid, block = self.grid, self.block
        return (grid.x * block.x, grid.y * block.y, grid.z * block.z)


def covering_grid(launch: RecordedLaunch, block: dim3) -> dim3:
    """Return the smallest grid of these blocks that covers every recorded thread."""
    x, y, z = launch.extents
    return dim3(-(-x // block.x), -(-y // block.y), -(-z // block.z))


def grid_of(launch: RecordedLaunch, block: dim3, blocks: int = 0) -> dim3:
    """Return the grid for these blocks.

    Args:
        launch: What was recorded.
        block: Threads of a block.
        blocks: The number of blocks, for kernels that take any number; applied to the axis with
            most blocks. 0: as many as cover every recorded thread.
    """
    if not blocks:
        return launch.grid if block == launch.block else covering_grid(launch, block)
    covering = covering_grid(launch, block)
    axis = max("xyz", key=lambda name: int(getattr(launch.grid, name)))
    others = covering.volume // getattr(covering, axis)
    return dim3.from_dict({**covering.to_dict(), axis: -(-blocks // others)})


def fits_device(grid: dim3, block: dim3, limits: DeviceLimits) -> bool:
    """Whether a device can run such a launch, apart from shared memory."""
    extents = zip(_axes(block), limits.max_block, strict=True)
    blocks = zip(_axes(grid), limits.max_grid, strict=True)
    return block.volume <= limits.max_threads_per_block and all(
        1 <= extent <= most for extent, most in itertools.chain(extents, blocks)
    )


def block_shapes(
    launch: RecordedLaunch, limits: DeviceLimits, *, dim: str = "auto", safety: str = "balanced"
) -> list[dim3]:
    """Return the blocks worth trying with covering grids, the recorded one first.

    Args:
        launch: What was recorded.
        limits: The limits of the device that will run them.
        dim: One of `LAUNCH_DIMS`.
        safety: "conservative": whole warps that make up exactly the recorded threads. "balanced":
            whole warps with at most twice the recorded threads. "aggressive": any size. With
            dynamic shared memory, these are: the recorded block; as many threads as in it; no more
            threads than in it. Blocks that wait for one another stay as they are, unless
            "aggressive".

    Raises:
        InvalidArgument: If `dim` or `safety` is unknown.
    """
    for name, value, known in (("dim", dim, LAUNCH_DIMS), ("safety", safety, LAUNCH_SAFETY)):
        if value not in known:
            raise InvalidArgument(f"launch {name} '{value}' is unknown; known: {', '.join(known)}")
    found = [launch.block]
    is_kept = safety != "aggressive" and (
        launch.is_cooperative or (launch.shared_mem and safety == "conservative")
    )
    if dim == "none" or is_kept:
        return found
    axes = [_extents_of(launch, axis, dim, limits) for axis in range(len("xyz"))]
    for z, y, x in itertools.product(*reversed(axes)):
        block = dim3(x, y, z)
        if block not in found and _is_worth(launch, block, limits, safety):
            found.append(block)
    return found


def static_max_threads(kernel: Any) -> int:  # noqa: ANN401 - an instance, or what a script has
    """Return the maximum of threads per block that the recorded code promises; 0: unknown."""
    ir = recorded_ir(kernel)
    if ir is None:
        return bound_of_image(kernel)
    return _promised(ir, getattr(kernel, "kernel_name", ""))


def _promised(ir: str, kernel: str) -> int:
    head = re.search(rf"^define .*@{re.escape(kernel)}\(.*#(\d+)", ir, re.MULTILINE)
    if head is None:
        return 0
    group = re.search(rf"^attributes #{head[1]} = .*$", ir, re.MULTILINE)
    text = group[0] if group else ""
    for pattern in (
        r'"nvvm\.(?:max|req)ntid"="([\d,]+)"',
        r'"amdgpu-flat-work-group-size"="\d+,(\d+)"',
    ):
        if found := re.search(pattern, text):
            volume = 1
            for part in found[1].split(","):
                volume *= int(part)
            return volume
    return 0


def _axes(dims: dim3) -> tuple[int, int, int]:
    return (dims.x, dims.y, dims.z)


def _extents_of(launch: RecordedLaunch, axis: int, dim: str, limits: DeviceLimits) -> list[int]:
    """Return the extents a block may have along an axis, ascending."""
    threads, recorded = launch.extents[axis], _axes(launch.block)[axis]
    name = "xyz"[axis]
    if threads == 1 or (dim != "auto" and name not in dim):
        return [recorded]
    most = min(limits.max_block[axis], limits.max_threads_per_block)
    # The first power of two that holds all threads is enough.
    sizes = {1 << n for n in range(most.bit_length()) if 1 << n < 2 * threads}
    if axis == 0:
        # Sizes between powers of two, in whole warps.
        sizes |= {
            3 * size for size in _multiples(sizes, limits.warp_size) if 3 * size < 2 * threads
        }
    return sorted(size for size in sizes | {recorded} if size <= most)


def _multiples(sizes: Iterable[int], unit: int) -> Iterator[int]:
    return (size for size in sizes if size % unit == 0)


def _is_worth(launch: RecordedLaunch, block: dim3, limits: DeviceLimits, safety: str) -> bool:
    grid = covering_grid(launch, block)
    most = launch.max_threads or limits.max_threads_per_block
    if not fits_device(grid, block, limits) or block.volume > most:
        return False
    if launch.shared_mem and block.volume > launch.block.volume:
        return False
    if safety == "aggressive":
        return True
    if block.volume % limits.warp_size or (
        launch.shared_mem and block.volume != launch.block.volume
    ):
        return False
    recorded = launch.grid.volume * launch.block.volume
    launched = grid.volume * block.volume
    return launched == recorded if safety == "conservative" else launched <= _MOST_EXCESS * recorded
