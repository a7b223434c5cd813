"""Files of graphs that were kept as a sequence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mneme.errors import ArtifactCorrupt, InvalidArgument, NotFound
from mneme.recording.graphs import RecordedGraph, choose_graph, read_graphs

NODES: list[dict[str, Any]] = [
    {"Kind": "memset", "After": []},
    {"Kind": "kernel", "After": [0], "Kernel": "k(int*)", "StaticHash": "7", "RecordId": "8"},
]


def write(directory: Path, graph_hash: str = "123", **changed: Any) -> Path:
    fields = {"FormatVersion": 1, "GraphHash": graph_hash, "Labels": ["step"], "Nodes": NODES}
    path = directory / f"{graph_hash}.graph"
    path.write_text(json.dumps({**fields, **changed}))
    return path


def test_a_graph_is_read(tmp_path: Path) -> None:
    graph = RecordedGraph.read(write(tmp_path))
    (kernel,) = graph.kernels
    assert (kernel.kernel, kernel.static_hash, kernel.record_id) == ("k(int*)", "7", "8")
    assert graph.record_of(kernel) == tmp_path / "7.json"
    assert graph.nodes[0].kind == "memset"
    assert kernel.after == (0,)
    assert json.loads(json.dumps(graph.to_dict()))["nodes"][1]["record_id"] == "8"


@pytest.mark.parametrize(
    "changed",
    [
        {"FormatVersion": 2},
        {"Nodes": [{**NODES[1], "After": [1]}]},
        {"Nodes": [{**NODES[1], "After": [], "StaticHash": "../7"}]},
        {"Nodes": [{"After": []}]},
        {"Nodes": 3},
        {"Labels": None},
    ],
)
def test_a_damaged_graph_is_named(tmp_path: Path, changed: dict[str, Any]) -> None:
    path = write(tmp_path, **changed)
    with pytest.raises(ArtifactCorrupt, match=r"123\.graph"):
        RecordedGraph.read(path)
    graphs, damaged = read_graphs(tmp_path)
    assert not graphs
    assert list(damaged) == [str(path)]
    with pytest.raises(ArtifactCorrupt):
        choose_graph(tmp_path, "123")


def test_a_graph_is_chosen_by_hash_or_label(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="record with --graph"):
        choose_graph(tmp_path, "")
    write(tmp_path, "123")
    write(tmp_path, "134", Labels=["other", "inner"])
    (tmp_path / "not.graph").write_text("")
    assert choose_graph(tmp_path, "12").graph_hash == "123"
    assert choose_graph(tmp_path, "other/in").graph_hash == "134"
    with pytest.raises(InvalidArgument, match="'1' fits 2 graphs .*: 123, 134; name one"):
        choose_graph(tmp_path, "1")
    with pytest.raises(NotFound, match="no graph '9'"):
        choose_graph(tmp_path, "9")
