"""The environment of programs that `mneme run` and `mneme record` start.

A program becomes a guest by its environment alone: preloaded libraries and `MNEME_*` variables. Its
arguments, streams, signals and exit code are its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mneme._paths import library, prefix
from mneme._vendors import CPU_RUNTIMES
from mneme.devices import choose_device
from mneme.errors import InvalidArgument, IoFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["RecordRequest", "record_environment", "run_environment"]

_RECORDER = "librecord.so"
_AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest:
    """What to record, and where to."""

    directory: Path
    """Created if it does not exist."""

    address_space_gib: int = 4
    """Size of the address window, per device. At least 1."""

    max_recordings: int = 4
    """Recorded launches per kernel. At least 0."""

    skip_recordings: int = 0
    """Launches per kernel that pass before recording starts. At least 0."""

    epilogue_format: str = "diff"
    """bytes, diff or best."""

    ranks: str | None = None
    """Ranks that record: "0,2", "0-3" or "all"; None leaves it to the recorder (rank 0)."""

    kernels: str | None = None
    """Regular expression on mangled or demangled names; None records every kernel."""

    device: str | None = None
    """Device to run on; None or "auto" takes the first GPU, else the CPU device."""

    def variables(self) -> dict[str, str]:
        """Return the variables the recorder reads."""
        values = {
            "MNEME_DATA_DIR": str(self.directory.resolve()),
            "MNEME_PAGE_SIZE": str(self.address_space_gib),
            "MNEME_MAX_RECORDINGS": str(self.max_recordings),
            "MNEME_SKIP_RECORDINGS": str(self.skip_recordings),
            "MNEME_EPILOGUE_TYPE": self.epilogue_format,
        }
        if self.ranks is not None:
            values["MNEME_RECORD_RANKS"] = self.ranks
        if self.kernels is not None:
            values["MNEME_RR_KERNELS"] = self.kernels
        return values


def run_environment(base: Mapping[str, str], device: str | None = None) -> dict[str, str]:
    """Return `base`, changed so that a program runs on `device`.

    Raises:
        BackendUnavailable: If the device or one of mneme's libraries is not there.
        InvalidArgument: If there is no such device.
    """
    chosen = _choose(device)
    return _preload(base, _runtimes(chosen), {"MNEME_DEVICE": chosen})


def record_environment(base: Mapping[str, str], request: RecordRequest) -> dict[str, str]:
    """Return `base`, changed so that a program is recorded as `request` says; makes the directory.

    Raises:
        BackendUnavailable: If the device or one of mneme's libraries is not there.
        InvalidArgument: If there is no such device.
        IoFailed: If the directory cannot be made.
    """
    chosen = _choose(request.device)
    variables = {"MNEME_DEVICE": chosen, **request.variables()}
    environment = _preload(base, [library(_RECORDER), *_runtimes(chosen)], variables)
    try:
        request.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IoFailed(
            f"cannot make the directory '{request.directory}': {error.strerror}"
        ) from error
    return environment


def _choose(device: str | None) -> str:
    return choose_device(None if device == _AUTO else device)


def _runtimes(device: str) -> list[Path]:
    if device != "cpu":
        return []
    found = [prefix() / "lib" / name for name in CPU_RUNTIMES]
    return [path for path in found if path.is_file()] or [library(CPU_RUNTIMES[0])]


def _preload(
    base: Mapping[str, str], libraries: list[Path], variables: Mapping[str, str]
) -> dict[str, str]:
    names = [str(path) for path in libraries]
    for name in names:
        if ":" in name or " " in name:
            raise InvalidArgument(
                f"'{name}' cannot be preloaded: its path has a blank or a colon; move mneme"
            )
    # What the user preloads stays, behind ours.
    names.extend(part for part in base.get("LD_PRELOAD", "").split(":") if part)
    environment = {**base, **variables}
    if names:
        environment["LD_PRELOAD"] = ":".join(names)
    return environment
