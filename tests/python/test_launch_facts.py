"""What is written down to recognise a launch."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mneme.deploy.tuning_results import match_of
from mneme.errors import ArtifactCorrupt, InvalidArgument, NotFound
from mneme.recording.launch_facts import (
    decode_scalar,
    differ_in_floats_only,
    launch_facts,
    sees_few_values,
    static_hash_text,
)
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
LINKED_LIST = "13326948811992799613"


@needs_native
def test_facts_are_those_of_the_recording() -> None:
    facts = launch_facts(GOLDEN / f"{LINKED_LIST}.json", "5414914570903653460")
    record = json.loads((GOLDEN / f"{LINKED_LIST}.json").read_text())
    launch = record["instances"]["5414914570903653460"]
    assert int(facts["static_hash"], 16) == record["StaticHash"]
    assert len(facts["static_hash"]) == 16
    assert facts["kernel_name"] == record["KernelName"]
    assert facts["demangled_name"] == record["DemangledName"]
    assert facts["source_arch"] == "sm_90"
    assert (facts["grid"], facts["block"]) == (launch["GridDims"], launch["BlockDims"])
    assert (facts["shared_mem"], facts["occurrences"]) == (0, launch["Occurrences"])
    scalars = [i for i, can in enumerate(record["Specializations"]) if can]
    assert [one["index"] for one in facts["args"]] == scalars
    for one in facts["args"]:
        assert one["name"] == record["ArgNames"][one["index"]]
        assert one["type"] == record["ArgTypes"][one["index"]]
        assert len(bytes.fromhex(one["bytes"])) == one["size"] == record["ArgSizes"][one["index"]]
    json.dumps(facts, allow_nan=False)


@needs_native
def test_value_of_an_argument_comes_from_the_snapshot() -> None:
    record = next(path for path in sorted(GOLDEN.glob("*.json")) if launches(path) == 1)
    by_name = {one["name"]: one for one in launch_facts(record)["args"]}
    assert by_name == {
        "count": {
            "index": 1,
            "name": "count",
            "type": "i32",
            "size": 4,
            "bytes": "28000000",
            "value": 40,
            "varies": False,
        },
        "stride": {
            "index": 2,
            "name": "stride",
            "type": "i32",
            "size": 4,
            "bytes": "01000000",
            "value": 1,
            "varies": False,
        },
    }


@needs_native
def test_other_arguments_by_value_are_listed_apart(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    path = next(path for path in sorted(tmp_path.glob("*.json")) if launches(path) == 1)
    assert launch_facts(path)["values"] == []
    record = json.loads(path.read_text())
    record["ArgKinds"][1], record["ArgTypes"][1] = "aggregate", "struct.Count"
    record["Specializations"][1] = False
    record.pop("Checksum", None)
    path.write_text(json.dumps(record))
    facts = launch_facts(path)
    assert [one["name"] for one in facts["args"]] == ["stride"]
    assert facts["values"] == [
        {"index": 1, "name": "count", "type": "struct.Count", "size": 4, "bytes": "28000000"}
    ]
    match = match_of(facts)
    assert [(one.index, one.bytes) for one in match.args] == [(1, "28000000"), (2, "01000000")]
    assert "Value" not in match.to_json()["Args"][0]
    assert match.to_json()["Args"][1]["Value"] == 1
    older = match_of({key: value for key, value in facts.items() if key != "values"})
    assert [one.index for one in older.args] == [2]
    assert match.is_same_launch(older)
    assert older.is_same_launch(match)
    record["ArgKinds"] += ["aggregate"] * 40
    path.write_text(json.dumps(record))
    with pytest.raises(ArtifactCorrupt, match="record again"):
        launch_facts(path)


@needs_native
@pytest.mark.parametrize(
    ("kind", "value", "is_alike"),
    [
        ("float", b"1234", True),
        ("integer", b"1234", False),
        ("aggregate", b"1234", False),
        ("integer", bytes.fromhex("28000000"), True),
    ],
)
def test_launches_are_alike_if_only_pointers_and_floats_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, value: bytes, is_alike: bool
) -> None:
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    path = next(path for path in sorted(tmp_path.glob("*.json")) if launches(path) == 1)
    fields = json.loads(path.read_text())
    fields["ArgKinds"][1] = kind
    fields.pop("Checksum", None)
    path.write_text(json.dumps(fields))
    record = RecordedExecution.from_json(path)
    (known,) = record.values()
    with known.prologue as memory:
        nodes, count, stride = memory.args
    other: Any = SimpleNamespace(values=[bytes(len(nodes)), value, stride])
    monkeypatch.setattr(
        "mneme.recording.launch_facts._values",
        lambda one: [nodes, count, stride] if one is known else one.values,
    )
    assert differ_in_floats_only(record, [known, other]) is is_alike


@needs_native
def test_argument_that_other_launches_have_otherwise_varies() -> None:
    several = next(path for path in sorted(GOLDEN.glob("*.json")) if launches(path) > 1)
    ids = list(json.loads(several.read_text())["instances"])
    values = {
        arg["name"]: (
            arg["varies"],
            {one["value"] for one in all_values(several, ids, arg["index"])},
        )
        for arg in launch_facts(several, ids[0])["args"]
    }
    assert values
    assert all(varies == (len(found) > 1) for varies, found in values.values()), values


def all_values(path: Path, ids: list[str], index: int) -> list[dict[str, Any]]:
    return [arg for one in ids for arg in launch_facts(path, one)["args"] if arg["index"] == index]


def launches(path: Path) -> int:
    return len(json.loads(path.read_text())["instances"])


def test_launch_has_to_be_named_where_there_are_several() -> None:
    several = next(path for path in sorted(GOLDEN.glob("*.json")) if launches(path) > 1)
    with pytest.raises(InvalidArgument, match="2 recorded launches"):
        launch_facts(several)
    with pytest.raises(NotFound, match="no instance 7"):
        launch_facts(several, "7")


@needs_native
def test_record_that_knows_more_arguments_than_its_snapshot_is_damaged(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    path = next(path for path in sorted(tmp_path.glob("*.json")) if launches(path) == 1)
    record = json.loads(path.read_text())
    record["Specializations"] += [True] * 40
    record.pop("Checksum")
    path.write_text(json.dumps(record))
    with pytest.raises(ArtifactCorrupt, match="record again"):
        launch_facts(path)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("i1", b"\x01", True),
        ("i1", b"\x00", False),
        ("i8", b"\xff", -1),
        ("i32", b"\x00\x08\x00\x00", 2048),
        ("i64", (-5).to_bytes(8, "little", signed=True), -5),
        ("float", struct.pack("<f", 0.25), 0.25),
        ("double", struct.pack("<d", -1e300), -1e300),
        ("double", struct.pack("<d", float("nan")), "nan"),
        ("float", struct.pack("<f", float("-inf")), "-inf"),
        ("x86_fp80", b"\x01\x02", "0102"),
        ("", b"\x01\x02", "0102"),
    ],
)
def test_scalars_are_decoded_by_type(kind: str, value: bytes, expected: object) -> None:
    decoded = decode_scalar(kind, value)
    assert decoded == expected
    assert type(decoded) is type(expected)


def test_static_hash_has_sixteen_digits() -> None:
    assert static_hash_text("17") == "0000000000000011"
    assert static_hash_text(2**64 - 1) == "f" * 16


class Memory:
    """A snapshot of one region: some values again and again."""

    count = 0

    def __init__(self, _name: str) -> None:
        # Lengths whose 64th part is not a multiple of a value's size.
        values = [struct.pack("<f", 1.1 + number) for number in range(self.count)]
        self._content = b"".join(values[index % self.count] for index in range(250_001))

    def regions(self) -> list[dict[str, int]]:
        return [{"size": len(self._content)}]

    def read(self, _region: int, offset: int, size: int) -> bytes:
        return self._content[offset : offset + size]


@needs_native
@pytest.mark.parametrize(("count", "few"), [(1, True), (12, True), (40, False)])
def test_values_are_counted_as_they_lie_in_memory(
    monkeypatch: pytest.MonkeyPatch, count: int, few: bool
) -> None:
    monkeypatch.setattr(Memory, "count", count)
    monkeypatch.setattr("mneme._native.Snapshot", Memory)
    launch: Any = SimpleNamespace(prologue=SimpleNamespace(fn="prologue"))
    assert sees_few_values(launch) is few
