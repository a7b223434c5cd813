"""The tests of a suite that `mneme corpus lit` wrote, for `lit`, which imports this module."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import TYPE_CHECKING, Any, Final

import lit.formats
from lit import Test

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RecordedLaunches"]

_MEASURED: Final = "--confidence 0.02 --time-budget 2"
_CODES: Final = {0: Test.PASS, 1: Test.FAIL, 6: Test.UNSUPPORTED, 7: Test.FAIL}
_COMPILE_STEPS: Final = ("preprocess_ir_time", "opt_time", "codegen_time")


class RecordedLaunches(lit.formats.FileBasedTest):  # type: ignore[misc] # lit has no types
    """Replays a recorded launch: passes if it leaves what was recorded, and says how fast it was.

    Metrics: `exec_time` in microseconds (the median), `compile_time` in seconds, `size` of the code
    in bytes, `registers` of a thread.
    """

    def __init__(
        self, *, python: str, variables: Mapping[str, str], parameters: Mapping[str, str]
    ) -> None:
        """Keep what all tests share.

        Args:
            python: The interpreter that has mneme.
            variables: Environment variables that it needs to find mneme.
            parameters: What `-D` says: `passes`, `device`, `options`.
        """
        self._command = [python, "-m", "mneme", "replay"]
        self._variables = dict(variables)
        self._passes = parameters.get("passes", "")
        device = parameters.get("device", "")
        self._options = [
            *(["--device", device] if device else []),
            *shlex.split(parameters.get("options", _MEASURED)),
        ]

    def execute(self, test: Any, lit_config: Any) -> Any:  # noqa: ANN401 - lit's own types
        """Run one test."""
        with open(test.getSourcePath(), encoding="utf-8") as file:  # noqa: PTH123 - as lit does
            facts = json.load(file)
        words = [facts["record"], *([self._passes] if self._passes else [])]
        command = [*self._command, *words, "--record-id", facts["record_id"], *self._options]
        limit = lit_config.maxIndividualTestTime or None
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
                env={**os.environ, **self._variables},
            )
        except subprocess.TimeoutExpired:
            return Test.Result(Test.TIMEOUT, f"reached the limit of {limit} seconds")
        code = _CODES.get(done.returncode, Test.UNRESOLVED)
        result = Test.Result(code, f"{shlex.join(command)}\n{done.stderr}")
        if code is Test.PASS:
            _add_metrics(result, json.loads(done.stdout)["Result"])
        return result


def _add_metrics(result: Any, replayed: dict[str, Any]) -> None:  # noqa: ANN401 - lit's own type
    compile_time = sum(replayed[step] for step in _COMPILE_STEPS)
    result.addMetric("exec_time", Test.RealMetricValue(replayed["median_ns"] / 1000))
    result.addMetric("compile_time", Test.RealMetricValue(compile_time))
    result.addMetric("size", Test.IntMetricValue(replayed["obj_size"]))
    result.addMetric("registers", Test.IntMetricValue(replayed["reg_usage"]))
