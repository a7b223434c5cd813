"""Host functions that are compiled at run time: results as without, traces and counts to the letter."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from programs import COMPILER, ROOT, Run, build, run

pytestmark = [pytest.mark.compile, pytest.mark.slow]

SOURCES = Path(__file__).parent / "host"
PROGRAMS = [
    "scalars",
    "arrays",
    "objects",
    "lambdas",
    "exceptions",
    "state",
    "classes",
    "library",
    "signatures",
    "recursion",
    "threads",
]

CHAIN = [
    "[ObjectCacheChain] Added cache level: storage",
    "[ObjectCacheChain] Chain for JitEngineHost: Storage",
]


def run_twice(program: Path, cache: Path, *arguments: str) -> tuple[Run, Run]:
    """A run that compiles and one that finds everything; what holds of both is checked."""
    cold = run(program, *arguments, cache=cache)
    warm = run(program, *arguments, cache=cache)
    assert warm.lines == cold.lines
    assert cold.errors == warm.errors == ""
    assert cold.traces[:2] == warm.traces[:2] == CHAIN
    hits, accesses = cold.count("MemoryCache")
    assert warm.count("MemoryCache") == (hits, accesses)
    assert cold.count("StorageCache")[0] == 0
    compiled = cold.count("StorageCache")[1]
    assert accesses - hits == compiled
    assert warm.count("StorageCache") == (compiled, compiled)
    found = warm.traces[2:]
    assert len(found) == compiled
    assert all(
        line.startswith("[ObjectCacheChain] Hit at level 0 (Storage) for hash ") for line in found
    )
    return cold, warm


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_built_program(tmp_path: Path, name: str, level: str) -> None:
    source = SOURCES / f"{name}.cpp"
    expected = run(build(source, tmp_path / "plain", level, marks=False), cache=tmp_path / "none")
    program = build(source, tmp_path / "marked", level)
    cold, _ = run_twice(program, tmp_path / "cache")
    assert cold.lines == expected.lines


@pytest.mark.parametrize(
    "options",
    [["-O1", "-g"], ["-O3", "-march=native"], ["-Os", "-fPIC"], ["-O2", "-fno-pie", "-no-pie"]],
    ids=" ".join,
)
def test_options_of_the_build_are_kept(tmp_path: Path, options: list[str]) -> None:
    source = SOURCES / "classes.cpp"
    expected = run(build(source, tmp_path / "plain", *options, marks=False), cache=tmp_path)
    program = build(source, tmp_path / "marked", *options)
    cold, _ = run_twice(program, tmp_path / "cache")
    assert cold.lines == expected.lines


def test_scalars_are_traced_as_llvm_prints_them(tmp_path: Path) -> None:
    program = build(SOURCES / "scalars.cpp", tmp_path / "program", "-O1")
    cold, _ = run_twice(program, tmp_path / "cache")
    inside = "_Z10fromInsidebcilfdePi5Color"
    assert set(cold.specializations()) == {
        "_Z6ofBoolb ArgNo 0 with value i1 true",
        "_Z6ofBoolb ArgNo 0 with value i1 false",
        "_Z6ofCharc ArgNo 0 with value i8 97",
        "_Z6ofCharc ArgNo 0 with value i8 -128",
        "_Z14ofUnsignedCharh ArgNo 0 with value i8 -1",
        "_Z14ofUnsignedCharh ArgNo 0 with value i8 0",
        "_Z5ofInti ArgNo 0 with value i32 1024",
        "_Z5ofInti ArgNo 0 with value i32 -7",
        "_Z10ofUnsignedj ArgNo 0 with value i32 -1",
        "_Z6ofLongl ArgNo 0 with value i64 -9223372036854775803",
        "_Z10ofLongLongy ArgNo 0 with value i64 -1",
        "_Z7ofFloatf ArgNo 0 with value float 0x4018CCCCC0000000",
        "_Z7ofFloatf ArgNo 0 with value float -0.000000e+00",
        "_Z8ofDoubled ArgNo 0 with value double 6.200000e+00",
        "_Z12ofLongDoublee ArgNo 0 with value x86_fp80 0xK4001C666666666666666",
        "_Z9ofPointerPKi ArgNo 0 with value ptr inttoptr (i64 291 to ptr)",
        "_Z6ofJsonii ArgNo 1 with value i32 4",
        *(
            f"{inside} ArgNo {argument} with value {value}"
            for argument, value in enumerate(
                [
                    "i1 true",
                    "i8 98",
                    "i32 3",
                    "i64 4",
                    "float 5.500000e+00",
                    "double 6.500000e+00",
                    "x86_fp80 0xK4001E000000000000000",
                    "ptr null",
                    "i32 7",
                ]
            )
        ),
    }
    assert cold.count("MemoryCache") == (23, 42)
    assert cold.count("StorageCache") == (0, 19)


def test_contents_of_arrays_are_traced(tmp_path: Path) -> None:
    program = build(SOURCES / "arrays.cpp", tmp_path / "program", "-O2")
    cold, _ = run_twice(program, tmp_path / "cache")
    lines = set(cold.specializations())
    for line in (
        "_Z3sumPKii ArgNo 0 with value @0 = private constant [3 x i32] [i32 2, i32 3, i32 4]",
        (
            "_Z5fixedPKd ArgNo 0 with value @0 = private constant [3 x double] "
            "[double 1.500000e+00, double 2.500000e+00, double 4.000000e+00]"
        ),
        '_Z5bytesPKch ArgNo 0 with value @0 = private constant [3 x i8] c"abc"',
        (
            "_Z9annotatedPKli ArgNo 0 with value @0 = private constant [2 x i64] "
            "[i64 1099511627776, i64 3]"
        ),
        "_Z9annotatedPKli ArgNo 1 with value i32 5",
        (
            "_Z7countedPKfm ArgNo 0 with value @0 = private constant [2 x float] "
            "[float 1.000000e+00, float 2.000000e+00]"
        ),
    ):
        assert line in lines
    assert cold.count("MemoryCache") == (1, 12)


def test_objects_are_traced_as_the_abi_passes_them(tmp_path: Path) -> None:
    program = build(SOURCES / "objects.cpp", tmp_path / "program", "-O2")
    cold, _ = run_twice(program, tmp_path / "cache")
    lines = set(cold.specializations())
    content = r'@0 = private constant [12 x i8] c"\03\00\00\00\04\00\00\00\05\00\00\00"'
    for line in (
        f"_Z9byPointerPK5Three ArgNo 0 with value {content}",
        f"_Z11byReferenceRK5Three ArgNo 0 with value {content}",
        "_Z7byValue5Three ArgNo 0 with value i64 17179869187",
        "_Z7byValue5Three ArgNo 1 with value i32 5",
        "_Z6floats6Floats ArgNo 0 with value <2 x float> <float 1.500000e+00, float 2.500000e+00>",
        "_Z6floats6Floats ArgNo 1 with value float 3.500000e+00",
        "_Z3one3One ArgNo 0 with value i8 120",
    ):
        assert line in lines
    assert cold.count("MemoryCache") == (4, 16)


def test_lambdas_have_their_own_values_whenever_they_were_registered(tmp_path: Path) -> None:
    program = build(SOURCES / "lambda_values.cpp", tmp_path / "program")
    cold = run(program, cache=tmp_path / "cache")  # addresses are others in each run
    assert cold.lines == [
        *("plain 10", "B 20", "A 10", "C 30", "A 10"),
        *("made 34", "made 12", "made 34", "made 12", "made 56"),
        *("number 7", "pointer 14", "owner 17"),
    ]
    values = [line.removeprefix("[LambdaSpec] Replacing slot ") for line in cold.specializations()]
    assert values[:9] == [
        *("0 with i32 20", "0 with i32 10", "0 with i32 30"),
        *("1 with i64 4", "0 with i64 3", "1 with i64 2", "0 with i64 1"),
        *("1 with i64 6", "0 with i64 5"),
    ]
    number, *pointers, last = values[9:]
    assert number.startswith("0 with i64 ")
    assert pointers == [f"0 with ptr inttoptr ({number.removeprefix('0 with ')} to ptr)"] * 2
    assert last == "1 with i64 9"
    assert cold.count("MemoryCache") == (3, 13)


REGISTERED = """
    #include <cstdio>
    #include <proteus/JitInterface.h>
    int main() {
      auto plain = [n = proteus::jit_variable(3)]() __attribute__((annotate("jit"))) { return n; };
      proteus::register_lambda(plain);
#ifdef PROTEUS_LAMBDAS_BY_REFERENCE
      auto& same = proteus::register_lambda(plain);
      static_assert(std::is_same_v<decltype(same), decltype(plain)&>);
#endif
#ifdef TWICE
      (void)proteus::register_lambda(proteus::register_lambda(plain));
#endif
      std::printf("%d\\n", plain());
    }
