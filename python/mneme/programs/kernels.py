"""Reads the kernels in programs, with the IR they were built from."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.arguments import Argument
from mneme.errors import InvalidArgument, NotFound
from mneme.kernel_choice import Handles
from mneme.kernel_names import KernelName
from mneme.programs.needed import with_libraries
from mneme.recording.launch_facts import static_hash_text
from mneme.source_place import SourcePlace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mneme._native import _BinaryKernel

__all__ = ["EmbeddedKernel", "Mark", "embedded_host_functions", "embedded_kernels", "kernel_ir"]

_HOST = "host"  # kHostArch in runtime/core/abi/blob_format.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A mark on an argument: it, or the memory it points to, is constant (docs/jit.md)."""

    arg: int
    """Counted from 0."""

    type: int
    """As runtime/core/abi/jit_mark.h numbers types."""

    element: int = 0
    """Type of an array's elements, as `type`."""

    count: int = 1
    """Elements of an array."""

    count_arg: int = -1
    """The argument with the number of elements; -1: `count`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedKernel:
    """A kernel in a program or library."""

    kernel_name: str
    """Mangled."""

    demangled_name: str
    """As in the source."""

    static_hash: str
    """16 hexadecimal digits."""

    file: Path
    """The program or library."""

    args: tuple[Argument, ...]
    """In the order of the source."""

    bitcode: bytes = field(repr=False)
    """The kernel and what it calls, before optimisation."""

    arch: str = ""
    """Architecture the program was built for."""

    place: SourcePlace | None = None
    """Where its body is in the source."""

    code_hash: str = ""
    """The same for equal code whose functions have other names; empty if unknown."""

    options: str = field(default="{}", repr=False)
    """How the ahead-of-time build generates code, as JSON."""

    variables: tuple[str, ...] = ()
    """Device variables it uses."""

    is_linked: bool = False
    """Whether it calls functions of other units, which `bitcode` lacks."""

    linked: tuple[bytes, ...] = field(default=(), repr=False)
    """Code of the other units."""

    linked_variables: tuple[str, ...] = ()
    """Device variables of the other units."""

    marks: tuple[Mark, ...] | None = None
    """Arguments that the program marks as constant; None: it does not mark the kernel."""

    @property
    def name(self) -> KernelName:
        """What people recognise the kernel by."""
        return KernelName(demangled=self.demangled_name, place=str(self.place or ""))

    @property
    def handles(self) -> Handles:
        """What the kernel is called by; host functions have no hash."""
        hashes = (self.static_hash, str(int(self.static_hash, 16))) if self.static_hash else ()
        return Handles(
            mangled=self.kernel_name,
            demangled=self.demangled_name,
            place=self.place,
            hashes=hashes,
        )

    @property
    def is_host_function(self) -> bool:
        """Whether it is a host function that the program marks, not a kernel."""
        return self.arch == _HOST


def embedded_kernels(programs: Iterable[str | Path]) -> dict[str, list[EmbeddedKernel]]:
    """Return the kernels in programs and their linked libraries, by mangled name.

    Raises:
        NotFound: If a program does not exist.
        ArtifactCorrupt: If code in one is damaged.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    return _embedded(programs, _native.describe_binary)


def embedded_host_functions(programs: Iterable[str | Path]) -> dict[str, list[EmbeddedKernel]]:
    """Return the marked host functions of programs and libraries, as `embedded_kernels()`."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    return _embedded(programs, _native.describe_host_functions)


def _embedded(
    programs: Iterable[str | Path], describe: Callable[[Path], list[_BinaryKernel]]
) -> dict[str, list[EmbeddedKernel]]:
    named = [Path(one) for one in programs]
    for path in named:
        if not path.is_file():
            raise NotFound(f"there is no program '{path}'")
    found: dict[str, list[EmbeddedKernel]] = defaultdict(list)
    for file in dict.fromkeys(one for path in named for one in with_libraries(path)):
        for one in describe(file):
            metadata = json.loads(one["metadata"])
            found[one["kernel"]].append(
                EmbeddedKernel(
                    kernel_name=one["kernel"],
                    demangled_name=one["demangled"],
                    static_hash=static_hash_text(one["static_hash"]),
                    file=file,
                    args=Argument.all_of(one["args"]),
                    bitcode=one["bitcode"],
                    arch=one["arch"],
                    place=SourcePlace.found(metadata.get("place")),
                    code_hash=metadata.get("code_hash", ""),
                    options=json.dumps(metadata.get("options", {})),
                    variables=_variables(metadata),
                    is_linked=bool(metadata.get("undefined")),
                    linked=tuple(bitcode for bitcode, _ in one["linked"]),
                    linked_variables=tuple(
                        name for _, text in one["linked"] for name in _variables(json.loads(text))
                    ),
                    marks=_marks(metadata),
                )
            )
    return dict(found)


def _variables(metadata: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(each["name"]) for each in metadata.get("globals", ()))


def _marks(metadata: dict[str, Any]) -> tuple[Mark, ...] | None:
    if "jit" not in metadata:
        return None
    names = [item.name for item in fields(Mark)]
    return tuple(Mark(**{name: one[name] for name in names}) for one in metadata["jit"]["marks"])


def kernel_ir(program: str | Path, kernel_name: str) -> bytes:
    """Return the bitcode of a kernel in a program, in the form that replays take (`ir=`).

    Raises:
        NotFound: If there is no such program or kernel.
        InvalidArgument: If the program has several kernels of this name with different code.
    """
    kernels = embedded_kernels([program]).get(kernel_name, [])
    if not kernels:
        raise NotFound(f"'{program}' has no kernel '{kernel_name}'; was it built with add_mneme()?")
    if len({one.static_hash for one in kernels}) > 1:
        raise InvalidArgument(
            f"'{program}' has several kernels '{kernel_name}', whose code differs"
        )
    return kernels[0].bitcode
