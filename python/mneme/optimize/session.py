"""From a program to a faster one: run, record, tune, compare, and say what came of it."""

from __future__ import annotations

import contextlib
import json
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mneme.deploy import DeployOptions, plan_deployment
from mneme.errors import ArtifactCorrupt, InvalidArgument, MnemeError
from mneme.files.json_object import read_json_object
from mneme.files.publish import publish_own_text
from mneme.optimize.application import (
    Application,
    failure_of,
    unrecorded_reasons,
)
from mneme.optimize.as_built import note_share, observe, unread_input
from mneme.optimize.events import OptimizeListener
from mneme.optimize.heavy import (
    Target,
    came_before,
    choose_targets,
    heavy_kernels,
    kernels_pattern,
    launches_pattern,
)
from mneme.optimize.keeping import Keeper
from mneme.optimize.learning import learn_production
from mneme.optimize.only_writer import only_writer
from mneme.optimize.outputs import ExactCheck, make_check
from mneme.optimize.production import FEWEST_PAIRS, Production
from mneme.optimize.result import KernelResult, OptimizeResult
from mneme.optimize.same_programs import programs_of
from mneme.optimize.searches import Searches
from mneme.optimize.verdict import verdict
from mneme.recording.directory import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mneme.optimize.application import Run
    from mneme.optimize.as_built import AsBuilt
    from mneme.optimize.options import OptimizeOptions
    from mneme.optimize.profile import KernelTime, Profile

__all__ = ["INTERRUPTED", "NOTHING_GAINED", "OK", "OptimizeSession"]

OK = 0
NOTHING_GAINED = 1
INTERRUPTED = 130

_STATE = "optimize.json"
# Why a kernel was not recorded of which the recorder says nothing.
_UNSEEN = (
    "the recorder saw no launch of it: it is not built with mneme, it is launched in children of "
    "fork() only, or with other dimensions in each run"
)
# In the recording: it came to its end, with these programs.
_COMPLETE = ".complete"
# A run of a program of which more than one is made before: that part of the budget.
_SHORT = 0.05
# No fewer runs are made: as built, measured, recorded, tried out, and a pair.
_FEWEST_RUNS = 6
# Launches of a kernel that are recorded, those with the heaviest dimensions: each is tuned apart.
_RECORDED_LAUNCHES = 4
# Pairs of runs that prove the gain, and the part of the budget they may take.
_MOST_PAIRS = 12
_PROVING = 0.35
# The part they may take where that is too short for the fewest.
_MOST_PROVING = 0.6