"""


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("", ""),
        ("-DPROTEUS_LAMBDAS_BY_REFERENCE", ""),
        ("-DPROTEUS_NODISCARD_LAMBDAS", "ignoring return value of"),
        ("-DTWICE", "the lambda is registered already: use what that returned"),
    ],
)
def test_what_registering_returns_may_be_used_or_not(
    option: str, words: str, tmp_path: Path
) -> None:
    source = tmp_path / "registered.cpp"
    source.write_text(REGISTERED)
    done = subprocess.run(
        [COMPILER, "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}",
         *option.split(), source],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is not words
    assert words in done.stderr


def test_where_a_large_result_goes_is_the_first_argument(tmp_path: Path) -> None:
    source = tmp_path / "large.cpp"
    source.write_text("""
        #include <cstdio>
        #include <string>
        __attribute__((annotate("jit", 1))) std::string text(int n) { return std::string(n, 'a'); }
        int main() { puts(text(40).c_str()); }
    """)
    done = run(build(source, tmp_path / "large", "-O1"), cache=tmp_path / "cache")
    assert (done.lines, done.errors) == (["a" * 40], "")
    (value,) = done.specializations()
    assert value.startswith("_Z4textB5cxx11i ArgNo 0 with value ptr inttoptr (i64 ")


def test_lambdas_are_traced_from_the_last_field_on(tmp_path: Path) -> None:
    program = build(SOURCES / "lambdas.cpp", tmp_path / "program", "-O1")
    cold, _ = run_twice(program, tmp_path / "cache")
    assert cold.specializations() == [
        f"[LambdaSpec] Replacing slot {line}"
        for line in (
            "2 with i8 1",
            "1 with double 2.500000e+00",
            "0 with i32 3",
            "0 with i64 7",
            "2 with i8 1",
            "1 with double 2.500000e+00",
            "0 with i32 4",
            "0 with i32 5",
            "0 with i32 9",
            "0 with i32 9",
            "1 with i32 3",
            *["0 with i32 6"] * 4,  # one for each time it is read
            *["0 with i32 8"] * 4,
        )
    ]


def test_a_call_is_for_its_own_values_even_in_recursion(tmp_path: Path) -> None:
    program = build(SOURCES / "recursion.cpp", tmp_path / "program", "-O2")
    cold, _ = run_twice(program, tmp_path / "cache")
    # fib(0) to fib(10), twice; 6 down to 0 of isEven and isOdd in turn, from either.
    assert cold.count("StorageCache") == (0, 11 + 14)
    assert cold.count("MemoryCache") == (343, 2 * 177 + 14)


@pytest.mark.parametrize(
    ("variable", "value", "lines"),
    [
        ("PROTEUS_OPT_PIPELINE", "default<O2>", ["[CustomPipeline] default<O2>"]),
        ("PROTEUS_OPT_LEVEL", "s", []),
        ("PROTEUS_CODEGEN_OPT_LEVEL", "0", []),
    ],
)
def test_configuration_makes_another_specialization(
    tmp_path: Path, variable: str, value: str, lines: list[str]
) -> None:
    program = build(SOURCES / "threads.cpp", tmp_path / "program", "-O2")
    usual = run(program, cache=tmp_path / "cache")
    other = run(program, cache=tmp_path / "cache", **{variable: value})
    assert other.lines == usual.lines
    assert other.count("StorageCache") == (0, 4)
    assert [line for line in other.traces if line.startswith("[Custom")] == lines * 4


def test_switches_of_kernels_change_nothing_and_the_cache_can_be_off(tmp_path: Path) -> None:
    program = build(SOURCES / "threads.cpp", tmp_path / "program", "-O2")
    disabled = run(program, cache=tmp_path / "cache", PROTEUS_DISABLE="1")
    assert disabled.count("StorageCache") == (0, 4)
    for _ in range(2):
        unstored = run(program, cache=tmp_path / "cache", PROTEUS_USE_STORED_CACHE="0")
        assert unstored.lines == disabled.lines
        assert len(unstored.specializations()) == len(unstored.traces) == 4
        assert not any("Storage" in line for line in unstored.statistics)


def test_equal_calls_of_many_threads_are_compiled_once(tmp_path: Path) -> None:
    program = build(SOURCES / "threads.cpp", tmp_path / "program", "-O2")
    cold, _ = run_twice(program, tmp_path / "cache")
    assert cold.count("MemoryCache") == (16 * 1000 - 4, 16 * 1000)
    assert cold.count("StorageCache") == (0, 4)


def test_a_child_of_fork_goes_on_and_compiles(tmp_path: Path) -> None:
    program = build(SOURCES / "fork.cpp", tmp_path / "program", "-O2")
    cold = run(program, cache=tmp_path / "cache")
    warm = run(program, cache=tmp_path / "cache")
    assert cold.lines == warm.lines == ["11", "child 11 22", "0 33"]
    assert cold.specializations() == [f"_Z4worki ArgNo 0 with value i32 {n}" for n in (1, 2, 3)]
    assert warm.specializations() == []
    # The child, which ends without its destructors, has counts of its own.
    assert warm.count("StorageCache") == (2, 2)


def test_an_unknown_token_ends_the_program(tmp_path: Path) -> None:
    program = build(SOURCES / "fork.cpp", tmp_path / "program", "-O2")
    done = subprocess.run(
        [program],
        env={**os.environ, "PROTEUS_TRACE_OUTPUT": "nonsense"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGABRT
    assert "=> Unknown PROTEUS_TRACE_OUTPUT token: nonsense" in done.stderr


def test_a_library_may_be_unloaded_and_loaded_again(tmp_path: Path) -> None:
    library = build(SOURCES / "library_part.cpp", tmp_path / "part.so", "-O2", "-fPIC", "-shared")
    program = build(SOURCES / "unloading.cpp", tmp_path / "program", "-O2", marks=False)
    cold = run(program, str(library), cache=tmp_path / "cache")
    warm = run(program, str(library), cache=tmp_path / "cache")
    assert cold.lines == warm.lines == ["106 107"] * 3
    assert cold.count("StorageCache") == (2, 3)
    assert warm.count("StorageCache") == (3, 3)


def test_without_a_compiler_the_program_runs_as_built(tmp_path: Path) -> None:
    program = build(SOURCES / "recursion.cpp", tmp_path / "program", "-O2")
    said = run(
        program, cache=tmp_path / "cache", trace="", MNEME_COMPILE_LIBRARY="/nowhere/libmneme.so"
    )
    assert said.lines == run(program, cache=tmp_path / "cache", trace="").lines
    assert "function '_Z3fibi' runs as it was built: " in said.errors


def test_thread_sanitizer_lets_programs_compile(tmp_path: Path) -> None:
    (tmp_path / "empty.cpp").write_text("int main() {}\n")
    words = [COMPILER, "-fsanitize=thread", tmp_path / "empty.cpp", "-o", tmp_path / "empty"]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("clang's ThreadSanitizer is not installed (libclang-rt-22-dev)")
    program = build(SOURCES / "recursion.cpp", tmp_path / "program", "-fsanitize=thread")
    run_twice(program, tmp_path / "cache")
