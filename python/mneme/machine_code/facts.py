"""What PTX and machine code tell of one kernel, each as far as it can."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import ArtifactCorrupt, NotFound
from mneme.machine_code.ptx_features import accesses_of, ptx_features
from mneme.machine_code.ptx_text import read_ptx

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CodeFacts", "PtxFacts", "Resources", "code_facts"]

_BOUNDS: Final = {
    "max_threads": ".maxntid",
    "exact_threads": ".reqntid",
    "min_blocks": ".minnctapersm",
    "max_registers": ".maxnreg",
    "cluster_blocks": ".reqnctapercluster",
    "max_cluster_blocks": ".maxclusterrank",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PtxFacts:
    """What the text of PTX says of a kernel."""

    version: str
    """Version of the PTX ISA: "8.3"."""

    target: str
    """The oldest GPU that it is for: "sm_75"."""

    max_threads: int
    """Most threads of a block, as declared (`.maxntid`); this and the next are 0 if nothing is."""

    exact_threads: int
    """Threads that every block has (`.reqntid`)."""

    min_blocks: int
    """Blocks that shall fit on a multiprocessor (`.minnctapersm`)."""

    max_registers: int
    """Most registers of a thread (`.maxnreg`)."""

    cluster_blocks: int
    """Blocks that every cluster has (`.reqnctapercluster`)."""

    max_cluster_blocks: int
    """Blocks that clusters have at most (`.maxclusterrank`)."""

    features: Mapping[str, int]
    """As of `PTX_FEATURES`."""

    accesses: Mapping[str, int]
    """Memory operations by kind, memory and bytes of a thread: {"ld.global.16": 2}."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What the machine code of a kernel uses, as its file says."""

    target: str
    """What it is for: "sm_90"."""

    registers: int | None
    """Registers of a thread; None: unknown, as elsewhere."""

    register_limit: int
    """Limit that it was assembled with; 0: none but the architecture's."""

    shared_bytes: int | None
    """Static shared memory of a block."""

    local_bytes: int | None
    """Stack of a thread, with spilled registers and arrays in it."""

    barriers: int | None
    """Hardware barriers of a block: the highest number that is used, plus 1."""

    constant_bytes: Mapping[int, int]
    """Constant memory by bank. 0: arguments, behind what the driver adds; 3: variables of the whole
    image; others: the compiler's."""

    max_threads: int
    """Most threads of a block, by its launch bounds; 0: it has none."""

    exact_threads: int
    """Threads that every block has, which are the most then; 0: any number up to the most."""

    code_bytes: int
    """Size of the section with the kernel's instructions: ptxas puts functions that it calls there,
    unless code is linked later."""

    @property
    def own_constant_bytes(self) -> int:
        """Constant memory without the bank of the arguments."""
        return sum(size for bank, size in self.constant_bytes.items() if bank)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFacts:
    """What is known of one kernel."""

    ptx: PtxFacts | None
    """None: there is no PTX."""

    resources: Resources | None
    """None: there is no machine code."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def code_facts(kernel: str, image: bytes, ptx: str = "") -> CodeFacts:
    """Return what machine code and PTX tell of a kernel.

    Args:
        kernel: Its mangled name.
        image: A cubin; anything else tells nothing.
        ptx: The text; empty: there is none.

    Raises:
        NotFound: If the kernel is not in one of them.
        ArtifactCorrupt: If the text is cut off.
    """
    return CodeFacts(
        ptx=_ptx_facts(kernel, ptx) if ptx else None, resources=_resources(kernel, image)
    )


def _ptx_facts(kernel: str, text: str) -> PtxFacts:
    module = read_ptx(text)
    function = module.functions.get(kernel)
    if not module.is_whole:
        raise ArtifactCorrupt(f"the PTX of kernel '{kernel}' is damaged: it ends within a function")
    if function is None or not function.is_kernel:
        raise NotFound(f"the PTX has no kernel '{kernel}'")
    bounds = {
        name: prod(function.directives.get(directive, ()) or (0,))
        for name, directive in _BOUNDS.items()
    }
    return PtxFacts(
        version=module.version,
        target=module.target,
        **bounds,
        features=ptx_features(module, kernel),
        accesses=accesses_of(module, kernel),
    )


def _resources(kernel: str, image: bytes) -> Resources | None:
    from mneme import _native  # noqa: PLC0415 - loads native code

    code = _native.describe_device_image(image)
    if code["problem"] or code["form"] != "cubin":
        return None
    found = next((one for one in code["kernels"] if one["name"] == kernel), None)
    if found is None:
        raise NotFound(f"the machine code has no kernel '{kernel}'")
    return Resources(
        target=code["architecture"],
        registers=found["registers"],
        register_limit=found["register_limit"],
        shared_bytes=found["shared_bytes"],
        local_bytes=found["local_bytes"],
        barriers=found["barriers"],
        constant_bytes=found["constant_bytes"],
        max_threads=found["max_threads"],
        exact_threads=found["exact_threads"],
        code_bytes=found["code_bytes"],
    )
