"""IR handed out through llvmlite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mneme.errors import ArtifactCorrupt, NotFound
from mneme.recording.recorded_execution import RecordedExecution
from record_samples import record_data

KERNEL = """
target triple = "nvptx64-nvidia-cuda"
@used = global i32 0
@unused = global i32 0
declare void @helper()
define void @unreached() { ret void }
define ptx_kernel void @_Z1kPfi() {
  store i32 1, ptr @used
  call void @helper()
  ret void
}
"""
HELPER = "define void @helper() { ret void }\n"


@pytest.fixture
def record(tmp_path: Path) -> RecordedExecution:
    data = {**record_data("5"), "Modules": ["a.bc", "b.bc"]}
    (tmp_path / "a.bc").write_text(KERNEL)
    (tmp_path / "b.bc").write_text(HELPER)
    (tmp_path / "17.json").write_text(json.dumps(data))
    return RecordedExecution.from_json(tmp_path / "17.json")


def names(record: RecordedExecution, **options: bool) -> dict[str, str]:
    module = record.link_llvm_modules(**options)
    values = (*module.functions, *module.global_variables)
    return {value.name: value.linkage.name for value in values}


def test_modules_are_linked_pruned_and_internalised(record: RecordedExecution) -> None:
    assert names(record) == {"_Z1kPfi": "external", "helper": "internal", "used": "internal"}


def test_pruning_alone_hides_nothing(record: RecordedExecution) -> None:
    assert set(names(record, internalize=False)) == {"_Z1kPfi", "helper", "used"}
    assert set(names(record, internalize=False).values()) == {"external"}


def test_nothing_is_changed_if_nothing_is_asked_for(record: RecordedExecution) -> None:
    found = names(record, prune=False, internalize=False)
    assert set(found) == {"_Z1kPfi", "helper", "used", "unused", "unreached"}


def test_missing_module_is_named(record: RecordedExecution) -> None:
    Path(record.llvm_files[1]).unlink()
    with pytest.raises(NotFound, match=r"b\.bc"):
        record.link_llvm_modules()


@pytest.mark.parametrize("content", [b"", b"no IR", b"BC\xc0\xde", b"\xff\xfe"])
def test_damaged_module_is_named(record: RecordedExecution, content: bytes) -> None:
    Path(record.llvm_files[0]).write_bytes(content)
    with pytest.raises((ArtifactCorrupt, NotFound), match=r"a\.bc"):
        record.link_llvm_modules()
