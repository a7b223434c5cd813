"""What identifies a recorded launch: the code, the dimensions, the values of scalar arguments.

A tuned-kernels file repeats these facts, so that a production run can recognise the tuned launch.
This module reads recordings and needs no device.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, Final

from mneme.arguments import ArgKind, Argument, constant_paths
from mneme.errors import ArtifactCorrupt
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.records import find_instance

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mneme.arguments import Member
    from mneme.recording.recorded_execution import KernelInstance

__all__ = [
    "PROVES_NOTHING",
    "UNOPTIMIZED",
    "decode_scalar",
    "differ_in_floats_only",
    "launch_facts",
    "launches_of",
    "leaves_changes",
    "sees_few_values",
    "static_hash_text",
    "unchanging_arguments",
    "usual_launch",
]

UNOPTIMIZED: Final = (
    "the program was built without optimization, as compilers do where no -O is given: build it "
    "with -O3 first, that gains more than tuning"
)
"""The message about a program whose `RecordedExecution.is_unoptimized` is true."""

PROVES_NOTHING: Final = (
    "the recorded launch left memory as it was, so that replays of code that does nothing are "
    "verified, too: record one that changes something (mneme record --per-kernel-skip-recordings N)"
)
"""The message about a launch for which `leaves_changes` is false."""

# The sample of a region: pieces, bytes of each, bytes of a value; and how many different values are
# few.
_SAMPLES, _SAMPLE, _WORD, _FEW_VALUES = 64, 4096, 4, 16
_POINTER = 8  # bytes
_NO_VALUES = (ArgKind.POINTER, ArgKind.UNKNOWN)
_FLOAT_FORMATS = {"half": "<e", "float": "<f", "double": "<d"}


def launch_facts(record_db: str | Path, record_id: str | None = None) -> dict[str, Any]:
    """Return what identifies a recorded launch, as plain JSON values.

    Args:
        record_db: A `<static hash>.json` file, or a directory of them.
        record_id: Dynamic hash of the launch; may be None if there is only one.

    Returns:
        "static_hash" (16 hexadecimal digits), "code_hash" (the same whatever functions are called;
        empty: unknown), "kernel_name", "demangled_name", "place" (of the kernel's body:
        "src/advec_mom.cpp:120"), "label" (what the program calls the launch: "step/advection"),
        "source_arch" (what the program was built for), "grid", "block" (`{"x", "y", "z"}`),
        "shared_mem" (bytes of dynamic shared memory), "occurrences", "code_form" (only without IR:
        what the code is), "producer" (only if no build with mneme made the IR), "image_form" (only
        with "producer": what the program loads) and "args": the
        scalar arguments whose values can become constants, each
        `{"index", "name", "type", "size", "bytes", "value", "varies"}` with "bytes" in
        hexadecimal digits as they lie in memory, and whether another recorded launch of the kernel
        had another value. "members" are those of structures that are passed by value,
        with "offset" and with the path "0+8" as "path". "values" are the other arguments passed by
        value (structs, integers and floats of unusual width), each
        `{"index", "name", "type", "size", "bytes"}`. Without IR these are all arguments; offsets of
        what were pointers, which are zero in "bytes", stand in "pointers". "launched" are all
        arguments in this form, of code with IR that the program loads.

    Raises:
        NotFound: If the record, the launch or its snapshot is missing.
        InvalidArgument: If no id is given and there is more than one launch.
        ArtifactCorrupt: If one of the files is damaged.
    """
    path, chosen = find_instance(record_db, record_id)
    record = RecordedExecution.from_json(path)
    instance = record[chosen]
    return {
        "static_hash": static_hash_text(record.static_hash),
        "code_hash": record.code_hash,
        "kernel_name": record.kernel_name,
        "demangled_name": record.demangled_name,
        "place": str(record.place or ""),
        "label": "/".join(instance.labels),
        "source_arch": record.arch,
        "grid": instance.grid_dim.to_dict(),
        "block": instance.block_dim.to_dict(),
        "shared_mem": instance.shared_mem,
        "occurrences": instance.occ,
        **({"code_form": record.code_form} if record.code_form else {}),
        **({"producer": record.producer} if record.producer else {}),
        **({"image_form": record.loaded_form} if record.loaded_form else {}),
        **_arguments(record, instance),
    }


def unchanging_arguments(
    record: RecordedExecution, instances: Iterable[KernelInstance]
) -> tuple[str, ...]:
    """Return what can become a constant and has one value in all of these launches: "2", "0+8".

    Raises:
        NotFound: If a snapshot is missing.
        ArtifactCorrupt: If one is damaged.
    """
    compared = _compared(record, instances)
    return tuple(path for path, one, is_same in compared if one.is_specializable and is_same)


def launches_of(instances: Iterable[KernelInstance]) -> int:
    """Return how many launches of the program these recorded ones represent."""
    return sum(max(1, one.occ) for one in instances)


def usual_launch(instances: Iterable[KernelInstance]) -> KernelInstance:
    """Return the most frequent launch; among several the one that took longest.

    Raises:
        NotFound: If a snapshot is missing.
        ArtifactCorrupt: If one is damaged.
    """

    def rank(one: KernelInstance) -> tuple[int, bool, int, str]:
        return one.occ, leaves_changes(one), one.recorded_ns, one.dynamic_hash

    return max(instances, key=rank)


def leaves_changes(instance: KernelInstance) -> bool:
    """Whether a recorded launch changed memory at all; otherwise any replay looks right.

    Raises:
        NotFound: If a snapshot is missing.
        ArtifactCorrupt: If one is damaged.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    before, after = (_native.Snapshot(one.fn) for one in (instance.prologue, instance.epilogue))
    return after.changed_bytes(before) > 0


