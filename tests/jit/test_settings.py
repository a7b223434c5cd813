"""The environment of programs with marks: read once before main, where nonsense ends the program."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from programs import build, run

pytestmark = [pytest.mark.compile]

SOURCE = """
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <unistd.h>
__attribute__((annotate("jit", 1))) int twice(int n) { return 2 * n; }
__attribute__((annotate("jit", 1))) int thrice(int n) { return 3 * n; }
int main(int, char** arguments) {
  const char* directory = getenv("PROTEUS_CACHE_DIR");
  printf("main %d\\n", access(directory, F_OK));
  for (const char* name : {"PROTEUS_SPECIALIZE_ARGS", "PROTEUS_ENABLE_TIMERS"})
    setenv(name, "nonsense", 1);
  setenv("PROTEUS_OPT_PIPELINE", "default<O1>", 1);
  printf("%d %d\\n", twice(3), thrice(3));
  printf("end %d\\n", access(directory, F_OK));
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that does not even include our header."""
    folder = tmp_path_factory.mktemp("settings")
    (folder / "program.cpp").write_text(SOURCE)
    return build(folder / "program.cpp", folder / "program", "-O1")


def started(program: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run without any variable of ours but these."""
    others = {name: text for name, text in os.environ.items() if not name.startswith("PROTEUS_")}
    return subprocess.run(
        [program], env=others | variables, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SPECIALIZE_ARGS", "true"),
        ("SPECIALIZE_DIMS_RANGE", ""),
        ("ENABLE_TIMERS", ""),
        ("DISABLE", "yes"),
        ("ASYNC_THREADS", "many"),
        ("COMM_THREAD_POLL_MS", "often"),
        ("OPT_LEVEL", "fast"),
        ("CODEGEN", "gcc"),
        ("TRACE_OUTPUT", "cache-stat"),
        ("OBJECT_CACHE_CHAIN", "tape"),
        ("TUNED_KERNELS", "/nowhere/tuned.json"),
        ("RELINK_GLOBALS_BY_COPY", "no"),
    ],
)
@pytest.mark.parametrize("others", [{}, {"PROTEUS_DISABLE": "1"}], ids=["", "disabled"])
def test_nonsense_ends_the_program_before_main(
    program: Path, tmp_path: Path, variable: str, value: str, others: dict[str, str]
) -> None:
    if variable == "TUNED_KERNELS" and others:
        pytest.skip("the file is not read then")
    cache = {"PROTEUS_CACHE_DIR": str(tmp_path / "cache")}
    done = started(program, **cache, **(others | {f"PROTEUS_{variable}": value}))
    assert (done.returncode, done.stdout) == (-signal.SIGABRT, "")
    assert done.stderr.startswith("[proteus][FATAL ERROR] ")
    assert len(done.stderr.splitlines()) == 1


def test_numbers_are_read_as_the_reference_tool_reads_them(program: Path, tmp_path: Path) -> None:
    done = run(
        program, cache=tmp_path / "cache",
        PROTEUS_SPECIALIZE_ARGS=" 2", PROTEUS_ENABLE_TIMERS="+0", PROTEUS_ASYNC_THREADS="3 of them",
    )  # fmt: skip
    assert done.errors == ""
    assert len(done.specializations()) == 2


def test_what_the_program_sets_itself_comes_too_late(program: Path, tmp_path: Path) -> None:
    done = run(program, cache=tmp_path / "cache")
    assert done.lines[1] == "6 9"
    assert not any(line.startswith("[CustomPipeline]") for line in done.traces)


def test_directory_is_made_at_the_first_call(program: Path, tmp_path: Path) -> None:
    # Not when something is stored: nothing is compiled here.
    done = run(program, cache=tmp_path / "cache", MNEME_COMPILE_LIBRARY="/nowhere")
    assert done.lines == ["main -1", "6 9", "end 0"]
    without = run(program, cache=tmp_path / "none", PROTEUS_USE_STORED_CACHE="0")
    assert without.lines == ["main -1", "6 9", "end -1"]


def test_directory_that_cannot_be_used_is_said_once(program: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(program, cache=tmp_path / "file")
    assert done.lines == ["main 0", "6 9", "end 0"]
    (line,) = done.errors.splitlines()
    assert "the cache directory " in line


@pytest.mark.parametrize(
    "cause", [{"MNEME_COMPILE_LIBRARY": "/nowhere"}, {"MNEME_COMPILE_PROGRAM": "/bin/false"}],
    ids=["missing", "ends"],
)  # fmt: skip
def test_missing_compiler_is_said_once(
    program: Path, tmp_path: Path, cause: dict[str, str]
) -> None:
    done = run(program, cache=tmp_path / "cache", **cause)
    assert done.lines[1] == "6 9"
    (line,) = done.errors.splitlines()
    assert "function '_Z5twicei' runs as it was built: " in line


@pytest.mark.parametrize("variables", [{}, {"PROTEUS_TRACE_OUTPUT": "nonsense"}], ids=str)
def test_program_without_marks_loads_no_engine(tmp_path: Path, variables: dict[str, str]) -> None:
    (tmp_path / "plain.cpp").write_text("""
        #include <fstream>
        #include <iostream>
        int main() { std::cout << std::ifstream("/proc/self/maps").rdbuf(); }
    """)
    program = build(tmp_path / "plain.cpp", tmp_path / "plain", "-Wl,--no-as-needed")
    done = started(program, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert "libmneme_rt.so" in done.stdout
    assert "libmneme_jit.so" not in done.stdout


def test_disabled_program_with_marks_loads_no_engine(tmp_path: Path) -> None:
    (tmp_path / "marked.cpp").write_text("""
        #include <fstream>
        #include <iostream>
        #include <proteus/JitInterface.h>
        int main() { std::cout << std::ifstream("/proc/self/maps").rdbuf(); }
    """)
    program = build(tmp_path / "marked.cpp", tmp_path / "marked")
    assert "libmneme_jit.so" in started(program).stdout
    assert "libmneme_jit.so" not in started(program, PROTEUS_DISABLE="1").stdout
