"""Where jobs find the storage of the study they share, whose URL may hold a password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.files.redaction import has_secret
from mneme.scaffold.quoting import encoded
from mneme.scaffold.rendering import Additions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.scaffold.rendering import ScaffoldRequest

__all__ = ["prepare"]

_FILE = "study_storage"


def prepare(request: ScaffoldRequest, recording: Mapping[str, Any] | None) -> Additions:  # noqa: ARG001 - fits every recording
    """Keep a URL with a password out of the scripts: it gets a file of its own."""
    storage = str(request.values.get("storage", ""))
    if not has_secret(storage):
        return Additions(context={"storage_file": ""})
    return Additions(
        context={"storage_file": _FILE}, private_files={_FILE: encoded(f"{storage}\n")}
    )
