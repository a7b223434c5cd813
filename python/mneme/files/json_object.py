"""JSON files that hold one object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mneme.errors import ArtifactCorrupt, IoFailed, NotFound
from mneme.files.regular_file import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["read_json_object"]

_MOST_BYTES = 1 << 30


def read_json_object(
    path: Path,
    *,
    parse: Callable[[str], object] = json.loads,
    encoding: str = "utf-8",
    most: int = _MOST_BYTES,
) -> dict[str, Any]:
    """Return the object that a file holds.

    Args:
        path: The file.
        parse: Makes a value of the text; raises ValueError or RecursionError if it is not JSON.
        encoding: The encoding of the text.
        most: The largest number of bytes to read.

    Raises:
        NotFound: If there is no such file.
        ArtifactCorrupt: If it is not JSON, or holds something else.
        IoFailed: If the operating system refuses to read it, it is not a regular file, or it has
            more bytes than `most`.
    """
    try:
        data = parse(read_bytes(path, most=most).decode(encoding))
    except FileNotFoundError as error:
        raise NotFound(f"cannot open '{path}': {error.strerror}") from error
    except OSError as error:
        raise IoFailed(f"cannot read '{path}': {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ArtifactCorrupt(f"'{path}' is not a JSON file ({error})") from error
    if not isinstance(data, dict):
        raise ArtifactCorrupt(f"'{path}' holds no JSON object")
    return data
