"""A recorded kernel: its code, its launches and the memory around them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.arguments import Argument, Member, constant_paths
from mneme.errors import NotFound
from mneme.files.publish import publish_text
from mneme.kernel_names import KernelName, short_name, shortened
from mneme.recording.memory_state import MemStateRef, SnapshotType
from mneme.recording.record_json import Fields, read_record
from mneme.recording.trimming import Trimming
from mneme.recording.without_ir import refusal
from mneme.source_place import SourcePlace, places_in_tables

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterator, KeysView, ValuesView

    from llvmlite.binding import ModuleRef

    from mneme.mneme_types import dim3

_LONGEST_LABEL = 40  # characters in sentences

__all__ = ["KernelInstance", "MemStateRef", "RecordedExecution", "SnapshotType", "Trimming"]


@dataclass(kw_only=True)
class KernelInstance:
    """One recorded launch of a kernel."""

    static_hash: str
    """Identity of the kernel's code, decimal."""

    dynamic_hash: str
    """Identity of the launch: the record id, decimal."""

    kernel_name: str
    """Mangled name."""

    args: list[Any]
    """The arguments as in the record; their values are `prologue.args`."""

    shared_mem: int
    """Dynamic shared memory in bytes."""

    block_dim: dim3
    """Threads of a block."""

    grid_dim: dim3
    """Blocks of the launch."""

    available_specializations: list[int]
    """Indices of the arguments that can be fixed to their values."""

    specializations: list[bool]
    """One flag per argument."""

    occ: int
    """Launches with this identity, recorded or not."""

    prologue: MemStateRef
    """Memory before the launch."""

    epilogue: MemStateRef
    """Memory after the launch."""

    is_cooperative: bool = False
    """Launched so that all blocks may wait for one another."""

    recorded_ns: int = 0
    """Nanoseconds of the recorded launch, 0 if unknown."""

    cluster_dim: dict[str, int] = field(default_factory=dict)
    """Blocks of a thread block cluster; empty without clusters."""

    shared_carveout: int = 0
    """Percent of the L1 cache that its program wanted as shared memory, 1: least; 0: none."""

    cache_config: str = ""
    """What its program preferred of the L1 cache: "PreferShared", "PreferL1", "PreferEqual"."""

    constant_names: dict[str, str] = field(default_factory=dict)
    """What can be fixed, as of `constant_paths`, if the record says it."""

    labels: tuple[str, ...] = ()
    """What the program called the launch, the outermost label first."""

    multiprocessors: dict[str, int] = field(default_factory=dict)
    """"Used" and "Of": how many the launch might use; empty: all of its device's."""

    limits: dict[str, int] = field(default_factory=dict)
    """What the program had set for kernels: bytes of "Stack", "Print" and "Heap", "Launches"."""

    trimming: Trimming | None = None
    """What was left out since it was recorded; None: nothing."""

    textures: tuple[dict[str, Any], ...] = ()
    """Texture and surface objects of a GPU that the launch can see, as in the record."""

    device_heap: dict[str, Any] = field(default_factory=dict)
    """"Address" and "Bytes" of the heap of a GPU, if its content is recorded."""

    code_form: str = ""
    """As of its record."""

    @property
    def constants(self) -> dict[str, str]:
        """Arguments and members of structures that can be fixed, with names: "2", "0+8"."""
        scalars = {str(index): "" for index in self.available_specializations}
        return {**scalars, **self.constant_names}

    def to_dict(self, base_dir: str | Path | None = None) -> dict[str, Any]:
        """Return the instance as in the record file, snapshot names relative to `base_dir`."""
        return {
            "GridDims": self.grid_dim.to_dict(),
            "BlockDims": self.block_dim.to_dict(),
            "SharedMem": self.shared_mem,
            "Args": list(self.args),
            "Occurrences": self.occ,
            "Prologue": _relative(self.prologue.fn, base_dir),
            "Epilogue": _relative(self.epilogue.fn, base_dir),
            "Cooperative": self.is_cooperative,
            "RecordedNs": self.recorded_ns,
            **({"ClusterDims": dict(self.cluster_dim)} if self.cluster_dim else {}),
            **({"SharedCarveout": self.shared_carveout} if self.shared_carveout else {}),
            **({"CacheConfig": self.cache_config} if self.cache_config else {}),
            **({"Labels": list(self.labels)} if self.labels else {}),
            **({"Multiprocessors": dict(self.multiprocessors)} if self.multiprocessors else {}),
            **({"Limits": dict(self.limits)} if self.limits else {}),
            **({"Trimmed": self.trimming.to_dict()} if self.trimming else {}),
            **({"Textures": list(self.textures)} if self.textures else {}),
            **({"DeviceHeap": dict(self.device_heap)} if self.device_heap else {}),
        }


