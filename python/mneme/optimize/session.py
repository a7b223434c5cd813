"""Makes a program faster: runs, records, tunes and compares it, and reports the result."""

from __future__ import annotations

import contextlib
import json
import math
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from mneme.deploy import DeployOptions, plan_deployment
from mneme.errors import ArtifactCorrupt, InvalidArgument, MnemeError
from mneme.files.json_object import read_json_object
from mneme.files.publish import publish_own_text
from mneme.kernel_names import qualified_name
from mneme.measure.job_time import seconds_of_job, time_for_search
from mneme.optimize.application import (
    Application,
    failure_of,
    refused_launches,
    unrecorded_reasons,
)
from mneme.optimize.as_built import note_share, observe, unread_input
from mneme.optimize.bare_code import idle_records, told_of_bare_code
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
from mneme.recording.files import clean_records
from mneme.recording.launch_facts import UNOPTIMIZED

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
# The reason for a kernel that was not recorded and about which the recorder reports nothing.
_UNSEEN = (
    "the recorder saw no launch of it: it is not built with mneme, it is launched in children of "
    "fork() only, or with other dimensions in each run"
)
# Marks a completed recording, with its programs.
_COMPLETE = ".complete"
# A run is short if it takes at most this share of the budget; more than one is then made first.
_SHORT = 0.05
# Smallest number of runs: as built, measured, recorded, tried out, and a pair.
_FEWEST_RUNS = 6
# Number of recorded launches per kernel, those with the heaviest dimensions: each is tuned
# separately.
_RECORDED_LAUNCHES = 4
# Number of pairs of runs that prove the gain, and their share of the budget.
_MOST_PAIRS = 12
_PROVING = 0.35
# Their share if that is too short for the smallest number.
_MOST_PROVING = 0.6


