"""Tuned-kernels files, which production runs read from `PROTEUS_TUNED_KERNELS`.

The format is described in docs/tuned-kernels.md. Files of existing tools, which have only the flat
keys, are read, too. What a right file is, only the reader of production runs knows
(runtime/jit/tuned), which is asked here. This module handles bytes and values, neither results nor
devices.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.deploy.tuned_variant import TunedVariant, remark, said_in
from mneme.errors import InvalidArgument, MnemeError
from mneme.files.json_object import read_json_object
from mneme.files.publish import publish_text
from mneme.knobs import CODE_NUMBERS, CODE_TEXTS
from mneme.pipelines.structurizing import with_what_structurizecfg_needs
from mneme.pipelines.unrolling import without_unrolling

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TunedKernel", "read_tuned_file", "write_tuned_file"]

_MAX_BYTES = 64 << 20  # as kMaxFileBytes of runtime/jit/tuned/file.h
# As kKnownVersion there; in version 1 all variants are for one code, which has IR.
_SEVERAL_CODES, _WITHOUT_IR = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedKernel:
    """The entry of one name, which several kernels with different code may have."""

    variants: tuple[TunedVariant, ...]
    """At least one."""

    demangled_name: str = ""
    """Name as in the source, if known."""

    codegen: str = "rtc"
    """For existing tools; has no effect."""

    is_flat: bool = False
    """Written by a tool that uses the flat keys only."""

    def to_json(self) -> dict[str, Any]:
        """Return the entry as in the file; the flat keys repeat the heaviest variant."""
        if any(one.code_form for one in self.variants):
            return {"Mneme": self._own_json(_WITHOUT_IR, self.variants)}
        main = max(self.variants, key=lambda one: one.weight)
        flat = main.flat_json()
        entry: dict[str, Any] = {
            "CodeGen": self.codegen,
            **{key: flat[key] for key in ("LaunchBounds", "SpecializeArgs", "SpecializeDims")},
            "SpecializeDimsRange": main.specialize_dims,
            "OptLevel": 1,
            **flat,
        }
        if self.is_flat:
            plain, own_keys = TunedVariant().to_json(), main.to_json()
            keys = (
                "SpecializedArgs",
                "SpecializedMembers",
                "Match",
                "Guards",
                "Launch",
                "StaticHash",
                "CodeHash",
            )
            knobs = (one.deployed for one in (*CODE_NUMBERS, *CODE_TEXTS))
            extra = {key: own_keys.get(key) for key in (*knobs, *keys)}
            return {**entry, **{k: v for k, v in extra.items() if v != plain.get(k)}}
        # Existing tools fail at our own passes and those of plugins, and do not prepare code for
        # structurizecfg.
        entry["Pipeline"] = with_what_structurizecfg_needs(without_unrolling(main.pipeline))
        if main.pass_plugins:
            entry["Pipeline"] = TunedVariant().pipeline
        # They make every scalar a constant, so changing ones need a binary per value.
        entry["SpecializeArgs"] = main.fixes_every_scalar
        # If all are for the same code, its hash is written once, so that earlier releases can read
        # the file.
        if len(self.static_hashes) > 1:
            return {**entry, "Mneme": self._own_json(_SEVERAL_CODES, self.variants)}
        code = {"StaticHash": main.static_hash} if main.static_hash else {}
        variants = tuple(replace(one, static_hash="") for one in self.variants)
        return {**entry, "Mneme": self._own_json(1, variants, **code)}

    def _own_json(
        self, version: int, variants: tuple[TunedVariant, ...], **code: str
    ) -> dict[str, Any]:
        own = {"Version": version, "DemangledName": self.demangled_name, **code}
        return {**own, "Variants": [one.to_json() for one in variants]}

    @property
    def static_hashes(self) -> list[str]:
        """Hashes of the code it is for, each once; empty for variants that fit any code."""
        return list(dict.fromkeys(one.static_hash for one in self.variants))

    def for_code(self, static_hash: str) -> TunedKernel:
        """Return the entry's part for one of `static_hashes`."""
        variants = tuple(one for one in self.variants if one.static_hash == static_hash)
        return replace(self, variants=variants)

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> TunedKernel:
        """Read an entry that `_native.check_tuned_kernels` found to be right."""
        codegen = remark(entry.get("CodeGen"), "rtc")
        if entry.get("Mneme") is None:
            flat = TunedVariant.from_json(entry, weight=1)
            return cls(variants=(flat,), codegen=codegen, is_flat=True)
        own = said_in(entry["Mneme"])
        code = own.get("StaticHash", "").lower()
        variants = (TunedVariant.from_json(one) for one in own["Variants"])
        return cls(
            variants=tuple(replace(one, static_hash=one.static_hash or code) for one in variants),
            demangled_name=remark(own.get("DemangledName")),
            codegen=codegen,
        )


def read_tuned_file(path: str | Path) -> dict[str, TunedKernel]:
    """Read a tuned-kernels file, ours or an existing tool's.

    Returns:
        The kernels by mangled name.

    Raises:
        NotFound: If there is no such file.
        ArtifactCorrupt: If a production run would not use all of it; the message names the place.
        Unsupported: If it was written by a newer mneme.
        IoFailed: If the operating system refuses to read it, it is not a regular file, or has more
            than 64 MiB.
    """
    path = Path(path)
    data = read_json_object(
        path, parse=lambda text: _parsed(text, path), encoding="utf-8-sig", most=_MAX_BYTES
    )
    return {name: TunedKernel.from_json(entry) for name, entry in data.items()}


def _parsed(text: str, path: Path) -> object:
    value: object = json.loads(text)
    _check(text, path)
    return value


def _check(text: str, path: Path) -> None:
    from mneme import _native  # noqa: PLC0415 - loads native code

    _native.check_tuned_kernels(text, path)


def write_tuned_file(path: str | Path, kernels: Mapping[str, TunedKernel]) -> None:
    """Write a tuned-kernels file with one rename.

    Raises:
        InvalidArgument: If a production run would not use all of it.
        IoFailed: If the operating system refuses to write it.
    """
    content = {name: kernel.to_json() for name, kernel in kernels.items()}
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    try:
        _check(text, Path(path))
    except MnemeError as error:
        raise InvalidArgument(f"these tuned kernels are not written: {error}") from error
    publish_text(path, text)
