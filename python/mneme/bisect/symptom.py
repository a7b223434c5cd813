"""What can be the matter with a pipeline."""

from __future__ import annotations

from enum import Enum

__all__ = ["Symptom"]


class Symptom(str, Enum):
    """What makes code bad; each value is as on the command line."""

    FAILED = "failed"
    """The compiler or the kernel crashes, does not end, or reports an error."""

    WRONG = "wrong"
    """The kernel leaves other memory behind than recorded."""

    SLOWER = "slower"
    """The kernel takes longer than that of another pipeline."""

    SIZE = "size"
    """The image is larger, in bytes."""

    REGISTERS = "registers"
    """A thread has more registers."""

    LOCAL_MEMORY = "local-memory"
    """A thread has more local memory, in bytes: spilled registers, arrays."""

    @property
    def needs_device(self) -> bool:
        """Whether the kernel has to run."""
        return self in {Symptom.FAILED, Symptom.WRONG, Symptom.SLOWER}

    @property
    def compares(self) -> bool:
        """Whether it takes a number of another pipeline to tell."""
        return self not in {Symptom.FAILED, Symptom.WRONG}

    @property
    def statistic(self) -> str:
        """What the compiler's statistics call it."""
        return {
            Symptom.SIZE: "obj_size",
            Symptom.REGISTERS: "reg_usage",
            Symptom.LOCAL_MEMORY: "local_mem_usage",
        }[self]
