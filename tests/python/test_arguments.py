"""Arguments of kernels: one description, the same in C++, Python and recordings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mneme.arguments import ArgKind, Argument
from mneme.deploy.tuned_variant import MatchedArgument
from native_parts import needs_native

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "v2" / "16372073875777044691.json"


def test_kinds_are_spelled_as_in_the_runtime() -> None:
    header = (ROOT / "runtime" / "core" / "abi" / "argument.h").read_text()
    (names,) = re.findall(r"kArgKindNames\[\] = \{([^}]*)\}", header)
    assert re.findall(r'"([a-z]*)"', names) == [kind.value for kind in ArgKind]


@pytest.mark.parametrize(
    ("ir_type", "kind"),
    [
        ("i1", ArgKind.INTEGER),
        ("i32", ArgKind.INTEGER),
        ("bfloat", ArgKind.FLOAT),
        ("double", ArgKind.FLOAT),
        ("ptr", ArgKind.UNKNOWN),
        ("i", ArgKind.UNKNOWN),
        ("", ArgKind.UNKNOWN),
    ],
)
def test_numbers_are_known_by_their_type(ir_type: str, kind: ArgKind) -> None:
    matched = MatchedArgument(index=0, type=ir_type, bytes="00" * 4)
    assert (matched.kind, matched.size) == (kind, 4)


@needs_native
def test_arguments_are_those_of_the_record() -> None:
    from mneme import _native  # noqa: PLC0415

    record = json.loads(GOLDEN.read_text())
    known = Argument.all_of(_native.record_arguments(GOLDEN))
    assert [one.name for one in known] == record["ArgNames"]
    assert [one.type for one in known] == record["ArgTypes"]
    assert [one.kind.value for one in known] == record["ArgKinds"]
    assert [one.size for one in known] == record["ArgSizes"]
    assert [one.is_specializable for one in known] == record["Specializations"]


@needs_native
def test_shown_arguments_are_plain_values() -> None:
    from mneme.recording.inventory import describe_record, find_record  # noqa: PLC0415

    (instance,) = describe_record(find_record(GOLDEN)).to_dict()["instances"]
    assert json.loads(json.dumps(instance["args"]))[1] == {
        "name": "count",
        "type": "i32",
        "kind": "integer",
        "value": "40",
        "is_specializable": True,
    }
