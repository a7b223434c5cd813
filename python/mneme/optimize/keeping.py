"""Chooses the kernels for the tuned-kernels file: those whose gain the program shows."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from mneme import deploy
from mneme.optimize.changes import changes_of
from mneme.optimize.disagreement import why_otherwise
from mneme.optimize.production import FEWEST_PAIRS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mneme.optimize.application import Run
    from mneme.optimize.events import OptimizeListener
    from mneme.optimize.production import Comparison, Production
    from mneme.optimize.result import KernelResult, OptimizeResult

__all__ = ["Keeper"]

# How often everything is measured again without kernels that gained nothing.
_MOST_MEASUREMENTS = 3


class Keeper:
    """Decides kernel by kernel what production runs shall use."""

    def __init__(
        self,
        production: Production,
        path: Path,
        result: OptimizeResult,
        listener: OptimizeListener,
    ) -> None:
        self._production = production
        self._path = path
        self._result = result
        self._listener = listener
        self._plan = deploy.Deployment()

    @property
    def deployed(self) -> list[deploy.Deployed]:
        """Kernels that tuning found to be faster, kept or not."""
        return self._plan.deployed

    @property
    def is_any_kept(self) -> bool:
        """Whether any tuned kernel is kept."""
        return any(one.is_kept for one in self._result.kernels)

    def take(self, plan: deploy.Deployment) -> None:
        """Keep kernels that tuning found to be faster, and write the file."""
        self._plan = plan
        by_name = {one.name: one for one in self._result.kernels}
        for left in self._plan.left_out:
            if (kernel := by_name.get(left.kernel_name)) and not kernel.reason:
                kernel.reason = left.reason
        for one in self._plan.deployed:
            if kernel := by_name.get(one.kernel_name):
                kernel.is_kept = True
                kernel.reason = ""
                kernel.changes = changes_of(one.directory)
                if one.note:
                    self._result.notes.append(f"{one.demangled_name}: {one.note}")
        self._write()

    def try_out(self) -> None:
        """Run once with all kept kernels; if that fails, find out which is the cause."""
        run, fault = self._try_out()
        self._result.first_seconds = run.seconds
        if not fault:
            return
        self._listener.note(f"with tuned kernels the program goes wrong: {fault}")
        candidates = [one for one in self._result.kernels if one.is_kept]
        if len(candidates) == 1:
            self._drop_wrong(candidates[0], fault, self._production.accepted_with(run))
            return
        for kernel in candidates:
            kernel.is_kept = False
        for kernel in candidates:
            kernel.is_kept = True
            self._write()
            run, fault = self._try_out()
            if fault:
                self._drop_wrong(kernel, fault, self._production.accepted_with(run))

    def _try_out(self) -> tuple[Run, str]:
        compiling = sum(one.compile_seconds for one in self._kept())
        return self._production.try_out(self._path, compiling)

    def prove(self, pairs: int, min_gain: float, has_time: Callable[[float], bool]) -> None:
        """Measure the program as built and as tuned; drop what shows no gain there.

        Args:
            pairs: Largest number of pairs of runs.
            min_gain: Kernels with less gain are dropped.
            has_time: Returns whether this many seconds are left for more than the first
                measurement.
        """
        for _ in range(_MOST_MEASUREMENTS):
            if not self.is_any_kept:
                return
            found = self._production.compare(self._path, pairs, has_time)
            self._note(found)
            if found.fault:
                for kernel in self._result.kernels:
                    if kernel.is_kept:
                        self._drop_wrong(kernel, found.fault, found.accepted_with)
                return
            whole = found.application
            if whole and whole.is_interval and whole.high < 1:
                # Looking up tuned code of very short kernels may take longer than it saves.
                self.drop_all(f"the whole program is slower with tuned kernels: {whole.text()}")
                return
            if not self._drop_useless(min_gain):
                return
            if not has_time(min(pairs, FEWEST_PAIRS) * found.seconds_of_a_pair):
                break
        if not self.is_any_kept:
            return
        # The measured file is not the kept one: no gain is claimed from it.
        self._result.application = None
        self._result.notes.append(
            "kernels were left out after the last runs, and there was no time to measure the whole "
            "program without them"
        )

    def drop_all(self, reason: str) -> None:
        """Keep nothing."""
        for kernel in self._result.kernels:
            if kernel.is_kept:
                self._drop(kernel, reason)

    def drop_unproven(self) -> None:
        """Drop kernels faster in replays only: there was no time to test them in the program."""
        for kernel in self._result.kernels:
            is_expected = kernel.replay is not None and kernel.replay.low > 1
            if kernel.is_kept and kernel.production is None and not is_expected:
                self._drop(kernel, "replays show a gain, and the program may show none")

    def _note(self, found: Comparison) -> None:
        result = self._result
        result.application = found.application
        result.built_seconds, result.tuned_seconds = found.built_seconds, found.tuned_seconds
        for kernel in result.kernels:
            built = found.built_kernels.get(kernel.name)
            tuned = found.tuned_kernels.get(kernel.name)
            kernel.built_ns = median(built) if built else kernel.built_ns
            if kernel.is_kept:
                kernel.tuned_ns = median(tuned) if tuned else 0.0
                kernel.production = found.kernel(kernel.name)

    def _drop_useless(self, min_gain: float) -> bool:
        dropped = False
        for kernel in self._result.kernels:
            shown = kernel.production
            if not kernel.is_kept or shown is None:
                continue
            if shown.low <= 1 or shown.ratio < min_gain:
                told = (
                    "no gain from it" if shown.ratio < min_gain else "no significant gain from it"
                )
                places = [
                    one.directory for one in self._plan.deployed if one.kernel_name == kernel.name
                ]
                why = why_otherwise(kernel, places)
                reason = f"the program shows {told}: {shown.text()}"
                self._drop(kernel, f"{reason}; {why}" if why else reason)
                dropped = True
        return dropped

    def _drop(self, kernel: KernelResult, reason: str) -> None:
        kernel.is_kept = False
        kernel.reason = reason
        self._write()

    def _drop_wrong(self, kernel: KernelResult, fault: str, accepted_with: list[str]) -> None:
        """Leave out a kernel that changes the output, and report the lost gain."""
        kernel.accepted_with = accepted_with
        gain = f"; {kernel.replay.ratio:.2f}x in replays" if kernel.replay else ""
        self._drop(kernel, f"with it the program goes wrong: {fault}{gain}")

    def _write(self) -> None:
        if not self.is_any_kept:
            self._path.unlink(missing_ok=True)
            self._result.tuned_file = None
            return
        deploy.write_deployment(deploy.Deployment(deployed=self._kept()), self._path)
        self._result.tuned_file = self._path

    def _kept(self) -> list[deploy.Deployed]:
        kept = {one.name for one in self._result.kernels if one.is_kept}
        return [one for one in self._plan.deployed if one.kernel_name in kept]
