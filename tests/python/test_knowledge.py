"""The knowledge file: what it holds, who may write it, and what becomes of it when things go wrong."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from knowledge_samples import entry
from mneme.errors import ArtifactCorrupt, IoFailed, NotFound
from mneme.knowledge.deadline import within
from mneme.knowledge.entry import NOTHING, Entry
from mneme.knowledge.features import alike, features_of
from mneme.knowledge.place import knowledge_place
from mneme.knowledge.recall import Kernel, matches
from mneme.knowledge.share import export_knowledge, import_knowledge
from mneme.knowledge.store import KnowledgeStore

CODE = {"passes": "default<Os>"}
FEATURES = {"loads": 3.0, "stores": 2.0}


@pytest.fixture
def store(tmp_path: Path) -> KnowledgeStore:
    return KnowledgeStore(tmp_path / "deep" / "knowledge.sqlite")


def test_what_was_written_is_read_again(store: KnowledgeStore) -> None:
    known = entry(config={"passes": "default<Os>"}, params={"n": 1}, low=None, features=FEATURES)
    assert store.entries() == []
    assert store.add([known]) == 1
    assert store.entries() == [known]
    assert store.entries("cpu") == [known]
    assert store.entries("cuda") == []


def test_reading_makes_no_file(store: KnowledgeStore) -> None:
    store.entries()
    assert not store.path.parent.exists()


def test_later_results_replace_earlier_ones(store: KnowledgeStore) -> None:
    later = entry(gain=2.0, date="2026-11-24T00:00:00Z")
    store.add([entry()])
    assert store.add([later]) == 1
    assert store.add([entry(gain=9.0)]) == 0
    assert store.entries() == [later]


def test_the_oldest_of_many_go(store: KnowledgeStore) -> None:
    many = [
        entry(config={"n": n}, date=f"2026-11-23T00:{n // 60:02d}:{n % 60:02d}Z") for n in range(80)
    ]
    store.add([*many, entry(arch="sm_90", family="cuda", date="2020-01-01T00:00:00Z")])
    kept = [one.config["n"] for one in store.entries("cpu")]
    assert kept == list(range(79, 15, -1))
    assert len(store.entries("cuda")) == 1


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\0" + bytes(200)])
def test_a_foreign_file_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    store = KnowledgeStore(path)
    for action in (store.entries, lambda: store.add([entry()]), store.forget):
        with pytest.raises(ArtifactCorrupt, match="not a knowledge file of mneme"):
            action()
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE tunings (x)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(ArtifactCorrupt, match="not a knowledge file of mneme"):
        KnowledgeStore(path).add([entry()])
    assert path.read_bytes() == content


def test_a_newer_version_is_said(store: KnowledgeStore) -> None:
    store.add([entry()])
    connection = sqlite3.connect(store.path)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    content = store.path.read_bytes()
    with pytest.raises(ArtifactCorrupt, match="version 7, and this mneme knows version 1"):
        store.add([entry(gain=2.0)])
    assert store.path.read_bytes() == content


def test_a_damaged_file_is_left_alone(store: KnowledgeStore) -> None:
    store.add([entry(config={"n": n, "passes": "x" * 3000}) for n in range(20)])
    content = bytearray(store.path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    store.path.write_bytes(content)
    with pytest.raises(ArtifactCorrupt, match="is damaged"):
        store.entries()
    assert store.path.read_bytes() == content


def test_a_text_that_is_none_is_damage(store: KnowledgeStore) -> None:
    store.add([entry()])
    connection = sqlite3.connect(store.path)
    connection.execute("UPDATE tunings SET kernel = CAST(x'6bff' AS TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(ArtifactCorrupt, match=r"is damaged \(a text in it is not UTF-8\)"):
        store.entries()


@pytest.mark.parametrize(
    ("column", "value"),
    [("gain", "much"), ("gain", -1.0), ("config", "[1]"), ("config", "{"), ("grid", "[1]"),
     ("trials", 1.5), ("features", '{"loads": Infinity}'), ("kernel", None), ("date", "9999")],
)  # fmt: skip
def test_values_of_another_kind_are_damage(
    store: KnowledgeStore, column: str, value: object
) -> None:
    store.add([entry()])
    connection = sqlite3.connect(store.path)
    connection.execute(f"UPDATE tunings SET {column} = ?", (value,))
    connection.commit()
    connection.close()
    with pytest.raises(ArtifactCorrupt, match="is damaged"):
        store.entries()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactCorrupt, match="is not a file"):
        KnowledgeStore(tmp_path).entries()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ArtifactCorrupt, match="is not a file"):
        KnowledgeStore(pipe).add([entry()])


def test_a_lock_is_not_waited_for_long(store: KnowledgeStore) -> None:
    store.add([entry()])
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    start = time.monotonic()
    with pytest.raises(IoFailed, match="locked"):
        store.add([entry(gain=2.0)])
    assert time.monotonic() - start < 5
    other.close()


def test_what_never_answers_is_left_alone() -> None:
    with pytest.raises(IoFailed, match=r"asking takes longer than 0.05 s"):
        within(0.05, lambda: time.sleep(1), "asking")


def test_many_processes_add_at_once(store: KnowledgeStore) -> None:
    source = (
        "import sys; from pathlib import Path; from knowledge_samples import entry;"
        "from mneme.knowledge.store import KnowledgeStore\n"
        "for n in range(5): KnowledgeStore(Path(sys.argv[1])).add("
        "[entry(config={'n': n, 'of': sys.argv[2]})])"
    )
    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(lambda n: _python(source, store.path, n).wait(60), range(6)))
    assert codes == [0] * 6
    assert len(store.entries()) == 30


def test_a_process_that_is_killed_while_it_writes_leaves_what_was_there(
    store: KnowledgeStore,
) -> None:
    store.add([entry(config={"n": -1})])
    # Everything is in the file and its journal, and only the end of the transaction is missing.
    source = (
        "import os, signal, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN IMMEDIATE')\n"
        "for n in range(500):\n"
        "    c.execute('INSERT INTO tunings (key, kernel) VALUES (?, ?)', (str(n), 'x' * 2000))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert _python(source, store.path, 0).wait(60) == -signal.SIGKILL
    assert Path(f"{store.path}-journal").exists()
    assert [one.config["n"] for one in store.entries()] == [-1]
    assert store.add([entry(config={"n": 1})]) == 1


def test_processes_killed_at_any_time_do_no_harm(store: KnowledgeStore) -> None:
    source = (
        "import itertools, sys; from pathlib import Path; from knowledge_samples import entry;"
        "from mneme.knowledge.store import KnowledgeStore\n"
        "for n in itertools.count(): KnowledgeStore(Path(sys.argv[1])).add("
        "[entry(config={'n': n, 'passes': 'x' * 9000})])"
    )
    for delay in (0.15, 0.2, 0.3):
        process = _python(source, store.path, 0)
        time.sleep(delay)
        process.kill()
        process.wait()
        store.entries()
        store.add([entry(config={"n": -1}, date=f"2027-01-01T00:00:{100 * delay:02.0f}Z")])


def _python(source: str, path: Path, number: int) -> subprocess.Popen[bytes]:
    here = str(Path(__file__).parent)
    paths = f"{os.environ.get('PYTHONPATH', '')}:{here}"
    return subprocess.Popen(
        [sys.executable, "-c", source, str(path), str(number)],
        env={**os.environ, "PYTHONPATH": paths},
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_file_that_is_read_only_is_read(store: KnowledgeStore) -> None:
    store.add([entry()])
    store.path.chmod(0o444)
    store.path.parent.chmod(0o555)
    assert store.entries() == [entry()]
    with pytest.raises(IoFailed):
        store.add([entry(gain=2.0)])
    store.path.parent.chmod(0o755)


def test_files_are_merged_entry_by_entry(store: KnowledgeStore, tmp_path: Path) -> None:
    own = entry(config={"n": 1}, gain=3.0, date="2026-11-25T00:00:00Z")
    store.add([own])
    theirs = KnowledgeStore(tmp_path / "theirs.sqlite")
    theirs.add([replace(own, gain=2.0, date="2026-11-24T00:00:00Z"), entry(config={"n": 2})])
    assert export_knowledge(theirs, tmp_path / "shared.sqlite") == 2
    assert import_knowledge(store, tmp_path / "shared.sqlite") == (2, 1)
    assert import_knowledge(store, tmp_path / "shared.sqlite") == (2, 0)
    assert [(one.config["n"], one.gain) for one in store.entries()] == [(1, 3.0), (2, 1.5)]


def test_only_knowledge_is_imported(store: KnowledgeStore, tmp_path: Path) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("x" * 200)
    with pytest.raises(ArtifactCorrupt, match="not a knowledge file of mneme"):
        import_knowledge(store, foreign)
    with pytest.raises(NotFound, match="there is no file"):
        import_knowledge(store, tmp_path / "none")
    assert not store.path.exists()


def test_forgetting_deletes_the_file(store: KnowledgeStore) -> None:
    store.add([entry()])
    store.forget()
    assert os.listdir(store.path.parent) == []
    store.forget()


def test_the_place_is_what_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert knowledge_place() is None, "tests must not write to the user's home"
    monkeypatch.setenv("MNEME_KNOWLEDGE", "some/file")
    assert knowledge_place() == Path("some/file")
    monkeypatch.setenv("MNEME_KNOWLEDGE", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert knowledge_place() == tmp_path / ".local" / "share" / "mneme" / "knowledge.sqlite"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert knowledge_place() == Path("/data/mneme/knowledge.sqlite")


IR = """
@tile = internal addrspace(3) global [18 x [18 x float]] undef, align 4
define void @_Z1kPf(ptr noundef %p, i32 noundef %n) #0 {
entry:
  %p.addr = alloca ptr, align 8
  store ptr %p, ptr %p.addr, align 8
  br label %loop