class OptimizeSession:
    """One program made faster, within a budget of time."""

    def __init__(self, options: OptimizeOptions, listener: OptimizeListener | None = None) -> None:
        """Prepare; nothing is run yet."""
        self.options = options
        self._listener = listener or OptimizeListener()
        self._began = time.monotonic()
        self._folder = options.directory
        self.result = OptimizeResult(command=list(options.command), directory=options.directory)
        """What was found so far."""

    def run(self) -> int:
        """Do all of it.

        Returns:
            0 if the program became faster, 1 if nothing is worth it, 130 if it was interrupted
            (what was found until then is kept).

        Raises:
            MnemeError: If it cannot be done at all.
        """
        self.options.validate()
        application = Application(self.options.command, self.options.device, self._folder / "runs")
        state = self._folder / _STATE
        if self.options.resume and not state.is_file():
            raise InvalidArgument(f"'{self._folder}' holds nothing to go on with")
        with only_writer(self._folder):
            if state.is_file():
                self._check_earlier(state)
            self._write()
            self.result.device = application.device
            return self._run(application)

    def _run(self, application: Application) -> int:
        try:
            code = self._work(application)
            self.result.status = "completed"
        except KeyboardInterrupt:
            self.result.status = "interrupted"
            code = INTERRUPTED
        except (MnemeError, OSError, MemoryError):
            self.result.status = "failed"
            with contextlib.suppress(MnemeError):
                self._write()
            raise
        try:
            self._conclude()
        except KeyboardInterrupt:
            # What was found is not lost while it is written down; somebody in a hurry asks again.
            self._conclude()
            code = INTERRUPTED
        return code

    def _work(self, application: Application) -> int:
        budget = self.options.budget
        application.give_up_after(budget)
        built = observe(
            application,
            self._folder / "runs",
            self._listener,
            short=_SHORT * budget,
            longest=budget / _FEWEST_RUNS,
        )
        note_share(built, self.result, self._listener)
        if sentence := unread_input():
            self._note(sentence)
        check = make_check(
            [one.output for one in built.runs],
            check=self.options.check,
            compare=self.options.compare,
            tolerance=self.options.compare_tolerance,
            longest=budget,
        )
        self.result.output_rule = check.rule
        if isinstance(check, ExactCheck) and not check.says_enough:
            self._listener.note(f"output compared: {check.rule}")
        targets = self._targets(application, built.profile, built.runs[0])
        if not targets:
            self.result.verdict = self._nothing_recorded(built.profile)
            return NOTHING_GAINED
        production = Production(application, built, check, self._folder / "runs")
        keeper = Keeper(production, self._folder / "tuned.json", self.result, self._listener)
        searches = Searches(self.options, built.profile, self.result, self._listener)
        pairs = self._pairs(built)

        def left(pairs: int) -> float:
            return self._left() - _to_prove(built, pairs, self.result)

        is_complete = searches.run(targets, lambda: left(pairs))
        if is_complete and not searches.has_found:
            is_complete = searches.go_on(lambda: left(min(pairs, FEWEST_PAIRS)))
        if found := searches.directories():
            options = DeployOptions(
                use_launch=True, min_gain=self.options.min_gain, takes_unproven=True
            )
            keeper.take(plan_deployment(found, options))
        if not is_complete:
            keeper.drop_unproven()
            raise KeyboardInterrupt
        try:
            return self._prove(keeper, pairs, built)
        except KeyboardInterrupt:
            keeper.drop_unproven()
            raise
        finally:
            # These runs show what differs, too.
            self.result.output_rule = check.rule

    def _note(self, sentence: str) -> None:
        """Say it now, and in the result."""
        self._listener.note(sentence)
        self.result.notes.append(sentence)

    def _targets(self, application: Application, profile: Profile, built: Run) -> list[Target]:
        recording = self._folder / "recording"
        heavy = heavy_kernels(profile)
        if profile.kernels and not heavy:
            return []
        reasons: dict[str, str] = {}
        if not self._is_recorded(recording):
            many = "its kernels" if not heavy else f"its {len(heavy)} heaviest kernels"
            self._listener.step(f"recording {many if len(heavy) != 1 else 'its heaviest kernel'}")
            reasons = self._record(application, recording, heavy, built)
            publish_own_text(recording / _COMPLETE, json.dumps(programs_of(self.options.command)))
        records = list(Recording(recording).values())
        recorded = {one.kernel_name for one in records}
        for kernel in heavy:
            if kernel.name not in recorded:
                self.result.kernels.append(_unrecorded(kernel, profile, reasons))
        return choose_targets(records, profile)

    def _record(
        self,
        application: Application,
        recording: Path,
        heavy: Sequence[KernelTime],
        built: Run,
    ) -> dict[str, str]:
        """Record from the middle of the run on, and from its beginning what is missing then.

        Returns:
            What the recorder says of kernels that it could not record.
        """
        wanted = heavy
        reasons: dict[str, str] = {}
        while True:
            run = application.record(
                recording,
                kernels=kernels_pattern(wanted),
                dims=launches_pattern(wanted, _RECORDED_LAUNCHES),
                launches=_RECORDED_LAUNCHES,
            )
            reasons |= unrecorded_reasons(run)
            if why := failure_of(run, built):
                self.result.notes.append(f"while it was recorded, the program failed: {why}")
                return reasons
            records = list(Recording(recording).values())
            wanted = [one for one in wanted if came_before(one, records, _RECORDED_LAUNCHES)]
            if not wanted:
                return reasons
            wanted = [replace(one, middles={}) for one in wanted]

    def _is_recorded(self, recording: Path) -> bool:
        return self.options.resume and (recording / _COMPLETE).is_file()

    def _nothing_recorded(self, profile: Profile) -> str:
        if profile.kernels and not heavy_kernels(profile):
            return (
                f"its time is spread over {len(profile.kernels)} kernels, none of which takes 1 % "
                "of it: nothing is worth tuning"
            )
        if profile.kernels:
            reason = next((one.reason for one in self.result.kernels), _UNSEEN)
            if reason == _UNSEEN:
                reason = (
                    "the program has to be built with add_mneme() or the compiler wrappers, and "
                    "launch kernels with the same dimensions in each run, in no child of fork()"
                )
            return f"none of its kernels could be recorded, so none can be tuned: {reason}"
        return (
            "no launch of a kernel was seen: it launches none on this device, is not built with "
            "add_mneme() or the compiler wrappers, or launches in processes that end by _exit() or "
            "a signal"
        )

    def _pairs(self, built: AsBuilt) -> int:
        """Return how many pairs of runs the budget allows."""
        of_a_pair = _seconds_of_a_pair(built)
        fits = math.floor((_PROVING * self.options.budget - built.seconds) / of_a_pair)
        least = min(FEWEST_PAIRS, math.floor(_MOST_PROVING * self.options.budget / of_a_pair))
        return max(1, least, min(_MOST_PAIRS, fits))

    def _prove(self, keeper: Keeper, pairs: int, built: AsBuilt) -> int:
        if not keeper.is_any_kept:
            return NOTHING_GAINED
        if pairs < FEWEST_PAIRS:
            told = "1 pair" if pairs == 1 else f"{pairs} pairs"
            self.result.notes.append(
                f"the budget is short for a program that runs {built.seconds:.0f} s: its gain is "
                f"measured in {told} of runs"
            )
        self._listener.step("running it as built and as tuned, in turn")
        keeper.try_out()
        keeper.prove(pairs, self.options.min_gain, lambda seconds: self._left() >= seconds)
        if self.options.knowledge and (
            note := learn_production(keeper.deployed, self.result.kernels)
        ):
            self.result.notes.append(note)
        return OK if keeper.is_any_kept else NOTHING_GAINED

    def _left(self) -> float:
        return self.options.budget - (time.monotonic() - self._began)

    def _check_earlier(self, state: Path) -> None:
        earlier = read_json_object(state)
        has_recording = (self._folder / "recording").exists()
        if earlier.get("status") == "failed" and not has_recording and not self.options.resume:
            return  # there is nothing to lose
        command = _command_of(earlier, state)
        if not self.options.resume:
            raise InvalidArgument(
                f"'{self._folder}' holds what was found for '{' '.join(command)}'; go on with it "
                "by --resume, or name another directory with -o"
            )
        if command != list(self.options.command):
            raise InvalidArgument(
                f"'{self._folder}' belongs to '{' '.join(command)}'; name that program, or another "
                "directory with -o"
            )
        self._check_programs()

    def _check_programs(self) -> None:
        """Refuse what was recorded with another program: it would be tuned for nothing."""
        complete = self._folder / "recording" / _COMPLETE
        if not complete.is_file():
            return
        recorded, now = read_json_object(complete), programs_of(self.options.command)
        if changed := [name for name in recorded if recorded[name] != now.get(name)]:
            raise InvalidArgument(
                f"'{changed[0]}' is not what it was when '{self._folder}' was begun: start again, "
                "with another directory"
            )

    def _write(self) -> None:
        content = {"format": 1, "options": self.options.to_dict(), **self.result.to_dict()}
        publish_own_text(self._folder / _STATE, json.dumps(content, indent=2) + "\n")

    def _conclude(self) -> None:
        from mneme.report.optimized import write_optimized_page  # noqa: PLC0415 - at the end only

        self.result.seconds = time.monotonic() - self._began
        self.result.kernels.sort(key=lambda one: -one.share)
        self.result.verdict = self.result.verdict or verdict(self.result)
        # The page takes its time.
        self._write()
        try:
            page = self._folder / "report.html"
            self.result.page = write_optimized_page(self.result.to_dict(), page)
        except MnemeError as error:
            self.result.notes.append(f"there is no page: {error}")
        self._write()
        self._listener.done(self.result)


