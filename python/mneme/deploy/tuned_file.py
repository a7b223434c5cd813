"""Tuned-kernels files: what production runs read from `PROTEUS_TUNED_KERNELS`.

The format is described in docs/tuned-kernels.md. Files of existing tools, which know the flat keys
only, are read too. This module knows bytes and values, neither results nor devices.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.deploy.tuned_json import FORMAT_VERSION, Place, parse_json
from mneme.deploy.tuned_variant import TunedVariant
from mneme.errors import InvalidArgument, Unsupported
from mneme.files.json_object import read_json_object
from mneme.files.publish import publish_text
from mneme.pipelines.structurizing import with_what_structurizecfg_needs
from mneme.pipelines.unrolling import without_unrolling

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TunedKernel", "read_tuned_file", "write_tuned_file"]

_MAX_BYTES = 64 << 20  # as kMaxTunedFileBytes of runtime/tuned/file.h


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedKernel:
    """The entry of one name. Several kernels can have it, each with code of its own."""

    variants: tuple[TunedVariant, ...]
    """At least one."""

    demangled_name: str = ""
    """Name as in the source, if known."""

    codegen: str = "rtc"
    """For existing tools; changes nothing."""

    is_flat: bool = False
    """Written by a tool that knows the flat keys only."""

    def to_json(self) -> dict[str, Any]:
        """Return the entry as in the file; the flat keys repeat the variant that weighs most."""
        main = max(self.variants, key=lambda one: one.weight)
        flat = main.flat_json()
        entry: dict[str, Any] = {
            "CodeGen": self.codegen,
            **{key: flat[key] for key in ("LaunchBounds", "SpecializeArgs", "SpecializeDims")},
            "SpecializeDimsRange": main.specialize_dims,
            "OptLevel": 1,
            **{key: flat[key] for key in ("Pipeline", "CodeGenOptLevel")},
            **{key: flat[key] for key in ("TunedMaxThreads", "MinBlocksPerSM")},
        }
        if self.is_flat:
            plain, own_keys = TunedVariant().to_json(), main.to_json()
            keys = ("MaxRegisters", "SpecializedArgs", "Match", "Guards", "Launch", "StaticHash")
            extra = {key: own_keys.get(key) for key in keys}
            return {**entry, **{k: v for k, v in extra.items() if v != plain.get(k)}}
        # Existing tools end at a pass of ours, and put nothing in front of structurizecfg.
        entry["Pipeline"] = with_what_structurizecfg_needs(without_unrolling(main.pipeline))
        # They make constants of every scalar: a binary for each value of those that change.
        entry["SpecializeArgs"] = main.fixes_every_scalar
        own: dict[str, Any] = {"Version": 1, "DemangledName": self.demangled_name}
        variants = self.variants
        # Where all are for one code, its hash stands once, and earlier releases read the file.
        if len(self.static_hashes) > 1:
            own["Version"] = FORMAT_VERSION
        elif main.static_hash:
            own["StaticHash"] = main.static_hash
            variants = tuple(replace(one, static_hash="") for one in variants)
        return {**entry, "Mneme": {**own, "Variants": [one.to_json() for one in variants]}}

    @property
    def static_hashes(self) -> list[str]:
        """Hashes of the codes it is for, each once; one is empty where a variant serves any."""
        return list(dict.fromkeys(one.static_hash for one in self.variants))

    def for_code(self, static_hash: str) -> TunedKernel:
        """Return what it has for code of one of `static_hashes`."""
        variants = tuple(one for one in self.variants if one.static_hash == static_hash)
        return replace(self, variants=variants)

    @classmethod
    def from_json(cls, place: Place) -> TunedKernel:
        """Read an entry."""
        codegen = place.remark("CodeGen", "rtc")
        if not place.has("Mneme"):
            return cls(
                variants=(TunedVariant.from_json(place, weight=1),), codegen=codegen, is_flat=True
            )
        own = place.object("Mneme")
        version = own.number("Version", 1, 2**32 - 1, FORMAT_VERSION)
        if version > FORMAT_VERSION:
            raise Unsupported(
                f"{own.where}: version {version} of the format is newer than this mneme, which "
                f"reads up to {FORMAT_VERSION}; use a newer mneme"
            )
        variants = tuple(TunedVariant.from_json(one) for one in own.objects("Variants"))
        if not variants:
            raise own.broken("Variants", "is missing or empty")
        code = own.static_hash("StaticHash")
        return cls(
            variants=tuple(replace(one, static_hash=one.static_hash or code) for one in variants),
            demangled_name=own.remark("DemangledName"),
            codegen=codegen,
        )


def read_tuned_file(path: str | Path) -> dict[str, TunedKernel]:
    """Read a tuned-kernels file, ours or an existing tool's.

    Returns:
        The kernels by mangled name.

    Raises:
        NotFound: If there is no such file.
        ArtifactCorrupt: If it is no tuned-kernels file; the message names the place.
        Unsupported: If it was written by a newer mneme.
        IoFailed: If the operating system refuses to read it, it is no regular file, or has more
            than 64 MiB.
    """
    path = Path(path)
    data = read_json_object(path, parse=parse_json, encoding="utf-8-sig", most=_MAX_BYTES)
    return {
        name: TunedKernel.from_json(Place(entry, f"'{path}': {name}"))
        for name, entry in data.items()
    }


def write_tuned_file(path: str | Path, kernels: Mapping[str, TunedKernel]) -> None:
    """Write a tuned-kernels file with one rename.

    Raises:
        InvalidArgument: If a guard has nothing to compare with.
        IoFailed: If the operating system refuses to write it.
    """
    for name, kernel in kernels.items():
        for variant in kernel.variants:
            try:
                variant.check()
            except InvalidArgument as error:
                raise InvalidArgument(f"{name}: a variant {error}") from None
    content = {name: kernel.to_json() for name, kernel in kernels.items()}
    publish_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")
