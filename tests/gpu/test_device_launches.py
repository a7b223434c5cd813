"""Kernels that launch kernels themselves: named, and replayed as the device runs them."""

from __future__ import annotations

from pathlib import Path

from gpu import support

SOURCE = Path(__file__).resolve().with_name("launches.cu")
LAUNCHES = "launches kernels itself"

pytestmark = [support.only_on_gpus("the CPU device has no device runtime"), support.needs_nvcc]


def test_they_are_named_and_replay(tmp_path: Path) -> None:
    program = tmp_path / "launches"
    options = ("-O2", "-arch=native", "-rdc=true")
    built = support.run_command("nvcc", *options, SOURCE, "-o", program, "-lcudadevrt")
    assert built.returncode == 0, built.stderr
    alone = support.run(program)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    done = support.record(tmp_path / "db", program)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done.stderr
    assert f"kernel 'parent(int*, int)' {LAUNCHES}" in done.stderr
    assert f"kernel 'plain(int*)' {LAUNCHES}" not in done.stderr
    names = set()
    for path, record_id in support.launches(tmp_path / "db"):
        shown = support.mneme("show", path).stdout
        is_parent = "parent(int*, int)" in shown
        assert ("kernels itself: its replays may differ" in shown) == is_parent
        names.add("parent" if is_parent else "plain")
        replayed = support.replay(path, record_id)
        assert replayed.result["result_class"] == "exact", replayed.stdout + replayed.stderr
        assert replayed.result["unrecorded_reads"] == (["launches of its own"] if is_parent else [])
    assert names == {"parent", "plain"}, done.stderr
