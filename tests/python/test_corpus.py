"""`mneme corpus add|ls|verify`, and `mneme.Corpus`."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import mneme as package
from corpus_parts import (
    GOLDEN,
    add,
    contents,
    corpus_of_golden,
    mneme,
    mneme_json,
    swapped_results,
    writable,
)
from mneme import Corpus
from mneme.corpus.adding import add_recording
from mneme.corpus.labels import Labels, parse_labels
from mneme.corpus.manifest import read_manifest
from mneme.corpus.split import split_of
from mneme.corpus.verifying import verify_files
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound, Unsupported
from native_parts import needs_native


@needs_native
def test_added_recordings_are_recordings_with_labels(tmp_path: Path) -> None:
    labels = ("--arguments", "-n 64", "--commit", "1f2e", "--licence", "MIT", "--label", "a=b=c")
    added = add(tmp_path / "c", GOLDEN / "v2", "walk", *labels)
    assert (added["is_new"], added["files"], added["shared_files"]) == (True, 10, 0)
    (entry,) = Corpus(tmp_path / "c")
    assert entry.name == added["entry"]
    assert str(entry.path) == added["path"]
    assert (entry.program, entry.arguments, entry.commit) == ("walk", "-n 64", "1f2e")
    assert (entry.gpu, entry.licence, entry.labels) == ("cpu", "MIT", {"a": "b=c"})
    assert contents(entry.path) == contents(GOLDEN / "v2")
    assert sorted(entry.recording) == sorted(package.load(GOLDEN / "v2"))
    assert sum(one.launches for one in entry.kernels) == 3


@needs_native
def test_one_record_of_a_directory_may_be_added(tmp_path: Path) -> None:
    record = next((GOLDEN / "v2").glob("163*.json"))
    assert add(tmp_path / "c", record, "walk", "--gpu", "a GPU")["files"] == 4
    (entry,) = Corpus(tmp_path / "c")
    assert [one.record for one in entry.kernels] == [record.name]
    assert entry.gpu == "a GPU"


@needs_native
def test_the_same_recording_is_added_once(tmp_path: Path) -> None:
    first = add(tmp_path / "c", GOLDEN / "v2", "walk")
    assert add(tmp_path / "c", GOLDEN / "v2", "walk") == {
        **first,
        "is_new": False,
        "shared_files": 0,
    }
    said = mneme("add", tmp_path / "c", GOLDEN / "v2", "--program", "walk")
    assert f"is in the corpus already, as {first['entry']}" in said
    assert len(Corpus(tmp_path / "c")) == 1


@needs_native
def test_two_programs_with_the_same_kernel_share_its_files(tmp_path: Path) -> None:
    corpus = corpus_of_golden(tmp_path)
    added = add(corpus, GOLDEN / "v2", "third")
    assert added["shared_files"] == added["files"] == 10
    assert added["shared_bytes"] == sum(map(len, contents(GOLDEN / "v2").values()))
    assert added["same_code"]["walk(int)"] == ["stroll", "walk"]
    used = {path.stat().st_ino: path.stat().st_size for path in corpus.rglob("*") if path.is_file()}
    whole = sum(map(len, contents(corpus).values()))
    assert sum(used.values()) == whole - 2 * added["shared_bytes"]


@needs_native
def test_entries_do_not_depend_on_the_order_in_which_they_came(tmp_path: Path) -> None:
    for folder, order in (("a", ("v1", "v2")), ("b", ("v2", "v1"))):
        for version in order:
            add(tmp_path / folder, GOLDEN / version, version)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


@needs_native
@pytest.mark.parametrize("options", [("--label", "a"), ("--label", "gpu=x"), ("--program", "../x")])
def test_wrong_labels_are_refused_before_anything_is_made(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    mneme("add", tmp_path / "c", GOLDEN / "v2", "--program", "walk", *options, code=3)
    assert list(tmp_path.iterdir()) == []


@needs_native
def test_words_that_are_missing_or_too_many_are_named(tmp_path: Path) -> None:
    assert "say which program" in mneme("add", tmp_path / "c", GOLDEN / "v2", code=2)
    assert "say which recording" in mneme("add", tmp_path / "c", "--program", "walk", code=2)
    assert "one argument too many" in mneme("ls", tmp_path / "c", tmp_path, code=2)
    assert "needs -o" in mneme("pack", tmp_path / "c", code=2)
    assert "--licence does nothing" in mneme("ls", tmp_path / "c", "--licence", "MIT", code=4)
    assert "--output does nothing" in mneme("ls", tmp_path / "c", "-o", tmp_path, code=4)
    assert "--device does nothing" in mneme("verify", tmp_path, "--device", "cuda:0", code=4)


@needs_native
def test_damaged_recordings_are_refused(tmp_path: Path) -> None:
    recording = writable(shutil.copytree(GOLDEN / "v2", tmp_path / "v2"))
    snapshot = next(recording.glob("DeviceState.epilogue.133*"))
    snapshot.write_bytes(snapshot.read_bytes()[:-1] + b"\0")
    assert snapshot.name in mneme("add", tmp_path / "c", recording, "--program", "p", code=4)
    snapshot.unlink()
    assert snapshot.name in mneme("add", tmp_path / "c", recording, "--program", "p", code=4)
    next(recording.glob("[0-9]*.json")).write_text("{")
    assert "is not a JSON object" in mneme(
        "add", tmp_path / "c", recording, "--program", "p", code=4
    )
    assert contents(tmp_path / "c") == {}
    (tmp_path / "empty").mkdir()
    said = mneme("add", tmp_path / "c", tmp_path / "empty", "--program", "p", code=4)
    assert "holds no recorded launch" in said


@needs_native
def test_a_recording_that_is_being_written_is_refused(tmp_path: Path) -> None:
    recording = writable(shutil.copytree(GOLDEN / "v2", tmp_path / "v2"))
    ticks = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
    session = {
        "Pid": os.getpid(),
        "StartTicks": ticks,
        "Host": os.uname().nodename,
        "Started": "now",
        "Finished": False,
        "Losses": [],
    }
    note = recording / f"unfinished-{os.getpid()}.session"
    note.write_text(json.dumps(session))
    said = mneme("add", tmp_path / "c", recording, "--program", "p", code=3)
    assert "is still running" in said
    # The program was killed: what it had finished is added.
    note.write_text(json.dumps({**session, "StartTicks": ticks + 1}))
    assert add(tmp_path / "c", recording, "p")["files"] == 10


@needs_native
def test_directories_that_are_not_corpora_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    said = mneme("add", tmp_path, GOLDEN / "v2", "--program", "p", code=3)
    assert "it has no corpus.json, but 'notes.txt'" in said
    assert contents(tmp_path) == {"notes.txt": b"mine"}
    assert "is not a corpus" in mneme("ls", tmp_path, code=4)
    assert "is not a directory" in mneme("verify", tmp_path / "none", code=4)


# Kills the process before a call of what adding does, the N-th.
KILLED = """
import os, signal, sys
from importlib import import_module
from mneme.cli import main
module, name, count, *arguments = sys.argv[1:]
owner = import_module(module)
for part in name.split(".")[:-1]:
    owner = getattr(owner, part)
