"""One way to compile and launch a kernel, and the launches it is for, as in tuned-kernels files.

What reads here relies on `_native.check_tuned_kernels`, which found the file to be right: what
counts in production is of the kind it has to be, or null, which counts as missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mneme.arguments import ArgKind, Argument
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS, FixedCodeKnobs
from mneme.mneme_types import dim3

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "FLAT_KEYS",
    "LOOKS_FASTER",
    "FlatKey",
    "Gain",
    "LaunchOverride",
    "Match",
    "MatchedArgument",
    "TunedVariant",
    "remark",
    "said_in",
]


class FlatKey(NamedTuple):
    """A key that existing tools also know."""

    key: str
    """In files."""

    name: str
    """The field of variants."""

    configured: str
    """The field of configurations."""


FLAT_KEYS: Final = (
    FlatKey("LaunchBounds", "launch_bounds", "set_launch_bounds"),
    FlatKey("SpecializeArgs", "specialize_args", "specialize"),
    FlatKey("SpecializeDims", "specialize_dims", "specialize_dims"),
    FlatKey("Pipeline", "pipeline", "passes"),
    FlatKey("CodeGenOptLevel", "codegen_opt_level", "codegen_opt"),
    FlatKey("TunedMaxThreads", "tuned_max_threads", "max_threads"),
    FlatKey("MinBlocksPerSM", "min_blocks_per_sm", "min_blocks_per_sm"),
)
"""In the order of files."""

_OWN_KEYS: Final = tuple(FlatKey(one.deployed, one.key, one.key) for one in CODE_NUMBERS)
_TEXT_KEYS: Final = tuple(FlatKey(one.deployed, one.key, one.key) for one in CODE_TEXTS)
_OF_PTX: Final = ("ptx", "fatbin")
_KEYS: Final = (*FLAT_KEYS, *_OWN_KEYS, *_TEXT_KEYS)


def said_in(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an object says: null says nothing."""
    return {key: value for key, value in data.items() if value is not None}


def remark(value: object, otherwise: str = "") -> str:
    """Return an informational text; other values are ignored."""
    return value if isinstance(value, str) else otherwise


