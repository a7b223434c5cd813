"""What a program prefers of the L1 cache: recorded, and set again where a launch is replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu import support

pytestmark = support.only_on_gpus("the CPU device has its own test")


@pytest.fixture(scope="module", params=["nvcc", "mneme"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return support.program_of(request.param, "cache_configs", tmp_path_factory)


def test_a_launch_has_what_its_program_prefers(program: Path, tmp_path: Path) -> None:
    alone = support.run(program)
    done = support.record(tmp_path, program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    found = {}
    for path, record_id in support.launches(tmp_path):
        launch = json.loads(path.read_text())["instances"][record_id]
        found[launch["GridDims"]["x"]] = launch.get("CacheConfig")
        for words in ((), ("--shared-carveout", "50")):
            replayed = support.replay(path, record_id, *words)
            assert replayed.result["result_class"] == "exact", replayed.stderr
    assert found == {1: None, 2: "PreferL1", 3: "PreferL1", 4: "PreferShared"}
