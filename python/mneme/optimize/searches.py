"""Tunes the heavy launches of a program one after the other, each as long as its weight says."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mneme.optimize.result import KernelResult, Ratio
from mneme.tuning.all_launches import directory_name, short_name
from mneme.tuning.options import TuneOptions
from mneme.tuning.session import TuningSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mneme.optimize.events import OptimizeListener
    from mneme.optimize.heavy import Target
    from mneme.optimize.options import OptimizeOptions
    from mneme.optimize.profile import Profile
    from mneme.optimize.result import OptimizeResult

__all__ = ["Searches"]

_INTERRUPTED = 130
_LEAST_SECONDS = 5.0


class Searches:
    """The searches for the launches of one program."""

    def __init__(
        self,
        options: OptimizeOptions,
        profile: Profile,
        result: OptimizeResult,
        listener: OptimizeListener,
    ) -> None:
        self._profile = profile
        self._options = options
        self._result = result
        self._listener = listener
        self._folder = options.directory / "results"

    def directories(self) -> list[Path]:
        """Return the results directories of searches that named a winner."""
        return sorted(path.parent for path in self._folder.glob("*/best.json"))

    def run(self, targets: Sequence[Target], seconds: float) -> bool:
        """Tune each launch for its share of the time.

        Returns:
            Whether all were tuned; False: the user ended it.
        """
        end = time.monotonic() + seconds
        for index, target in enumerate(targets):
            rest = sum(one.weight for one in targets[index:])
            left = end - time.monotonic()
            share = max(_LEAST_SECONDS, left * target.weight / rest)
            kernel = self._result_of(target)
            told = f"{100 * target.weight:.0f} % of the time in kernels"
            self._listener.step(f"tuning {short_name(target.name)} ({told})")
            session = TuningSession(
                self._tuning(target, share), self._listener, weight=target.weight
            )
            code = session.run()
            if code == _INTERRUPTED:
                return False
            self._note(kernel, session)
        return True

    def _tuning(self, target: Target, seconds: float) -> TuneOptions:
        directory = self._folder / _place(target)
        return TuneOptions(
            record_database=target.record.path,
            record_id=target.instance.dynamic_hash,
            device=self._options.device,
            results_dir=directory,
            resume=(directory / "config.json").is_file(),
            timeout=seconds,
            times_everything=True,
            space_preset="full",
            baseline="program",
            sampler="auto",
            seed=self._options.seed,
            tolerance=self._options.tolerance,
            knowledge=self._options.knowledge,
            quiet=True,
        )

    def _result_of(self, target: Target) -> KernelResult:
        name = target.record.kernel_name
        for known in self._result.kernels:
            if known.name == name:
                known.share += target.weight
                known.directories.append(f"results/{_place(target)}")
                return known
        kernel = KernelResult(
            name=name, demangled_name=target.record.demangled_name, share=target.weight
        )
        if seen := self._profile.kernels.get(name):
            kernel.launches = seen.launches
            kernel.built_ns = seen.total_ns / max(1, seen.launches)
        kernel.directories.append(f"results/{_place(target)}")
        self._result.kernels.append(kernel)
        return kernel

    @staticmethod
    def _note(kernel: KernelResult, session: TuningSession) -> None:
        outcome = session.outcome
        if session.error:
            kernel.reason = session.error
        if outcome is None or outcome.gain is None:
            return
        gain = outcome.gain
        if gain.rounds and (kernel.replay is None or gain.ratio > kernel.replay.ratio):
            kernel.replay = Ratio(
                ratio=gain.ratio, low=gain.low, high=gain.high, rounds=gain.rounds, is_interval=True
            )
        if outcome.best is outcome.baseline and kernel.replay is None:
            kernel.reason = "nothing faster was found"


def _place(target: Target) -> str:
    """Return where the results of a launch are, among those of others."""
    return directory_name(target.record, target.instance.dynamic_hash)
