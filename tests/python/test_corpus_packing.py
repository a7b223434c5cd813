"""`mneme corpus pack|unpack`: exact round trips, and files that are not to be trusted."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from corpus_parts import GOLDEN, add, contents, corpus_of_golden, mneme, writable
from mneme.corpus import Corpus, container
from mneme.corpus.adding import add_recording
from mneme.corpus.labels import Labels
from mneme.corpus.manifest import read_manifest
from mneme.corpus.packing import pack
from mneme.corpus.unpacking import unpack
from mneme.corpus.verifying import verify_files
from mneme.errors import ArtifactCorrupt, BackendUnavailable, IoFailed, MnemeError
from native_parts import needs_native

pytestmark = needs_native


def has_zstd() -> bool:
    try:
        container.zstd_module()
    except BackendUnavailable:
        return False
    return True


needs_zstd = pytest.mark.skipif(not has_zstd(), reason="backports.zstd is not installed")
KINDS = [".tar", pytest.param(".tar.zst", marks=needs_zstd)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("corpus") / "c"
    for program in ("walk", "stroll"):
        add_recording(place, GOLDEN / "v2", Labels(program=program, licence="MIT"))
    return place


@pytest.fixture(scope="module")
def packed(corpus: Path) -> Path:
    return pack(corpus, corpus.with_name("c.tar")).file


@pytest.mark.parametrize("kind", KINDS)
def test_a_round_trip_is_exact(kind: str, corpus: Path, tmp_path: Path) -> None:
    done = pack(corpus, tmp_path / f"c{kind}")
    assert done.packed_bytes == done.file.stat().st_size
    unpack(done.file, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(corpus)
    assert verify_files(tmp_path / "again").problems == []
    # Content that programs share takes its space once.
    inodes = {path.stat().st_ino for path in (tmp_path / "again").rglob("*") if path.is_file()}
    assert len(inodes) == 11
    assert len(Corpus(tmp_path / "again")) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["again", f"c{kind}"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_corpus_gives_the_same_file(kind: str, corpus: Path, tmp_path: Path) -> None:
    first = pack(corpus, tmp_path / f"first{kind}").file
    # Another one: added in another order, with other times, owners' permissions and links.
    for program in ("stroll", "walk"):
        add_recording(tmp_path / "d", GOLDEN / "v2", Labels(program=program, licence="MIT"))
    second = pack(writable(tmp_path / "d"), tmp_path / f"second{kind}").file
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_packed_corpora_open_without_mneme(kind: str, corpus: Path, tmp_path: Path) -> None:
    if kind == ".tar.zst" and not shutil.which("zstd"):
        pytest.skip("there is no program zstd")
    done = pack(corpus, tmp_path / f"c{kind}")
    options = ["--zstd"] if kind == ".tar.zst" else []
    subprocess.run(["tar", "-C", tmp_path, *options, "-xf", done.file], check=True)
    assert contents(tmp_path / container.TOP) == contents(corpus)
    assert verify_files(tmp_path / container.TOP).problems == []


@needs_zstd
def test_content_that_repeats_takes_little_space(tmp_path: Path) -> None:
    corpus = corpus_of_golden(tmp_path)
    alone = pack(corpus, tmp_path / "a.tar.zst").packed_bytes
    for number in range(10):
        add(corpus, GOLDEN / "v2", f"p{number}", "--licence", "MIT")
    assert pack(corpus, tmp_path / "b.tar.zst").packed_bytes < 1.5 * alone


def test_packing_asks_for_licences_and_says_what_is_inside(tmp_path: Path) -> None:
    corpus, file = tmp_path / "c", tmp_path / "c.tar"
    add(corpus, GOLDEN / "v2", "walk", "--licence", "MIT")
    add(corpus, GOLDEN / "v1", "old")
    said = mneme("pack", corpus, "-o", file, code=3)
    assert "no licence is known for 1 programs (old): add them again with --licence" in said
    assert not file.exists()
    said = mneme("pack", corpus, "-o", file, "--no-licence")
    file.unlink()
    add(corpus, GOLDEN / "v1", "old", "--licence", "MIT")
    said = mneme("pack", corpus, "-o", file)
    assert "contains data of the recorded programs, their memory included" in said
    assert "unpacked 2 recordings" in mneme("unpack", file, "-o", tmp_path / "d")


def test_names_of_packed_corpora_say_what_they_are(corpus: Path, tmp_path: Path) -> None:
    assert "ends with .tar.zst" in mneme("pack", corpus, "-o", tmp_path / "c.zip", code=3)
    mneme("pack", corpus, "-o", tmp_path / "none" / "c.tar", code=8)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_module_is_named(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(container, "import_module", absent)
    with pytest.raises(BackendUnavailable, match="backports.zstd"):
        pack(corpus, tmp_path / "c.tar.zst")
    assert list(tmp_path.iterdir()) == []


def test_unpacking_replaces_nothing(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "notes.txt").write_text("mine")
    assert "is there already" in mneme("unpack", packed, "-o", tmp_path / "d", code=3)
    assert contents(tmp_path) == {"d/notes.txt": b"mine"}
    (tmp_path / "e").mkdir()
    mneme("unpack", packed, "-o", tmp_path / "e")
    assert "is not a file" in mneme("unpack", tmp_path / "no.tar", "-o", tmp_path / "f", code=4)


def refused(packed: Path, folder: Path) -> str:
    """What is said of a file that cannot be unpacked; nothing is left of it."""
    before = sorted(folder.iterdir())
    with pytest.raises(ArtifactCorrupt) as error:
        unpack(packed, folder / "out")
    assert sorted(folder.iterdir()) == before
    assert str(packed) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_cut_are_refused(kind: str, corpus: Path, tmp_path: Path) -> None:
    whole = pack(corpus, tmp_path / f"c{kind}").file.read_bytes()
    cut = tmp_path / f"cut{kind}"
    # The end of an archive that is not compressed is empty.
    last = len(whole.rstrip(b"\0")) if kind == ".tar" else len(whole)
    for size in (0, 1, 3, 700, len(whole) // 2, last - 600, last - 1):
        cut.write_bytes(whole[:size])
        refused(cut, tmp_path)


@needs_zstd
def test_any_flipped_byte_of_a_compressed_file_is_noticed(corpus: Path, tmp_path: Path) -> None:
    whole = pack(corpus, tmp_path / "c.tar.zst").file.read_bytes()
    flipped = tmp_path / "flipped.tar.zst"
    for place in range(0, len(whole), 97):
        flipped.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        refused(flipped, tmp_path)


def test_flipped_bytes_never_change_what_is_unpacked(
    packed: Path, corpus: Path, tmp_path: Path
) -> None:
    whole, expected = packed.read_bytes(), contents(corpus)
    flipped = tmp_path / "flipped.tar"
    noticed = 0
    for place in range(0, len(whole), 173):
        flipped.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            unpack(flipped, tmp_path / "out")
        except MnemeError:
            noticed += 1
            assert list(tmp_path.iterdir()) == [flipped]
        else:  # where an archive is empty
            assert contents(tmp_path / "out") == expected
            shutil.rmtree(tmp_path / "out")
    assert noticed > 100


Edit = Callable[[tarfile.TarInfo, bytes], list[tuple[tarfile.TarInfo, bytes]]]


def edited(packed: Path, folder: Path, edit: Edit) -> Path:
    """Write an archive whose members an edit replaced."""
    file = folder / "edited.tar"
    with tarfile.open(packed) as old, tarfile.open(file, "w") as new:
        for one in old:
            inside = old.extractfile(one) if one.isreg() else None
            for info, content in edit(one, inside.read() if inside else b""):
                new.addfile(info, io.BytesIO(content))
    return file


def other(info: tarfile.TarInfo, **changes: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(info.name)
    made.size, made.type, made.linkname = info.size, info.type, info.linkname
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def is_snapshot(info: tarfile.TarInfo) -> bool:
    return "/stroll/" in info.name and "DeviceState.prologue.163" in info.name


HOSTILE: dict[str, Callable[[tarfile.TarInfo], dict[str, object]]] = {
    "above": lambda info: {"name": f"{container.TOP}/../../{Path(info.name).name}"},
    "absolute": lambda info: {"name": f"/tmp/{Path(info.name).name}"},
    "elsewhere": lambda info: {"name": f"other/{info.name}"},
    "without the top": lambda info: {"name": info.name.removeprefix(f"{container.TOP}/")},
    "symbolic link": lambda _: {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd", "size": 0},
    "link above": lambda _: {"type": tarfile.LNKTYPE, "linkname": "../x", "size": 0},
    "link to other content": lambda _: {
        "type": tarfile.LNKTYPE,
        "linkname": f"{container.TOP}/corpus.json",
        "size": 0,
    },
    "device": lambda _: {"type": tarfile.CHRTYPE, "size": 0},
    "FIFO": lambda _: {"type": tarfile.FIFOTYPE, "size": 0},
    "directory": lambda _: {"type": tarfile.DIRTYPE, "size": 0},
    "shorter": lambda info: {"size": info.size - 1},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_members_that_do_not_belong_there_are_refused(
    kind: str, packed: Path, tmp_path: Path
) -> None:
    def edit(info: tarfile.TarInfo, content: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
        changes = HOSTILE[kind](info) if is_snapshot(info) else {}
        made = other(info, **changes)
        return [(made, content[: made.size])]

    refused(edited(packed, tmp_path, edit), tmp_path)


def test_files_that_are_missing_additional_or_twice_are_named(packed: Path, tmp_path: Path) -> None:
    def without(info: tarfile.TarInfo, content: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
        return [] if is_snapshot(info) else [(info, content)]

    said = refused(edited(packed, tmp_path, without), tmp_path)
    assert "1 files are missing" in said or "is a link to" in said

    def twice(info: tarfile.TarInfo, content: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
        return [(info, content)] * (2 if is_snapshot(info) else 1)

    assert "twice or not at all" in refused(edited(packed, tmp_path, twice), tmp_path)

    def more(info: tarfile.TarInfo, content: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
        beside = other(info, name=f"{info.name}x")
        return [(info, content), *([(beside, content)] if is_snapshot(info) else [])]

    assert "lists twice or not at all" in refused(edited(packed, tmp_path, more), tmp_path)


def test_manifests_of_packed_corpora_are_checked(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(old: bytes, new: bytes) -> Path:
        def edit(info: tarfile.TarInfo, content: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
            if info.name == container.MANIFEST_MEMBER:
                assert old in content
                content = content.replace(old, new)
            return [(other(info, size=len(content) if info.isreg() else 0), content)]

        return edited(packed, tmp_path, edit)

    refused(changed(b'"format"', b'"form"'), tmp_path)
    refused(changed(b'"MIT"', b'"BSD"'), tmp_path)
    # Somebody who means harm fits the digest to what it says.
    monkeypatch.setattr("mneme.corpus.manifest._digest_of", lambda data: data.get("sha256"))
    refused(changed(b'"walk"', b'"../walk"'), tmp_path)
    refused(changed(b"DeviceState.prologue.163", b"../x"), tmp_path)
    refused(changed(b'"sha256": "', b'"sha256": "0'), tmp_path)
    (tmp_path / "edited.tar").unlink()
    empty = tmp_path / "empty.tar"
    with tarfile.open(empty, "w"):
        pass
    assert "does not begin with one" in refused(empty, tmp_path)


def test_headers_that_take_all_memory_are_refused(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mneme.corpus.unpacking._LARGEST_MANIFEST", 1 << 16)
    monkeypatch.setattr("mneme.corpus.unpacking._END_BYTES", 1 << 16)
    unpack(packed, tmp_path / "whole")
    shutil.rmtree(tmp_path / "whole")
    huge = tmp_path / "huge.tar"
    info = tarfile.TarInfo("./PaxHeaders/x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 30
    for begin in (b"", packed.read_bytes().rstrip(b"\0")):
        whole_blocks = begin + b"\0" * (-len(begin) % 512)
        with huge.open("wb") as file:
            file.write(whole_blocks + info.tobuf())
            file.truncate(len(whole_blocks) + (1 << 30))
        assert "more than its files need" in refused(huge, tmp_path)


def test_a_full_disk_leaves_nothing(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mneme.corpus.unpacking._write", full)
    with pytest.raises(IoFailed, match="No space left"):
        unpack(packed, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_manifest_has_a_stable_form(corpus: Path) -> None:
    manifest = read_manifest(corpus)
    assert manifest.text() == (corpus / "corpus.json").read_text()
    reversed_ = replace(manifest, entries=())
    for entry in reversed(manifest.entries):
        reversed_ = reversed_.with_entry(entry)
    assert reversed_ == manifest
    data = json.loads(manifest.text())
    assert (data["format"], data["version"]) == ("mneme-corpus", 1)
