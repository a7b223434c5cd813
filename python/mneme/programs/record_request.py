"""Settings for the recorder, checked before the program runs.

In the recorded program an invalid setting only disables the recording: the program runs on.
"""

from __future__ import annotations

import mmap
import re
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["RecordRequest", "check_environment", "check_request"]

_EPILOGUES = ("bytes", "diff", "best")
_ALLOCATIONS = ("", "window", "vendor")
_GRAPHS = ("", "parts", "kept", "whole")
_SECTIONS = ("", "only", "ignored")
_LARGEST_WINDOW_GIB = 1024
_NO_ACCESS = 0  # PROT_NONE
_LARGEST_COUNT = 2**64 - 1
_LONGEST_PATIENCE = 1_000_000
_LARGEST_RANK = 2**31 - 1
_LONGEST_REGEX = 4096
_AXES = r"0*[1-9][0-9]*(?:x0*[1-9][0-9]*){0,2}"
_DIMS = re.compile(rf"(?:[^:;/]+:)?{_AXES}/{_AXES}(?:/[0-9]+)?(?:@[0-9]+)?", re.ASCII)
_RANKS = re.compile(r"([0-9]+)(?:-([0-9]+))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest:
    """What to record, and where to store it."""

    directory: Path
    """Created if it does not exist."""

    is_directory_chosen: bool = True
    """If not, a section of the program may give another directory."""

    address_space_gib: int | None = None
    """Size of the address window, per device. At least 1; None: the recorder's default for the
    program's runtime (docs/cli.md)."""

    max_recordings: int = 4
    """Recorded launches per kernel. At least 0."""

    skip_recordings: int = 0
    """Launches per kernel to pass over before recording starts. At least 0."""

    epilogue_format: str = "diff"
    """bytes, diff or best."""

    ranks: str | None = None
    """Ranks that record: "0,2", "0-3" or "all"; None leaves it to the recorder (rank 0)."""

    kernels: str | None = None
    """Regular expression on names and labels, or lines of source files; None: every kernel."""

    dims: str | None = None
    """Dimensions of launches that are recorded: `[KERNEL:]GRID/BLOCK[/SHARED][@FIRST]` with `;`
    between, as "64x8/256;_Z1kPf:128/32x32/4096@50". Missing axes are 1. KERNEL is a mangled name.
    SHARED is dynamic shared memory in bytes. FIRST is how many such launches to pass over first.
    Kernels without an entry are recorded with any dimensions; None: all kernels are."""

    kernel_patience: float | None = None
    """Seconds to wait for a kernel, or ten times the longest earlier one if that is more. After
    that its recording is given up and the program continues. Above 0; None: the recorder's default
    (30)."""

    sections: bool | None = None
    """Whether only sections of the program are recorded (mneme.recording, mneme_record_begin); if
    not, they mean nothing. None: if the program is linked with these functions, or from the first
    section on."""

    keeps_graphs: bool = False
    """Whether graphs are kept as sequences that replay as a whole."""

    device: str | None = None
    """Device to run on; None or "auto" takes the first GPU that can run the program, else the CPU
    device."""

    program: str | None = None
    """The program to start, a path or a name. Its libraries decide whether a GPU can run it. None:
    assume that any can."""

    def variables(self) -> dict[str, str]:
        """Return the variables for the recorder."""
        values = {
            "MNEME_DATA_DIR": str(self.directory.resolve()),
            "MNEME_DATA_DIR_CHOSEN": str(int(self.is_directory_chosen)),
            "MNEME_MAX_RECORDINGS": str(self.max_recordings),
            "MNEME_SKIP_RECORDINGS": str(self.skip_recordings),
            "MNEME_EPILOGUE_TYPE": self.epilogue_format,
        }
        if self.address_space_gib is not None:
            values["MNEME_PAGE_SIZE"] = str(self.address_space_gib)
        if self.ranks is not None:
            values["MNEME_RECORD_RANKS"] = self.ranks
        if self.kernels is not None:
            values["MNEME_RR_KERNELS"] = self.kernels
        if self.dims is not None:
            values["MNEME_RECORD_DIMS"] = self.dims
        if self.kernel_patience is not None:
            values["MNEME_KERNEL_PATIENCE"] = str(self.kernel_patience)
        if self.sections is not None:
            values["MNEME_SECTIONS"] = "only" if self.sections else "ignored"
        if self.keeps_graphs:
            values["MNEME_GRAPHS"] = "kept"
        return values


def _is_reservable(size: int) -> bool:
    """Return whether a process may have so many bytes of addresses, without memory behind them."""
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        mmap.mmap(-1, size, flags=flags, prot=_NO_ACCESS).close()
    except OSError:
        return False
    return True


def _address_limit() -> str:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return "" if limit == resource.RLIM_INFINITY else f" (ulimit -v: {limit >> 30} GiB)"


def check_request(request: RecordRequest) -> None:
    """Refuse what the recorder would refuse.

    Raises:
        InvalidArgument: With a message that names the option.
    """
    window = request.address_space_gib
    if window is not None and not 1 <= window <= _LARGEST_WINDOW_GIB:
        raise InvalidArgument(
            f"the address window (-vass) is {window} GiB; it can have 1 to {_LARGEST_WINDOW_GIB}"
        )
    if window is not None and not _is_reservable(window << 30):
        raise InvalidArgument(
            f"the address window (-vass) is {window} GiB, more than a process may reserve here"
            f"{_address_limit()}: try a smaller one"
        )
    for option, count in (("-mr", request.max_recordings), ("-sr", request.skip_recordings)):
        if not 0 <= count <= _LARGEST_COUNT:
            raise InvalidArgument(f"{option} is {count}, not a number of launches")
    if request.epilogue_format not in _EPILOGUES:
        raise InvalidArgument(
            f"--epilogue-format is '{request.epilogue_format}', not one of {', '.join(_EPILOGUES)}"
        )
    patience = request.kernel_patience
    if patience is not None and not 0 < patience <= _LONGEST_PATIENCE:
        raise InvalidArgument(
            f"--kernel-patience is {patience}; it is above 0 and up to {_LONGEST_PATIENCE} seconds"
        )
    _check_ranks(request.ranks)
    _check_kernels(request.kernels)
    for entry in (request.dims or "").removesuffix(";").split(";"):
        if request.dims and not _DIMS.fullmatch(entry):
            raise InvalidArgument(
                f"--dims has '{entry}'; it is GRID/BLOCK such as 64x8/256, several with ';' between"
            )


def _check_ranks(ranks: str | None) -> None:
    if ranks in (None, "", "all"):
        return
    # As in the recorder, a comma may end the list.
    for part in ranks.removesuffix(",").split(","):
        found = _RANKS.fullmatch(part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not low <= high <= _LARGEST_RANK:
            raise InvalidArgument(
                f"--record-ranks is '{ranks}'; it has to be 'all' or a list like 0,2,4-7"
            )


def _check_kernels(kernels: str | None) -> None:
    if not kernels:
        return
    if len(kernels) > _LONGEST_REGEX:
        raise InvalidArgument(
            f"--kernels has {len(kernels)} characters; more than {_LONGEST_REGEX} are not taken"
        )
    from mneme import _native  # noqa: PLC0415 - loads native code

    try:
        _native.check_regex(kernels)
    except InvalidArgument as error:
        raise InvalidArgument(f"--kernels: {error}") from error


def check_environment(base: Mapping[str, str]) -> None:
    """Refuse variables that no option sets and that the recorder would refuse.

    Raises:
        InvalidArgument: With a message that names the variable.
    """
    logs = base.get("MNEME_LOG_DIR", "")
    if logs and not Path(logs).is_dir():
        raise InvalidArgument(f"MNEME_LOG_DIR is '{logs}', which is not a directory; make it first")
    allocations = base.get("MNEME_ALLOCATIONS", "")
    if allocations not in _ALLOCATIONS:
        raise InvalidArgument(f"MNEME_ALLOCATIONS is '{allocations}', neither window nor vendor")
    graphs = base.get("MNEME_GRAPHS", "")
    if graphs not in _GRAPHS:
        raise InvalidArgument(f"MNEME_GRAPHS is '{graphs}', not parts, kept or whole")
    sections = base.get("MNEME_SECTIONS", "")
    if sections not in _SECTIONS:
        raise InvalidArgument(f"MNEME_SECTIONS is '{sections}', neither only nor ignored")
