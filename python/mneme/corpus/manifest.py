"""`corpus.json`: what a corpus holds, with digests of all files; docs/corpus.md describes it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from mneme.corpus.labels import Labels
from mneme.errors import ArtifactCorrupt, InvalidArgument, IoFailed, NotFound, Unsupported
from mneme.files.publish import publish_own_text
from mneme.files.regular_file import read_text

__all__ = [
    "ENTRY_NAME",
    "MANIFEST_NAME",
    "PROGRAMS",
    "STAGING",
    "Entry",
    "FileFact",
    "Kernel",
    "Manifest",
    "parse_manifest",
    "read_manifest",
]

MANIFEST_NAME: Final = "corpus.json"
PROGRAMS: Final = "programs"
"""The directory below which recordings are."""
STAGING: Final = ".adding-"
"""What the names of directories begin with in which recordings are made ready."""
ENTRY_NAME: Final = re.compile(r"[0-9a-f]{12}")
"""The names of entries."""
_FORMAT: Final = "mneme-corpus"
_VERSION: Final = 1
_OWN_DIGEST: Final = "sha256"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
# The names that recorders give, and nothing that leads elsewhere.
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """What a file has to contain."""

    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A recorded kernel of an entry."""

    record: str
    """The name of its record file."""
    name: str
    """Demangled."""
    code_hash: str
    """Equal for kernels with the same code, whatever they are called; else of the static hash."""
    launches: int
    """Recorded launches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One recording of a program."""

    name: str
    """Digits of the digest of its files."""
    labels: Labels
    kernels: tuple[Kernel, ...]
    files: dict[str, FileFact] = field(default_factory=dict)
    """By name; all are in the directory of the entry."""

    @property
    def path(self) -> str:
        """The directory, below that of the corpus."""
        return f"{PROGRAMS}/{self.labels.program}/{self.name}"

    @property
    def title(self) -> str:
        """The entry in sentences."""
        return f"{self.labels.program}/{self.name}"

    def to_json(self) -> dict[str, Any]:
        """Return the entry as in the file."""
        return {
            "name": self.name,
            **self.labels.to_json(),
            "kernels": [
                {
                    "record": one.record,
                    "name": one.name,
                    "code_hash": one.code_hash,
                    "launches": one.launches,
                }
                for one in self.kernels
            ],
            "files": {
                name: {"sha256": fact.sha256, "bytes": fact.size_bytes}
                for name, fact in sorted(self.files.items())
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The entries of a corpus, by program and name."""

    entries: tuple[Entry, ...] = ()

    def with_entry(self, entry: Entry) -> Manifest:
        """Return the manifest with an entry in its place, instead of one with the same path."""
        others = [one for one in self.entries if one.path != entry.path]
        entries = sorted((*others, entry), key=lambda one: one.path)
        return Manifest(entries=tuple(entries))

    def text(self) -> str:
        """Return the content of the file: the same for the same entries."""
        entries = [one.to_json() for one in self.entries]
        data = {"format": _FORMAT, "version": _VERSION, "entries": entries}
        return _text_of({**data, _OWN_DIGEST: _digest_of(data)})

    def files(self) -> dict[str, FileFact]:
        """Return every file by its path below the corpus, in order."""
        found = {
            f"{entry.path}/{name}": fact
            for entry in self.entries
            for name, fact in entry.files.items()
        }
        return dict(sorted(found.items()))

    def publish(self, corpus: Path) -> None:
        """Write the file, whole or not at all."""
        publish_own_text(corpus / MANIFEST_NAME, self.text())


def _text_of(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def _digest_of(data: dict[str, Any]) -> str:
    """Return the digest of a manifest's text without its own digest."""
    rest = {key: value for key, value in data.items() if key != _OWN_DIGEST}
    return hashlib.sha256(_text_of(rest).encode()).hexdigest()


def read_manifest(corpus: Path) -> Manifest:
    """Read the manifest of a corpus.

    Raises:
        NotFound: If there is none.
        ArtifactCorrupt: If it is damaged.
        Unsupported: If a newer mneme wrote it.
        IoFailed: If it cannot be read.
    """
    path = corpus / MANIFEST_NAME
    try:
        text = read_text(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "has no corpus.json" if corpus.is_dir() else "is not a directory"
        raise NotFound(
            f"'{corpus}' is not a corpus: it {what}; 'mneme corpus add {corpus} RECORDING' makes "
            "one, 'mneme corpus unpack' unpacks one"
        ) from error
    except UnicodeDecodeError as error:
        raise ArtifactCorrupt(f"'{path}' is not a text file; it is damaged") from error
    except OSError as error:
        raise IoFailed(f"cannot read '{path}': {error.strerror}") from error
    return parse_manifest(text, str(path))


def parse_manifest(text: str, place: str) -> Manifest:
    """Read the text of a manifest; `place` names it in messages.

    Raises:
        ArtifactCorrupt, Unsupported: As `read_manifest`.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArtifactCorrupt(f"'{place}' is not a JSON file ({error}); it is damaged") from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ArtifactCorrupt(f"'{place}' is not the manifest of a corpus")
    version = data.get("version")
    if version != _VERSION:
        raise Unsupported(
            f"'{place}' has version {version!r}, and this mneme reads version {_VERSION}: update "
            "mneme"
        )
    if data.get(_OWN_DIGEST) != _digest_of(data):
        raise ArtifactCorrupt(f"'{place}' is damaged: its content does not fit its digest")
    try:
        entries = tuple(_entry(one) for one in data["entries"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactCorrupt(f"'{place}' is damaged: {_reason(error)}") from error
    paths = [one.path for one in entries]
    if paths != sorted(set(paths)):
        raise ArtifactCorrupt(f"'{place}' is damaged: its entries are not in order, each once")
    return Manifest(entries=entries)


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _entry(data: dict[str, Any]) -> Entry:
    files = {
        _checked(_FILE_NAME, name): FileFact(
            sha256=_checked(_DIGEST, fact["sha256"]), size_bytes=_size(fact["bytes"])
        )
        for name, fact in data["files"].items()
    }
    return Entry(
        name=_checked(ENTRY_NAME, data["name"]),
        labels=Labels.from_json(data),
        kernels=tuple(_kernel(one, files) for one in data["kernels"]),
        files=files,
    )


def _kernel(data: dict[str, Any], files: dict[str, FileFact]) -> Kernel:
    if data["record"] not in files:
        raise InvalidArgument(f"{data['record']!r} is a record without a file")
    return Kernel(
        record=data["record"],
        name=str(data["name"]),
        code_hash=str(data["code_hash"]),
        launches=_size(data["launches"]),
    )


def _checked(pattern: re.Pattern[str], text: object) -> str:
    if not isinstance(text, str) or not pattern.fullmatch(text) or PurePosixPath(text).name != text:
        raise InvalidArgument(f"{text!r} is not allowed there")
    return text


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidArgument(f"{value!r} is not a whole number of zero or more")
    return value
