"""Record files: what is read, what is written, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mneme
from mneme.errors import ArtifactCorrupt, InvalidArgument, MnemeError, NotFound
from mneme.mneme_types import dim3
from mneme.recording.directory import Recording
from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
from mneme.recording.records import find_instance, infer_record_id
from record_samples import record_data


def write(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_record_is_a_mapping_of_launches(tmp_path: Path) -> None:
    record = mneme.load(write(tmp_path / "17.json", record_data("5", "6")))
    assert isinstance(record, RecordedExecution)
    assert (record.static_hash, record.kernel_name) == ("17", "_Z1kPfi")
    assert record.demangled_name == "k(float*, int)"
    assert list(record) == list(record.keys()) == ["5", "6"]
    assert len(record) == 2
    assert "5" in record
    assert 6 in record
    instance = record["5"]
    assert isinstance(instance, RecordedExecution.KernelInstance)  # type: ignore[attr-defined]
    assert isinstance(instance, KernelInstance)
    assert (instance.grid_dim, instance.block_dim, instance.occ) == (dim3(8), dim3(128), 3)
    assert instance.available_specializations == [1]


def test_names_are_relative_to_the_record_or_absolute(tmp_path: Path) -> None:
    data = record_data("5")
    data["instances"]["5"]["Epilogue"] = "/elsewhere/epilogue.mneme"
    record = RecordedExecution.from_json(write(tmp_path / "17.json", data))
    assert record.llvm_files == [str(tmp_path / "RecordedIR_17.bc")]
    assert record["5"].prologue.fn == str(tmp_path / "DeviceState.prologue.17.5.mneme")
    assert record["5"].epilogue.fn == "/elsewhere/epilogue.mneme"


def test_record_survives_a_round_trip(tmp_path: Path) -> None:
    data = record_data("5")
    record = RecordedExecution.from_json(write(tmp_path / "17.json", {**data, "Checksum": "0"}))
    record.to_json(tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text())
    again["instances"]["5"].pop("Cooperative")
    again["instances"]["5"].pop("RecordedNs")
    assert again == {**data, "DemangledName": "k(float*, int)"}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("StaticHash", None, "StaticHash"),
        ("StaticHash", "17", "StaticHash"),
        ("VASize", -1, "VASize"),
        ("KernelName", 3, "KernelName"),
        ("Modules", "a.bc", "Modules"),
        ("Specializations", [1], "Specializations"),
        ("instances", [], "instances"),
        ("instances", {"5": {}}, "instances.5.Prologue"),
    ],
)
def test_wrong_field_is_named(tmp_path: Path, key: str, value: object, words: str) -> None:
    path = write(tmp_path / "17.json", {**record_data("5"), key: value})
    with pytest.raises(ArtifactCorrupt, match=words) as caught:
        RecordedExecution.from_json(path)
    assert "17.json" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\x7fELF", b"[" * 100_000])
def test_what_is_no_record_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "17.json"
    path.write_bytes(content)
    with pytest.raises(ArtifactCorrupt, match=r"17\.json"):
        RecordedExecution.from_json(path)


def test_missing_record_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="No such file"):
        RecordedExecution.from_json(tmp_path / "no.json")


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None
)
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=4))
def test_mutated_records_are_read_or_refused(tmp_path: Path, place: int, junk: bytes) -> None:
    content = bytearray(json.dumps(record_data("5")).encode())
    place %= len(content)
    content[place : place + len(junk)] = junk
    path = tmp_path / "mutated.json"
    path.write_bytes(content)
    try:
        RecordedExecution.from_json(path)
    except MnemeError as error:
        assert "mutated.json" in str(error)  # noqa: PT017


def test_a_record_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    good = write(tmp_path / "1.json", record_data("7"))
    bad = tmp_path / "2.json"
    bad.symlink_to(bad.name)
    recording = Recording(tmp_path)
    assert len(recording) == 1, recording.damaged
    assert list(recording.damaged) == [bad]
    assert good.is_file()


def test_record_id_is_inferred_only_if_there_is_one(tmp_path: Path) -> None:
    one = RecordedExecution.from_json(write(tmp_path / "17.json", record_data("5")))
    two = RecordedExecution.from_json(write(tmp_path / "18.json", record_data("5", "6")))
    assert infer_record_id(one, None) == "5"
    assert infer_record_id(two, "6") == "6"
    with pytest.raises(ValueError, match="Cannot infer record ID from") as caught:
        infer_record_id(two, None)
    assert isinstance(caught.value, InvalidArgument)
    assert str(caught.value).endswith(
        "it has 2 recorded launches (@1 5, @2 6); name one with KERNEL@1 or -rid"
    )
    none = RecordedExecution.from_json(write(tmp_path / "19.json", record_data()))
    with pytest.raises(InvalidArgument, match="no launch of this kernel was recorded completely"):
        infer_record_id(none, None)
    with pytest.raises(NotFound, match="no instance 7"):
        infer_record_id(two, "7")


def test_record_file_needs_no_record_id(tmp_path: Path) -> None:
    path = write(tmp_path / "17.json", record_data("5"))
    assert find_instance(path, None) == (path, "5")


@pytest.mark.parametrize(
    ("options", "pipeline"),
    [
        ({"opt_level": "0"}, ("default<O0>", 0)),
        ({"opt_level": "z"}, ("default<Oz>", 2)),
        ({"opt_level": ""}, ("default<O3>", 3)),
        ({"opt_level": [1]}, ("default<O3>", 3)),
        ("", ("default<O3>", 3)),
    ],
)
def test_the_programs_pipeline_is_that_of_its_build(
    options: object, pipeline: tuple[str, int], tmp_path: Path
) -> None:
    data = record_data("5") | {"Options": options}
    record = RecordedExecution.from_json(write(tmp_path / "17.json", data))
    assert record.program_pipeline == pipeline


@pytest.mark.parametrize(
    ("demangled", "name"),
    [
        ("step(int)", "step"),
        ("ns::step<double>(double*)", "ns::step<double>"),
        ("void run<step(int)::{lambda(int)#1}>(int)", "run<step::{lambda#1}>"),
    ],
)
def test_sentences_tell_kernels_with_one_name_by_their_places(
    tmp_path: Path, demangled: str, name: str
) -> None:
    def told(**more: object) -> str:
        data = {**record_data(), "DemangledName": demangled, **more}
        return RecordedExecution.from_json(write(tmp_path / "1.json", data)).told_name

    places = [{"File": file, "Line": 7, "EndLine": 9} for file in ("src/a.cu", "b.cu")]
    assert [told(Place=place) for place in places] == [f"{name} (a.cu:7)", f"{name} (b.cu:7)"]
    assert told() == name
