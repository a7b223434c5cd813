"""The content of a recording, as values to show: kernels, launches, arguments, regions, sizes."""

from __future__ import annotations

import re
import struct
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.arguments import ArgKind, Argument
from mneme.errors import MnemeError
from mneme.recording.directory import Recording
from mneme.recording.graphs import RecordedGraph, read_graphs
from mneme.recording.own_code import own_code_facts
from mneme.recording.records import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme._native import Snapshot, _Annotation, _Region
    from mneme.kernel_names import KernelName
    from mneme.recording.recorded_execution import KernelInstance, RecordedExecution

__all__ = [
    "ArgumentDetails",
    "DirectorySummary",
    "FunctionAddress",
    "InstanceDetails",
    "KernelDetails",
    "KernelSummary",
    "Region",
    "StateDetails",
    "describe_record",
    "is_function_cell",
    "summarize_directory",
]

# How the passes name variables that hold addresses of functions, and what they append for functions
# local to a unit.
_WORD_BYTES = 8
_CELL_PREFIX = "__mneme_function_"
_UNIT_SUFFIX = re.compile("__mneme_[0-9a-f]{16}$")
_FLOAT_FORMATS = {2: "<e", 4: "<f", 8: "<d"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSummary:
    """One record of a directory."""

    file: str
    demangled_name: str
    place: str
    """"src/advec_mom.cpp:120"; empty if unknown."""
    labels: list[str]
    static_hash: str
    device: str
    instances: int
    occurrences: int
    stored_bytes: int
    recorded_ns: int
    code_form: str
    """What the code is where there is no IR: "cubin", "ptx", "fatbin", "cpu"; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorySummary:
    """A recording directory at a glance."""

    path: str
    kernels: list[KernelSummary]
    names: list[KernelName]
    """What people recognise the kernels by, in their order."""
    damaged: dict[str, str]
    """Record files that cannot be read, with the reason."""
    unfinished: list[str]
    notes: list[str]
    graphs: list[RecordedGraph]
    """Graphs that were kept as a sequence."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = asdict(replace(self, graphs=[]))
        values["graphs"] = [graph.to_dict() for graph in self.graphs]
        return {key: value for key, value in values.items() if key != "names"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentDetails(Argument):
    """One argument of a launch."""

    value: str
    """As readable text."""

    member_values: tuple[str, ...] = ()
    """The values of `members`, as readable text."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = {
            "name": self.name,
            "type": self.type,
            "kind": self.kind.value,
            "value": self.value,
            "is_specializable": self.is_specializable,
        }
        if self.members is None:
            return values
        members = [
            {**asdict(one), "kind": one.kind.value, "value": value}
            for one, value in zip(self.members, self.member_values, strict=True)
        ]
        return {**values, "members": members}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedPart:
    """Bytes of a region that the program has annotated on their own."""

    address: str
    size_bytes: int
    annotation: str
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A range of memory that the kernel could access."""

    address: str
    size_bytes: int
    kind: str
    name: str
    annotation: str
    tag: str = ""
    parts: tuple[AnnotatedPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionAddress:
    """A device function whose address the kernel may find in memory."""

    address: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDetails:
    """One snapshot file."""

    file: str
    raw_bytes: int
    unique_bytes: int
    stored_bytes: int
    references: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceDetails:
    """One recorded launch."""

    record_id: str
    number: int
    """Its place among the launches of the kernel, from 1: "@2" names the second."""
    grid: dict[str, int]
    block: dict[str, int]
    shared_mem: int
    shared_carveout: int
    """Percent of the L1 cache that its program wanted as shared memory, 1: least; 0: none."""
    cache_config: str
    """What its program preferred of the L1 cache, as in the record; empty: nothing."""
    is_cooperative: bool
    occurrences: int
    recorded_ns: int
    labels: list[str]
    """The outermost first."""
    multiprocessors: dict[str, int]
    """"Used" and "Of": how many it might use; empty: all of its device's."""
    limits: dict[str, int]
    """What the program had set for kernels, as in the record."""
    trimmed: dict[str, Any] | None
    """What was left out since it was recorded, as in the record."""
    args: list[ArgumentDetails]
    regions: list[Region]
    functions: list[FunctionAddress]
    prologue: StateDetails
    epilogue: StateDetails
    needed_files: list[str]
    """Snapshot files that this launch needs, its own two included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelDetails:
    """One record, everything in it."""

    file: str
    kernel_name: str
    demangled_name: str
    place: str
    """"src/advec_mom.cpp:120"; empty if unknown."""
    static_hash: str
    arch: str
    device: str
    modules: list[str]
    code_form: str
    """What the code is where there is no IR: "cubin", "ptx", "fatbin", "cpu"; else empty."""
    images: dict[str, str]
    """Files of code beside the IR, by form."""
    code: dict[str, Any] | None
    """What PTX and machine code of the program's own compiler tell, as `CodeFacts`, or under
    "problem" why they cannot be read; None: there is none."""
    producer: str
    """What wrote the IR, if that was no build with mneme: "Triton 3.5.0"."""
    window: str
    window_bytes: int
    unrecorded_reads: list[str]
    zeroed_locals: list[str]
    instances: list[InstanceDetails]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values = asdict(self)
        for one, instance in zip(values["instances"], self.instances, strict=True):
            one["args"] = [argument.to_dict() for argument in instance.args]
        return values


def summarize_directory(path: str | Path, kernel: str | None = None) -> DirectorySummary:
    """List the kernels of a recording directory: all, or those that a text names.

    A record file has one kernel, and says nothing about its directory.

    Raises:
        NotFound: If there is no such directory or record, or it has no such kernel.
        ArtifactCorrupt: If the record is damaged.
    """
    if Path(path).is_file():
        record = choose(path, kernel, None).record
        return DirectorySummary(
            path=str(path),
            kernels=[_summary(record)],
            names=[record.name],
            damaged={},
            unfinished=[],
            notes=[],
            graphs=[],
        )
    recording = Recording(path)
    records = list(recording.values()) if kernel is None else recording.fitting(kernel)
    graphs, damaged_graphs = read_graphs(path)
    hashes = {record.static_hash for record in records}
    return DirectorySummary(
        path=str(path),
        kernels=[_summary(record) for record in records],
        names=[record.name for record in records],
        damaged={str(file): reason for file, reason in recording.damaged.items()} | damaged_graphs,
        unfinished=[file.name for file in recording.unfinished],
        notes=recording.notes,
        graphs=[one for one in graphs if any(node.static_hash in hashes for node in one.kernels)],
    )


def _summary(record: RecordedExecution) -> KernelSummary:
    files = {name for one in record.values() for name in (one.prologue.fn, one.epilogue.fn)}
    files.update((*record.llvm_files, *record.images.values()))
    return KernelSummary(
        file=record.path.name,
        demangled_name=record.demangled_name,
        place=str(record.place or ""),
        labels=list(record.labels),
        static_hash=record.static_hash,
        device=str(record.extras.get("Device", "")),
        instances=len(record),
        occurrences=sum(one.occ for one in record.values()),
        stored_bytes=sum(_size_of(Path(name)) for name in files),
        recorded_ns=sum(one.recorded_ns for one in record.values()),
        code_form=record.code_form,
    )


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def describe_record(
    record: RecordedExecution, record_ids: Sequence[str] | None = None
) -> KernelDetails:
    """Describe a record with all of its launches, or only with some.

    Raises:
        NotFound: If there is no such launch or a snapshot is missing.
        ArtifactCorrupt: If a snapshot is damaged.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    # The runtime also checks the checksum.
    known = Argument.all_of(_native.record_arguments(record.path))
    numbers = {name: number for number, name in enumerate(record, start=1)}
    ids = list(record) if record_ids is None else record_ids
    return KernelDetails(
        file=str(record.path),
        kernel_name=record.kernel_name,
        demangled_name=record.demangled_name,
        place=str(record.place or ""),
        static_hash=record.static_hash,
        arch=record.arch,
        device=str(record.extras.get("Device", "")),
        modules=[Path(name).name for name in record.llvm_files],
        code_form=record.code_form,
        images={form: Path(name).name for form, name in record.images.items()},
        code=_code(record),
        producer=record.producer,
        window=record.va_addr,
        window_bytes=record.va_size,
        unrecorded_reads=record.unrecorded_reads,
        zeroed_locals=record.zeroed_locals,
        instances=[_instance(known, record.get(one), numbers.get(one, 0)) for one in ids],
    )


def _code(record: RecordedExecution) -> dict[str, Any] | None:
    try:
        facts = own_code_facts(record)
    except (MnemeError, OSError) as error:
        return {"problem": str(error)}
    return facts.to_dict() if facts else None


def _instance(known: Sequence[Argument], instance: KernelInstance, number: int) -> InstanceDetails:
    prologue, epilogue = instance.prologue.snapshot, instance.epilogue.snapshot
    functions = _functions(prologue)
    return InstanceDetails(
        record_id=instance.dynamic_hash,
        number=number,
        grid=instance.grid_dim.to_dict(),
        block=instance.block_dim.to_dict(),
        shared_mem=instance.shared_mem,
        shared_carveout=instance.shared_carveout,
        cache_config=instance.cache_config,
        is_cooperative=instance.is_cooperative,
        occurrences=instance.occ,
        recorded_ns=instance.recorded_ns,
        labels=list(instance.labels),
        multiprocessors=dict(instance.multiprocessors),
        limits=dict(instance.limits),
        trimmed=instance.trimming.to_dict() if instance.trimming else None,
        args=_arguments(known, prologue.args(), {one.address: one.name for one in functions}),
        regions=[_region(region) for region in prologue.regions()],
        functions=functions,
        prologue=_state(instance.prologue.fn, prologue),
        epilogue=_state(instance.epilogue.fn, epilogue),
        needed_files=sorted({*prologue.needed_files(), *epilogue.needed_files()}),
    )


def is_function_cell(name: str) -> bool:
    """Return whether a device variable is one that holds the address of a function."""
    return name.startswith(_CELL_PREFIX)


def _functions(snapshot: Snapshot) -> list[FunctionAddress]:
    from mneme import _native  # noqa: PLC0415 - loads native code

    found = []
    for index, region in enumerate(snapshot.regions()):
        name = str(region["name"])
        if is_function_cell(name):
            address = int.from_bytes(snapshot.read(index, 0, 8), "little")
            symbol = _UNIT_SUFFIX.sub("", name.removeprefix(_CELL_PREFIX))
            found.append(FunctionAddress(address=f"0x{address:x}", name=_native.demangle(symbol)))
    return found


def _arguments(
    known: Sequence[Argument], values: list[bytes], functions: dict[str, str]
) -> list[ArgumentDetails]:
    arguments = []
    for index, value in enumerate(values):
        one = known[index] if index < len(known) else Argument()
        text = format_value(value, one.kind)
        arguments.append(
            ArgumentDetails(
                name=one.name or f"#{index}",
                type=one.type,
                kind=one.kind,
                size=len(value),
                value=f"{text} = {functions[text]}" if text in functions else text,
                is_specializable=one.is_specializable,
                members=one.members,
                member_values=tuple(
                    format_value(member.of(value), member.kind) for member in one.members or ()
                ),
            )
        )
    return arguments


def format_value(value: bytes, kind: ArgKind) -> str:
    """Return the value of an argument as readable text."""
    if kind is ArgKind.POINTER:
        return f"0x{int.from_bytes(value, 'little'):x}"
    if kind is ArgKind.INTEGER:
        return str(int.from_bytes(value, "little", signed=True))
    if kind is ArgKind.UNKNOWN and len(value) == _WORD_BYTES:
        return f"0x{int.from_bytes(value, 'little'):x}"
    if kind is ArgKind.FLOAT and len(value) in _FLOAT_FORMATS:
        return repr(struct.unpack(_FLOAT_FORMATS[len(value)], value)[0])
    return value.hex()


def _region(region: _Region) -> Region:
    return Region(
        address=f"0x{int(region['address']):x}",
        size_bytes=int(region["size"]),
        kind=str(region["kind"]),
        name=str(region["name"]),
        annotation=_annotation(region.get("annotation")),
        tag=_tag(region.get("annotation")),
        parts=tuple(
            AnnotatedPart(
                address=f"0x{int(region['address']) + one['offset']:x}",
                size_bytes=one["size"],
                annotation=_annotation(one["annotation"]),
                tag=_tag(one["annotation"]),
            )
            for one in region["parts"]
        ),
    )


def _tag(annotation: _Annotation | None) -> str:
    return annotation["tag"] if annotation else ""


def _annotation(annotation: _Annotation | None) -> str:
    """Return an annotation as a tolerance of the command line."""
    if not annotation:
        return ""
    kinds, norms = ("abs", "rel", "ulp"), ("none", "l1", "l2", "linf")
    kind = kinds[int(annotation["threshold_kind"]) % len(kinds)]
    norm = norms[int(annotation["norm"]) % len(norms)]
    text = f"{annotation['data_type']}:{kind}:{annotation['threshold']:g}"
    return text + ("" if norm == "none" else f":{norm}")


def _state(file: str, snapshot: Snapshot) -> StateDetails:
    sizes = snapshot.sizes()
    return StateDetails(
        file=Path(file).name,
        raw_bytes=int(sizes["raw"]),
        unique_bytes=int(sizes["unique"]),
        stored_bytes=int(sizes["stored"]),
        references=snapshot.references(),
    )


def find_record(path: str | Path) -> RecordedExecution:
    """Return the record of a file, or the only one of a directory.

    Raises:
        NotFound: If there is none.
        InvalidArgument: If there are several.
    """
    return choose(path, None, None).record
