"""Graphs that are kept as a sequence: `mneme record --graph`, `ls` and `show`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Finished, mneme, replay_all
from test_reachable_memory import CUDA, HIP, compile_hip, compile_program

pytestmark = pytest.mark.compile
STEP = ROOT / "tests" / "apps" / "kept_graphs" / "step.cu"
APPS = ROOT / "tests" / "apps" / "gpu_record"
PROGRAM = APPS / "graph_kernels.cu"


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


def replay(directory: Path, graph: dict[str, Any], *options: str) -> Finished:
    return mneme("replay", directory, "--graph", graph["graph_hash"], "--device", "cpu", *options)


@pytest.mark.parametrize("case", ["captured", "explicit", "child", "forked"])
def test_a_graph_replays_as_a_whole(program: Path, tmp_path: Path, case: str) -> None:
    record(program, case, tmp_path, "--graph")
    for graph in graphs(tmp_path):
        done = replay(tmp_path, graph, "-it", "2")
        assert "verified: exact" in done.stderr, done.stderr
        assert done.returncode == 0
        printed = json.loads(done.stdout)
        kernels = [node for node in graph["nodes"] if node["kernel"]]
        assert [one["record_id"] for one in printed["Kernels"]] == [
            node["record_id"] for node in kernels
        ]
        assert len(printed["Result"]["exec_time"]) == 4
        assert printed["Result"]["iterations_used"] == 2


def test_kernels_share_variables_and_host_memory(tmp_path: Path) -> None:
    program = tmp_path / "step"
    compile_program(program, *CUDA, STEP, "-lcudart")
    done = record(program, "", tmp_path / "db", "--graph")
    assert done.stdout == "15005\n45006\n"
    (graph,) = graphs(tmp_path / "db")
    assert kinds(graph) == ["kernel", "kernel", "host", "memcpy", "kernel", "kernel"]
    replayed = replay(tmp_path / "db", graph)
    assert "of 4 kernels: verified: exact" in replayed.stderr
    listed = json.loads(mneme("ls", tmp_path / "db", "--json").stdout)
    # A launch that has another name in the graph is not counted twice.
    assert sorted(one["occurrences"] for one in listed["kernels"]) == [2, 2, 4]


def test_kernels_share_textures_and_surfaces(tmp_path: Path) -> None:
    program = tmp_path / "textures"
    compile_program(program, *CUDA, APPS / "graph_textures.cu", "-lcudart")
    record(program, "", tmp_path / "db", "--graph")
    (graph,) = graphs(tmp_path / "db")
    assert kinds(graph) == ["kernel", "kernel", "memcpy", "kernel"]
    replayed = replay(tmp_path / "db", graph, "default<O1>")
    assert "of 3 kernels: verified: exact" in replayed.stderr, replayed.stderr


def test_graphs_of_hip_programs(tmp_path: Path) -> None:
    compile_hip(*HIP, PROGRAM, "-o", tmp_path / "program", "-lamdhip64")
    record(tmp_path / "program", "explicit", tmp_path / "db", "--graph")
    first, second = graphs(tmp_path / "db")
    longer = max(first, second, key=lambda graph: len(graph["nodes"]))
    assert kinds(longer) == ["memset", "kernel", "memcpy", "kernel", "memcpy", "host"]
    assert "of 2 kernels: verified: exact" in replay(tmp_path / "db", longer).stderr


def test_another_pipeline_holds_for_all_kernels(program: Path, tmp_path: Path) -> None:
    record(program, "captured", tmp_path, "--graph")
    (graph,) = graphs(tmp_path)
    done = replay(tmp_path, graph, "default<O1>")
    kernels = json.loads(done.stdout)["Kernels"]
    assert {one["Replay-config"]["passes"] for one in kernels} == {"default<O1>"}
    assert "of 3 kernels: verified: exact" in done.stderr
    refused = replay(tmp_path, graph, "-bidx", "64")
    assert "--block-dim-x is for single launches" in refused.stderr


def test_what_the_last_kernel_leaves_is_compared(program: Path, tmp_path: Path) -> None:
    record(program, "captured", tmp_path, "--graph")
    (graph,) = graphs(tmp_path)
    last = graph["nodes"][-1]
    path = tmp_path / f"{last['static_hash']}.json"
    fields = json.loads(path.read_text())
    del fields["Checksum"]
    launch = fields["instances"][last["record_id"]]
    launch["Epilogue"] = launch["Prologue"]
    path.write_text(json.dumps(fields))
    done = replay(tmp_path, graph)
    assert "NOT verified: wrong" in done.stderr
    assert done.returncode == 1
    assert json.loads(done.stdout)["Result"]["mismatches"]
    del fields["instances"][last["record_id"]]
    path.write_text(json.dumps(fields))
    refused = replay(tmp_path, graph)
    assert f"launch {last['record_id']}" in refused.stderr
    assert "is not recorded any more: record the graph again" in refused.stderr


def test_launches_that_were_recorded_again_are_not_mixed(program: Path, tmp_path: Path) -> None:
    record(program, "captured", tmp_path, "--graph")
    (graph,) = graphs(tmp_path)
    record(program, "captured", tmp_path)
    assert "was recorded again since" in replay(tmp_path, graph).stderr
    record(program, "captured", tmp_path, "--graph")
    assert "verified: exact" in replay(tmp_path, graph).stderr
