"""mneme: record a GPU kernel launch of a real application, replay it alone, tune it, deploy it.

The package itself is light; whatever needs the compiler, a device or an optimiser is imported where
it is used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from mneme.corpus import Corpus
    from mneme.recording.directory import Recording
    from mneme.recording.recorded_execution import RecordedExecution
    from mneme.sections import label, recording

__all__ = ["Corpus", "__version__", "label", "load", "recording"]

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


def __getattr__(name: str) -> type[Corpus | label] | ModuleType:
    """Import what only some scripts need when they ask for it."""
    if name == "Corpus":
        from mneme.corpus import Corpus  # noqa: PLC0415

        return Corpus
    if name == "label":
        from mneme.sections import label  # noqa: PLC0415

        return label
    if name == "recording":  # the package of recordings, which is called as `mneme.recording(...)`
        return import_module("mneme.recording")
    raise AttributeError(f"module 'mneme' has no attribute {name!r}")
