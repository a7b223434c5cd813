"""Programs on the CPU device whose addresses are limited (`ulimit -v`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import BUILD, mneme, records

# Has device variables, allocates, and allocates in its kernels.
PROGRAM = BUILD / "tests" / "apps" / "api" / "virtual_objects"

pytestmark = pytest.mark.skipif(
    not PROGRAM.is_file(), reason="tests/apps/api is not built: no CUDA toolkit"
)


@pytest.mark.parametrize("kibibytes", [1_500_000, 3_000_000, 5_000_000, 12_000_000])
def test_programs_run_with_few_addresses(kibibytes: int) -> None:
    limited = ("sh", "-c", f"ulimit -v {kibibytes}; exec {PROGRAM}")
    done = mneme("run", "--device", "cpu", "--", *limited)
    assert done.stdout == "virtual_objects: ok\n", done.stdout + done.stderr


def test_programs_are_recorded_with_few_addresses(tmp_path: Path) -> None:
    limited = ("sh", "-c", f"ulimit -v 12000000; exec {PROGRAM}")
    done = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", *limited)
    assert done.stdout == "virtual_objects: ok\n", done.stdout + done.stderr
    assert records(tmp_path)
