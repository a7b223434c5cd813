"""mneme: record a GPU kernel launch of a real application, replay it alone, tune it, deploy it.

The package itself is light; whatever needs the compiler, a device or an optimiser is imported where
it is used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.corpus import Corpus
    from mneme.recording.directory import Recording
    from mneme.recording.recorded_execution import RecordedExecution
    from mneme.sections import label, labels_from_torch, recording

__all__ = ["Corpus", "__version__", "label", "labels_from_torch", "load", "recording"]

__version__ = "0.1.0"

# In a checkout the extension lies in the build tree; in a wheel it lies beside this file.
if _build_directory := os.environ.get("MNEME_BUILD_DIR"):
    __path__ = [*__path__, os.path.join(_build_directory, "python", "mneme")]  # noqa: PTH118


def load(path: str | Path) -> RecordedExecution | Recording:
    """Open a recording.

    Args:
        path: A `<static hash>.json` file, or a directory of them.

    Returns:
        A file's kernel, or all kernels of a directory.

    Raises:
        NotFound: If there is no such file or directory.
        ArtifactCorrupt: If a file is damaged or foreign.
    """
    from pathlib import Path  # noqa: PLC0415

    from mneme.recording.directory import Recording  # noqa: PLC0415
    from mneme.recording.recorded_execution import RecordedExecution  # noqa: PLC0415

    if Path(path).is_dir():
        return Recording(path)
    return RecordedExecution.from_json(path)


_OF_SCRIPTS = ("label", "labels_from_torch")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - each of its own type
    """Import what only some scripts need when they ask for it."""
    if name == "Corpus":
        return import_module("mneme.corpus").Corpus
    if name in _OF_SCRIPTS:
        return getattr(import_module("mneme.sections"), name)
    if name == "recording":  # the package of recordings, which is called as `mneme.recording(...)`
        return import_module("mneme.recording")
    raise AttributeError(f"module 'mneme' has no attribute {name!r}")
