"""`mneme replay --graph`: a recorded graph as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mneme.cli import _console
from mneme.cli._replay_output import tell
from mneme.cli._retry import call_or_retry

if TYPE_CHECKING:
    from mneme.cli._recording import Words
    from mneme.cli.exit_codes import ExitCode
    from mneme.measure.graph_replay import Configure
    from mneme.measure.measuring import HowToReplay

__all__ = ["replay_one_graph"]


def replay_one_graph(words: Words, wanted: str, configure: Configure, how: HowToReplay) -> ExitCode:
    """Replay a graph of a recording in this process; print it and return the exit code."""
    from mneme.cli._interrupt import interrupt_ends_process  # noqa: PLC0415
    from mneme.cli._leave import leave_at_once  # noqa: PLC0415
    from mneme.measure.graph_replay import replay_graph  # noqa: PLC0415 - `--help` stays light
    from mneme.recording.graphs import choose_graph  # noqa: PLC0415

    graph = choose_graph(words.recording, wanted)
    with interrupt_ends_process():
        configs, result = call_or_retry(lambda: replay_graph(graph, configure, how))
        _console.print_json(
            {
                "graph": graph.graph_hash,
                "Kernels": [
                    {
                        "kernel": node.kernel,
                        "record": f"{node.static_hash}.json",
                        "record_id": node.record_id,
                        "Replay-config": config.to_dict(),
                    }
                    for node, config in zip(graph.kernels, configs, strict=True)
                ],
                "Result": result.to_dict(),
            }
        )
        name = f"graph {graph.graph_hash} of {len(configs)} kernels: "
        code = tell(configs[0], result, instance=None, name=name)
        leave_at_once(code)
    return code