class RecordedExecution:
    """A `<static hash>.json` file: a mapping from record ids to recorded launches."""

    def __init__(self, path: Path, fields: Fields) -> None:
        """Take over the fields of a record file; `from_json` reads one."""
        base = path.parent
        self.path = path
        """The record file."""
        self.static_hash = str(fields.number("StaticHash"))
        """Identity of the kernel's code, decimal."""
        self.kernel_name = fields.text("KernelName")
        """Mangled name."""
        self.demangled_name = fields.text("DemangledName").removesuffix("__intern__")
        """Name as in the source."""
        self.llvm_files = [str(base / name) for name in fields.list_of("Modules", str)]
        """Files of LLVM bitcode, linked in this order."""
        self.arg_names: list[str] = fields.list_of("ArgNames", str)
        """Names of the arguments."""
        self.specializations: list[bool] = fields.list_of("Specializations", bool)
        """Per argument, whether it can be fixed to its value."""
        self.va_addr = fields.text("VAddr")
        """First address of the recorded window, hexadecimal."""
        self.va_size = fields.number("VASize")
        """Size of the window in bytes."""
        self._extras = {
            key: value for key, value in fields.items().items() if key not in _OWN_FIELDS
        }
        self._constants = constant_paths(_arguments(self, fields))
        instances = fields.object("instances")
        self.kernel_instances = {
            record_id: self._instance(record_id, instances.object(record_id), base)
            for record_id in instances.items()
        }
        """Launches by record id."""

    @classmethod
    def from_json(cls, fn: str | Path) -> RecordedExecution:
        """Read a record file; names in it are relative to its directory.

        Raises:
            NotFound: If there is no such file.
            ArtifactCorrupt: If it is damaged or not a record.
        """
        return cls(Path(fn), read_record(Path(fn)))

    def _instance(self, record_id: str, fields: Fields, base: Path) -> KernelInstance:
        prologue, epilogue = base / fields.text("Prologue"), base / fields.text("Epilogue")
        heap = fields.object("DeviceHeap").items() if fields.has("DeviceHeap") else {}
        return KernelInstance(
            static_hash=self.static_hash,
            dynamic_hash=record_id,
            kernel_name=(name := self.kernel_name),
            args=fields.any_list("Args"),
            shared_mem=fields.number("SharedMem"),
            block_dim=fields.dims("BlockDims"),
            grid_dim=fields.dims("GridDims"),
            available_specializations=[i for i, can in enumerate(self.specializations) if can],
            specializations=list(self.specializations),
            occ=fields.number("Occurrences"),
            prologue=MemStateRef(prologue, name, SnapshotType.PROLOGUE),
            epilogue=MemStateRef(epilogue, name, SnapshotType.EPILOGUE, prologue),
            is_cooperative=fields.has("Cooperative") and bool(fields.items()["Cooperative"]),
            recorded_ns=fields.number("RecordedNs") if fields.has("RecordedNs") else 0,
            cluster_dim=fields.dims("ClusterDims").to_dict() if fields.has("ClusterDims") else {},
            shared_carveout=fields.number("SharedCarveout") if fields.has("SharedCarveout") else 0,
            cache_config=fields.text("CacheConfig") if fields.has("CacheConfig") else "",
            constant_names=dict(self._constants),
            labels=tuple(fields.list_of("Labels", str)) if fields.has("Labels") else (),
            multiprocessors=fields.numbers_of("Multiprocessors", "Used", "Of"),
            limits=fields.known_numbers_of("Limits", "Stack", "Print", "Heap", "Launches"),
            trimming=Trimming.read(fields.object("Trimmed")) if fields.has("Trimmed") else None,
            textures=tuple(fields.list_of("Textures", dict)) if fields.has("Textures") else (),
            device_heap=dict(heap),
            code_form=self.code_form,
        )

    @property
    def extras(self) -> dict[str, Any]:
        """Fields beyond the common ones: "Arch", "Device", "ArgTypes", "ArgSizes", ..."""
        return self._extras

    @property
    def code_form(self) -> str:
        """What the code is where there is no IR: "cubin", "ptx", "fatbin", "cpu"; else empty."""
        return str(self._extras.get("CodeForm", ""))

    @property
    def images(self) -> dict[str, str]:
        """Files of code that the program's own compiler made, by form, where there is IR, too."""
        known = self._extras.get("Images")
        parts = [one for one in known if isinstance(one, dict)] if isinstance(known, list) else []
        return {str(one.get("Form")): str(self.path.parent / str(one.get("File"))) for one in parts}

    @property
    def loaded_form(self) -> str:
        """What the program loaded of a kernel that has IR beside it: "cubin"; empty for others."""
        return next((form for form in self.images if form != "ptx"), "")

    @property
    def producer(self) -> str:
        """What wrote the IR, if that was no build with mneme: "Triton 3.5.0"; else empty."""
        options = self._extras.get("Options")
        return str(options.get("producer", "")) if isinstance(options, dict) else ""

    def require_ir(self, purpose: str) -> None:
        """Refuse a recording without IR.

        Args:
            purpose: What needs the IR, in the singular: "mneme explain".

        Raises:
            Unsupported: If there is none.
        """
        if self.code_form:
            raise refusal(self.told_name, self.code_form, purpose)

    @property
    def code_hash(self) -> str:
        """Hash of the code whatever its functions are called, 16 digits; empty if unknown."""
        text = self._extras.get("CodeHash")
        return text.removeprefix("0x") if isinstance(text, str) else ""

    @property
    def module_hashes(self) -> tuple[str, ...]:
        """Hashes of the content of the modules, 32 digits each; empty if the record is older."""
        known = self._extras.get("ModuleHashes")
        return tuple(map(str, known)) if isinstance(known, list) else ()

    @property
    def place(self) -> SourcePlace | None:
        """Where the kernel's body is in the source, if its program says it."""
        return SourcePlace.found(self._extras.get("Place"))

    @property
    def labels(self) -> tuple[str, ...]:
        """What the program called recorded launches: innermost labels, each once."""
        return tuple(dict.fromkeys(one.labels[-1] for one in self.values() if one.labels))

    @property
    def name(self) -> KernelName:
        """What people recognise the kernel by."""
        labels = ", ".join(self.labels)
        return KernelName(demangled=self.demangled_name, label=labels, place=str(self.place or ""))

    @property
    def short_name(self) -> str:
        """The name in sentences."""
        label = ", ".join(self.labels)
        return shortened([label], _LONGEST_LABEL)[0] if label else short_name(self.demangled_name)

    @property
    def told_name(self) -> str:
        """The name in sentences, with its place: overloads and static kernels share names."""
        name = self.short_name
        if self.place is None or self.labels:
            return name
        return f"{name} ({places_in_tables([str(self.place)])[0]})"

    @property
    def arch(self) -> str:
        """Architecture the program was compiled for, empty if unknown."""
        return str(self._extras.get("Arch", ""))

    @property
    def program_pipeline(self) -> tuple[str, int]:
        """Pass pipeline and level of code generation of the program's build, else those of -O3."""
        options = self._extras.get("Options")
        given = options.get("opt_level") if isinstance(options, dict) else None
        level = given if isinstance(given, str) and given in _CODEGEN_LEVELS else "3"
        return f"default<O{level}>", _CODEGEN_LEVELS[level]

    def pipeline_on(self, device: str) -> tuple[str, int]:
        """Return how the program's kernels are compiled where it runs as built.

        The CPU device compiles all it runs as -O3 does, whatever the level of the build.
        """
        return self.program_pipeline if device != "cpu" else ("default<O3>", 3)

    @property
    def is_unoptimized(self) -> bool:
        """Whether the program was built without optimization, as compilers do by default."""
        return self.program_pipeline[0] == "default<O0>"

    @property
    def unrecorded_reads(self) -> list[str]:
        """What the code reads that a recording does not hold: "clocks", "textures", ..."""
        launches = self.kernel_instances.values()

        def is_held(read: str) -> bool:
            kinds = {"textures": False, "surfaces": True}
            return read in kinds and all(
                any(bool(one.get("Surface")) == kinds[read] for one in launch.textures)
                for launch in launches
            )

        return [one for one in self._texts_in_options("unrecorded_reads") if not is_held(one)]

    @property
    def zeroed_locals(self) -> list[str]:
        """Local variables that the build made zero: they may be read before they are set."""
        return self._texts_in_options("zeroed_locals")

    def _texts_in_options(self, key: str) -> list[str]:
        options = self._extras.get("Options")
        texts = options.get(key) if isinstance(options, dict) else None
        return [str(text) for text in texts] if isinstance(texts, list) else []

    def to_dict(self, base_dir: str | Path | None = None) -> dict[str, Any]:
        """Return the record as in its file, with file names relative to `base_dir`."""
        # A checksum covers the text it was made for, so it does not travel.
        extras = {key: value for key, value in self._extras.items() if key != "Checksum"}
        return {
            "StaticHash": int(self.static_hash),
            "VAddr": self.va_addr,
            "VASize": self.va_size,
            "KernelName": self.kernel_name,
            "DemangledName": self.demangled_name,
            "Modules": [_relative(name, base_dir) for name in self.llvm_files],
            "BinaryBlobs": [],
            "ArgNames": list(self.arg_names),
            "Specializations": list(self.specializations),
            "instances": {key: value.to_dict(base_dir) for key, value in self.items()},
            **extras,
        }

    def to_json(self, fn: str | Path) -> None:
        """Write the record to a file, whole or not at all; names become relative to it."""
        path = Path(fn)
        text = json.dumps(self.to_dict(path.parent), indent=2)
        publish_text(path, text + "\n")

    def link_llvm_modules(self, prune: bool = True, internalize: bool = True) -> ModuleRef:  # noqa: FBT001, FBT002 - documented signature
        """Return the kernel's code as one llvmlite module.

        Args:
            prune: Drop what the kernel does not reach.
            internalize: Hide everything but the kernel.

        Raises:
            NotFound: If a bitcode file is missing.
            ArtifactCorrupt: If one is not LLVM IR.
            Unsupported: If there is none.
        """
        self.require_ir("llvmlite modules")
        from mneme.recording.llvm_modules import link_modules  # noqa: PLC0415 - loads LLVM

        files = [Path(name) for name in self.llvm_files]
        return link_modules(files, self.kernel_name, prune=prune, internalize=internalize)

    def __getitem__(self, record_id: str | int) -> KernelInstance:
        return self.kernel_instances[str(record_id)]

    def __contains__(self, record_id: object) -> bool:
        return str(record_id) in self.kernel_instances

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernel_instances)

    def __len__(self) -> int:
        return len(self.kernel_instances)

    def __repr__(self) -> str:
        return f"<RecordedExecution {self.demangled_name}: {len(self)} instances>"

    def keys(self) -> KeysView[str]:
        """Return the record ids."""
        return self.kernel_instances.keys()

    def values(self) -> ValuesView[KernelInstance]:
        """Return the launches."""
        return self.kernel_instances.values()

    def items(self) -> ItemsView[str, KernelInstance]:
        """Return record ids with their launches."""
        return self.kernel_instances.items()

    def get(self, record_id: str | int) -> KernelInstance:
        """Return a launch.

        Raises:
            NotFound: If the record has none with this id.
        """
        if record_id not in self:
            raise NotFound(f"'{self.path}' has no instance {record_id}")
        return self[record_id]


