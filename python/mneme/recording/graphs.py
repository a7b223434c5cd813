"""Graphs that `mneme record --graph` has kept as a sequence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mneme.errors import ArtifactCorrupt, InvalidArgument, NotFound

__all__ = ["GraphNode", "RecordedGraph", "choose_graph", "read_graphs"]

_END = ".graph"
_FORMAT_VERSION = 1
_MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A node of a graph, at its place in the sequence."""

    kind: str
    """"kernel", "memcpy", "memset", "host", ..."""

    after: tuple[int, ...]
    """Places of the nodes that it waits for."""

    kernel: str = ""
    """The demangled name; empty for other nodes, as what follows."""

    static_hash: str = ""
    record_id: str = ""
    """The recorded launch of the kernel, in `<static hash>.json`."""

    recorded_ns: int = 0
    """How long that took, in nanoseconds. A launch that took another time was recorded again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGraph:
    """A launch of a graph."""

    path: Path
    """The file."""

    graph_hash: str
    labels: tuple[str, ...]
    """What the program called the launch, the outermost first."""

    nodes: tuple[GraphNode, ...]
    """In the order in which they ran."""

    @property
    def kernels(self) -> list[GraphNode]:
        """The kernels, in their order."""
        return [node for node in self.nodes if node.kernel]

    def record_of(self, node: GraphNode) -> Path:
        """Return the record file of a kernel."""
        return self.path.parent / f"{node.static_hash}.json"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "file": self.path.name,
            "graph_hash": self.graph_hash,
            "labels": list(self.labels),
            "nodes": [
                {
                    "kind": node.kind,
                    "after": list(node.after),
                    "kernel": node.kernel,
                    "static_hash": node.static_hash,
                    "record_id": node.record_id,
                    "recorded_ns": node.recorded_ns,
                }
                for node in self.nodes
            ],
        }

    @classmethod
    def read(cls, path: str | Path) -> RecordedGraph:
        """Read a file.

        Raises:
            NotFound: If it cannot be read.
            ArtifactCorrupt: If it is damaged, or of a newer mneme.
        """
        path = Path(path)
        try:
            fields = json.loads(path.read_text() if path.stat().st_size < _MOST_BYTES else "")
            if fields["FormatVersion"] != _FORMAT_VERSION:
                raise ArtifactCorrupt(f"'{path}' is of another version of mneme")
            nodes = tuple(_node(place, entry) for place, entry in enumerate(fields["Nodes"]))
            labels = tuple(str(label) for label in fields["Labels"])
            return cls(path=path, graph_hash=fields["GraphHash"], labels=labels, nodes=nodes)
        except OSError as error:
            raise NotFound(f"'{path}' cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ArtifactCorrupt(f"'{path}' is not a recorded graph, or is damaged") from error


def _node(place: int, entry: dict[str, Any]) -> GraphNode:
    after = tuple(entry["After"])
    static_hash, record_id = entry.get("StaticHash", ""), entry.get("RecordId", "")
    if not all(0 <= before < place for before in after):
        raise ValueError
    if entry.get("Kernel") and not (static_hash.isdecimal() and record_id.isdecimal()):
        raise ValueError
    return GraphNode(
        kind=str(entry["Kind"]),
        after=after,
        kernel=str(entry.get("Kernel", "")),
        static_hash=static_hash,
        record_id=record_id,
        recorded_ns=int(entry.get("RecordedNs", 0)),
    )


def read_graphs(directory: str | Path) -> tuple[list[RecordedGraph], dict[str, str]]:
    """Return the graphs of a recording directory, and the damaged files with the reason."""
    graphs, damaged = [], {}
    for path in sorted(Path(directory).glob(f"*{_END}")):
        if not path.stem.isdecimal():
            continue
        try:
            graphs.append(RecordedGraph.read(path))
        except (ArtifactCorrupt, NotFound) as error:
            damaged[str(path)] = str(error)
    return graphs, damaged


def choose_graph(directory: str | Path, wanted: str) -> RecordedGraph:
    """Return the one graph of a recording that a hash, the beginning of one, or a label means.

    Args:
        directory: The recording.
        wanted: "" if there is only one.

    Raises:
        NotFound: If there is none.
        InvalidArgument: If there are several.
    """
    graphs, damaged = read_graphs(directory)
    found = [
        one for one in graphs if one.graph_hash.startswith(wanted) or wanted in "/".join(one.labels)
    ]
    if len(found) == 1:
        return found[0]
    if not found and damaged:
        raise ArtifactCorrupt("; ".join(damaged.values()))
    if not graphs:
        raise NotFound(f"'{directory}' holds no graph: record with --graph")
    if not found:
        raise NotFound(f"'{directory}' holds no graph '{wanted}'; 'mneme ls' lists what there is")
    listed = ", ".join(one.graph_hash for one in found)
    what = f"'{wanted}' fits" if wanted else "there are"
    raise InvalidArgument(f"{what} {len(found)} graphs of '{directory}': {listed}; name one")
