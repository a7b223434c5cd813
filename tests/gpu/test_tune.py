"""`mneme tune` on a device: winners are verified, and what is not faster does not win."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import on_gpus


def tune(recording: Path, results: Path, *arguments: str | Path) -> dict[str, Any]:
    place = ("-rdb", recording, "--results-dir", results, "--device", support.DEVICE)
    done = support.mneme("tune", *place, *arguments)
    print(done.stderr)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((results / "best.json").read_text())
    return found


@pytest.mark.parametrize("name", on_gpus(["stencil2d", "nbody", "reduction"]))
def test_every_winner_is_verified(
    recording: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    best = tune(recording(name), tmp_path, "--sampler", "tpe", "--trials", "30")
    assert best["result"]["verified"]
    assert best["result"]["device"] == support.DEVICE
    gain = best["gain"]
    assert (gain["replayed_low"] > 1) == (best["trial"] >= 0)
    assert gain["significant"] == (gain["low"] > 1)
    trials = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert len(trials) == 30
    winner = [one for one in trials if one["trial"] == best["trial"]]
    # Passes that do nothing for its code are gone.
    passes = {"passes": best["config"]["passes"]}
    assert all({**one["config"], **passes} == best["config"] for one in winner)
    assert all(one["result"]["image_hash"] == best["result"]["image_hash"] for one in winner)
    tuned = json.loads((tmp_path / "proteus_tuned_kernels.json").read_text())
    done = support.mneme("deploy", tmp_path, "-o", tmp_path / "tuned.json")
    assert done.returncode == (0 if tuned else 1), done.stderr
    assert not tuned or json.loads((tmp_path / "tuned.json").read_text()) == tuned
    assert gain["significant"] or not tuned


def test_a_space_with_nothing_but_the_baseline_has_no_gain(
    recording: Callable[[str], Path], tmp_path: Path
) -> None:
    fixed = ("--fixed-passes", "default<O3>", "--fixed-codegen-opt", "3", "--launch-dim", "none")
    off = ("--specialize-space", "--specialize-dims-space", "--launch-bounds-space")
    switches = [word for name in off for word in (name, "off")]
    best = tune(recording("nbody"), tmp_path, "--sampler", "exhaustive", *fixed, *switches)
    assert (best["trial"], best["speedup"]) == (-1, 1.0)


def test_every_launch_of_a_program_is_tuned(
    recording: Callable[[str], Path], tmp_path: Path
) -> None:
    place = ("-rdb", recording("spmv_cg"), "--results-dir", tmp_path, "--device", support.DEVICE)
    done = support.mneme("tune", "--all", *place, "--space-preset", "quick", "--trials", "12")
    assert done.returncode == 0, done.stderr
    entries = json.loads((tmp_path / "all.json").read_text())["instances"]
    # One launch of axpby stands for all, which have other numbers each time.
    recorded = {record_id for _, record_id in support.launches(recording("spmv_cg"))}
    assert {one["demangled_name"].split("<")[0] for one in entries} == {"void axpby", "void spmv"}
    assert len(entries) == 2 < len(recorded)
    assert {one["record_id"] for one in entries} < recorded
    assert sum(one["weight"] for one in entries) == pytest.approx(1)
    assert all((tmp_path / one["directory"] / "best.json").is_file() for one in entries)