_CODEGEN_LEVELS = {"0": 0, "1": 1, "2": 2, "3": 3, "s": 2, "z": 2}

_OWN_FIELDS = frozenset(
    (
        *("StaticHash", "VAddr", "VASize", "KernelName", "DemangledName", "Modules"),
        *("BinaryBlobs", "ArgNames", "Specializations", "instances"),
    )
)


# Scripts know the class by this name too.
setattr(RecordedExecution, "KernelInstance", KernelInstance)  # noqa: B010


def _arguments(record: RecordedExecution, fields: Fields) -> list[Argument]:
    """Return names, and what can be fixed of arguments and members of structures."""
    known = fields.object("ArgFields") if fields.has("ArgFields") else None
    arguments = []
    for index, can in enumerate(record.specializations):
        key = str(index)
        members = known.objects(key) if known and known.has(key) else []
        arguments.append(
            Argument(
                name="".join(record.arg_names[index : index + 1]),
                is_specializable=can,
                members=tuple(
                    Member(
                        name=one.text("Name") if one.has("Name") else "",
                        offset=one.number("Offset"),
                        is_specializable=one.items().get("Specializable") is True,
                    )
                    for one in members
                ),
            )
        )
    return arguments


def _relative(name: str, base_dir: str | Path | None) -> str:
    if base_dir is None:
        return name
    return os.path.relpath(name, base_dir)
