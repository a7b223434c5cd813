"""Parts of a script that are recorded, and names for what it launches.

The recorder and the labels are functions of libraries that `mneme record` and `mneme run` load
before the program. Nothing of mneme's native code is needed here.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import sys
from contextlib import ContextDecorator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mneme.errors import BackendUnavailable, InvalidArgument

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["label", "labels_from_torch", "recording"]

_RECORDER = "librecord.so"
_RUNTIME = "libmneme_rt.so"


class recording(ContextDecorator):  # noqa: N801 - reads as a statement
    """Record what runs inside, in a script that `mneme record -- python SCRIPT` has started.

        with mneme.recording("dir", kernels="softmax.*"):
            train_step()

    A section belongs to the process: launches of other threads are recorded, too, while it is
    open. An object may be entered again, also inside of itself. Sections may overlap: a launch is
    recorded if one that is open wants it. The limits of `mneme record` count launches inside of
    sections only.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        kernels: str | None = None,
        required: bool = True,
    ) -> None:
        """Describe a section.

        Args:
            directory: Where the recording goes, made if it does not exist. It counts if `mneme
                record` was given no directory and nothing is recorded yet, since a run has one
                recording; otherwise the summary names it. None: the run's directory.
            kernels: What `mneme record --kernels` takes: a regular expression on names and labels,
                or lines of source files. None: every kernel.
            required: Whether entering it fails in a process that does not run under the recorder.
                If not, the block then runs unrecorded.
        """
        self._directory = None if directory is None else os.fspath(directory)
        self._kernels = kernels
        self._required = required
        self._open: list[int] = []

    def __enter__(self) -> recording:  # noqa: PYI034 - Self came with Python 3.11
        """Begin.

        Raises:
            BackendUnavailable: If this process does not run under the recorder.
            InvalidArgument: If the filter is not a regular expression, or the directory cannot be
                made.
        """
        self._open.append(self._begin())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End, whatever happened inside."""
        section = self._open.pop()
        recorder = _loaded(_RECORDER)
        if section > 0 and recorder:
            recorder.mneme_record_end(ctypes.c_longlong(section))

    def _begin(self) -> int:
        recorder = _loaded(_RECORDER)
        if recorder is None:
            if not self._required:
                return 0
            raise BackendUnavailable(
                "this process does not run under the recorder, which has to be loaded before the "
                f"program's libraries; start it with: {_command()}"
            )
        begin = recorder.mneme_record_begin
        begin.restype, begin.argtypes = ctypes.c_longlong, [ctypes.c_char_p, ctypes.c_char_p]
        directory = "" if self._directory is None else os.path.abspath(self._directory)  # noqa: PTH100
        section: int = begin(os.fsencode(directory), (self._kernels or "").encode())
        if section < 0:
            raise InvalidArgument(
                f"the recorder refuses this section (kernels={self._kernels!r}, directory="
                f"{self._directory!r}): its own message says why"
            )
        return section


class label(ContextDecorator):  # noqa: N801 - as above
    """Give the launches inside a name, by which recordings, tables and filters call them.

        with mneme.label("step 3"):
            train_step()

    Labels inside of labels are a path. A label belongs to the thread that gave it. Without `mneme
    record` or `mneme run` it does nothing.
    """

    def __init__(self, text: str) -> None:
        """Choose the name.

        Args:
            text: No more than 255 bytes of it count.
        """
        self._text = text.encode(errors="replace")

    def __enter__(self) -> label:  # noqa: PYI034 - as above
        """Begin."""
        if runtime := _loaded(_RUNTIME):
            runtime.mneme_push_label(ctypes.c_char_p(self._text))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it, whatever happened inside."""
        if runtime := _loaded(_RUNTIME):
            runtime.mneme_pop_label()


def labels_from_torch() -> None:
    """Make labels of PyTorch's `torch.profiler.record_function` from now on.

    PyTorch itself tells tools of such ranges only while it profiles. What `torch.compile` compiles
    has none. Without `mneme record` or `mneme run` this does nothing.

    Raises:
        ImportError: If there is no PyTorch.
    """
    kind: Any = import_module("torch.autograd.profiler").record_function
    runtime = _loaded(_RUNTIME)
    if runtime is None or hasattr(kind, "labels_of_mneme"):
        return
    enter, leave = kind.__enter__, kind.__exit__

    def labelled_enter(self: Any) -> Any:  # noqa: ANN401 - PyTorch's own
        runtime.mneme_push_label(ctypes.c_char_p(str(self.name).encode(errors="replace")))
        return enter(self)

    def labelled_exit(self: Any, *raised: Any) -> Any:  # noqa: ANN401 - as above
        runtime.mneme_pop_label()
        return leave(self, *raised)

    kind.__enter__, kind.__exit__, kind.labels_of_mneme = labelled_enter, labelled_exit, True


@cache
def _loaded(name: str) -> ctypes.CDLL | None:
    """Return a library that was loaded before the program; it stays loaded."""
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None


def _command() -> str:
    """Return how this script is started under the recorder."""
    command = "python SCRIPT" if "-c" in sys.orig_argv else shlex.join(sys.orig_argv)
    return f"mneme record -- {command}"
