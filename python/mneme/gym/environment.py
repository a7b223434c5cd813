"""The environment: an agent appends passes to a pipeline, and is rewarded for what runs faster."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gymnasium
import numpy as np

from mneme.compare.cases import find_cases
from mneme.errors import InvalidArgument, MnemeError, VerificationFailed
from mneme.gym.kernels import Kernels, Speedup
from mneme.gym.passes import DEFAULT_PASSES, PassChoice
from mneme.ir.features import FEATURES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mneme.compare.cases import Case

__all__ = ["PassesEnv"]

_LARGEST: Final = 64.0


class PassesEnv(gymnasium.Env[Any, Any]):
    """Choosing passes for recorded kernels, one after the other.

    Action 0 ends the episode; action i appends `passes[i - 1]`. An observation is
    log2(1 + count) of each feature in `mneme.ir.features.FEATURES`, of the code after the pipeline
    so far, and the number of its passes. The last reward of an episode is the natural logarithm of
    the verified speed-up over the program's own build, so 0 is as fast as it; all others are 0.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own form

    def __init__(  # noqa: PLR0913 - one parameter for each option
        self,
        recordings: str | Path | Sequence[str | Path],
        *,
        device: str | None = None,
        passes: Sequence[str] = DEFAULT_PASSES,
        max_passes: int = 16,
        rewards_each_step: bool = False,
        failure_reward: float = -1.0,
        iterations: int = 5,
        rounds: int = 4,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment over the launches of recordings.

        Args:
            recordings: Recordings, records in them, or directories above some.
            device: As in `--device`; None: the first GPU, else the CPU device.
            passes: What can be appended.
            max_passes: Passes of a pipeline; then the episode is truncated, with a reward.
            rewards_each_step: Reward each step with what it changed. The sum is the same; each step
                is measured.
            failure_reward: Reward of code that cannot be compiled, fails or gives a wrong result.
                At most 0.
            iterations: Measured launches of each round.
            rounds: Rounds in which the program's build and the pipeline run in turn.
            render_mode: "ansi": `render` returns the pipeline as text.

        Raises:
            InvalidArgument: If a pass, number or device does not exist.
            NotFound: If there is no recording.
            BackendUnavailable: If the device is not available.
        """
        if min(max_passes, iterations, rounds) < 1 or failure_reward > 0:
            raise InvalidArgument(
                "need max_passes, iterations and rounds of at least 1 and failure_reward of at "
                f"most 0, got {max_passes}, {iterations}, {rounds} and {failure_reward}"
            )
        places = [recordings] if isinstance(recordings, (str, Path)) else recordings
        self._recordings = [Path(one) for one in places]
        self._usable = list(find_cases(self._recordings).found)
        self._choice = PassChoice(passes)
        self._max_passes, self._each_step = max_passes, rewards_each_step
        self._failure = failure_reward
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(len(self._choice.names) + 1)
        self.observation_space = gymnasium.spaces.Box(
            0.0, max(_LARGEST, max_passes), shape=(len(FEATURES) + 1,), dtype=np.float32
        )
        self._kernels = Kernels(device, iterations=iterations, rounds=rounds)
        self._checked: set[tuple[str, str]] = set()
        self._case: Case | None = None
        self._chosen: list[int] = []
        self._observed = np.zeros(len(FEATURES) + 1, dtype=np.float32)
        self._before = 0.0

    @property
    def pipeline(self) -> str:
        """The pipeline so far."""
        return self._choice.pipeline(self._chosen)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with an empty pipeline.

        Args:
            seed: Makes the choice of launches repeat.
            options: "kernel": a name or part of one, as KERNEL of commands; the launch is drawn
                among those of it. Without, among all.

        Raises:
            NotFound: If there is no such kernel.
            VerificationFailed: If no launch works on this device as its program was built.
        """
        super().reset(seed=seed)
        self._chosen, self._before = [], 0.0
        self._case = self._draw((options or {}).get("kernel"))
        compiled = self._kernels.compile(self._case, self.pipeline)
        self._observe(compiled.features)
        if self._each_step and not compiled.error:
            self._before = self._value(self._measured())
        return self._observed.copy(), self._info(compiled.error)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Append a pass, or end the episode with action 0.

        Raises:
            InvalidArgument: If there is no such action, or no episode has begun.
        """
        if self._case is None or not self.action_space.contains(action):
            why = "there is no such action" if self._case else "call reset() first"
            raise InvalidArgument(f"action {action!r}: {why}")
        stops = int(action) == 0
        if not stops:
            self._chosen.append(int(action) - 1)
            compiled = self._kernels.compile(self._case, self.pipeline)
            if compiled.error:
                info = {**self._info(compiled.error), "status": "failed"}
                return self._observed.copy(), self._failure, True, False, info
            self._observe(compiled.features)
        is_full = len(self._chosen) >= self._max_passes
        if not (stops or is_full or self._each_step):
            return self._observed.copy(), 0.0, False, False, self._info()
        found = self._measured()
        value = self._value(found)
        fails = found.ratio is None
        reward = value if fails else value - self._before
        self._before = value
        info = {**self._info(found.error), "status": found.status, "speedup": found.ratio}
        is_over = stops or fails
        return self._observed.copy(), reward, is_over, is_full and not is_over, info

    def render(self) -> str | None:
        """Return kernel and pipeline as text, with render mode "ansi"."""
        if self.render_mode is None or self._case is None:
            return None
        return f"{self._case.record.short_name}: {self.pipeline}"

    def close(self) -> None:
        """End the processes that compile and measure."""
        self._kernels.close()

    def _draw(self, kernel: str | None) -> Case:
        """Return a launch that works here as its program was built."""
        wanted = set()
        if kernel is not None:
            wanted = {one.key for one in find_cases(self._recordings, [kernel]).found}
        while cases := [one for one in self._usable if kernel is None or one.key in wanted]:
            case = cases[int(self.np_random.integers(len(cases)))]
            if case.key in self._checked:
                return case
            found = self._kernels.speedup(case, self._kernels.built_pipeline(case))
            if found.ratio is not None:
                self._checked.add(case.key)
                return case
            self._usable.remove(case)
            warnings.warn(f"{case.record.short_name} is left out: {found.error}", stacklevel=3)
        raise VerificationFailed(
            f"no recorded launch works on '{self._kernels.device}' as its program was built"
        )

    def _measured(self) -> Speedup:
        case = self._case
        if case is None:
            raise InvalidArgument("call reset() first")
        try:
            return self._kernels.speedup(case, self.pipeline)
        except MnemeError as error:
            return Speedup(ratio=None, status="failed", error=str(error))

    def _value(self, found: Speedup) -> float:
        return self._failure if found.ratio is None else math.log(found.ratio)

    def _observe(self, features: dict[str, int]) -> None:
        if features:
            self._observed[:-1] = np.log2(1.0 + np.array([features[name] for name in FEATURES]))
        self._observed[-1] = len(self._chosen)

    def _info(self, error: str = "") -> dict[str, Any]:
        case = self._case
        return {
            "kernel": case.record.demangled_name if case else "",
            "record_id": case.instance.dynamic_hash if case else "",
            "pipeline": self.pipeline,
            "error": error,
        }
