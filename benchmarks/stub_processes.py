"""Processes that answer an executor at once, to see what the executor itself costs.

Their commands take the place of those of `mneme.executors.worker_process` and `mneme.executors.compile_pool`.
"""

from __future__ import annotations

import json
import pickle
import sys
from typing import TYPE_CHECKING, Any

from mneme.executors.child_process import answer_channel, read_settings
from mneme.mneme_types import ExperimentResult

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COMPILER", "WORKER", "compiler", "worker"]

_PATH = f"import sys; sys.path.insert(0, {sys.path[0]!r}); import stub_processes; "
WORKER = _PATH + "stub_processes.worker()"
COMPILER = _PATH + "stub_processes.compiler()"

_LAUNCH_NS = 51_000
_RESULT = ExperimentResult(
    exec_time=[_LAUNCH_NS, _LAUNCH_NS],
    verified=True,
    executed=True,
    result_class="exact",
    median_ns=_LAUNCH_NS,
    iterations_used=1,
    launches=2,
    launched_ns=2 * _LAUNCH_NS,
)


def _serve(ready: object, reply: Callable[[tuple[Any, ...]], object]) -> None:
    answer = answer_channel()
    read_settings()
    answer(("ready", ready))
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer(reply(request))


def _statistics(configuration: str) -> str:
    times = {"preprocess_ir_time": 0.001, "opt_time": 0.01, "codegen_time": 0.01}
    return json.dumps({**times, "image_hash": configuration, "ir_hash": "0" * 32})


def worker() -> None:
    """Measure nothing."""
    result = json.dumps(_RESULT.to_dict())
    _serve(
        ("sm_90", []),
        lambda request: (
            ("result", result) if request[0] == "run" else ("built", _statistics(request[1]))
        ),
    )


def compiler() -> None:
    """Compile nothing."""
    _serve("", lambda request: ("done", _statistics(request[0])))
