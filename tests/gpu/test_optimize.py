"""`mneme optimize` on a device: what it keeps, what it refuses, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpu import support
from gpu.support import BUILD, IS_GPU

# So many launches take a GPU a tenth of a second.
LAUNCHES = "2000"
PROGRAM = BUILD / "tests" / "apps" / "gpu_record" / "coarse_times"


def optimize(folder: Path, *arguments: str | Path) -> tuple[Any, dict[str, Any]]:
    place = ("-o", folder, "--device", support.DEVICE, "--no-knowledge", "--seed", "1")
    done = support.mneme("optimize", "--budget", "20s", *place, *arguments, timeout=200)
    print(done.stderr)
    return done, json.loads((folder / "optimize.json").read_text())


@pytest.mark.skipif(not IS_GPU, reason="times of a busy processor are not the same in all runs")
def test_a_time_that_all_runs_as_built_print_alike_is_no_result(tmp_path: Path) -> None:
    done, result = optimize(tmp_path / "out", "--", PROGRAM, "right", LAUNCHES)
    assert done.returncode == 0, done.stderr
    (kernel,) = result["kernels"]
    assert kernel["is_kept"]
    assert kernel["production"]["ratio"] > 2
    assert "every byte but 1 word that differs" in result["output_rule"]


@pytest.mark.skipif(not IS_GPU, reason="whether it is tuned at all is up to the machine")
def test_a_wrong_sum_beside_such_a_time_is_refused(tmp_path: Path) -> None:
    done, result = optimize(tmp_path / "out", "--", PROGRAM, "wrong", LAUNCHES)
    assert done.returncode == 1, done.stderr
    (kernel,) = result["kernels"]
    assert not kernel["is_kept"]
    assert "line 2 of its output has" in kernel["reason"]
    assert kernel["accepted_with"] == [r"sum (\d+)"]


def test_launches_that_are_refused_are_named_with_the_reason(tmp_path: Path) -> None:
    done, result = optimize(tmp_path / "out", "--", PROGRAM, "refused")
    assert done.returncode == 1, done.stderr
    # The driver's runtime says that the arguments are wrong, the CPU device which.
    words = "invalid argument (status 1)" if IS_GPU else "invalid configuration argument (status 9)"
    assert f"its launch was refused: {words}" in result["verdict"]
    assert "add_mneme" not in result["verdict"]