class OptimizeSession:
    """One program made faster, within a budget of time."""

    def __init__(self, options: OptimizeOptions, listener: OptimizeListener | None = None) -> None:
        """Prepare; nothing is run yet."""
        self.options = options
        self._listener = listener or OptimizeListener()
        self._began = time.monotonic()
        self._folder = options.directory
        self._is_searched = False
        self._refused = ""
        self.result = OptimizeResult(command=list(options.command), directory=options.directory)
        """What was found so far."""

    def run(self) -> int:
        """Do all of it.

        Returns:
            0 if the program became faster, 1 if nothing is worth it, 130 if it was interrupted
            (what was found until then is kept).

        Raises:
            MnemeError: If the program cannot be optimized at all.
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
            # Results are not lost while they are written; a user in a hurry interrupts again.
            self._conclude()
            code = INTERRUPTED
        return code

    def _work(self, application: Application) -> int:
        self._keep_within_job()
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
        check = make_check([one.output for one in built.runs], self.options.rule, budget)
        self.result.output_rule = check.rule
        if isinstance(check, ExactCheck) and not check.says_enough:
            self._listener.note(f"output compared: {check.rule}")
        targets = self._targets(application, built.profile, built.runs[0])
        if not targets:
            self.result.verdict = self._nothing_recorded(built.profile)
            return NOTHING_GAINED
        production = Production(
            *(application, built, check, self._folder / "runs"),
            left=self._left,
            detail=self._listener.detail,
        )
        keeper = Keeper(production, self._folder / "tuned.json", self.result, self._listener)
        searches = Searches(
            self.options, built.profile, self.result, self._listener, is_over=self._is_searched
        )
        pairs = self._pairs(built)

        def left(pairs: int) -> float:
            here = self._left() - _to_prove(built, pairs, self.result)
            return min(here, searches.time_of_jobs())

        opening = time.monotonic()
        with searches.cluster():
            # The budget is for work, not for the queue of a batch system.
            self._began += time.monotonic() - opening
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

    def _keep_within_job(self) -> None:
        """Shorten the budget to what the job of a batch system, if this is one, has left."""
        left = seconds_of_job()
        if left is not None and self.options.budget > time_for_search(left):
            self.options = replace(self.options, budget=time_for_search(left))
            self._note(f"the job ends in {left:.0f} s: the budget is {self.options.budget:.0f} s")

    def _note(self, sentence: str) -> None:
        """Report a note now, and in the result."""
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
        self._refused = refused_launches(reasons)
        if self.result.device != "cpu" and any(one.is_unoptimized for one in records):
            self._note(UNOPTIMIZED)
        recorded = {one.kernel_name for one in records}
        for kernel in heavy:
            if kernel.name not in recorded:
                self.result.kernels.append(_unrecorded(kernel, profile, reasons))
        targets = choose_targets(records, profile)
        for sentence in told_of_bare_code(targets):
            self._note(sentence)
        return targets

    def _record(
        self,
        application: Application,
        recording: Path,
        heavy: Sequence[KernelTime],
        built: Run,
    ) -> dict[str, str]:
        """Record from the middle of the run on, and launches that are missing then from its begin.

        Returns:
            The recorder's reasons for kernels that it could not record.
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
            idle = {one.name: idle_records(one, records) for one in wanted}
            if paths := [one.path for found in idle.values() for one in found]:
                clean_records(paths)
            wanted = [
                one
                for one in wanted
                if idle[one.name] or came_before(one, records, _RECORDED_LAUNCHES)
            ]
            if not wanted:
                return reasons
            wanted = [replace(one, middles={}) for one in wanted]

    def _is_recorded(self, recording: Path) -> bool:
        return self.options.resume and (recording / _COMPLETE).is_file()

    def _nothing_recorded(self, profile: Profile) -> str:
        if profile.kernels and not heavy_kernels(profile):
            return (
                f"its time is spread over {len(profile.kernels)} kernels, none of which takes "
                "even 1 % of it: nothing is worth tuning"
            )
        if profile.kernels:
            reason = next((one.reason for one in self.result.kernels), _UNSEEN)
            if reason == _UNSEEN:
                reason = (
                    "the program has to be built with add_mneme() or the compiler wrappers, and "
                    "launch kernels with the same dimensions in each run, in no child of fork()"
                )
            return f"none of its kernels could be recorded, so none can be tuned: {reason}"
        if self._refused:
            return f"none of its kernels ran, so none can be tuned: {self._refused}"
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
        # A changed rule for the right output does not ask for another search.
        given = earlier["options"]
        rule = json.loads(json.dumps(asdict(self.options.rule)))
        is_other = any(given.get(name) != value for name, value in rule.items())
        is_same_memory = given.get("tolerance") == list(self.options.tolerance)
        self._is_searched = earlier.get("status") == "completed" and is_other and is_same_memory

    def _check_programs(self) -> None:
        """Refuse a recording of another program, whose tuning would be useless."""
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
        if not self.result.verdict:
            self.result.verdict = verdict(self.result, again=self.options.again())
        if sentence := self._how_to_accept():
            self.result.notes.append(sentence)
        # Making the page takes a while.
        self._write()
        try:
            page = self._folder / "report.html"
            self.result.page = write_optimized_page(self.result.to_dict(), page)
        except MnemeError as error:
            self.result.notes.append(f"there is no page: {error}")
        self._write()
        self._listener.done(self.result)

    def _how_to_accept(self) -> str:
        """Return how to keep kernels whose output is right after all; empty if there are none."""
        refused = [one for one in self.result.kernels if one.accepted_with]
        if not refused:
            return ""
        patterns = dict.fromkeys(pattern for one in refused for pattern in one.accepted_with)
        told = " and ".join(qualified_name(one.demangled_name) for one in refused)
        return (
            f"{told}: if the output differs only in what is not a result (a time, say), this keeps "
            f"{'it' if len(refused) == 1 else 'them'} without another search: "
            f"{self.options.again(ignore=list(patterns))}"
        )


def _command_of(earlier: dict[str, Any], state: Path) -> list[str]:
    """Return the program of an earlier session from its file."""
    options = earlier.get("options")
    command = options.get("command") if isinstance(options, dict) else None
    if not isinstance(command, list) or not all(isinstance(one, str) for one in command):
        raise ArtifactCorrupt(f"'{state}' is not of mneme optimize; name another directory with -o")
    return command


def _seconds_of_a_pair(built: AsBuilt) -> float:
    return 2 * built.seconds * (2 if built.measures_apart else 1)


def _to_prove(built: AsBuilt, pairs: int, result: OptimizeResult) -> float:
    """Return the seconds that the final runs with tuned kernels take, as far as known."""
    in_kernels = min(built.seconds, built.profile.total_ns * 1e-9)
    saved = sum(
        in_kernels * one.share * (1 - 1 / one.replay.ratio)
        for one in result.kernels
        if one.replay and one.replay.ratio > 1
    )
    of_a_pair = _seconds_of_a_pair(built) * (1 - saved / (2 * built.seconds))
    tuned = sum(one.is_searched for one in result.kernels)
    return pairs * of_a_pair + built.seconds * (1 + 0.25 * tuned)


def _unrecorded(kernel: KernelTime, profile: Profile, reasons: Mapping[str, str]) -> KernelResult:
    from mneme import _native  # noqa: PLC0415 - loads native code

    demangled = _native.demangle(kernel.name)
    return KernelResult(
        name=kernel.name,
        demangled_name=demangled,
        share=kernel.total_ns / profile.total_ns,
        launches=kernel.launches,
        built_ns=kernel.total_ns / max(1, kernel.launches),
        reason=reasons.get(demangled) or reasons.get("", _UNSEEN),
    )
