"""Pass pipelines as a parameter of a search space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mneme.errors import InvalidArgument
from mneme.search.params import ABSENT, BaseParam, Condition, is_whole

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from optuna.trial import BaseTrial

    from mneme.pipelines.pipeline import PipelineManager

__all__ = ["PipelineParam"]

# The value of a draw without a pass.
_NOTHING = "none"


class PipelineParam(BaseParam):
    """A pass pipeline of up to `num_draws` passes of the LLVM in use; every value parses.

    Attributes:
        pass_manager: The passes to draw from.
        available_passes: What one draw may give, sorted.
        num_draws: Number of draws; each gives a pass or nothing.
        base: Pipeline in front of the drawn passes, such as "default<O3>"; empty: none.
    """

    def __init__(  # noqa: PLR0913 - the documented names and our own
        self,
        name: str,
        num_draws: int,
        *,
        base: str = "",
        pass_manager: PipelineManager | None = None,
        when: Condition | None = None,
        otherwise: object = ABSENT,
    ) -> None:
        """Make a parameter; asks LLVM for its passes.

        Raises:
            InvalidArgument: If `num_draws` is less than 1.
            BackendUnavailable: If there is no LLVM.
        """
        from mneme.pipelines.pipeline import PipelineManager  # noqa: PLC0415 - asks LLVM

        super().__init__(name, when=when, otherwise=otherwise)
        if not is_whole(num_draws) or num_draws < 1:
            raise InvalidArgument(f"parameter '{name}' needs num_draws >= 1, got {num_draws!r}")
        self.pass_manager = pass_manager or PipelineManager()
        self.num_draws = num_draws
        self.base = base
        self._by_text = {str(item): item for item in self.pass_manager.get_concrete_passes()}
        self.available_passes = sorted(self._by_text)

    def sample_random(self, rng: random.Random) -> str:
        """Return a pipeline of 1 to `num_draws` passes."""
        count = rng.randint(1, self.num_draws)
        return self._pipeline([rng.choice(self.available_passes) for _ in range(count)])

    def sample_optuna(self, trial: BaseTrial) -> str:
        """Return the suggested pipeline; `<name>_<i>` is the i-th pass or "none"."""
        choices = [_NOTHING, *self.available_passes]
        names = [f"{self.name}_{i}" for i in range(self.num_draws)]
        drawn = [trial.suggest_categorical(name, choices) for name in names]
        return self._pipeline([item for item in drawn if item != _NOTHING])

    def contains(self, value: object) -> bool:
        """Whether it is a pipeline that draws can give."""
        if not isinstance(value, str) or not value.startswith(self.base):
            return False
        try:
            drawn = self.pass_manager.from_string(value[len(self.base) :].removeprefix(","))
        except InvalidArgument:
            return False
        return len(drawn) <= self.num_draws and all(str(item) in self._by_text for item in drawn)

    def describe(self) -> dict[str, Any]:
        """Return the kind, the number of draws and the passes."""
        return {
            "type": "pipeline",
            "num_draws": self.num_draws,
            "base": self.base,
            "passes": list(self.available_passes),
        }

    def _pipeline(self, drawn: Sequence[str]) -> str:
        text = self.pass_manager.to_string([self._by_text[item] for item in drawn])
        return ",".join(part for part in (self.base, text) if part)
