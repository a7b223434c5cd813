"""How many threads of a kernel fit on a multiprocessor at once, of those that could."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Residency", "gpus_for_ptx", "occupancy", "residency", "shared_percent"]

_WARP_SIZE = 32
# Registers are given to warps in such portions.
_REGISTER_UNIT = 256
# Warps are placed on as many parts of a multiprocessor.
_PARTS = 4
_REGISTERS = 65536
_KIB = 1024


@dataclass(frozen=True, slots=True)
class _Limits:
    """What a multiprocessor holds at most: tables of the programming guide."""

    warps: int
    blocks: int
    shared_bytes: int
    shared_unit: int = 128
    reserved_bytes: int = _KIB
    """Shared memory of each block that the system keeps."""

    def shared_of_block(self, wanted: int) -> int:
        """Return how much shared memory a block takes that asks for so much."""
        return -(-(wanted + self.reserved_bytes) // self.shared_unit) * self.shared_unit


_LIMITS = {
    70: _Limits(64, 32, 96 * _KIB, 256, 0),
    72: _Limits(64, 32, 96 * _KIB, 256, 0),
    75: _Limits(32, 16, 64 * _KIB, 256, 0),
    80: _Limits(64, 32, 164 * _KIB),
    86: _Limits(48, 16, 100 * _KIB),
    87: _Limits(48, 16, 164 * _KIB),
    89: _Limits(48, 24, 100 * _KIB),
    90: _Limits(64, 32, 228 * _KIB),
    100: _Limits(64, 32, 228 * _KIB),
    103: _Limits(64, 32, 228 * _KIB),
    120: _Limits(48, 24, 100 * _KIB),
    121: _Limits(48, 24, 100 * _KIB),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Residency:
    """What fits on a multiprocessor at once."""

    blocks: dict[str, int]
    """How many blocks each resource admits: registers, shared memory, threads, blocks."""

    warps_of_block: int
    most_warps: int

    @property
    def resident(self) -> int:
        """How many blocks fit."""
        return min(self.blocks.values())

    @property
    def limits(self) -> list[str]:
        """The resources that admit no more blocks than fit."""
        return [name for name, count in self.blocks.items() if count == self.resident]

    @property
    def occupancy(self) -> float:
        """The part of a multiprocessor's threads that are resident."""
        return self.resident * self.warps_of_block / self.most_warps


def residency(target: str, threads: int, registers: int, shared_bytes: int) -> Residency | None:
    """Return what fits on a multiprocessor; None if it is not known.

    Args:
        target: What the code is for: "sm_90".
        threads: Threads of a block.
        registers: Registers of a thread.
        shared_bytes: Shared memory of a block, static and dynamic.
    """
    limits = _limits_of(target)
    if limits is None or threads < 1 or registers < 1:
        return None
    warps = -(-threads // _WARP_SIZE)
    of_a_warp = -(-registers * _WARP_SIZE // _REGISTER_UNIT) * _REGISTER_UNIT
    with_registers = _REGISTERS // of_a_warp // _PARTS * _PARTS
    shared = limits.shared_of_block(shared_bytes)
    blocks = {
        "registers": with_registers // warps,
        "shared memory": limits.shared_bytes // shared if shared else limits.blocks,
        "threads": limits.warps // warps,
        "blocks": limits.blocks,
    }
    return Residency(blocks=blocks, warps_of_block=warps, most_warps=limits.warps)


def shared_percent(target: str, blocks: int, shared_bytes: int) -> int | None:
    """Return what part of a multiprocessor's shared memory blocks take; None if it is not known.

    Args:
        target: As of `residency`, like `shared_bytes`.
        blocks: How many of them.
        shared_bytes: Shared memory of one.
    """
    limits = _limits_of(target)
    if limits is None:
        return None
    return -(-100 * blocks * limits.shared_of_block(shared_bytes) // limits.shared_bytes)


def gpus_for_ptx(named: str) -> list[str]:
    """Return what is known to run PTX for "sm_52": the oldest GPU first; else what PTX names."""
    found = re.fullmatch(r"sm_([0-9]{1,4})", named)  # with a letter it is for one GPU
    newer = [f"sm_{one}" for one in sorted(_LIMITS) if found and one >= int(found[1])]
    return newer or [named]


def _limits_of(target: str) -> _Limits | None:
    found = re.fullmatch(r"sm_([0-9]{1,4})[a-z]?", target)
    return _LIMITS.get(int(found[1])) if found else None


def occupancy(target: str, threads: int, registers: int, shared_bytes: int) -> float | None:
    """Return the part of a multiprocessor's threads that are resident; None if it is not known.

    Args:
        target: As of `residency`, like the others.
        threads: Threads of a block.
        registers: Registers of a thread.
        shared_bytes: Shared memory of a block.
    """
    found = residency(target, threads, registers, shared_bytes)
    return None if found is None else found.occupancy
