"""Choosing passes for recorded kernels as a Gymnasium environment: `mneme/Passes-v0`."""

from __future__ import annotations

try:
    import gymnasium
except ImportError as _error:
    _SENTENCE = "mneme.gym needs gymnasium: pip install 'mneme-gpu[gym]'"
    raise ImportError(_SENTENCE) from _error

from mneme.gym.environment import PassesEnv
from mneme.gym.passes import DEFAULT_PASSES

__all__ = ["DEFAULT_PASSES", "ENVIRONMENT_ID", "PassesEnv"]

ENVIRONMENT_ID = "mneme/Passes-v0"
"""What `gymnasium.make` is given; its further arguments are those of `PassesEnv`."""

if ENVIRONMENT_ID not in gymnasium.registry:
    # Rewards are measured times, which never repeat exactly.
    gymnasium.register(
        ENVIRONMENT_ID, entry_point="mneme.gym.environment:PassesEnv", nondeterministic=True
    )
