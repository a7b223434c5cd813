"""Headers for programs that make kernels: each stands alone, in any compiler's C++17."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.compile

INCLUDE = Path(__file__).resolve().parents[2] / "include"


def words_about(header: Path) -> str:
    name = header.relative_to(INCLUDE)
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        ["g++", *flags, f"-I{INCLUDE}", "-x", "c++", "-"],
        input=f"#include <{name}>\n#include <{name}>\nint main() {{}}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr


RELIES = """
#include <proteus/JitInterface.h>
int main() {
  auto pair = std::make_tuple(std::make_unique<int>(1), std::move("text"));
  assert(std::strlen(std::get<1>(pair)) == 4);
  char copy[5];
  std::memcpy(copy, std::get<1>(pair), sizeof copy);
}
"""


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
def test_what_programs_expect_of_the_interface_is_included() -> None:
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", f"-I{INCLUDE}", "-x", "c++", "-"],
        input=RELIES, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not installed")
def test_each_header_compiles_alone_and_twice() -> None:
    headers = sorted((INCLUDE / "proteus").rglob("*.h"))
    with ThreadPoolExecutor(2) as pool:
        words = dict(zip(headers, pool.map(words_about, headers), strict=True))
    assert len(headers) > 20
    assert {str(header): said for header, said in words.items() if said} == {}
