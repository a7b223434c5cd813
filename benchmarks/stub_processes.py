"""Processes that answer an executor at once, to see what the executor itself costs.

Their commands take the place of those of `mneme.measure.worker_process` and `mneme.measure.compile_pool`.
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext

from mneme.measure.serving import serve
from mneme.mneme_types import ExperimentResult

__all__ = ["COMPILER", "WORKER", "compiler", "worker"]

_PATH = f"import sys; sys.path.insert(0, {sys.path[0]!r}); import stub_processes; "
WORKER = _PATH + "stub_processes.worker()"
COMPILER = _PATH + "stub_processes.compiler()"

_LAUNCH_NS = 51_000
_RESULT = json.dumps(
    ExperimentResult(
        exec_time=[_LAUNCH_NS, _LAUNCH_NS],
        verified=True,
        executed=True,
        result_class="exact",
        median_ns=_LAUNCH_NS,
        iterations_used=1,
        launches=2,
        launched_ns=2 * _LAUNCH_NS,
    ).to_dict()
)


def _statistics(configuration: str) -> str:
    times = {"preprocess_ir_time": 0.001, "opt_time": 0.01, "codegen_time": 0.01}
    return json.dumps({**times, "image_hash": configuration, "ir_hash": "0" * 32})


def _answer_measured(message: tuple[str, str, str], _ir: bytes) -> tuple[str, object]:
    verb, configuration, _options = message
    if verb == "run":
        return "result", _RESULT
    return "built", _statistics(configuration)


def _answer_compiled(message: tuple[str, object], _ir: bytes) -> tuple[str, object]:
    return "done", (_statistics(message[0]), "", "")


def worker() -> None:
    """Measure nothing."""
    serve(lambda **_: nullcontext((("sm_90", []), _answer_measured)))


def compiler() -> None:
    """Compile nothing."""
    serve(lambda **_: nullcontext((None, _answer_compiled)))