def _amount(value: object) -> float | None:
    """Return an informational number; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _dims(data: Mapping[str, int | None]) -> dim3:
    return dim3(*(data.get(axis) or 1 for axis in "xyz"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedArgument(Argument):
    """An argument of the launch a variant was found for; passed by value, not a pointer."""

    index: int
    """From 0."""

    bytes: str
    """Hexadecimal digits, in memory order."""

    value: object = None
    """For users; None: not a number."""

    pointers: tuple[int, ...] = ()
    """Without IR: offsets of words that were pointers, which do not count."""

    def __post_init__(self) -> None:
        # A file contains no more about them.
        object.__setattr__(self, "kind", ArgKind.of_type(self.type))
        object.__setattr__(self, "size", len(self.bytes) // 2)

    def to_json(self) -> dict[str, Any]:
        """Return the argument as in the file."""
        known = {
            "Index": self.index,
            "Name": self.name,
            "Type": self.type,
            "Bytes": self.bytes,
        }
        if self.pointers:
            known["Pointers"] = list(self.pointers)
        return known if self.value is None else {**known, "Value": self.value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MatchedArgument:
        """Read an argument."""
        return cls(
            index=data["Index"],
            name=remark(data.get("Name")),
            type=remark(data.get("Type")),
            bytes=data["Bytes"].lower(),
            value=data.get("Value"),
            pointers=tuple(data.get("Pointers") or ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The launch a variant was found for; None or empty fields are unknown."""

    arch: str = ""
    """Target of the code: "sm_90", "cpu"."""

    device: str = ""
    """Name of the device."""

    grid: dim3 | None = None
    """Blocks."""

    block: dim3 | None = None
    """Threads of a block."""

    shared_mem: int | None = None
    """Bytes of dynamic shared memory."""

    args: tuple[MatchedArgument, ...] = ()
    """Arguments passed by value, by index; without IR all, with their pointers."""

    def to_json(self) -> dict[str, Any]:
        """Return the launch as in the file."""
        known: dict[str, Any] = {
            "Arch": self.arch,
            "Device": self.device,
            "GridDim": None if self.grid is None else self.grid.to_dict(),
            "BlockDim": None if self.block is None else self.block.to_dict(),
            "SharedMem": self.shared_mem,
        }
        values = {key: value for key, value in known.items() if value not in (None, "")}
        return {**values, "Args": [one.to_json() for one in self.args]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Match:
        """Read a launch."""
        said = said_in(data)
        return cls(
            arch=said.get("Arch", ""),
            device=remark(said.get("Device")),
            grid=_dims(said["GridDim"]) if "GridDim" in said else None,
            block=_dims(said["BlockDim"]) if "BlockDim" in said else None,
            shared_mem=said.get("SharedMem"),
            args=tuple(MatchedArgument.from_json(one) for one in said.get("Args", ())),
        )

    def is_same_launch(self, other: Match) -> bool:
        """Whether both are one launch on one architecture."""

        def key(match: Match) -> tuple[object, ...]:
            args = sorted((one.index, one.bytes) for one in match.args if one.value is not None)
            return match.arch, match.grid, match.block, match.shared_mem, tuple(args)

        # Files of earlier releases list scalars only.
        known = {one.index: one.bytes for one in self.args}
        return key(self) == key(other) and all(
            known.get(one.index, one.bytes) == one.bytes for one in other.args
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOverride:
    """Other dimensions to launch with."""

    rule: str
    """exact, cover or agnostic."""

    grid: dim3
    """Blocks."""

    block: dim3
    """Threads of a block."""

    def to_json(self) -> dict[str, Any]:
        """Return the override as in the file."""
        return {
            "Rule": self.rule,
            "GridDim": self.grid.to_dict(),
            "BlockDim": self.block.to_dict(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LaunchOverride:
        """Read an override."""
        return cls(rule=data["Rule"], grid=_dims(data["GridDim"]), block=_dims(data["BlockDim"]))


LOOKS_FASTER = 1.05
"""Uncertain gains above this are mentioned; smaller ones may be chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Baseline time / tuned time, with its 95 % confidence interval."""

    ratio: float
    """Best estimate."""

    low: float
    """Lower end."""

    high: float
    """Upper end."""

    def to_json(self) -> dict[str, float]:
        """Return the gain as in the file."""
        return {"Ratio": self.ratio, "Low": self.low, "High": self.high}

    @classmethod
    def find(cls, data: object) -> Gain | None:
        """Read a gain, which is informational: None if it is missing or invalid."""
        if not isinstance(data, dict):
            return None
        ratio, low, high = (_amount(data.get(key)) for key in ("Ratio", "Low", "High"))
        if ratio is None or low is None or high is None:
            return None
        return cls(ratio=ratio, low=low, high=high)


def _guard(text: str) -> str:
    """Return a guard in its normal form: `Arg:02` becomes `Arg:2`."""
    match = re.fullmatch(r"Arg:([0-9]{1,10})(?:\+([0-9]{1,10}))?", text)
    return "Arg:" + "+".join(str(int(one)) for one in match.groups() if one) if match else text


def _constants_to_json(paths: tuple[str, ...]) -> dict[str, Any]:
    """Return numbers of arguments, and members, as in the file."""
    members = [path.split("+") for path in paths if "+" in path]
    found: dict[str, Any] = {"SpecializedArgs": [int(path) for path in paths if "+" not in path]}
    if members:
        found["SpecializedMembers"] = [
            {"Arg": int(index), "Offset": int(offset)} for index, offset in members
        ]
    return found


def _constants_from_json(said: Mapping[str, Any]) -> tuple[str, ...] | None:
    if "SpecializedArgs" not in said:
        return None
    members = said.get("SpecializedMembers", ())
    return (
        *(str(index) for index in said["SpecializedArgs"]),
        *(f"{one['Arg']}+{one['Offset']}" for one in members),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedVariant(FixedCodeKnobs):
    """How a kernel is compiled and launched, and for which launches. Defaults are the file's."""

    launch_bounds: bool = True
    """Compile for blocks of exactly the launched size."""

    specialize_args: bool = False
    """Turn the values of `specialized_args` into constants."""

    specialize_dims: bool = True
    """Turn grid and block into constants."""

    pipeline: str = "default<O3>"
    """LLVM pass pipeline."""

    codegen_opt_level: int = 3
    """Level of the code generator, 0 to 3."""

    tuned_max_threads: int = -1
    """Block size that `min_blocks_per_sm` applies to; not positive: every block."""

    min_blocks_per_sm: int = 0
    """Blocks that must fit on a multiprocessor; 0: no requirement."""

    specialized_args: tuple[str, ...] | None = None
    """Arguments, "2", and members of structures, "0+8"; None: every scalar argument."""

    match: Match = field(default_factory=Match)
    """The launch it was found for."""

    guards: tuple[str, ...] = ()
    """What must equal `match` for the variant to be used."""

    launch: LaunchOverride | None = None
    """Other dimensions to launch with."""

    baseline_ns: float = 0
    """Time of the untuned kernel; 0 if unknown."""

    tuned_ns: float = 0
    """Time of this variant; 0 if unknown."""

    gain: Gain | None = None
    """Its gain, if measured."""

    weight: float = 1.0
    """Share of the application's time that this launch represents."""

    static_hash: str = ""
    """Hash of the code it is for, 16 hexadecimal digits; empty: any code."""

    code_hash: str = ""
    """Hash of this code whatever its functions are called; empty: unknown."""

    code_form: str = ""
    """What the code is where it has no IR and a program loads it: "cubin"; empty: it has IR."""

    cubin: bytes = b""
    """Code for the architecture of `match`, in place of that which the program loads."""

    processor: str = ""
    """A hash of the processor that such code is for, if that is the CPU device's."""

    def is_for(self, static_hash: str, code_hash: str) -> bool:
        """Whether it is for this code."""
        if self.static_hash in ("", static_hash):
            return True
        return bool(self.code_hash) and self.code_hash == code_hash

    @property
    def _is_of_ir(self) -> bool:
        """Whether LLVM made the code of the file; otherwise ptxas made it of recorded PTX."""
        return bool(self.cubin) and self.code_form not in _OF_PTX and self.llvm != "ptx"

    @property
    def fixes_every_scalar(self) -> bool:
        """Whether every scalar argument in `match` becomes a constant."""
        if not self.specialize_args or self.specialized_args is None:
            return self.specialize_args
        scalars = {str(one.index) for one in self.match.args if one.value is not None}
        return scalars <= set(self.specialized_args)

    def flat_json(self) -> dict[str, Any]:
        """Return the keys that existing tools also know."""
        return {one.key: getattr(self, one.name) for one in FLAT_KEYS}

    def to_json(self) -> dict[str, Any]:
        """Return the variant as in the file."""
        values = {
            **self._code_json(),
            "Match": self.match.to_json(),
            "Guards": list(self.guards),
        }
        if self.specialized_args is not None and not self.code_form:
            values.update(_constants_to_json(self.specialized_args))
        if self.launch is not None:
            values["Launch"] = self.launch.to_json()
        values.update(BaselineNs=self.baseline_ns, TunedNs=self.tuned_ns)
        if self.gain is not None:
            values["Gain"] = self.gain.to_json()
        values["Weight"] = self.weight
        hashes = {"StaticHash": self.static_hash, "CodeHash": self.code_hash}
        return {**values, **{key: value for key, value in hashes.items() if value}}

    def _code_json(self) -> dict[str, Any]:
        """Return how the kernel is compiled, as in the file."""
        if self.code_form:
            has_bounds = self.launch_bounds and self.tuned_max_threads > 0
            told = {
                "MaxRegisters": self.max_registers or None,
                "SharedCarveout": self.shared_carveout or None,
                # Without a number, the code keeps the bounds that it says.
                "TunedMaxThreads": self.tuned_max_threads if has_bounds else None,
                "MinBlocksPerSM": self.min_blocks_per_sm if has_bounds else None,
                "Pipeline": self.pipeline if self._is_of_ir else None,
                "CodeGenOptLevel": self.codegen_opt_level if self.cubin else None,
                "Llvm": self.llvm or None,
                "LlvmOptions": self.llvm_options or None,
                "AssemblerOptions": self.assembler_options or None,
                "Processor": self.processor or None,
                "Cubin": self.cubin.hex() or None,
            }
            return {"CodeForm": self.code_form, **said_in(told)}
        return {
            **self.flat_json(),
            **{one.key: getattr(self, one.name) for one in _OWN_KEYS},
            **{one.key: text for one in _TEXT_KEYS if (text := getattr(self, one.name))},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, weight: float = 0) -> TunedVariant:
        """Read a variant; `weight` is that of a variant without one."""
        said = said_in(data)
        told = {one.name: said[one.key] for one in _KEYS if one.key in said}
        told.setdefault("pipeline", f"default<O{remark(said.get('OptLevel'), '3')}>")
        return cls(
            **told,
            specialized_args=_constants_from_json(said),
            match=Match.from_json(said.get("Match", {})),
            guards=tuple(_guard(one) for one in said.get("Guards", ())),
            launch=LaunchOverride.from_json(said["Launch"]) if "Launch" in said else None,
            baseline_ns=_amount(said.get("BaselineNs")) or 0.0,
            tuned_ns=_amount(said.get("TunedNs")) or 0.0,
            gain=Gain.find(said.get("Gain")),
            weight=float(said.get("Weight", weight)),
            static_hash=said.get("StaticHash", "").lower(),
            code_hash=said.get("CodeHash", "").lower(),
            code_form=said.get("CodeForm", ""),
            cubin=bytes.fromhex(said.get("Cubin", "")),
            processor=remark(said.get("Processor")),
        )
