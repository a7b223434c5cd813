"""A corpus, for scripts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.corpus.manifest import read_manifest
from mneme.corpus.split import SPLITS, TEST_SHARE, split_of
from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mneme.corpus.manifest import Entry, Kernel, Manifest
    from mneme.recording.directory import Recording

__all__ = ["Corpus", "CorpusEntry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEntry:
    """One recording of a corpus."""

    path: Path
    """Its directory: a recording, for every verb and for `mneme.load`."""
    split: str
    """`train` or `test`; the same for all recordings of a program."""
    facts: Entry
    """What the manifest says of it."""

    @property
    def name(self) -> str:
        """What it is called: `<program>/<digits of its digest>`."""
        return self.facts.title

    @property
    def program(self) -> str:
        """The name of the program."""
        return self.facts.labels.program

    @property
    def arguments(self) -> str:
        """The program's command line, without its name."""
        return self.facts.labels.arguments

    @property
    def commit(self) -> str:
        """The state of the program's source."""
        return self.facts.labels.commit

    @property
    def gpu(self) -> str:
        """Where it was recorded: `cpu`, or a GPU."""
        return self.facts.labels.gpu

    @property
    def licence(self) -> str:
        """The program's licence, as an SPDX expression."""
        return self.facts.labels.licence

    @property
    def labels(self) -> dict[str, str]:
        """The labels with names of their own."""
        return dict(self.facts.labels.more)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels that were recorded."""
        return self.facts.kernels

    @property
    def recording(self) -> Recording:
        """The recording, opened.

        Raises:
            NotFound, ArtifactCorrupt: As `mneme.load`.
        """
        from mneme.recording.directory import Recording  # noqa: PLC0415 - loads native code

        return Recording(self.path)


class Corpus:
    """Recordings of many programs, with labels. Iterating gives them in a fixed order."""

    def __init__(self, path: str | Path, *, test_share: float = TEST_SHARE) -> None:
        """Read what a corpus holds; the recordings themselves are not opened.

        Args:
            path: The directory.
            test_share: The share of programs that are for testing, on average.

        Raises:
            NotFound: If it is not a corpus.
            ArtifactCorrupt: If its manifest is damaged.
            Unsupported: If a newer mneme wrote it.
            InvalidArgument: If the share is not between 0 and 1.
        """
        self.path = Path(path)
        """The directory."""
        self.manifest: Manifest = read_manifest(self.path)
        """What it holds, as in `corpus.json`."""
        self._entries = tuple(
            CorpusEntry(
                path=self.path / one.path,
                split=split_of(one.labels.program, test_share),
                facts=one,
            )
            for one in self.manifest.entries
        )

    def __iter__(self) -> Iterator[CorpusEntry]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def split(self, name: str) -> tuple[CorpusEntry, ...]:
        """Return the recordings for training (`train`) or testing (`test`).

        Raises:
            InvalidArgument: If it is neither.
        """
        if name not in SPLITS:
            raise InvalidArgument(f"'{name}' is not a split; there are {' and '.join(SPLITS)}")
        return tuple(one for one in self if one.split == name)

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the programs, each once."""
        return tuple(dict.fromkeys(one.program for one in self))

    def code_in_both(self) -> dict[str, tuple[str, ...]]:
        """Return kernels whose code is in programs for training and for testing, too.

        A model that has seen them in training knows the answer: such programs do not test it.

        Returns:
            Names of programs by the kernel's name.
        """
        found: dict[str, dict[str, str]] = {}
        names: dict[str, str] = {}
        for entry in self:
            for kernel in entry.kernels:
                found.setdefault(kernel.code_hash, {})[entry.program] = entry.split
                names.setdefault(kernel.code_hash, kernel.name)
        return {
            names[code]: tuple(programs)
            for code, programs in found.items()
            if len(set(programs.values())) > 1
        }
