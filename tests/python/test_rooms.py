"""Every file keeps the rules in rooms.toml, and the documents show these rules as they are."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
# As a word of its own, or as a part of a camel-case name: `cudaMalloc`, `isHip`, `CUDA_HOME`.
VENDOR_WORD = re.compile(
    r"(?<![A-Za-z])(?:cuda|hip)(?![a-z])|(?:Cuda|Hip|CUDA|HIP)(?![a-z])|gfx|nvidia|amdgcn"
)


def load_rules() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "scripts" / "rooms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rooms"] = module
    spec.loader.exec_module(module)
    return module


rules = load_rules()


def test_every_room_keeps_its_rules() -> None:
    assert rules.breaches() == []


def test_no_modules_import_each_other() -> None:
    assert rules.module_cycles() == []


def test_the_page_lists_headers_and_sources_that_include_each_other() -> None:
    """Those that are new are mended; those that are mended leave the list."""
    assert sorted(map(sorted, rules.read_circles())) == sorted(rules.pair_cycles())


def test_headers_and_sources_that_include_each_other_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = tmp_path / "runtime" / "replay"
    room.mkdir(parents=True)
    (room / "one.h").write_text("")
    (room / "one.cpp").write_text(
        '#include "runtime/replay/one.h"\n#include "runtime/replay/two.h"'
    )
    (room / "two.h").write_text('#include "runtime/replay/three.h"')
    (room / "three.h").write_text('#include "runtime/replay/one.h"')
    (room / "user.cpp").write_text('#include "runtime/replay/one.h"')
    monkeypatch.setattr(rules, "ROOT", tmp_path)
    assert rules.pair_cycles() == [[f"runtime/replay/{name}" for name in ("one", "three", "two")]]


@pytest.mark.parametrize("document", rules._DOCUMENTS)
def test_documents_show_the_rules_as_they_are(document: str) -> None:
    text = (ROOT / document).read_text()
    assert rules.written(text) == text, "run: scripts/rooms.py --write"


def shared_files() -> list[Path]:
    rooms = rules.read_rooms()
    return [
        path
        for path in rules.sources()
        if (room := rules.room_of(str(path.relative_to(ROOT)), rooms)) is not None and room.shared
    ]


def test_shared_rooms_name_no_vendor() -> None:
    found = []
    for path in shared_files():
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        found += [f"{path.name}: {word.group()}" for word in VENDOR_WORD.finditer(code)]
    assert len(shared_files()) > 100
    assert found == []


@pytest.mark.parametrize(
    ("word", "is_vendors"),
    [("hipLimits", True), ('"gfx90a"', True), ("isCuda", True), ("CUDA_HOME", True),
     ("ownership", False), ("chip", False), ("relationship", False)],
)  # fmt: skip
def test_vendor_words_are_seen(word: str, is_vendors: bool) -> None:
    assert bool(VENDOR_WORD.search(word)) == is_vendors


@pytest.mark.parametrize(
    ("file", "line", "says"),
    [
        (
            "runtime/core/base/hash.h",
            '#include "runtime/devices/device.h"',
            "may not use runtime/devices",
        ),
        ("runtime/replay/build.h", "#include <llvm/IR/Module.h>", "holds no LLVM"),
        ("python/mneme/errors.py", "from mneme.cli import app", "may not use python/mneme/cli"),
        (
            "python/mneme/errors.py",
            "import mneme.session.session",
            "may not use python/mneme/session",
        ),
        ("runtime/new/thing.h", "", "is in no room"),
    ],
)
def test_a_breach_is_said_with_its_place(
    file: str, line: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("runtime", "passes", "include", "python"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True)
    shutil.copy(ROOT / "rooms.toml", tmp_path)
    target = tmp_path / file
    target.parent.mkdir(exist_ok=True)
    before = target.read_text() if target.exists() else ""
    target.write_text(before + "\n" + line + "\n")
    monkeypatch.setattr(rules, "ROOT", tmp_path)
    (sentence,) = rules.breaches()
    assert file in sentence
    assert says in sentence


def test_modules_that_import_each_other_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "python" / "mneme" / "tuning"
    package.mkdir(parents=True)
    (package / "one.py").write_text("from mneme.tuning import two")
    (package / "two.py").write_text("def late():\n    from mneme.tuning.one import thing")
    monkeypatch.setattr(rules, "ROOT", tmp_path)
    assert rules.module_cycles() == [["python/mneme/tuning/one.py", "python/mneme/tuning/two.py"]]
