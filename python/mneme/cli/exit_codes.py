"""What the exit codes of `mneme` mean."""

from __future__ import annotations

from enum import IntEnum

from mneme import errors

__all__ = ["ExitCode", "code_of"]


class ExitCode(IntEnum):
    """Exit codes of every verb; `record` and `run` end with the program's own instead."""

    OK = 0
    """Done; for `replay`: the result is verified."""

    NOT_VERIFIED = 1
    """The kernel ran, but left other memory behind than recorded; for `deploy`: nothing to deploy,
    or with `--check` a kernel that does not match or compile, or none at all; for `cache`: an entry
    is damaged; for `corpus`: a replay differs; for `suggest`: nothing is known."""

    USAGE = 2
    """The command line does not follow the grammar: unknown option, missing argument, no `--`."""

    INVALID_CONFIGURATION = 3
    """The request is invalid: unknown pass, impossible dimensions, ambiguous record id."""

    RECORD_UNREADABLE = 4
    """A recording or one of its files is missing, damaged or foreign."""

    INTERNAL = 5
    """A bug of mneme's own; `-v debug` shows where."""

    UNAVAILABLE = 6
    """A device, driver, library or recorded address is unavailable or not supported."""

    REPLAY_FAILED = 7
    """The kernel could not be built or did not run to its end; for `compare`: no kernel can be
    compared."""

    IO_FAILED = 8
    """The operating system refused a file operation."""

    EXCEEDED = 9
    """`compare`: what `--fail-on` names was found."""

    CANNOT_EXECUTE = 126
    """`record`, `run`: the program exists but cannot be executed."""

    PROGRAM_NOT_FOUND = 127
    """`record`, `run`: there is no such program."""

    INTERRUPTED = 130
    """Stopped from the keyboard."""


_CODES: tuple[tuple[type[errors.MnemeError], ExitCode], ...] = (
    (errors.InvalidArgument, ExitCode.INVALID_CONFIGURATION),
    (errors.NotFound, ExitCode.RECORD_UNREADABLE),
    (errors.ArtifactCorrupt, ExitCode.RECORD_UNREADABLE),
    (errors.AddressUnavailable, ExitCode.UNAVAILABLE),
    (errors.BackendUnavailable, ExitCode.UNAVAILABLE),
    (errors.Unsupported, ExitCode.UNAVAILABLE),
    (errors.CompileFailed, ExitCode.REPLAY_FAILED),
    (errors.DeviceFailed, ExitCode.REPLAY_FAILED),
    (errors.OutOfMemory, ExitCode.REPLAY_FAILED),
    (errors.OutOfRange, ExitCode.REPLAY_FAILED),
    (errors.VerificationFailed, ExitCode.NOT_VERIFIED),
    (errors.IoFailed, ExitCode.IO_FAILED),
)


def code_of(error: BaseException) -> ExitCode:
    """Return the exit code for an exception."""
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    if isinstance(error, ImportError):
        return ExitCode.UNAVAILABLE
    if isinstance(error, OSError):
        return ExitCode.IO_FAILED
    return ExitCode.INTERNAL
