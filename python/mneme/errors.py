"""The exceptions of mneme: one class per reaction a caller can have.

The classes mirror the error codes of the runtime; `mneme._native` raises them with the runtime's
own message.
"""

from __future__ import annotations

__all__ = [
    "AddressUnavailable",
    "ArtifactCorrupt",
    "BackendUnavailable",
    "CompileFailed",
    "DeviceFailed",
    "InternalError",
    "InvalidArgument",
    "IoFailed",
    "MnemeError",
    "NotFound",
    "OutOfMemory",
    "OutOfRange",
    "Unsupported",
    "VerificationFailed",
]


class MnemeError(Exception):
    """Root of everything mneme raises on purpose; the message is a sentence for users."""

    begin: str = ""
    """The sentence without what it lists; empty if it lists nothing."""

    rows: tuple[tuple[str, ...], ...] = ()
    """What the sentence lists, for messages that have a line for each."""


class InvalidArgument(MnemeError, ValueError):  # noqa: N818 - named like the runtime's code
    """The request is invalid: an unknown pass, impossible dimensions, an ambiguous id."""


class NotFound(MnemeError, LookupError):  # noqa: N818
    """A file, kernel or record id does not exist."""


class ArtifactCorrupt(MnemeError):  # noqa: N818
    """A file of a recording is damaged, truncated or foreign."""


class AddressUnavailable(MnemeError):  # noqa: N818
    """The recorded address is taken in this process; a fresh process may get it."""


class BackendUnavailable(MnemeError):  # noqa: N818
    """A device, driver or library is absent; the message says what to do."""


class OutOfRange(MnemeError, IndexError):  # noqa: N818
    """An access outside a region."""


class OutOfMemory(MnemeError):  # noqa: N818
    """Host or device memory is exhausted."""


class CompileFailed(MnemeError):  # noqa: N818
    """The compiler refused or could not translate the kernel."""


class DeviceFailed(MnemeError):  # noqa: N818
    """The device reported an error: a fault, a trap, an assertion, a timeout."""


class VerificationFailed(MnemeError):  # noqa: N818
    """A replay left other memory behind than the recorded launch."""


class IoFailed(MnemeError):  # noqa: N818
    """The operating system refused a file operation."""


class Unsupported(MnemeError):  # noqa: N818
    """A construct mneme knows and does not handle; the message names it."""


class InternalError(MnemeError):
    """A bug of mneme's own."""
