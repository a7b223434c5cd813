"""What the recorder will be told, checked while there is somebody to tell of a mistake.

In the recorded program a setting that makes no sense costs the recording: the program runs on.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mneme.guest import RecordRequest

__all__ = ["check_environment", "check_request"]

_EPILOGUES = ("bytes", "diff", "best")
_ALLOCATIONS = ("", "window", "vendor")
_LARGEST_WINDOW_GIB = 1024
_LARGEST_COUNT = 2**64 - 1
_LARGEST_RANK = 2**31 - 1
_LONGEST_REGEX = 4096
_RANKS = re.compile(r"([0-9]+)(?:-([0-9]+))?", re.ASCII)


def check_request(request: RecordRequest) -> None:
    """Refuse what the recorder would refuse.

    Raises:
        InvalidArgument: With a sentence that names the option.
    """
    window = request.address_space_gib
    if window is not None and not 1 <= window <= _LARGEST_WINDOW_GIB:
        raise InvalidArgument(
            f"the address window (-vass) is {window} GiB; it can have 1 to {_LARGEST_WINDOW_GIB}"
        )
    for option, count in (("-mr", request.max_recordings), ("-sr", request.skip_recordings)):
        if not 0 <= count <= _LARGEST_COUNT:
            raise InvalidArgument(f"{option} is {count}, not a number of launches")
    if request.epilogue_format not in _EPILOGUES:
        raise InvalidArgument(
            f"--epilogue-format is '{request.epilogue_format}', not one of {', '.join(_EPILOGUES)}"
        )
    _check_ranks(request.ranks)
    _check_kernels(request.kernels)


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
        InvalidArgument: With a sentence that names the variable.
    """
    logs = base.get("MNEME_LOG_DIR", "")
    if logs and not Path(logs).is_dir():
        raise InvalidArgument(f"MNEME_LOG_DIR is '{logs}', which is no directory; make it first")
    allocations = base.get("MNEME_ALLOCATIONS", "")
    if allocations not in _ALLOCATIONS:
        raise InvalidArgument(f"MNEME_ALLOCATIONS is '{allocations}', neither window nor vendor")
