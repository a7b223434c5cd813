"""Replaying a recorded graph as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mneme.errors import NotFound
from mneme.measure.measuring import Measuring
from mneme.measure.replay_executor import options_text
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from collections.abc import Callable

    from mneme.measure.measuring import HowToReplay
    from mneme.recording.graphs import RecordedGraph
    from mneme.recording.recorded_execution import KernelInstance

    Configure = Callable[[RecordedExecution, KernelInstance], ExperimentConfiguration]

__all__ = ["replay_graph"]


def replay_graph(
    graph: RecordedGraph, configure: Configure, how: HowToReplay
) -> tuple[list[ExperimentConfiguration], ExperimentResult]:
    """Run the kernels of a graph in their order on one memory image, verify and measure them.

    What other nodes did between kernels is done again as recorded. Memory after the last kernel is
    compared. The times are those of all kernels together.

    Args:
        graph: The graph.
        configure: Makes the configuration of each kernel.
        how: How to measure: `iterations`, `warmup`, `device`, `timeout` and `tolerances` count.

    Returns:
        The configurations of the kernels in their order, and the result.

    Raises:
        NotFound: If a launch of it is no longer recorded.
        ArtifactCorrupt, BackendUnavailable: As for a launch.
        AddressUnavailable: If recorded addresses are taken in this process.
        Unsupported: If the kernels cannot share one memory image.
    """
    from mneme import _native  # noqa: PLC0415 - loads native code

    records: dict[str, RecordedExecution] = {}
    configurations, steps = [], []
    for node in graph.kernels:
        path = graph.record_of(node)
        if node.static_hash not in records:
            records[node.static_hash] = RecordedExecution.from_json(path)
        record = records[node.static_hash]
        kept = record.kernel_instances.get(node.record_id)
        if kept is None or kept.recorded_ns != node.recorded_ns:
            raise NotFound(
                f"launch {node.record_id} of '{path}', which '{graph.path.name}' needs, "
                + ("is not recorded any more" if kept is None else "was recorded again since")
                + ": record the graph again"
            )
        config = configure(record, record[node.record_id])
        configurations.append(config)
        steps.append((str(path), node.record_id, config.launch_text()))
    options = options_text(
        iterations=how.iterations,
        warmup=how.warmup,
        tolerances=how.tolerances,
        measuring=Measuring(),
        timeout=how.timeout or 0.0,
    )
    text = _native.replay_graph(steps, how.device or "", options)
    return configurations, ExperimentResult.from_dict(json.loads(text))
