"""What a text names: a kernel by its names, place, labels and hashes, and one of its launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mneme.errors import InvalidArgument, NotFound
from mneme.kernel_choice import Handles, fitting, split_number
from mneme.recording.recorded_execution import RecordedExecution
from mneme.recording.records import choose, choose_launch
from mneme.source_place import SourcePlace
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
WALK, LINK = "13326948811992799613", "16372073875777044691"
FIRST, SECOND, ONLY = "1972764553778116424", "5414914570903653460", "3913246467672645478"

SPMV = Handles(
    mangled="_Z4spmvIdEviPd",
    demangled="void spmv<double>(int, double*)",
    place=SourcePlace(file="src/spmv.cu", line=10, end_line=18),
    hashes=("12345678901234567890", "ab54a98ceb1f0ad2"),
)
SPMV_FLOAT = Handles(mangled="_Z4spmvIfEviPf", demangled="void spmv<float>(int, float*)")
UPDATE = Handles(
    mangled="_ZN3app6spmv_tE",
    demangled="app::detail<int>::spmv_t(Node*)",
    labels=("advection", "step/advection"),
    hashes=("777",),
)
KERNELS = [SPMV, SPMV_FLOAT, UPDATE]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("_Z4spmvIdEviPd", [SPMV]),
        ("void spmv<double>(int, double*)", [SPMV]),
        ("spmv<double>(int, double*)", [SPMV]),
        ("spmv<double>", [SPMV]),
        ("spmv", [SPMV, SPMV_FLOAT]),
        ("spmv_t", [UPDATE]),
        ("detail::spmv_t", [UPDATE]),
        ("app::detail::spmv_t", [UPDATE]),
        ("spmv.cu:10", [SPMV]),
        ("src/spmv.cu:18", [SPMV]),
        ("spmv.cu:19", []),
        ("advection", [UPDATE]),
        ("step/advection", [UPDATE]),
        ("advec", [UPDATE]),
        ("1234567890", [SPMV]),
        ("ab54", [SPMV]),
        ("ab5", []),
        ("777", [UPDATE]),
        ("pmv<f", [SPMV_FLOAT]),
        ("Node", [UPDATE]),
        ("node", [UPDATE]),
        ("*<float>", [SPMV_FLOAT]),
        ("nothing", []),
    ],
)
def test_text_names_what_it_fits_best(text: str, found: list[Handles]) -> None:
    assert fitting(KERNELS, text, lambda one: one) == found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("spmv@2", ("spmv", 2)),
        ("@1", ("", 1)),
        ("spmv", ("spmv", None)),
        ("spmv@0", ("spmv@0", None)),
        ("spmv@x", ("spmv@x", None)),
    ],
)
def test_number_of_a_launch_stands_behind_the_name(text: str, parts: tuple[str, Any]) -> None:
    assert split_number(text) == parts


@needs_native
@pytest.mark.parametrize(
    ("kernel", "record", "launches"),
    [
        ("walk", WALK, [FIRST, SECOND]),
        ("walk(int)", WALK, [FIRST, SECOND]),
        ("wal", WALK, [FIRST, SECOND]),
        ("walk@2", WALK, [SECOND]),
        (WALK, WALK, [FIRST, SECOND]),
        (f"{WALK[:8]}@1", WALK, [FIRST]),
        (FIRST, WALK, [FIRST]),
        (SECOND[:6], WALK, [SECOND]),
        ("LINK", LINK, [ONLY]),
    ],
)
def test_kernels_and_launches_of_a_directory_have_many_names(
    kernel: str, record: str, launches: list[str]
) -> None:
    chosen = choose(GOLDEN, kernel, None)
    assert chosen.record.static_hash == record
    assert [one.dynamic_hash for one in chosen.launches] == launches


def test_launches_of_a_record_are_named_by_number_alone() -> None:
    record = GOLDEN / f"{WALK}.json"
    assert choose_launch(record, "@2", None) == (record, SECOND)
    assert choose_launch(record, "walk@1", FIRST) == (record, FIRST)
    assert choose_launch(record, None, SECOND[:5]) == (record, SECOND)


@needs_native
@pytest.mark.parametrize(
    ("kernel", "record_id", "error", "sentence"),
    [
        (None, None, InvalidArgument, f"holds 2 kernels: walk.int. .{WALK}., link.*name one"),
        ("k", None, InvalidArgument, "'k' fits 2 kernels of .*: walk"),
        ("nosuch", None, NotFound, "has no kernel 'nosuch'; it has walk"),
        ("nosuch@2", None, NotFound, "has no kernel 'nosuch'; it has walk"),
        ("walk@3", None, NotFound, "walk has 2 recorded launches; none of them is @3"),
        ("walk", ONLY, NotFound, f"has no instance {ONLY}; it has {FIRST}, {SECOND}"),
        ("walk", None, InvalidArgument, f"2 recorded launches .@1 {FIRST}, @2 {SECOND}.; name one"),
    ],
)
def test_what_is_not_one_launch_is_told_with_what_there_is(
    kernel: str | None, record_id: str | None, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        choose_launch(GOLDEN, kernel, record_id)


def test_label_of_one_launch_names_that_launch(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(GOLDEN / f"{WALK}.json")
    record[SECOND].labels = ("step", "advection")
    record.to_json(tmp_path / f"{WALK}.json")
    for label in ("advection", "step/advection", "adv"):
        assert choose_launch(tmp_path / f"{WALK}.json", label, None)[1] == SECOND
    with pytest.raises(NotFound, match="has 1 recorded launch; none of them is @1"):
        choose_launch(tmp_path / f"{WALK}.json", "advection@1", None)


def test_kernel_without_a_complete_launch_is_named_all_the_same(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(GOLDEN / f"{WALK}.json")
    record.kernel_instances.clear()
    record.to_json(tmp_path / f"{WALK}.json")
    assert choose(tmp_path / f"{WALK}.json", "walk", None).launches == ()
    with pytest.raises(InvalidArgument, match="no launch of this kernel was recorded completely"):
        choose_launch(tmp_path / f"{WALK}.json", "walk", None)
