"""What programs prefer of the L1 cache is recorded, on the CPU device as well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, mneme, records, replay_all
from test_reachable_memory import CUDA, compile_program

pytestmark = pytest.mark.compile
SOURCE = ROOT / "tests" / "apps" / "gpu_record" / "cache_configs.cu"


def test_a_launch_has_what_its_program_prefers(tmp_path: Path) -> None:
    program, database = tmp_path / "program", tmp_path / "db"
    compile_program(program, *CUDA, SOURCE, "-lcudart")
    done = mneme("record", "--device", "cpu", "-rdb", database, "--", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == mneme("run", "--device", "cpu", "--", program).stdout
    (path,) = records(database)
    instances = json.loads(path.read_text())["instances"].values()
    found = {one["GridDims"]["x"]: one.get("CacheConfig") for one in instances}
    assert found == {1: None, 2: "PreferL1", 3: "PreferL1", 4: "PreferShared"}
    assert mneme("show", path).stdout.count(" shared, PreferL1;") == 2
    assert {one.result_class for one in replay_all(database)} == {"exact"}
