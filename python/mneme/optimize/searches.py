"""Tunes the heavy launches of a program one after the other, in proportion to their weight."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from typing import TYPE_CHECKING, Any

from mneme.errors import ArtifactCorrupt, BackendUnavailable
from mneme.files.json_object import read_json_object
from mneme.kernel_names import qualified_name
from mneme.measure.cluster import open_cluster, seconds_left
from mneme.measure.futures_executor import FuturesReplayExecutor
from mneme.measure.job_time import time_for_search
from mneme.optimize.bare_code import takes_other_code, why_nothing_to_search
from mneme.optimize.result import NO_TIME, KernelResult, Ratio
from mneme.recording.configured import form_of_knobs
from mneme.session.all_launches import directory_name
from mneme.session.final_round import Gain
from mneme.session.near import Near
from mneme.session.options import TuneOptions
from mneme.session.session import TuningSession
from mneme.session.tolerances import SharedTolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mneme.optimize.events import OptimizeListener
    from mneme.optimize.heavy import Target
    from mneme.optimize.options import OptimizeOptions
    from mneme.optimize.profile import Profile
    from mneme.optimize.result import OptimizeResult

__all__ = ["Searches"]

_INTERRUPTED = 130
_NOTHING = "nothing faster was found"
# Launches whose share of the time is smaller get no search. On GPUs it has to be twice what a
# search takes besides its trials, once that is known. A launch that gets somewhat less than its
# share because earlier searches took longer does get one.
_LEAST_SECONDS = 5.0
_LEAST_SECONDS_ON_GPUS = 2.5
_SHORTEST_SEARCH = 1.5
_STILL_WORTH = 0.8
# A trial hangs if it takes longer than this share of its search and this many launches, but not
# before the first of these times, and at the latest at the limit of `mneme tune`.
_PART_OF_A_TRIAL = 0.2
_SHORTEST_TRIAL_LIMIT = 10.0
_LONGEST_TRIAL_LIMIT = 60.0
_LAUNCHES_OF_A_TRIAL = 30
# A resumed search opens its processes and measures the best again: it needs this many times its
# overhead to be worthwhile.
_WORTH_AGAIN = 1.5


class Searches:
    """The searches for the launches of one program."""

    def __init__(
        self,
        options: OptimizeOptions,
        profile: Profile,
        result: OptimizeResult,
        listener: OptimizeListener,
        *,
        is_over: bool = False,
    ) -> None:
        """Prepare.

        Args:
            options: The options.
            profile: The kernels of the program as built.
            result: Receives the results.
            listener: Receives the steps.
            is_over: Whether everything was searched earlier, so that those results count.
        """
        self._profile = profile
        self._is_over = is_over
        self._options = options
        self._result = result
        self._listener = listener
        self._folder = options.directory / "results"
        self._replays: dict[str, Ratio | None] = {}
        self._near: dict[str, Near | None] = {}
        # Overhead of a search in seconds, by place; infinite: it is over.
        self._needs: dict[str, float] = {}
        self._tuned: list[tuple[Target, KernelResult]] = []
        self._tolerances = SharedTolerances((), ())
        self._make_executor: Callable[..., Any] | None = None
        self._jobs_end = math.inf
        self._is_on_host = result.device in ("", "cpu")
        self._least_seconds = _LEAST_SECONDS if self._is_on_host else _LEAST_SECONDS_ON_GPUS
        self._longest_overhead = 0.0
        self.has_found = False
        """Whether anything is faster than the baseline."""

    @contextlib.contextmanager
    def cluster(self) -> Iterator[None]:
        """Open the cluster that measures, if the options name one, for all searches."""
        opened = open_cluster(
            None if self._is_over else self._options.on,
            cluster_options=self._options.cluster,
            device=self._options.device,
            report=self._listener.note,
        )
        with opened as pool:
            if pool is not None:
                self._make_executor = functools.partial(FuturesReplayExecutor, pool)
                if (left := seconds_left(pool)) is not None:
                    self._jobs_end = time.monotonic() + time_for_search(left)
            yield

    def time_of_jobs(self) -> float:
        """Return how many seconds the jobs that measure still have for searches."""
        return self._jobs_end - time.monotonic()

    def directories(self) -> list[Path]:
        """Return the results directories of searches that named a winner."""
        return sorted(path.parent for path in self._folder.glob("*/best.json"))

    def run(self, targets: Sequence[Target], left: Callable[[], float]) -> bool:
        """Tune each launch for its share of the time, then continue while there is time.

        Args:
            targets: The launches, the heaviest first.
            left: Returns how many seconds searches may still take.

        Returns:
            Whether all were tuned; False: the user ended it.
        """
        launches = [(one.record, one.instance) for one in targets]
        self._tolerances = SharedTolerances(self._options.tolerance, launches)
        pending = self._searchable(targets)
        if self._is_over:
            for target, kernel in pending:
                self._take_earlier(target, kernel)
            return True
        while pending and (not self._tuned or left() >= _STILL_WORTH * self._least_seconds):
            chosen = [target for target, _ in pending]
            share = _share_of_first(chosen, left(), self._least_seconds)
            target, kernel = pending.pop(0)
            seconds = max(_STILL_WORTH * self._least_seconds, left() * share)
            if not self._tune(target, kernel, seconds):
                return False
            self._tuned.append((target, kernel))
        for _, kernel in pending:
            if not kernel.directories:
                kernel.reason = NO_TIME
        return self.go_on(left)

    def _searchable(self, targets: Sequence[Target]) -> list[tuple[Target, KernelResult]]:
        """Return the launches with their results, without those of which nothing can change."""
        found = []
        for target in targets:
            kernel = self._result_of(target)
            if why := why_nothing_to_search(target):
                kernel.reason = kernel.reason or why
            else:
                found.append((target, kernel))
        return found

    def _take_earlier(self, target: Target, kernel: KernelResult) -> None:
        directory = self._folder / _place(target)
        kernel.directories.append(f"results/{_place(target)}")
        best = directory / "best.json"
        if not best.is_file():
            kernel.reason = _NOTHING
            return
        try:
            found = read_json_object(best)
            gain = Gain(**found["gain"])
        except (KeyError, TypeError) as error:
            raise ArtifactCorrupt(f"'{best}' is not a result of this mneme: start anew") from error
        self._offer(target, kernel, Near.found(found))
        self._note(target, kernel, gain, is_better=gain.rounds > 0)

    def go_on(self, left: Callable[[], float]) -> bool:
        """Continue the search with the largest possible gain, as long as it is worthwhile.

        Returns:
            As `run`.
        """
        while True:
            seconds = left()
            worth = [one for one in self._tuned if seconds >= self._needs[_place(one[0])]]
            if not worth:
                return True
            target, kernel = max(worth, key=lambda one: self._remaining(one[0]))
            if not self._tune(target, kernel, seconds, again=", with the time that is left"):
                return False

    def _tune(self, target: Target, kernel: KernelResult, seconds: float, again: str = "") -> bool:
        """Search once; return whether it came to its end."""
        told = f"{100 * target.weight:.0f} % of the time in kernels"
        self._listener.step(f"tuning {target.record.told_name} ({told}){again}")
        tuning = self._tuning(target, seconds)
        session = TuningSession(
            tuning, self._listener, weight=target.weight, make_executor=self._make_executor
        )
        if (place := f"results/{_place(target)}") not in kernel.directories:
            kernel.directories.append(place)
        began = time.monotonic()
        session.resume_with = self._options.again()
        code = session.run()
        if code == _INTERRUPTED:
            return False
        if code and session.is_pool_gone:
            # Nor could the others be searched for. The listener has heard why.
            raise BackendUnavailable("nothing of the cluster can measure any more")
        self._note_time(target, session, time.monotonic() - began)
        outcome = session.outcome
        if session.error:
            kernel.reason = session.error
        if outcome is not None and outcome.gain is not None:
            self._offer(target, kernel, outcome.near)
            is_better = outcome.best is not outcome.baseline
            self._note(target, kernel, outcome.gain, is_better=is_better)
        return True

    def _note_time(self, target: Target, session: TuningSession, seconds: float) -> None:
        """Note what a search took, and how much time one needs to be worth continuing."""
        self._needs[_place(target)] = math.inf
        outcome = session.outcome
        if outcome is None:
            return
        overhead = seconds - outcome.progress.seconds
        if outcome.status == "timeout":
            self._needs[_place(target)] = max(_LEAST_SECONDS, _WORTH_AGAIN * overhead)
        self._longest_overhead = max(self._longest_overhead, overhead)
        if not self._is_on_host:
            least = max(_SHORTEST_SEARCH, 2 * self._longest_overhead)
            self._least_seconds = min(_LEAST_SECONDS, least)

    def _remaining(self, target: Target) -> float:
        """Return the share of the time in kernels that a launch still takes."""
        replay = self._replays.get(_place(target))
        return target.weight / (replay.ratio if replay else 1.0)

    def _tuning(self, target: Target, seconds: float) -> TuneOptions:
        directory = self._folder / _place(target)
        launches = _LAUNCHES_OF_A_TRIAL * target.instance.recorded_ns / 1e9
        longest = math.ceil(max(_PART_OF_A_TRIAL * seconds, launches, _SHORTEST_TRIAL_LIMIT))
        hangs_after = min(float(longest), _LONGEST_TRIAL_LIMIT)
        has_ir = not target.record.code_form
        keeps_code = form_of_knobs(target.record) == "ptx" and not takes_other_code(target.record)
        # It is loaded a second time for another one.
        keeps_carveout = target.record.code_form not in ("", "cpu") and not takes_other_code(
            target.record
        )
        return TuneOptions(
            record_database=target.record.path,
            record_id=target.instance.dynamic_hash,
            device=self._options.device,
            on=self._options.on,
            cluster=self._options.cluster,
            results_dir=directory,
            resume=(directory / "config.json").is_file(),
            timeout=seconds,
            trial_timeout=hangs_after,
            compile_timeout=hangs_after,
            times_everything=True,
            space_preset="full",
            specialize_space="off" if has_ir and target.fixed_args == () else None,
            specialized_args=(has_ir and ",".join(target.fixed_args or ())) or None,
            fixed_max_registers=0 if keeps_code else None,
            fixed_codegen_opt=3 if keeps_code else None,
            launch_bounds_space="off" if keeps_code else None,
            fixed_shared_carveout=0 if keeps_carveout else None,
            pass_plugins=self._options.pass_plugins if has_ir else (),
            plugin_passes=self._options.plugin_passes if has_ir else (),
            launch_dim="auto" if target.may_change_launch else "none",
            baseline="program",
            sampler="auto",
            seed=self._options.seed,
            tolerance=self._tolerances.of(target.record, target.instance),
            knowledge=self._options.knowledge,
            quiet=True,
        )

    def _result_of(self, target: Target) -> KernelResult:
        name = target.record.kernel_name
        for known in self._result.kernels:
            if known.name == name:
                known.share += target.weight
                return known
        kernel = KernelResult(
            name=name,
            demangled_name=target.record.demangled_name,
            share=target.weight,
            place=target.record.name.place,
            label=target.record.name.label,
            code_form=target.record.code_form or target.record.loaded_form,
        )
        if seen := self._profile.kernels.get(name):
            kernel.launches = seen.launches
            kernel.built_ns = seen.total_ns / max(1, seen.launches)
        self._result.kernels.append(kernel)
        return kernel

    def _note(self, target: Target, kernel: KernelResult, gain: Gain, *, is_better: bool) -> None:
        kernel.is_searched = True
        self.has_found = self.has_found or is_better
        self._replays[_place(target)] = None
        if gain.rounds:
            self._replays[_place(target)] = Ratio(
                ratio=gain.ratio, low=gain.low, high=gain.high, rounds=gain.rounds, is_interval=True
            )
        places = [one.partition("/")[2] for one in kernel.directories]
        shown = [ratio for one in places if (ratio := self._replays.get(one)) is not None]
        kernel.replay = max(shown, key=lambda one: one.ratio, default=None)
        if kernel.replay is not None and kernel.reason == _NOTHING:
            kernel.reason = ""
        elif not is_better and kernel.replay is None:
            kernel.reason = _NOTHING

    def _offer(self, target: Target, kernel: KernelResult, near: Near | None) -> None:
        """Report what a tolerance would gain, for the launch of a kernel that gains most.

        An earlier search's offer for the launch no longer counts.
        """
        self._near[_place(target)] = near
        about = f"{qualified_name(kernel.demangled_name)} in replays: "
        self._result.notes[:] = [one for one in self._result.notes if not one.startswith(about)]
        places = [one.partition("/")[2] for one in kernel.directories]
        offers = [one for place in places if (one := self._near.get(place)) is not None]
        if offers:
            most = max(offers, key=lambda one: one.speedup)
            command = self._options.again(tolerance=most.rules)
            self._result.notes.append(about + most.sentence(command))


def _share_of_first(targets: Sequence[Target], seconds: float, least: float) -> float:
    """Return the first launch's share of these seconds, given the others that can be tuned.

    These are the heaviest: as many as get the least seconds each.
    """
    for count in range(len(targets), 1, -1):
        chosen = targets[:count]
        whole = sum(one.weight for one in chosen)
        if seconds * chosen[-1].weight >= least * whole:
            return targets[0].weight / whole
    return 1.0


def _place(target: Target) -> str:
    """Return the directory for the results of a launch."""
    return directory_name(target.record, target.instance.dynamic_hash)
