"""Programs with marked code that also make modules: what they say at the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import build, run

pytestmark = pytest.mark.compile

BOTH = """
#include <cstdlib>
#include <iostream>
#include <proteus/JitFrontend.h>
#include <proteus/JitInterface.h>
__attribute__((annotate("jit", 1))) int twice(int n) { return 2 * n; }
int main(int, char** arguments) {
  const bool isMarkedFirst = std::atoi(arguments[1]);
  int sum = isMarkedFirst ? twice(10) : 0;
  proteus::JitModule module("host");
  auto& next = module.addFunction<int(int)>("next");
  next.function([&] { next.ret(next.getArg<0>() + 1); });
  sum += next(1) + twice(20);
  std::cout << sum << std::endl;
}
"""


@pytest.mark.parametrize("first", ["0", "1"])
def test_modules_speak_before_the_engine_of_marked_code(tmp_path: Path, first: str) -> None:
    source = tmp_path / "both.cpp"
    source.write_text(BOTH)
    program = build(source, tmp_path / "program", "-lmneme_frontend")
    done = run(program, first, cache=tmp_path / "cache")
    assert done.lines == [str(42 + 20 * int(first))]
    assert done.count("StorageCache", "DispatcherHost") == (0, 1)
    assert done.count("StorageCache", "JitEngineHost") == (0, 1 + int(first))
    speakers = [line.split("][")[1].partition("]")[0] for line in done.statistics]
    assert speakers == sorted(speakers)
    assert set(speakers) == {"DispatcherHost", "JitEngineHost"}
