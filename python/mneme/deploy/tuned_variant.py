"""One way to compile and launch a kernel, and the launches it is for, as in tuned-kernels files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mneme.arguments import ArgKind, Argument
from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.knobs import CODE_NUMBERS, FixedCodeNumbers

if TYPE_CHECKING:
    from mneme.deploy.tuned_json import Place
    from mneme.mneme_types import dim3

__all__ = [
    "GUARDS",
    "LOOKS_FASTER",
    "Gain",
    "LaunchOverride",
    "Match",
    "MatchedArgument",
    "TunedVariant",
]

GUARDS = ("Arch", "Grid", "Block", "SharedMem", "Args")
"""Guards without a number; `Arg:2` is a guard, too."""

_MAX_INDEX = 1 << 16
_MAX_BYTES = 1 << 15
_MAX_LEVEL = 3
_LAUNCH_RULES = ("exact", "cover", "agnostic")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedArgument(Argument):
    """An argument of the launch a variant was found for; passed by value, not a pointer."""

    index: int
    """From 0."""

    bytes: str
    """Hexadecimal digits, in memory order."""

    value: object = None
    """For users; None: not a number."""

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
        return known if self.value is None else {**known, "Value": self.value}

    @classmethod
    def from_json(cls, place: Place) -> MatchedArgument:
        """Read an argument."""
        digits = place.text("Bytes")
        is_value = re.fullmatch("(?:[0-9a-fA-F]{2})+", digits)
        if not is_value or len(digits) > 2 * _MAX_BYTES:
            raise place.broken("Bytes", f"is {digits!r}, not the hexadecimal digits of a value")
        return cls(
            index=place.number("Index", 0, _MAX_INDEX),
            name=place.remark("Name"),
            type=place.text("Type", ""),
            bytes=digits.lower(),
            value=place.data.get("Value"),
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
    """Arguments passed by value, by index; pointers are left out."""

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
    def from_json(cls, place: Place) -> Match:
        """Read a launch."""
        args = tuple(MatchedArgument.from_json(one) for one in place.objects("Args"))
        if len({one.index for one in args}) < len(args):
            raise place.broken("Args", "lists an argument twice")
        return cls(
            arch=place.text("Arch", ""),
            device=place.remark("Device"),
            grid=place.dims("GridDim"),
            block=place.dims("BlockDim"),
            shared_mem=place.number("SharedMem", 0, 2**64 - 1) if place.has("SharedMem") else None,
            args=args,
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
    def from_json(cls, place: Place) -> LaunchOverride:
        """Read an override."""
        return cls(
            rule=place.one_of("Rule", _LAUNCH_RULES),
            grid=_extent(place, "GridDim"),
            block=_extent(place, "BlockDim"),
        )


def _extent(place: Place, key: str) -> dim3:
    extent = place.dims(key)
    if extent is None:
        raise place.broken(key, "is missing")
    return extent


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
    def find(cls, variant: Place) -> Gain | None:
        """Read the gain of a variant, which is informational: None if it is missing or invalid."""
        try:
            place = variant.object("Gain")
            return cls(ratio=place.real("Ratio"), low=place.real("Low"), high=place.real("High"))
        except ArtifactCorrupt:
            return None


def _guard(text: str) -> str:
    """Return a guard in its normal form: `Arg:02` becomes `Arg:2`."""
    match = re.fullmatch("Arg:([0-9]{1,10})", text)
    return f"Arg:{int(match[1])}" if match else text


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedVariant(FixedCodeNumbers):
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

    specialized_args: tuple[int, ...] | None = None
    """Indices from 0; None: every argument that can be."""

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

    @property
    def fixes_every_scalar(self) -> bool:
        """Whether every scalar argument in `match` becomes a constant."""
        if not self.specialize_args or self.specialized_args is None:
            return self.specialize_args
        scalars = {one.index for one in self.match.args if one.value is not None}
        return scalars <= set(self.specialized_args)

    def flat_json(self) -> dict[str, Any]:
        """Return the keys that existing tools also know."""
        return {
            "LaunchBounds": self.launch_bounds,
            "SpecializeArgs": self.specialize_args,
            "SpecializeDims": self.specialize_dims,
            "Pipeline": self.pipeline,
            "CodeGenOptLevel": self.codegen_opt_level,
            "TunedMaxThreads": self.tuned_max_threads,
            "MinBlocksPerSM": self.min_blocks_per_sm,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the variant as in the file."""
        values = {
            **self.flat_json(),
            **{one.deployed: getattr(self, one.key) for one in CODE_NUMBERS},
            "Match": self.match.to_json(),
            "Guards": list(self.guards),
        }
        if self.specialized_args is not None:
            values["SpecializedArgs"] = list(self.specialized_args)
        if self.launch is not None:
            values["Launch"] = self.launch.to_json()
        values.update(BaselineNs=self.baseline_ns, TunedNs=self.tuned_ns)
        if self.gain is not None:
            values["Gain"] = self.gain.to_json()
        values["Weight"] = self.weight
        return {**values, "StaticHash": self.static_hash} if self.static_hash else values

    @classmethod
    def _from_flat(cls, place: Place) -> TunedVariant:
        """Read the keys that existing tools know, with their defaults."""
        level = place.remark("OptLevel", "3")
        return cls(
            launch_bounds=place.flag("LaunchBounds", default=True),
            specialize_args=place.flag("SpecializeArgs", default=False),
            specialize_dims=place.flag("SpecializeDims", default=True),
            pipeline=place.text("Pipeline", f"default<O{level}>"),
            codegen_opt_level=place.number("CodeGenOptLevel", 0, _MAX_LEVEL, 3),
            tuned_max_threads=place.whole("TunedMaxThreads", -1),
            min_blocks_per_sm=place.whole("MinBlocksPerSM", 0),
        )

    @classmethod
    def from_json(cls, place: Place, *, weight: float = 0) -> TunedVariant:
        """Read a variant; `weight` is the one that is not said."""
        numbers: dict[str, Any] = {
            one.key: place.number(one.deployed, 0, one.high, one.default) for one in CODE_NUMBERS
        }
        variant = replace(
            cls._from_flat(place),
            **numbers,
            specialized_args=tuple(place.numbers("SpecializedArgs", _MAX_INDEX))
            if place.has("SpecializedArgs")
            else None,
            match=Match.from_json(place.object("Match")) if place.has("Match") else Match(),
            guards=tuple(_guard(one) for one in place.texts("Guards")),
            launch=LaunchOverride.from_json(place.object("Launch"))
            if place.has("Launch")
            else None,
            baseline_ns=place.amount("BaselineNs"),
            tuned_ns=place.amount("TunedNs"),
            gain=Gain.find(place),
            weight=place.real("Weight", weight),
            static_hash=place.static_hash("StaticHash"),
        )
        try:
            variant.check()
        except InvalidArgument as error:
            raise place.broken("a variant", str(error)) from None
        return variant

    def check(self) -> None:
        """Check that `match` contains what guards and `launch` compare with.

        Raises:
            InvalidArgument: If not.
        """
        match = self.match
        known = {
            "Arch": bool(match.arch),
            "Grid": match.grid is not None,
            "Block": match.block is not None,
            "SharedMem": match.shared_mem is not None,
            "Args": True,
            **{f"Arg:{one.index}": True for one in match.args},
        }
        for guard in self.guards:
            if not known.get(guard):
                what = "compares with nothing in Match" if guard in known else "is unknown"
                if guard.startswith("Arg:"):
                    what = "names an argument that Match does not list"
                raise InvalidArgument(f"has the guard '{guard}', which {what}")
        if self.launch is not None and None in (match.grid, match.block, match.shared_mem):
            raise InvalidArgument("has Launch, but Match lacks grid, block or shared memory")
