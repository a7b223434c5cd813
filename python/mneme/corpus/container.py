"""The file that a corpus is packed into: a tar archive, compressed with zstd if its name says so.

Nothing in it depends on who packed it, when or where: it has no times, owners or permissions.
"""

from __future__ import annotations

import tarfile
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from mneme.corpus.manifest import MANIFEST_NAME
from mneme.errors import ArtifactCorrupt, BackendUnavailable, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "MANIFEST_MEMBER",
    "TOP",
    "Limited",
    "compressed",
    "decompressed",
    "is_compressed",
    "member",
    "zstd_module",
]

TOP: Final = "mneme-corpus"
MANIFEST_MEMBER: Final = f"{TOP}/{MANIFEST_NAME}"
_FILE_MODE: Final = 0o644
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_LEVEL: Final = 12
# Equal content is found over this distance. Other decompressors need an option for a larger one.
_WINDOW_LOG: Final = 27


def member(path: str, size_bytes: int, link_to: str = "") -> tarfile.TarInfo:
    """Return the header of a file below the top directory, or of another name of one before."""
    info = tarfile.TarInfo(f"{TOP}/{path}")
    info.mode = _FILE_MODE
    info.size = size_bytes
    if link_to:
        info.type, info.linkname, info.size = tarfile.LNKTYPE, f"{TOP}/{link_to}", 0
    return info


def is_compressed(path: Path) -> bool:
    """Whether a file to be written is compressed.

    Raises:
        InvalidArgument: If its name says neither.
    """
    if path.name.endswith((".tar.zst", ".tzst")):
        return True
    if path.name.endswith(".tar"):
        return False
    raise InvalidArgument(
        f"'{path}' is not a name for a packed corpus: it ends with .tar.zst, or .tar for one that "
        "is not compressed"
    )


def zstd_module() -> Any:  # noqa: ANN401 - of Python 3.14, or its twin for older ones
    """Return the module that compresses.

    Raises:
        BackendUnavailable: If there is none.
    """
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise BackendUnavailable(
        "files that end with .tar.zst need Python 3.14, or the package backports.zstd: pip install "
        "'mneme-gpu[corpus]'; a file that ends with .tar needs neither"
    )


class Limited:
    """A stream that ends with an error beyond a limit, so that no header takes all memory."""

    def __init__(self, path: Path, stream: BinaryIO, limit_bytes: int) -> None:
        """Read from `stream`; `path` names it in the message."""
        self._path = path
        self._stream = stream
        self._left = limit_bytes

    def allow(self, more_bytes: int) -> None:
        """Raise the limit."""
        self._left += more_bytes

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes.

        Raises:
            ArtifactCorrupt: If the limit is reached.
        """
        content = self._stream.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise ArtifactCorrupt(f"'{self._path}' is refused: it has more than its files need")
        return content


@contextmanager
def compressed(file: BinaryIO) -> Iterator[BinaryIO]:
    """Compress what is written, with a checksum; the same bytes whatever the number of cores."""
    zstd = zstd_module()
    parameter = zstd.CompressionParameter
    options = {
        parameter.compression_level: _LEVEL,
        parameter.window_log: _WINDOW_LOG,
        parameter.enable_long_distance_matching: 1,
        parameter.checksum_flag: 1,
    }
    with zstd.ZstdFile(file, "wb", options=options) as stream:
        yield stream


@contextmanager
def decompressed(path: Path) -> Iterator[BinaryIO]:
    """Open a packed corpus, compressed or not.

    Raises:
        ArtifactCorrupt: If what is read proves damaged or cut.
        BackendUnavailable: If it is compressed, and nothing here decompresses it.
    """
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            file.seek(0)
            with _told_as_damage(path, tarfile.TarError):
                yield file
            return
        file.seek(0)
        zstd = zstd_module()
        with (
            _told_as_damage(path, tarfile.TarError, EOFError, zstd.ZstdError),
            zstd.ZstdFile(file, "rb") as stream,
        ):
            yield stream


@contextmanager
def _told_as_damage(path: Path, *errors: type[Exception]) -> Iterator[None]:
    try:
        yield
    except errors as error:
        raise ArtifactCorrupt(
            f"'{path}' is not a packed corpus, or it is damaged or cut: {error}"
        ) from error
