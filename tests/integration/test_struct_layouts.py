"""Members of structures of unusual layouts: what a kernel does not read makes no other launch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, mneme, run_command

from mneme.recording.directory import Recording
from mneme.recording.launch_facts import launch_facts

pytestmark = pytest.mark.compile
SOURCE = ROOT / "tests/apps/structs/layouts.cu"
MEMBERS = {
    "arrays": {"m.axes[1].count": 5, "m.axes[2].step": 1.0, "m.corners[0][1].step": 9.0,
               "m.corners[1][0].count": 3},
    "bases": {"d.order": 3, "d.weight": 1.5},
    "pointers": {"r.count": 2},
    "large": {"l.weight": 0.5, "l.table[1000]": 6, "l.count": 2},
    "loop": {"p.begin": 0, "p.end": 1, "p.body.inner.count": 3, "p.body.scale": 2.0},
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of four rounds, in which what counts is the same."""
    folder = tmp_path_factory.mktemp("layouts")
    compiler = BUILD / "bin" / "mneme-cxx"
    options = ("-O2", "-std=c++17", "--offload-arch=sm_90", SOURCE, "-o", folder / "a", "-lcudart")
    done = run_command(compiler, *options)
    assert done.returncode == 0, done.stderr
    done = mneme("record", "--device", "cpu", "-rdb", folder / "db", "-mr", "9", "--", folder / "a")
    assert (done.returncode, done.stdout) == (0, "no error\n"), done.stderr
    return folder / "db"


def test_what_no_kernel_reads_makes_no_other_launch(recorded: Path) -> None:
    counts = {
        one.demangled_name.partition("(")[0].partition("<")[0].removeprefix("void "): (
            [launch.occ for launch in one.values()]
        )
        for one in Recording(recorded).values()
    }
    names = (
        "arrays",
        "bases",
        "bits",
        "chosen",
        "escaping",
        "large",
        "loop",
        "pointers",
        "raw",
        "tables",
    )
    assert counts == {name: [4] for name in (*names, "unions")}


def test_members_have_their_names_and_values(recorded: Path) -> None:
    found = {}
    for record in Recording(recorded).values():
        name = record.demangled_name.partition("(")[0].partition("<")[0].removeprefix("void ")
        facts = launch_facts(record.path)
        found[name] = {one["name"]: one["value"] for one in facts["members"]}
    assert {name: found[name] for name in MEMBERS} == MEMBERS
    # An index that only the run knows: the table is one member, and those beside it are others.
    assert found["tables"] == {"l.weight": 0.5, "l.count": 2}
    assert re.search(r"0\+8 +\.table +bytes ", mneme("show", recorded, "tables").stdout)


@pytest.mark.parametrize("options", [(), ("--specialize",)], ids=["as built", "constants"])
def test_launches_replay(recorded: Path, options: tuple[str, ...]) -> None:
    done = mneme("replay", recorded, "--all", "--device", "cpu", *options, "default<O3>")
    assert done.stderr.splitlines()[-1].endswith("11 of 11 launches are verified"), done.stderr
