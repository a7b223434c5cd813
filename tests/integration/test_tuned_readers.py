"""Files that `mneme` takes for tuned kernels are those a production run takes."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import BUILD, mneme
from tuned_runs import warnings

from mneme.deploy.tuned_file import read_tuned_file
from mneme.errors import MnemeError

PROGRAM = BUILD / "examples" / "vector_add"
LAUNCH = {"Rule": "exact", "GridDim": {"x": 1}, "BlockDim": {"x": 1}}
KNOWN = {"GridDim": {"x": 1}, "BlockDim": {"x": 1}, "SharedMem": 0}


def ours(variant: Any, **own: Any) -> dict[str, Any]:
    return {"Mneme": {"Version": 1, "Variants": [variant], **own}}


def match(**keys: Any) -> dict[str, Any]:
    return ours({"Match": keys})


def arg(**keys: Any) -> dict[str, Any]:
    return match(Args=[{"Index": 0, "Bytes": "00", **keys}])


GOOD: list[Any] = [
    {},
    {"OptLevel": ""},
    {"OptLevel": None, "LaunchBounds": None, "Mneme": None},
    {"CodeGen": 5, "SpecializeDimsRange": "x"},
    {"CodeGenOptLevel": 0, "MinBlocksPerSM": -1, "TunedMaxThreads": -(2**63)},
    {"MaxRegisters": 1024, "Match": KNOWN, "Launch": LAUNCH},
    {"Mneme": {"Variants": [{}]}},
    ours({}, Version=None, StaticHash=None, DemangledName=7),
    ours({}, StaticHash="00000000000000AB"),
    ours({"StaticHash": "00000000000000AB"}, Version=2),
    {"StaticHash": "00000000000000ab"},
    ours({"Match": None, "SpecializedArgs": None, "Guards": None, "Launch": None, "Weight": None}),
    ours({"BaselineNs": "x", "TunedNs": [], "Gain": 3}),
    ours({"Gain": {"Ratio": "x"}, "Weight": 3}),
    ours({"SpecializedArgs": [65536, 0, 0]}),
    ours({"Match": KNOWN, "Launch": LAUNCH}),
    ours({"Match": {"Args": [{"Index": 2, "Bytes": "00"}]}, "Guards": ["Arg:02", "Args"]}),
    match(GridDim={"x": None, "y": 2**32 - 1}, Device=3, Arch=None, SharedMem=2**64 - 1),
    arg(Index=65536, Bytes="aF" * 32768, Name=1, Value=[{}]),
    arg(Type=None),
]
SAMPLE = {
    "Pipeline": "default<O2>",
    "MinBlocksPerSM": 2,
    "SpecializedArgs": [0],
    "Match": {**KNOWN, "Arch": "cpu", "Args": [{"Index": 0, "Type": "i32", "Bytes": "01000000"}]},
    "Guards": ["Arch", "Grid", "Arg:0"],
    "Launch": LAUNCH,
    "Weight": 0.5,
}
BAD: list[Any] = [
    None,
    [],
    {"OptLevel": "1", "Pipeline": 1},
    {"LaunchBounds": 1},
    {"SpecializeDims": "true"},
    {"CodeGenOptLevel": 4},
    {"CodeGenOptLevel": -1},
    {"CodeGenOptLevel": 3.0},
    {"CodeGenOptLevel": True},
    {"MaxRegisters": 1025},
    {"MaxRegisters": -1},
    {"MinBlocksPerSM": 1.5},
    {"TunedMaxThreads": 2**63},
    {"Guards": ["Moon"]},
    {"Mneme": 1},
    {"Mneme": {}},
    ours({}, Version=0),
    ours({}, Version=4),
    ours({"StaticHash": "ab"}),
    ours({}, Version=-1),
    ours({}, Version="1"),
    ours({}, StaticHash=""),
    ours({}, StaticHash="0x000000000000ab"),
    ours({}, StaticHash=7),
    ours({}, Variants=[]),
    ours({}, Variants={}),
    ours(None),
    ours({"CodeGenOptLevel": 7}),
    ours({"MaxRegisters": -3}),
    ours({"SpecializedArgs": [65537]}),
    ours({"SpecializedArgs": [True]}),
    ours({"SpecializedArgs": 1}),
    ours({"Weight": "much"}),
    ours({"Guards": [1]}),
    ours({"Guards": ["Arch"]}),
    ours({"Guards": ["Arg:1"]}),
    ours({"Match": {"Args": [{"Index": 2, "Bytes": "00"}]}, "Guards": ["Arg:+2"]}),
    ours({"Launch": LAUNCH}),
    ours({"Match": KNOWN, "Launch": {**LAUNCH, "Rule": "always"}}),
    ours({"Match": KNOWN, "Launch": {"Rule": "exact", "GridDim": {"x": 1}}}),
    ours({"Match": []}),
    match(GridDim={"x": 0}),
    match(GridDim={"x": 2**32}),
    match(BlockDim={"z": 1.5}),
    match(BlockDim=3),
    match(SharedMem=-1),
    match(SharedMem=2**64),
    match(Arch=90),
    match(Args=[{"Bytes": "00"}]),
    match(Args=[{"Index": 1, "Bytes": "00"}] * 2),
    match(Args=[None]),
    arg(Index=65537),
    arg(Index=-1),
    arg(Bytes="00 01"),
    arg(Bytes=" 00"),
    arg(Bytes="000"),
    arg(Bytes=""),
    arg(Bytes="+1"),
    arg(Bytes="00\n"),
    arg(Bytes="00" * 32769),
    arg(Bytes=None),
    arg(Type=1),
]
DEEP = '{"k": ' + '{"a":' * 15 + "{}" + "}" * 15 + "}"
TEXTS = [
    ('{"k": {}}', True),
    ('\ufeff{"k": {}}', True),
    (DEEP, True),
    (DEEP.replace("{}", '{"a":1}'), False),
    (DEEP.replace("{}", '{"a":{}}'), False),
    ("", False),
    ("[]", False),
    ('{"k": {}} 1', False),
    ('{"k": {"Later": "\\ud800"}}', False),
    ('{"k": {"Match": {"SharedMem": -0}}}', True),
    ('{"k": {"LaunchBounds": 1}, "k": {}}', False),
    ('{"k": {"Mneme": {"Variants": [{}], "Variants": null}}}', False),
    ('{"k": {"Mneme": {"Variants": [{"Launch": 1}], "Variants": [{}]}}}', True),
    ('{"k": {"Mneme": {"Version": 9}, "Mneme": null}}', True),
    ('{"k": {"Weight": NaN}}', False),
    ('{"k": {"Later": -Infinity}}', False),
    ('{"k": {"Later": 1e999}}', False),
    ('{"k": {"Later": 1' + "0" * 400 + "}}", False),
]


def run_says(path: Path) -> list[str]:
    """What a production run with the file says of it."""
    assert PROGRAM.exists(), f"{PROGRAM} is not built: run scripts/test"
    done = mneme("run", "--", PROGRAM, PROTEUS_TUNED_KERNELS=str(path))
    assert done.returncode == 0, done.stderr
    # The files are for no program.
    return [line for line in warnings(done.stderr) if "changes nothing" not in line]


def is_read(path: Path) -> bool:
    try:
        read_tuned_file(path)
    except MnemeError:
        return False
    return True


def test_entries_that_are_right_are_read_by_both(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text(json.dumps({f"k{n}": entry for n, entry in enumerate(GOOD)}))
    assert is_read(path)
    assert run_says(path) == []


@pytest.mark.parametrize("entry", BAD, ids=lambda entry: json.dumps(entry)[-40:])
def test_entries_that_are_wrong_are_refused_by_both(entry: Any, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"k": entry}))
    assert not is_read(path)
    (said,) = run_says(path)
    assert "kernel 'k'" in said


@pytest.mark.parametrize(("text", "expected"), TEXTS, ids=[text[:30] for text, _ in TEXTS])
def test_texts_are_read_or_refused_by_both(text: str, *, expected: bool, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(text, encoding="utf-8")
    assert (is_read(path), run_says(path) == []) == (expected, expected)


def test_damaged_files_are_read_or_refused_by_both(tmp_path: Path) -> None:
    random = Random(11)
    paths = []
    for number in range(48):
        content = bytearray(json.dumps({"k": ours(SAMPLE, StaticHash="0" * 16)}).encode())
        start, size = random.randrange(len(content)), random.randrange(1, 8)
        by = (b"", content[start : start + size] * 2, bytes([random.choice(b'019-"{}[],:.ex\xff')]))
        content[start : start + size // 2 + 1] = by[number % 3]
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_bytes(content)
    with ThreadPoolExecutor(2) as threads:
        said = dict(zip(paths, threads.map(run_says, paths), strict=True))
    read = {path for path in paths if is_read(path)}
    assert read == {path for path in paths if not said[path]}
    assert 4 <= len(read) <= 44


def test_a_version_that_never_was_is_not_called_newer(tmp_path: Path) -> None:
    path = tmp_path / "zero.json"
    path.write_text(json.dumps({"k": ours({}, Version=0)}))
    (said,) = run_says(path)[:1]
    assert "Version is 0 but has to be a whole number from 1" in said
    assert "newer" not in said
