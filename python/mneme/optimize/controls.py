"""Control runs, in which only time is disturbed: output that differs then is not a result.

The program runs as built, except in one kind of run, whose unchanged kernels are compiled again by
a pipeline that does less: differences there may be results that depend on rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.errors import MnemeError
from mneme.files.publish import publish_own_text
from mneme.optimize.application import Disturbance, failure_of
from mneme.optimize.recompiled import write_recompiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mneme.optimize.application import Application, Run
    from mneme.optimize.as_built import AsBuilt

__all__ = ["Controls"]

# Smallest and largest delay of a launch, in times of its kernel. The smallest doubles the time that
# the program measures; random delays between them change what is sorted by time.
_DELAYED = (1.0, 3.0)
_DELAYED_MORE = (3.0, 9.0)
# Assumed slowdown of kernels that are compiled by a pipeline that does less, and the share of the
# remaining time for one such run.
_SLOWER = 4.0
_PART_OF_LEFT = 0.2
# The message in a run whose kernels cannot be compiled.
_NOT_COMPILED = b"runs as it was built"


class Controls:
    """Control runs of one program."""

    def __init__(
        self, application: Application, built: AsBuilt, folder: Path, left: Callable[[], float]
    ) -> None:
        """Prepare.

        Args:
            application: The program.
            built: Its runs as built.
            folder: For files with delays of launches and with tuned kernels, and for compiled code.
            left: Returns how many seconds of the budget are left.
        """
        self._application = application
        self._built = built
        self._profile = built.profile
        self._folder = folder
        self._left = left
        self._recompiled: dict[tuple[str, ...], Run] = {}
        self.why_not = ""
        """Why the last run with recompiled kernels is useless; empty if it is not."""

    def runs(self) -> Iterator[Run]:
        """Yield an undisturbed run, one with stops, and one with delayed launches."""
        yield self._application.run()
        yield self._application.run(disturbed=Disturbance(is_stopped=True))
        yield from self._delayed(_DELAYED)

    def further_runs(self) -> Iterator[Run]:
        """Yield more such runs, the first with launches that are delayed more."""
        yield from self._delayed(_DELAYED_MORE)
        yield from self.runs()

    def recompiled(self, tuned: Path, compiling: float) -> Run | None:
        """Run with the kernels of a tuned-kernels file unchanged, but compiled to be slower.

        Runs once for the same kernels; further calls return the same run.

        Args:
            tuned: The file.
            compiling: Seconds for compiling its kernels.

        Returns:
            The run; None if there is no useful one, see `why_not`.
        """
        self.why_not = ""
        path = self._folder / "recompiled.json"
        try:
            kernels = write_recompiled(tuned, path)
        except MnemeError as error:
            self.why_not = str(error)
            return None
        if not kernels:
            self.why_not = "no tuned kernel has IR to be compiled from"
            return None
        if kernels not in self._recompiled:
            in_kernels = self._profile.total_ns * 1e-9
            needed = self._built.seconds + (_SLOWER - 1) * in_kernels + compiling
            most = _PART_OF_LEFT * self._left()
            if needed > most:
                self.why_not = f"it takes about {needed:.1f} s, which is more time than there is"
                return None
            cache = self._folder / "cache"
            self._recompiled[kernels] = self._application.run(tuned=path, cache=cache, at_most=most)
        run = self._recompiled[kernels]
        self.why_not = failure_of(run, self._built.runs[0])
        if not self.why_not and _NOT_COMPILED in run.error:
            self.why_not = "a kernel could not be compiled"
        return None if self.why_not else run

    def _delayed(self, times: tuple[float, float]) -> Iterator[Run]:
        lines = [
            f"{round(times[0] * mean)} {round(times[1] * mean)} {kernel.name}\n"
            for kernel in self._profile.by_time()
            if (mean := kernel.total_ns / max(1, kernel.launches)) >= 1
        ]
        if not lines:  # nobody knows how long its kernels take
            return
        path = self._folder / "delays"
        publish_own_text(path, "".join(lines))
        later = times[1] * self._profile.total_ns * 1e-9
        yield self._application.run(disturbed=Disturbance(delays=path), more_seconds=later)
