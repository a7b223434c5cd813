"""Configurations and results of experiments, with the field names of the JSON files.

The order of the fields is the order in the files; scripts and stored studies rely on both.
"""

from __future__ import annotations

import copy
import ctypes
import hashlib
import json
import operator
from collections.abc import Mapping
from dataclasses import Field, InitVar, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from mneme.arguments import argument_paths, known_paths
from mneme.errors import InvalidArgument
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS, CodeKnobs

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = [
    "ConfigurationChanges",
    "ExperimentConfiguration",
    "ExperimentResult",
    "dim3",
]


class dim3(ctypes.Structure):
    """Extent of a grid or a block, in blocks or threads."""

    _fields_ = (("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint))

    x: int
    y: int
    z: int

    def __init__(self, x: int = 1, y: int = 1, z: int = 1) -> None:
        """Make an extent; a coordinate not given is 1."""
        super().__init__(operator.index(x), operator.index(y), operator.index(z))

    def to_dict(self) -> dict[str, int]:
        """Return `{"x": ..., "y": ..., "z": ...}`."""
        return {"x": self.x, "y": self.y, "z": self.z}

    @classmethod
    def from_dict(cls, data: Mapping[str, int]) -> dim3:
        """Return the extent that `to_dict` gave; a coordinate that is missing is 1.

        Raises:
            InvalidArgument: If a coordinate is no whole number from 0 to 2**32 - 1.
        """
        values = [data.get(axis, 1) for axis in ("x", "y", "z")]
        for axis, value in zip("xyz", values, strict=True):
            is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
            if not is_whole or not 0 <= value < 2**32:
                raise InvalidArgument(
                    f"dimension {axis} is {value!r}, not a whole number below 2**32"
                )
        return cls(*values)

    @property
    def volume(self) -> int:
        """Product of the three extents."""
        return self.x * self.y * self.z

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, dim3):
            return NotImplemented
        return (self.x, self.y, self.z) == (other.x, other.y, other.z)

    def __hash__(self) -> int:
        return hash((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"dim3(x={self.x}, y={self.y}, z={self.z})"

    def __reduce__(self) -> tuple[type[dim3], tuple[int, int, int]]:
        return (dim3, (self.x, self.y, self.z))


# Metadata of fields. Switches are fields that are true or false.
_ONLY_WITH = "only with"
"""The switch without which the field has no effect."""
_CODE_ONLY_WITH = "code only with"
"""The switches of which one has to be on for the field to change the code."""
_OWN = "own"
"""Other tools' files do not have the field: it is written where it says something."""


@dataclass
class ExperimentConfiguration(CodeKnobs):
    """How one replay is compiled and launched."""

    grid: dim3 = field(default_factory=dim3, metadata={_CODE_ONLY_WITH: ("specialize_dims",)})
    """Blocks of the launch."""

    block: dim3 = field(
        default_factory=dim3, metadata={_CODE_ONLY_WITH: ("specialize_dims", "set_launch_bounds")}
    )
    """Threads of a block."""

    shared_mem: int = field(default=0, metadata={_CODE_ONLY_WITH: ()})
    """Dynamic shared memory in bytes."""

    specialize: bool = False
    """Fix scalar arguments to their recorded values."""

    set_launch_bounds: bool = False
    """Tell the code generator `max_threads` and `min_blocks_per_sm`."""

    max_threads: int = field(default=1024, metadata={_ONLY_WITH: "set_launch_bounds"})
    """Largest number of threads of a block, with `set_launch_bounds`."""

    min_blocks_per_sm: int = field(default=1, metadata={_ONLY_WITH: "set_launch_bounds"})
    """Smallest number of blocks that have to fit, with `set_launch_bounds`; 0 says nothing."""

    specialize_dims: bool = False
    """Fix grid and block extents."""

    passes: str = "default<O3>"
    """LLVM pass pipeline."""

    codegen_opt: int = 3
    """Optimisation level of the code generator, 0 to 3."""

    prune: bool = True
    """Drop what the kernel does not reach."""

    internalize: bool = True
    """Hide everything but the kernel."""

    specialized_args: str = field(default="", metadata={_OWN: True, _ONLY_WITH: "specialize"})
    """What `specialize` fixes: arguments, members of structures ("0,2+8"); empty: all it can."""

    codegen_method: InitVar[object] = None
    """Accepted from older scripts and ignored."""

    def __post_init__(self, codegen_method: object) -> None:
        """Take dimensions as dictionaries too."""
        self.grid = _dims(self.grid, "grid")
        self.block = _dims(self.block, "block")

    def copy(self) -> ExperimentConfiguration:
        """Return an equal configuration that shares nothing with this one."""
        other = copy.copy(self)
        other.grid = dim3(self.grid.x, self.grid.y, self.grid.z)
        other.block = dim3(self.block.x, self.block.y, self.block.z)
        return other

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExperimentConfiguration:
        """Return the configuration that `to_dict` gave; unknown keys are ignored.

        Raises:
            InvalidArgument: If "grid" or "block" is missing or malformed.
        """
        for key in ("grid", "block"):
            if key not in data:
                raise InvalidArgument(f"the configuration lacks '{key}'")
        known = _CONFIGURATION_FIELDS
        return cls(**{key: value for key, value in data.items() if key in known})

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain JSON values, in field order.

        What other tools' configurations do not have is there only where it says something, so that
        equal configurations have equal hashes everywhere.
        """
        own, plain = self.__dict__, _PLAIN_TYPES
        values = {
            name: value if type(value := own[name]) in plain else _plain(value)
            for name in _CONFIGURATION_FIELDS
        }
        for name, otherwise in _OWN_FIELDS.items():
            if values[name] == otherwise:
                del values[name]
        for name in ("grid", "block"):
            values[name] = values[name].to_dict()
        return values

    def launch_text(self) -> str:
        """Return the configuration as JSON for the runtime, without values that have no effect.

        Scripts compute `max_threads` even where launch bounds are off, as any number, and draw
        switches as 0 or 1.
        """
        grounded = self.copy()
        grounded.ground()
        values = grounded.to_dict()
        for name in _SWITCHES:
            if values[name] in (0, 1):
                values[name] = bool(values[name])
        return json.dumps(values)

    def is_valid(self) -> bool:
        """Whether the launch bounds, if set, admit the block."""
        return not self.set_launch_bounds or self.max_threads >= self.block.volume

    def ground(self) -> None:
        """Set what has no effect to zero, so that equal experiments compare equal."""
        for name, switch in _SWITCHED_FIELDS.items():
            if not getattr(self, switch):
                setattr(self, name, _OWN_FIELDS.get(name, 0))

    def constants(self, known: Mapping[str, str]) -> tuple[str, ...]:
        """Return the paths of the arguments and members that become constants.

        Args:
            known: As of `constant_paths`.

        Raises:
            InvalidArgument: If `specialized_args` is no list of paths.
        """
        if not self.specialize:
            return ()
        if not self.specialized_args:
            return tuple(known)
        return known_paths(argument_paths(self.specialized_args), known)

    def code_numbers(self) -> dict[str, Any]:
        """Return the values of CODE_NUMBERS, whole numbers, by their keys."""
        return {one.key: getattr(self, one.key) for one in CODE_NUMBERS}

    def code_texts(self) -> dict[str, Any]:
        """Return the values of CODE_TEXTS by their keys."""
        return {one.key: getattr(self, one.key) for one in CODE_TEXTS}

    def key(self) -> tuple[Hashable, ...]:
        """Return what is equal for configurations that do the same."""
        values = self.__dict__
        found: list[Any] = [
            values[name] if switch is None or values[switch] else None
            for name, switch in _FIELDS_AND_SWITCHES
        ]
        for place in _DIMENSIONS:
            extent = found[place]
            found[place] = (extent.x, extent.y, extent.z)
        return tuple(found)

    def code_key(self) -> tuple[Hashable, ...]:
        """Return what differs wherever the code may differ, and for little else."""
        return tuple(
            value if switches is None or any(getattr(self, switch) for switch in switches) else None
            for value, switches in zip(self.key(), _CODE_SWITCHES, strict=True)
        )

    def hash(self) -> str:
        """Return the SHA-256 of the configuration, as 64 hexadecimal digits."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationChanges:
    """What to change in a recorded configuration; None keeps what was recorded."""

    grid: tuple[int | None, int | None, int | None] = (None, None, None)
    """Blocks in x, y, z."""

    block: tuple[int | None, int | None, int | None] = (None, None, None)
    """Threads in x, y, z."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the configuration by name."""

    def apply(self, recorded: ExperimentConfiguration) -> ExperimentConfiguration:
        """Return the changed configuration; `recorded` stays as it is."""
        data = recorded.to_dict()
        for name, extents in (("grid", self.grid), ("block", self.block)):
            data[name].update({a: n for a, n in zip("xyz", extents, strict=True) if n is not None})
        data.update({key: value for key, value in self.values.items() if value is not None})
        changed = ExperimentConfiguration.from_dict(data)
        if changed.set_launch_bounds and self.values.get("max_threads") is None:
            changed.max_threads = changed.block.volume
        return changed


@dataclass
class ExperimentResult:
    """What one replay gave."""

    preprocess_ir_time: float = 0.0
    """Seconds for linking, pruning and specialising."""

    opt_time: float = 0.0
    """Seconds in the pass pipeline."""

    codegen_time: float = 0.0
    """Seconds for code generation."""

    obj_size: int = 0
    """Bytes of the binary."""

    exec_time: list[int] = field(default_factory=list)
    """Nanoseconds per launch, warm-up launches first."""

    verified: bool = False
    """The memory left behind is that of the recorded launch, or within tolerance."""

    executed: bool = False
    """The kernel ran to its end."""

    failed: bool = False
    """Building, launching or the worker failed; `error` says how."""

    start_time: str = ""
    """ISO 8601, UTC."""

    end_time: str = ""
    """ISO 8601, UTC."""

    gpu_id: int = 0
    """Number of the device."""

    const_mem_usage: int = 0
    """Bytes of constant memory."""

    local_mem_usage: int = 0
    """Bytes of local memory per thread."""

    reg_usage: int = 0
    """Registers per thread; 0 where the device does not say."""

    error: str = ""
    """A sentence, empty if all went well."""

    result_class: str = ""
    """exact, within_tolerance, nondeterministic, unreproducible, few_ulp, wrong or failed."""

    max_ulp: int = 0
    """Largest distance from the recorded value, in units in the last place."""

    max_relative: float = 0.0
    """Largest relative distance from the recorded value."""

    max_absolute: float = 0.0
    """Largest absolute distance from the recorded value."""

    suggestion: str = ""
    """Tolerances to try, divided by blanks, when it is nondeterministic or `rounding` is set; those
    that accept it, when it is few_ulp."""

    rounding: bool = False
    """Wrong, but by no more than rounding, and the build lets pipelines round differently."""

    unrecorded_reads: list[str] = field(default_factory=list)
    """What the code reads that the recording does not hold: "clocks", "textures", ..."""

    note: str = ""
    """Why a result that differs may be what it is, and what to do; empty if nothing is known."""

    mismatches: list[dict[str, Any]] = field(default_factory=list)
    """One entry per region that differs: region, offset, element, expected, actual, how many."""

    device: str = ""
    """Where it ran: "cpu", "cuda:0"."""

    multiprocessors: int = 0
    """On how many units of the device its blocks could run; 0: not known."""

    part: str = ""
    """A sentence, where the recorded launch or this one had a part of a device; else empty."""

    ir_hash: str = ""
    """Hash of the final IR."""

    image_hash: str = ""
    """Hash of the binary; equal binaries have equal hashes."""

    spill_bytes: int | None = None
    """Bytes that instructions store and load to save registers; None where it is not known."""

    shared_mem_usage: int | None = None
    """Bytes of static shared memory per block; None in results of earlier versions."""

    open_time: float = 0.0
    """Seconds for opening the recording on the device."""

    restore_time: float = 0.0
    """Seconds for restoring memory, over all launches; from those that were waited for."""

    verify_time: float = 0.0
    """Seconds for comparing memory."""

    timer: str = ""
    """What measured `exec_time`: host clock, events or cupti."""

    median_ns: int = 0
    """Median of the measured launches, warm-ups apart, in nanoseconds."""

    time_ci_ns: list[int] = field(default_factory=list)
    """95 % confidence interval [low, high] of the median, by order statistics; empty for fewer than
    six launches."""

    iterations_used: int = 0
    """Measured launches."""

    in_place_ns: list[int] = field(default_factory=list)
    """With `Measuring.probes_in_place`: times of launches on memory that was not restored, if they
    leave the same; the last times in `exec_time`, as many, are of launches on restored memory."""

    cold_cache: bool = False
    """Caches were replaced before every launch."""

    stopped_early: bool = False
    """Measuring ended because the configuration is slower than `stop_above_ns`."""

    device_usable: bool = True
    """False if the process that ran this can do nothing more with the device."""

    device_open_time: float = 0.0
    """Seconds of `open_time` for opening the device."""

    upload_time: float = 0.0
    """Seconds of `open_time` for reserving and filling memory."""

    code_from_cache: bool = False
    """The code was compiled earlier, and the times of compiling are those of then."""

    reused: bool = False
    """Measured as part of another configuration, which gave the same binary and launch."""

    counters: dict[str, float | None] = field(default_factory=dict)
    """Hardware counters that were asked for and read, by name; None for what is not a number."""

    counters_error: str = ""
    """Why counters that were asked for were not read, a sentence."""

    worker_died: bool = False
    """The process that evaluated this crashed or was ended because it took too long."""

    launches: int = 0
    """Launches of any purpose."""

    launched_ns: int = 0
    """Nanoseconds of all these launches."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExperimentResult:
        """Return the result that `to_dict` gave; unknown keys are ignored."""
        known = _RESULT_FIELDS
        return cls(**{key: value for key, value in data.items() if key in known})

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values, in field order."""
        values = {name: getattr(self, name) for name in _RESULT_FIELDS}
        values["exec_time"] = list(self.exec_time)
        values["time_ci_ns"] = list(self.time_ci_ns)
        values["mismatches"] = [dict(item) for item in self.mismatches]
        values["counters"] = dict(self.counters)
        return values


def _in_files(item: Field[Any]) -> tuple[bool, int]:
    """Order fields as files have them: last what other tools do not have."""
    if any(item.name == one.key for one in CODE_NUMBERS):
        return True, 0
    is_text = any(item.name == one.key for one in CODE_TEXTS)
    return is_text or _OWN in item.metadata, 2 if is_text else 1


_FIELDS = sorted(fields(ExperimentConfiguration), key=_in_files)
_CONFIGURATION_FIELDS = tuple(item.name for item in _FIELDS)
_SWITCHES = tuple(item.name for item in _FIELDS if isinstance(item.default, bool))
_OWN_FIELDS = {item.name: item.default for item in _FIELDS if _in_files(item)[0]}
_SWITCHED_FIELDS: dict[str, str] = {
    item.name: item.metadata[_ONLY_WITH] for item in _FIELDS if _ONLY_WITH in item.metadata
}
_FIELDS_AND_SWITCHES = tuple((name, _SWITCHED_FIELDS.get(name)) for name in _CONFIGURATION_FIELDS)
_DIMENSIONS = tuple(_CONFIGURATION_FIELDS.index(name) for name in ("grid", "block"))
_CODE_SWITCHES: tuple[tuple[str, ...] | None, ...] = tuple(
    item.metadata.get(_CODE_ONLY_WITH) for item in _FIELDS
)
_PLAIN_TYPES = frozenset((int, bool, str, dim3))
_RESULT_FIELDS = tuple(item.name for item in fields(ExperimentResult))


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field's value
    """Return a number of another library, such as NumPy, as one of Python; a whole one as int."""
    if hasattr(value, "item") and not isinstance(value, int | float):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _dims(value: object, name: str) -> dim3:
    if isinstance(value, dim3):
        return value
    if isinstance(value, Mapping):
        return dim3.from_dict(value)
    raise InvalidArgument(f"'{name}' has to be a dim3 or {{'x', 'y', 'z'}}, not {value!r}")