def sees_few_values(instance: KernelInstance) -> bool:
    """Whether memory had few different values before a launch, judging by a sample.

    Threads that read values of the wrong threads then still get the right ones.

    Raises:
        NotFound: If a snapshot is missing.
        ArtifactCorrupt: If one is damaged.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    before = _native.Snapshot(instance.prologue.fn)
    found: set[bytes] = set()
    for number, region in enumerate(before.regions()):
        size = region["size"]
        # Pieces begin at the begin of a value.
        step = max(1, size // _SAMPLES // _SAMPLE) * _SAMPLE
        for start in range(0, size, step):
            content = before.read(number, start, min(_SAMPLE, size - start))
            found.update(content[at : at + _WORD] for at in range(0, len(content), _WORD))
            if len(found) > _FEW_VALUES:
                return False
    return True


def differ_in_floats_only(record: RecordedExecution, instances: Iterable[KernelInstance]) -> bool:
    """Whether dimensions found for one of these launches serve all, as far as arguments decide.

    Production runs apply other dimensions to launches whose arguments, except for pointers and
    floating-point numbers, are those of the tuned one (docs/tuned-kernels.md).

    Raises:
        NotFound: If a snapshot is missing.
        ArtifactCorrupt: If one is damaged.
    """
    return all(
        one.kind in (ArgKind.POINTER, ArgKind.FLOAT) or is_same
        for _, one, is_same in _compared(record, instances)
    )


def _compared(
    record: RecordedExecution, instances: Iterable[KernelInstance]
) -> list[tuple[str, Argument | Member, bool]]:
    """Return what identifies launches, and whether each has one value in all of these.

    These are arguments, and in place of structures the members that the kernel reads.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    known = Argument.all_of(_native.record_arguments(record.path))
    seen = [_values(one) for one in instances]
    found: list[tuple[str, Argument | Member, bool]] = []
    for index, one in enumerate(known):
        values = {launch[index] for launch in seen}
        if one.members is None:
            found.append((str(index), one, len(values) == 1))
        else:
            found += [
                (f"{index}+{member.offset}", member, len(set(map(member.of, values))) == 1)
                for member in one.members
            ]
    return found


def static_hash_text(static_hash: str | int) -> str:
    """Return a static hash, decimal in records, as the 16 hexadecimal digits of tuned files."""
    return f"{int(static_hash):016x}"


