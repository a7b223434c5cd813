"""Loops of a framework that has no labels, as RAJA's: the line of the user's lambda is the kernel's name."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import BUILD, ROOT, mneme, run_command

LOOPS = ROOT / "examples" / "raja_like"
SOURCE = """
#include <cstdio>
#include "forall.h"
int main() {
  const loops::Index n = 512;
  double* x;
  cudaMallocManaged(&x, n * sizeof *x);
  using Policy = loops::cuda_exec<128>;
  loops::forall<Policy>({0, n}, [=] __device__(loops::Index i) { x[i] = 1; });  // set
  loops::forall<Policy>({0, n}, [=] __device__(loops::Index i) { x[i] += i; }); // add
  printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


def line_of(mark: str) -> int:
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if line.endswith(f"// {mark}"))


def test_loops_without_labels_are_found_by_their_lines(tmp_path: Path) -> None:
    (tmp_path / "app.cpp").write_text(SOURCE)
    flags = ("-x", "cuda", "-std=c++17", "-O2", f"-I{LOOPS}")
    compiler = BUILD / "bin" / "mneme-cxx"
    done = run_command(compiler, *flags, tmp_path / "app.cpp", "-o", tmp_path / "app")
    assert done.returncode == 0, done.stderr
    db = tmp_path / "db"
    done = mneme("record", "-rdb", db, "--device", "cpu", "--", tmp_path / "app")
    assert (done.returncode, done.stdout) == (0, "no error\n"), done.stderr

    table = mneme("ls", db, COLUMNS="80").stdout
    title, *rows = table.splitlines()
    assert title == f"Recording {db}"
    assert all(len(line) <= 80 for line in rows), table
    records = set()
    for mark in ("set", "add"):
        place = f"app.cpp:{line_of(mark)}"
        assert place in table
        shown = mneme("show", db, place, "--json")
        assert shown.returncode == 0, shown.stderr
        assert place in shown.stdout
        records.add(json.dumps(json.loads(shown.stdout), sort_keys=True))
        done = mneme("replay", db, place, "default<O2>")
        assert done.result["result_class"] == "exact", done.stderr
    assert len(records) == 2

    only = tmp_path / "only"
    filters = ("--kernels", f"app.cpp:{line_of('add')}")
    done = mneme("record", "-rdb", only, *filters, "--device", "cpu", "--", tmp_path / "app")
    assert "recorded 1 instance of 1 kernel" in done.stderr