loop:
  %0 = load ptr, ptr %p.addr, align 8
  %1 = load float, ptr %0, align 4
  %2 = fadd contract float %1, %1
  %3 = tail call double @llvm.fma.f64(double 1.0, double 1.0, double 1.0)
  %4 = fmul double %3, %3
  %5 = sdiv i32 %n, 3
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %2, ptr %0, align 4
  %6 = atomicrmw fadd ptr %0, float %2 seq_cst, align 4
  br i1 true, label %loop, label %end

end:
  ret void
}
"""


def test_features_are_counts_of_what_leaves_the_function() -> None:
    found = features_of(IR, kernel="_Z1kPf", grid=(3, 1, 1), block=(31, 1, 1), shared_mem=0)
    counts = {name: round(2**value - 1) for name, value in found.items()}
    ones = ("loads", "stores", "atomics", "float", "double", "divisions", "branches", "loops")
    assert counts == {
        **dict.fromkeys((*ones, "calls", "barriers", "pointers"), 1),
        "integer": 0,
        "shared_bytes": 18 * 18 * 4,
        "arguments": 2,
        "threads": 31,
        "blocks": 3,
    }


def test_alike_is_what_has_the_same_numbers() -> None:
    assert alike(FEATURES, FEATURES) == 1.0
    assert alike(FEATURES, {name: value + 1 for name, value in FEATURES.items()}) == 0.5
    assert alike(FEATURES, {"calls": 3.0}) == 0.0
    assert alike(FEATURES, {**FEATURES, "calls": 9.0}) == 1.0


def test_the_same_code_comes_first_then_the_architecture_then_the_kind_of_device() -> None:
    near = {"loads": 3.5, "stores": 2.0}
    known = [
        entry(static_hash="b", config=CODE, features=near, family="cuda", arch="sm_80"),
        entry(
            static_hash="c",
            config=CODE,
            features={"loads": 9.0, "stores": 9.0},
            family="cuda",
            arch="sm_90",
        ),
        entry(static_hash="d", config=CODE, features=FEATURES, family="hip", arch="gfx90a"),
        entry(static_hash="e", config=CODE, features=near, family="cuda", arch="sm_90"),
        entry(static_hash="f", config={"block": 7}, features=near, family="cuda", arch="sm_90"),
        entry(static_hash="a", gain=1.2, family="cuda", arch="sm_90"),
        entry(static_hash="a", gain=1.4, family="cuda", arch="sm_90"),
        entry(static_hash="a", gain=9.0, family="cpu", arch="cpu"),
    ]
    kernel = Kernel(static_hash="a", family="cuda", arch="sm_90", features=FEATURES)
    found = matches(known, kernel)
    assert [(one.entry.static_hash, one.entry.gain) for one in found] == [
        ("a", 1.4),
        ("a", 1.2),
        ("a", 9.0),
        ("e", 1.5),
        ("b", 1.5),
    ]
    assert [one.is_same for one in found] == [True, True, True, False, False]


def test_of_the_same_code_the_launch_that_is_alike_and_what_was_confirmed_come_first() -> None:
    large = {**FEATURES, "blocks": 9.0}
    known = [
        entry(static_hash="a", features=FEATURES | {"blocks": 2.0}, gain=1.9),
        entry(static_hash="a", features=large, gain=1.8, low=None, high=None),
        entry(static_hash="a", features=large, gain=1.1),
        entry(static_hash="a", features=large, gain=1.3),
    ]
    kernel = Kernel(static_hash="a", family="cpu", arch="cpu", features=large)
    assert [one.entry.gain for one in matches(known, kernel)] == [1.3, 1.1, 1.8, 1.9]


def test_few_of_another_kernel_count() -> None:
    known = [entry(static_hash="b", features=FEATURES, config={"n": n}) for n in range(9)]
    kernel = Kernel(static_hash="a", family="cpu", arch="cpu", features=FEATURES)
    assert len(matches(known, kernel)) == 2
    assert len(matches(known, replace(kernel, static_hash="b"))) == 9


def test_nothing_faster_is_one_entry_of_a_launch() -> None:
    one = entry(rank=NOTHING, config={"n": 1})
    assert one.key == entry(rank=NOTHING, config={"n": 2}).key
    assert one.key != entry(config={"n": 1}).key
    assert isinstance(one, Entry)