def decode_scalar(kind: str, value: bytes) -> int | float | bool | str:
    """Return the readable value of a scalar argument.

    Args:
        kind: Its IR type: "i32", "float", ...
        value: Its bytes, little endian.

    Returns:
        A bool for i1, a signed number for other integers, a float; a text if JSON has no such
        number ("nan", "inf", "-inf") and, in hexadecimal digits, if Python has no such type.
    """
    if kind == "i1":
        return bool(value[0] & 1) if value else False
    if ArgKind.of_type(kind) is ArgKind.INTEGER:
        return int.from_bytes(value, "little", signed=True)
    layout = _FLOAT_FORMATS.get(kind)
    if layout is None or struct.calcsize(layout) != len(value):
        return value.hex()
    (number,) = struct.unpack(layout, value)
    return float(number) if math.isfinite(number) else str(number)


def _values(instance: KernelInstance) -> list[bytes]:
    with instance.prologue as memory:
        return list(memory.args)


def _arguments(
    record: RecordedExecution, instance: KernelInstance
) -> dict[str, list[dict[str, Any]]]:
    from mneme import _native  # noqa: PLC0415 - loads native code

    known, values = Argument.all_of(_native.record_arguments(record.path)), _values(instance)
    if record.code_form:
        return {"args": [], "members": [], "values": _with_pointers(known, values, instance)}
    if len(known) > len(values):
        raise ArtifactCorrupt(
            f"'{instance.prologue.fn}' has {len(values)} arguments, but '{record.path}' says that "
            f"there are {len(known)}; record again"
        )
    constants = constant_paths(known)
    others = [_values(one) for one in record.values() if constants and one is not instance]
    described = [_described(*one) for one in zip(range(len(known)), known, values, strict=False)]
    scalars = [index for index, one in enumerate(known) if one.is_specializable]
    return {
        "args": [
            {
                **described[index],
                "value": decode_scalar(known[index].type, values[index]),
                "varies": any(one[index : index + 1] != [values[index]] for one in others),
            }
            for index in scalars
        ],
        "members": [
            {
                "path": f"{index}+{member.offset}",
                "index": index,
                "offset": member.offset,
                "name": one.member_name(member),
                "type": member.type,
                "size": member.size,
                "bytes": member.of(values[index]).hex(),
                "value": decode_scalar(member.type, member.of(values[index])),
                "varies": any(
                    index >= len(other) or member.of(other[index]) != member.of(values[index])
                    for other in others
                ),
            }
            for index, one in enumerate(known)
            for member in one.members or ()
            if member.is_specializable
        ],
        # Arguments without bytes, such as an empty struct in some languages, have no content.
        "values": [
            described[index]
            for index, one in enumerate(known)
            if one.kind not in _NO_VALUES and index not in scalars and values[index]
        ],
        **({"launched": _with_pointers(known, values, instance)} if record.images else {}),
    }


def _with_pointers(
    known: Iterable[Argument], values: Iterable[bytes], instance: KernelInstance
) -> list[dict[str, Any]]:
    """Return all arguments of code without IR.

    Words that lead into recorded memory are pointers: zeros, whose offsets are in "pointers".
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    memory = _native.Snapshot(instance.prologue.fn).regions()
    regions = [(one["address"], one["address"] + one["size"]) for one in memory]
    described = []
    for index, (one, value) in enumerate(zip(known, values, strict=False)):
        pointers = [
            at
            for at in range(0, len(value) - _POINTER + 1, _POINTER)
            for word in [int.from_bytes(value[at : at + _POINTER], "little")]
            if any(begin <= word < end for begin, end in regions)
        ]
        numbers = bytearray(value)
        for at in pointers:
            numbers[at : at + _POINTER] = bytes(_POINTER)
        facts = {**_described(index, one, bytes(numbers)), "type": one.type or "bytes"}
        described.append({**facts, "pointers": pointers} if pointers else facts)
    return described


def _described(index: int, one: Argument, value: bytes) -> dict[str, Any]:
    return {
        "index": index,
        "name": one.name or f"#{index}",
        "type": one.type,
        "size": len(value),
        "bytes": (value if one.members is None else _read_bytes(value, one.members)).hex(),
    }


def _read_bytes(value: bytes, members: Iterable[Member]) -> bytes:
    """Return a structure with zeros where no member that identifies a launch is."""
    result = bytearray(len(value))
    for member in members:
        if member.kind is not ArgKind.POINTER:
            result[member.offset : member.offset + member.size] = member.of(value)
    return bytes(result)