def _command_of(earlier: dict[str, Any], state: Path) -> list[str]:
    """Return the program that an earlier session was for, which left this in a file."""
    options = earlier.get("options")
    command = options.get("command") if isinstance(options, dict) else None
    if not isinstance(command, list) or not all(isinstance(one, str) for one in command):
        raise ArtifactCorrupt(f"'{state}' is not of mneme optimize; name another directory with -o")
    return command


def _seconds_of_a_pair(built: AsBuilt) -> float:
    return 2 * built.seconds * (2 if built.measures_apart else 1)


def _to_prove(built: AsBuilt, pairs: int, result: OptimizeResult) -> float:
    """Return the seconds that runs with tuned kernels take in the end, as far as it is known."""
    in_kernels = min(built.seconds, built.profile.total_ns * 1e-9)
    saved = sum(
        in_kernels * one.share * (1 - 1 / one.replay.ratio)
        for one in result.kernels
        if one.replay and one.replay.ratio > 1
    )
    of_a_pair = _seconds_of_a_pair(built) * (1 - saved / (2 * built.seconds))
    return pairs * of_a_pair + built.seconds * (1 + 0.25 * len(result.kernels))


def _unrecorded(kernel: KernelTime, profile: Profile, reasons: Mapping[str, str]) -> KernelResult:
    from mneme import _native  # noqa: PLC0415 - loads native code

    demangled = _native.demangle(kernel.name)
    return KernelResult(
        name=kernel.name,
        demangled_name=demangled,
        share=kernel.total_ns / profile.total_ns,
        launches=kernel.launches,
        built_ns=kernel.total_ns / max(1, kernel.launches),
        reason=reasons.get(demangled, _UNSEEN),
    )
