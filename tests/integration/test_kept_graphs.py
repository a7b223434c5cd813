"""Graphs that are kept as a sequence: `mneme record --graph`, `ls` and `show`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Finished, mneme, replay_all
from test_reachable_memory import CUDA, compile_program

pytestmark = pytest.mark.compile
PROGRAM = ROOT / "tests" / "apps" / "gpu_record" / "graph_kernels.cu"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "graph_kernels"
    compile_program(path, *CUDA, PROGRAM, "-lcudart")
    return path


def record(program: Path, case: str, into: Path, *options: str) -> Finished:
    done = mneme("record", "--device", "cpu", "-rdb", into, *options, "--", program, case)
    assert done.returncode == 0, done.stderr
    return done


def graphs(directory: Path) -> list[dict[str, Any]]:
    done = mneme("ls", directory, "--json")
    found: list[dict[str, Any]] = json.loads(done.stdout)["graphs"]
    return found


def kinds(graph: dict[str, Any]) -> list[str]:
    return [node["kind"] for node in graph["nodes"]]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("captured", [["kernel"] * 3]),
        ("explicit", [["memset", "kernel", "memcpy", "kernel", "memcpy", "host"],
                      ["memset", "memcpy", "kernel", "memcpy", "host"]]),
        ("child", [["kernel"] * 4, ["kernel"] * 4]),
    ],
)  # fmt: skip
def test_graphs_are_kept_and_named(
    program: Path, tmp_path: Path, case: str, expected: list[list[str]]
) -> None:
    done = record(program, case, tmp_path, "--graph")
    assert done.stdout == mneme("run", "--device", "cpu", "--", program, case).stdout
    found = graphs(tmp_path)
    assert sorted(kinds(one) for one in found) == sorted(expected)
    kernels = sum(kinds(one).count("kernel") for one in found)
    assert f"kept {len(found)} graph" in done.stderr
    assert f"of {kernels} kernels as a sequence" in done.stderr
    for one in found:
        assert [node["after"] for node in one["nodes"][1:]] == [
            [place] for place in range(len(one["nodes"]) - 1)
        ]
    # The launches in them are launches like any other.
    launches = {(node["static_hash"], node["record_id"]) for one in found for node in one["nodes"]}
    replays = {(one.record.stem, one.launch): one.result_class for one in replay_all(tmp_path)}
    assert {replays[launch] for launch in launches if launch[1]} == {"exact"}


def test_branches_keep_what_they_wait_for(program: Path, tmp_path: Path) -> None:
    record(program, "forked", tmp_path, "--graph")
    (graph,) = graphs(tmp_path)
    join = graph["nodes"][-1]
    assert join["kernel"].startswith("join")
    assert len(join["after"]) > 1
    shown = mneme("show", tmp_path, "--graph", graph["graph_hash"][:5])
    assert graph["graph_hash"] in shown.stdout
    assert graph["file"] in shown.stdout
    assert shown.stdout.count(".json") == len([one for one in graph["nodes"] if one["kernel"]])
    assert graph["graph_hash"] in mneme("ls", tmp_path).stdout
    refused = mneme("show", tmp_path, "join", "--graph", graph["graph_hash"])
    assert "leave KERNEL and the record id out" in refused.stderr


def test_a_graph_is_kept_for_one_of_its_kernels(program: Path, tmp_path: Path) -> None:
    record(program, "captured", tmp_path, "--graph", "--kernels", "join", "-mr", "1")
    (graph,) = graphs(tmp_path)
    assert kinds(graph) == ["kernel"] * 3
    assert not graphs_of(program, tmp_path / "none", "--kernels", "nothing")
    assert not graphs_of(program, tmp_path / "late", "-sr", "3")


def test_graphs_go_with_their_records(program: Path, tmp_path: Path) -> None:
    record(program, "captured", tmp_path / "db", "--graph")
    (graph,) = graphs(tmp_path / "db")
    one = tmp_path / "db" / f"{graph['nodes'][0]['static_hash']}.json"
    assert mneme("copy", one, tmp_path / "part").returncode == 0
    assert not graphs(tmp_path / "part")
    assert mneme("copy", tmp_path / "db", tmp_path / "copy").returncode == 0
    assert graphs(tmp_path / "copy") == [graph]
    assert mneme("move", tmp_path / "copy", tmp_path / "moved").returncode == 0
    assert graphs(tmp_path / "moved") == [graph]
    assert not list((tmp_path / "copy").glob("*.graph"))
    assert mneme("clean", tmp_path / "moved").returncode == 0
    assert not list((tmp_path / "moved").glob("*.graph"))


def graphs_of(program: Path, into: Path, *options: str) -> list[dict[str, Any]]:
    record(program, "captured", into, "--graph", *options)
    return graphs(into)
