"""The program as it was built: what it prints, how long it takes, and in which kernels."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mneme.errors import InvalidArgument
from mneme.optimize.application import failure_of, is_input_waiting
from mneme.optimize.profile import read_profile

if TYPE_CHECKING:
    from pathlib import Path

    from mneme.optimize.application import Application, Run
    from mneme.optimize.events import OptimizeListener
    from mneme.optimize.profile import Profile
    from mneme.optimize.result import OptimizeResult

__all__ = ["AsBuilt", "note_share", "observe", "unread_input"]

# Number of runs to find the time of a short one.
_RUNS = 2
# A budget of this many runs is enough for a search and for the proof.
_ENOUGH_RUNS = 20
# A command that messages repeat, in characters.
_LONGEST_COMMAND = 120
# Measuring kernels slows a program down. Below this factor, the same runs give its time and that of
# its kernels.
_SLOWED_LITTLE = 1.02


@dataclass(frozen=True, slots=True, kw_only=True)
class AsBuilt:
    """Runs of a program as it was built."""

    runs: list[Run]
    """The runs; the last one measured kernels."""
    profile: Profile
    slowed_by: float
    """Slowdown of the run that measured kernels."""

    @property
    def seconds(self) -> float:
        """The time of a run."""
        return min(one.seconds for one in self.runs[:-1])

    @property
    def measures_apart(self) -> bool:
        """Whether runs that measure kernels are too slow to give the program's own time."""
        return self.slowed_by > _SLOWED_LITTLE


def observe(
    application: Application,
    folder: Path,
    listener: OptimizeListener,
    *,
    short: float,
    longest: float = math.inf,
) -> AsBuilt:
    """Run a program as it is, then once more with the times of its kernels.

    Args:
        application: The program.
        folder: For files of these runs.
        listener: Receives the steps.
        short: Programs of at most this many seconds are run twice before.
        longest: Programs that take longer, twice, are refused.

    Raises:
        InvalidArgument: If a run fails, or is too long.
    """
    listener.step(f"running {application.program} as built")
    runs = [_first_run(application, longest)]
    if runs[0].is_hung:
        raise InvalidArgument(
            f"the program was ended after {runs[0].seconds:.0f} s: at least six runs have to fit "
            "into --budget; give a longer one, or run a smaller problem"
        )
    if runs[0].code != 0:
        why = failure_of(runs[0], replace(runs[0], code=0))
        sentence = unread_input()
        told = f" ({sentence})" if sentence else _where_it_is_usual(application, runs[0].code)
        raise InvalidArgument(f"the program as built fails: {why}{told}")
    if runs[0].seconds > longest:
        enough = math.ceil(_ENOUGH_RUNS * runs[0].seconds)
        raise InvalidArgument(
            f"a run of the program takes {runs[0].seconds:.1f} s, and there are six at least: the "
            f"budget is too short, --budget {enough}s is enough"
        )
    application.expect(runs[0].seconds)
    while len(runs) < _RUNS and runs[0].seconds < short:
        runs.append(application.run())
    listener.step("measuring its kernels")
    measured = application.run(profile=folder / "profile")
    for one in (*runs[1:], measured):
        if why := failure_of(one, runs[0]):
            raise InvalidArgument(f"a further run of the program as built fails: {why}")
    if application.leaves_running:
        listener.note(
            "the program leaves processes running when it ends, and each of its runs leaves more: "
            "they are not ended, and may slow down later runs"
        )
    return AsBuilt(
        runs=[*runs, measured],
        profile=read_profile(folder / "profile"),
        slowed_by=measured.seconds / min(one.seconds for one in runs),
    )


def _first_run(application: Application, longest: float) -> Run:
    """Return a run; the second one if only the first is long.

    A first one may compile kernels for the CPU device, or read from a cold disk.
    """
    first = application.run()
    if first.is_hung or first.code != 0 or first.seconds <= longest:
        return first
    again = application.run(at_most=longest)
    return first if again.is_hung or again.seconds > longest else again


def unread_input() -> str:
    """Return a message about input that runs do not get; empty if there is none."""
    if not is_input_waiting():
        return ""
    return (
        "standard input is a pipe, which can be read only once: every run read nothing instead; "
        "give a file, as in mneme optimize -- ./app < input.dat"
    )


def _where_it_is_usual(application: Application, code: int) -> str:
    if code < 0:
        return ""
    command = shlex.join(application.command)
    if "'" in command or len(command) > _LONGEST_COMMAND:
        command = "./app"
    return f"; if it always ends so: mneme optimize -- sh -c '{command}; test $? -eq {code}'"


def note_share(built: AsBuilt, result: OptimizeResult, listener: OptimizeListener) -> None:
    """Report the share of kernels in the program's time, and the largest possible gain."""
    if not built.profile.kernels:
        return
    seconds = built.runs[-1].seconds
    share = result.kernel_share = built.profile.total_ns * 1e-9 / seconds
    if share < 1:
        listener.note(
            f"kernels take {100 * share:.1f} % of its {seconds:.2f} s: the whole program can "
            f"become {1 / (1 - share):.2f} times as fast at most"
        )