name, real, calls = name.split(".")[-1], getattr(owner, name.split(".")[-1]), []
def wrapped(*given, **more):
    calls.append(1)
    if len(calls) == int(count):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given, **more)
setattr(owner, name, wrapped)
sys.argv[1:] = arguments
sys.exit(main())
"""


@needs_native
@pytest.mark.parametrize(
    ("module", "name", "count"),
    [
        ("mneme._native", "copy_records", 1),
        ("mneme.corpus.adding", "fact_of", 4),
        ("mneme.corpus.adding", "damage_of", 3),
        ("mneme.corpus.adding", "_link", 5),
        ("pathlib", "Path.rename", 1),
        ("mneme.corpus.manifest", "publish_own_text", 1),
    ],
)
def test_a_killed_addition_leaves_the_old_corpus(
    module: str, name: str, count: int, tmp_path: Path
) -> None:
    corpus = tmp_path / "c"
    add(corpus, GOLDEN / "v2", "walk")
    manifest = (corpus / "corpus.json").read_bytes()
    command = [sys.executable, "-c", KILLED, module, name, str(count), "corpus", "add", str(corpus)]
    ended = subprocess.run(
        [*command, str(GOLDEN / "v2"), "--program", "other"], check=False, timeout=60
    )
    assert ended.returncode == -signal.SIGKILL
    assert (corpus / "corpus.json").read_bytes() == manifest
    verified = mneme_json("verify", corpus)
    assert verified["problems"] == []
    mneme("pack", corpus, "-o", tmp_path / "old.tar", "--no-licence")
    add(corpus, GOLDEN / "v2", "other")
    assert mneme_json("verify", corpus)["leftovers"] == []
    assert [one.program for one in Corpus(corpus)] == ["other", "walk"]
    assert sorted(one.name for one in corpus.iterdir()) == ["corpus.json", "programs"]


@needs_native
def test_only_one_process_changes_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mneme.corpus.digests._PATIENCE_SECONDS", 0.2)
    corpus = corpus_of_golden(tmp_path)
    holder = os.open(corpus, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(IoFailed, match="another process is at work on the corpus"):
            add_recording(corpus, GOLDEN / "v1", Labels(program="p"))
        fcntl.flock(holder, fcntl.LOCK_SH)
        assert verify_files(corpus).problems == []
        fcntl.flock(holder, fcntl.LOCK_EX)
        monkeypatch.setattr("mneme.corpus.digests._PATIENCE_SECONDS", 60)
        threading.Timer(0.5, fcntl.flock, (holder, fcntl.LOCK_UN)).start()
        assert add_recording(corpus, GOLDEN / "v1", Labels(program="p")).is_new
    finally:
        os.close(holder)


@needs_native
def test_verify_names_every_kind_of_damage(tmp_path: Path) -> None:
    corpus = writable(corpus_of_golden(tmp_path))
    entry = next((corpus / "programs" / "walk").iterdir())
    flipped, cut, gone, link = sorted(entry.glob("DeviceState.*"))[:4]
    content = flipped.read_bytes()
    flipped.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
    cut.write_bytes(cut.read_bytes()[:-1])
    gone.unlink()
    link.unlink()
    link.symlink_to(GOLDEN / "v2" / link.name)
    (entry / "17.json").write_text("{}")
    problems = mneme_json("verify", corpus, code=4)["problems"]
    assert len(problems) == 5
    for path, what in (
        (flipped, "is damaged"),
        (cut, f"has {cut.stat().st_size} bytes in place of {cut.stat().st_size + 1}"),
        (gone, "is missing"),
        (link, "is a link"),
        (entry / "17.json", "is not in corpus.json"),
    ):
        assert [one for one in problems if str(path) in one and what in one]
    said = mneme("pack", corpus, "-o", tmp_path / "c.tar", code=4)
    assert "the corpus is damaged, so it is not packed" in said
    assert not (tmp_path / "c.tar").exists()


@needs_native
def test_nothing_is_linked_to_damaged_content(tmp_path: Path) -> None:
    corpus = writable(corpus_of_golden(tmp_path))
    snapshot = next((corpus / "programs" / "stroll").rglob("DeviceState.*"))
    snapshot.write_bytes(b"x" * snapshot.stat().st_size)
    before = contents(corpus)
    said = mneme("add", corpus, GOLDEN / "v2", "--program", "p", code=4)
    assert f"the corpus is damaged: '{snapshot}'" in said
    assert contents(corpus) == before


@needs_native
def test_adding_a_recording_again_repairs_what_is_damaged(tmp_path: Path) -> None:
    corpus = corpus_of_golden(tmp_path)
    before = contents(corpus)
    walk, stroll = (
        sorted(next((corpus / "programs" / name).iterdir()).glob("DeviceState.*"))
        for name in ("walk", "stroll")
    )
    walk[0].chmod(0o644)
    walk[0].write_bytes(b"other content, which the other program has too")
    walk[1].unlink()
    shutil.rmtree(stroll[2].parent)
    repaired = add(corpus, GOLDEN / "v2", "walk")["repaired"]
    assert len(repaired) == 2 + len(contents(GOLDEN / "v2"))
    assert contents(corpus) == before
    assert mneme_json("verify", corpus)["problems"] == []
    assert walk[0].stat().st_nlink == 2
    assert add(corpus, GOLDEN / "v2", "walk")["repaired"] == []


@needs_native
@pytest.mark.compile
def test_verify_replays_every_launch(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    add(corpus, GOLDEN / "v2", "walk")
    verified = mneme_json("verify", corpus, "--replay", "--device", "cpu")
    assert (verified["launches"], verified["not_verified"]) == (3, [])


@needs_native
@pytest.mark.compile
def test_verify_names_launches_that_do_not_replay_as_recorded(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    add(corpus, swapped_results(tmp_path / "swapped"), "walk")
    verified = mneme_json("verify", corpus, "--replay", "--device", "cpu", code=1)
    assert (verified["problems"], verified["launches"]) == ([], 3)
    (different,) = verified["not_verified"]
    assert "walk@1" in different


def test_a_program_is_always_in_the_same_split() -> None:
    names = [f"program{number}" for number in range(2000)]
    splits = [split_of(name) for name in names]
    assert [split_of("spmv_cg"), split_of("nbody"), split_of("axpy")] == ["train", "test", "test"]
    assert 0.17 < splits.count("test") / len(names) < 0.23
    # A larger test set has all programs of a smaller one.
    larger = [split_of(name, 0.5) for name in names]
    assert all(b == "test" for a, b in zip(splits, larger, strict=True) if a == "test")
    assert {split_of(name, 0) for name in names} == {"train"}
    assert {split_of(name, 1) for name in names} == {"test"}
    with pytest.raises(InvalidArgument):
        split_of("a", float("nan"))


@needs_native
def test_splits_are_listed_by_program(tmp_path: Path) -> None:
    corpus = corpus_of_golden(tmp_path)
    names = {"train": set[str](), "test": set[str]()}
    for program in ("a", "b", "c", "d", "e", "f"):
        add(corpus, GOLDEN / "v2", program)
    for split, found in names.items():
        listed = mneme_json("ls", corpus, "--split", split)["entries"]
        found.update(one["program"] for one in listed)
        assert {one.program for one in Corpus(corpus).split(split)} == found
    assert names["train"] | names["test"] == set(Corpus(corpus).programs)
    assert names["train"] & names["test"] == set()
    assert names["test"] == {one for one in Corpus(corpus).programs if split_of(one) == "test"}
    assert names["test"]
    said = mneme("ls", corpus)
    assert "the code of 'walk(int)' is in both splits" in said
    assert mneme_json("ls", corpus, "--split", "test", "--test-share", "0")["entries"] == []
    with pytest.raises(InvalidArgument, match="there are train and test"):
        Corpus(corpus).split("validation")


def test_labels_are_checked() -> None:
    assert parse_labels(["a=b", "c=d=e"]) == {"a": "b", "c": "d=e"}
    with pytest.raises(InvalidArgument, match="given twice"):
        parse_labels(["a=b", "a=c"])
    for name in ("", ".hidden", "a/b", "..", "a b", "a" * 101, "ä"):
        with pytest.raises(InvalidArgument):
            Labels(program=name)
    with pytest.raises(InvalidArgument):
        Labels(program="p", more={"licence": "x"})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{", ArtifactCorrupt),
        ("[]", ArtifactCorrupt),
        ('{"format": "mneme-corpus", "version": 1}', ArtifactCorrupt),
        ('{"format": "mneme-corpus", "version": 2, "entries": []}', Unsupported),
        ('{"format": "mneme-corpus", "version": 1, "entries": [{}]}', ArtifactCorrupt),
        ('{"format": "mneme-corpus", "version": 1, "entries": 7}', ArtifactCorrupt),
    ],
)
def test_damaged_manifests_are_refused(
    text: str, kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mneme.corpus.manifest._digest_of", lambda data: data.get("sha256"))
    (tmp_path / "corpus.json").write_text(text)
    with pytest.raises(kind):
        Corpus(tmp_path)


@needs_native
def test_a_manifest_that_was_edited_is_refused(tmp_path: Path) -> None:
    corpus = corpus_of_golden(tmp_path)
    text = (corpus / "corpus.json").read_text()
    (corpus / "corpus.json").write_text(text.replace("Apache-2.0", "MIT"))
    with pytest.raises(ArtifactCorrupt, match="does not fit its digest"):
        Corpus(corpus)
    # Only its layout is other.
    (corpus / "corpus.json").write_text(json.dumps(json.loads(text)))
    assert len(Corpus(corpus)) == 3


@needs_native
def test_adding_again_changes_the_labels_that_are_said(tmp_path: Path) -> None:
    add(tmp_path / "c", GOLDEN / "v2", "walk", "--commit", "1f2e", "--label", "a=b")
    again = add(tmp_path / "c", GOLDEN / "v2", "walk", "--licence", "MIT", "--label", "c=d")
    assert (again["is_new"], again["is_relabelled"]) == (False, True)
    (entry,) = Corpus(tmp_path / "c")
    assert (entry.commit, entry.licence, entry.gpu) == ("1f2e", "MIT", "cpu")
    assert entry.labels == {"a": "b", "c": "d"}
    assert add(tmp_path / "c", GOLDEN / "v2", "walk")["is_relabelled"] is False


@needs_native
def test_names_in_a_manifest_lead_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mneme.corpus.manifest._digest_of", lambda data: data.get("sha256"))
    corpus = corpus_of_golden(tmp_path)
    text = (corpus / "corpus.json").read_text()
    entry = read_manifest(corpus).entries[0]
    for old, new in (
        (entry.kernels[0].record, "../../x.json"),
        (entry.kernels[0].record, ".."),
        (f'"{entry.name}"', '"../../../etc"'),
        ('"walk"', '"../walk"'),
    ):
        (corpus / "corpus.json").write_text(text.replace(old, new))
        with pytest.raises(ArtifactCorrupt):
            Corpus(corpus)


def test_a_missing_corpus_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="mneme corpus add"):
        Corpus(tmp_path)
