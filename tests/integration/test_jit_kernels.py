"""Kernels that the program itself marks: compiled at run time for their values, on the CPU device."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BUILD, Finished, instances, mneme, records, run_command

SOURCES = Path(__file__).resolve().parents[1] / "apps" / "jit"
WRAPPER = BUILD / "bin" / "mneme-cxx"
RESULTS = ["y 20.6 1941.4", "o 96", "o 72", "obj 14", "objp 5", "counter 12 0"]

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api" / "driver").is_file(), reason="no CUDA toolkit"
    ),
]

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compile a source of tests/apps/jit, once for each set of options."""
    built: dict[tuple[str, ...], Path] = {}

    def make(name: str, *options: str) -> Path:
        key = (name, *options)
        if key not in built:
            program = tmp_path_factory.mktemp("jit") / Path(name).stem
            done = run_command(
                WRAPPER, "-x", "cuda", "--offload-arch=sm_90", SOURCES / name, "-o", program,
                *options, "-lcudart",
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, "")
            built[key] = program
        return built[key]

    return make


def run(program: Path, folder: Path, **environment: str) -> Finished:
    """Run a program on the CPU device with the cache in a folder."""
    done = mneme(
        "run", "--device", "cpu", "--", program,
        PROTEUS_CACHE_DIR=str(folder / "cache"), **environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def lines(done: Finished, begin: str) -> list[str]:
    """The lines of standard output that begin so."""
    return [line for line in done.stdout.splitlines() if line.startswith(begin)]


def untraced(done: Finished) -> list[str]:
    """What the program itself wrote."""
    return [line for line in done.stdout.splitlines() if not line.startswith("[")]


def test_values_become_constants_as_the_reference_tool_says_it(
    build: Build, tmp_path: Path
) -> None:
    done = run(build("kernels.cu"), tmp_path, PROTEUS_TRACE_OUTPUT="specialization")
    assert untraced(done) == RESULTS
    first = done.stdout[done.stdout.index("[KernelConfig]") :].splitlines()[:6]
    assert first == [
        "[KernelConfig] ID:_Z5daxpydiPKdPd CG:RTC SA:1 LB:1 SD:1 SDR:0 OL:3 CGL:3 TMT:-1 BPSM:0 ",
        "[ArgSpec] Replaced Function _Z5daxpydiPKdPd ArgNo 0 with value double 6.200000e+00",
        "[ArgSpec] Replaced Function _Z5daxpydiPKdPd ArgNo 1 with value i32 100",
        "[DimSpec] Replace call to llvm.nvvm.read.ptx.sreg.nctaid.x with constant i32 2",
        "[DimSpec] Replace call to llvm.nvvm.read.ptx.sreg.ntid.x with constant i32 32",
        "[LaunchBoundSpec] MaxThreads 32 MinBlocksPerSM 0",
    ]
    contents = [line.split(" with value ")[1] for line in lines(done, "[ArgSpec]")][4:]
    assert contents == [
        "@0 = private constant [3 x i32] [i32 3, i32 4, i32 5]",
        "@0 = private constant [3 x i32] [i32 0, i32 4, i32 5]",
        r'@0 = private constant [16 x i8] c"\01\00\00\00\00\00 @\00\00\00\00\00\00\10@"',
        r'@0 = private constant [16 x i8] c"\05\00\00\00\00\00\C0?\00\00\00\00\00\00\00@"',
    ]
    assert lines(done, "[ObjectCacheChain]") == [
        "[ObjectCacheChain] Added cache level: storage",
        "[ObjectCacheChain] Chain for JitEngineDevice: Storage",
    ]
    (variable,) = lines(done, "[GVarInfo]")
    assert re.fullmatch(
        r"\[GVarInfo\]: counter HAddr:0x[0-9a-f]+ DevAddr:0x[0-9a-f]+ VarSize:4", variable
    )


def test_second_run_finds_everything_in_the_cache(build: Build, tmp_path: Path) -> None:
    wanted = {"PROTEUS_TRACE_OUTPUT": "specialization;cache-stats;kernel-trace"}
    program = build("kernels.cu")
    cold, warm = run(program, tmp_path, **wanted), run(program, tmp_path, **wanted)
    label = "[proteus][JitEngineDevice]"
    for done, hits in ((cold, 0), (warm, 6)):
        assert untraced(done) == RESULTS
        assert f"{label} MemoryCache rank 0 hits 2 accesses 8" in done.stdout
        assert f"{label} StorageCache rank 0 hits {hits} accesses 6" in done.stdout
        assert len(lines(done, f"{label} MemoryCache rank 0 HashValue")) == 6
        assert (
            f"{label}   daxpy(double, int, double const*, double*)  rank=0  specializations=2"
            "  launches=4" in done.stdout
        )
    assert lines(warm, "[KernelConfig]") == lines(warm, "[ArgSpec]") == []
    assert len(lines(warm, "[ObjectCacheChain] Hit at level 0 (Storage) for hash ")) == 6
    assert len(list((tmp_path / "cache").glob("0-cache-jit-*.o"))) == 6


@pytest.mark.parametrize("switch", ["ARGS", "DIMS", "LAUNCH_BOUNDS"])
def test_each_kind_of_specialisation_has_a_switch(
    build: Build, tmp_path: Path, switch: str
) -> None:
    wanted = {"PROTEUS_TRACE_OUTPUT": "specialization", f"PROTEUS_SPECIALIZE_{switch}": "0"}
    done = run(build("kernels.cu"), tmp_path, **wanted)
    kinds = {"ARGS": "[ArgSpec]", "DIMS": "[DimSpec]", "LAUNCH_BOUNDS": "[LaunchBoundSpec]"}
    assert {kind: bool(lines(done, text)) for kind, text in kinds.items()} == {
        kind: kind != switch for kind in kinds
    }
    assert untraced(done) == RESULTS


def test_disabled_program_runs_as_built_and_says_nothing(build: Build, tmp_path: Path) -> None:
    done = run(
        build("kernels.cu"), tmp_path,
        PROTEUS_DISABLE="1", PROTEUS_TRACE_OUTPUT="specialization;cache-stats",
    )  # fmt: skip
    assert done.stdout.splitlines() == RESULTS
    assert not (tmp_path / "cache").exists()


def test_ranges_of_indices_are_told_where_asked_for(build: Build, tmp_path: Path) -> None:
    done = run(
        build("kernels.cu"), tmp_path,
        PROTEUS_SPECIALIZE_DIMS_RANGE="1", PROTEUS_TRACE_OUTPUT="specialization",
    )  # fmt: skip
    assert "[DimSpec] Range llvm.nvvm.read.ptx.sreg.tid.x [0,32)" in done.stdout
    assert "[DimSpec] Range llvm.nvvm.read.ptx.sreg.ctaid.x [0,2)" in done.stdout
    assert "SDR:1" in done.stdout


def test_unknown_token_ends_the_program(build: Build, tmp_path: Path) -> None:
    done = mneme(
        "run", "--device", "cpu", "--", build("kernels.cu"), PROTEUS_TRACE_OUTPUT="cache-stat"
    )
    assert done.returncode != 0
    assert "Unknown PROTEUS_TRACE_OUTPUT token: cache-stat" in done.stderr


def test_recorded_kernel_is_the_one_that_was_written(build: Build, tmp_path: Path) -> None:
    done = mneme("record", "-rdb", tmp_path / "rec", "--device", "cpu", "--", build("kernels.cu"))
    assert (done.returncode, untraced(done)) == (0, RESULTS)
    (record,) = [path for path in records(tmp_path / "rec") if "daxpy" in path.read_text()]
    assert len(instances(record)) == 2
    for record_id in instances(record):
        replayed = mneme(
            "replay", "-rdb", record, "-rid", record_id, "--device", "cpu", "-it", "1", "default<O3>"
        )  # fmt: skip
        assert replayed.result["result_class"] == "exact"


def test_closures_have_the_values_they_are_registered_with(build: Build, tmp_path: Path) -> None:
    wanted = {"PROTEUS_TRACE_OUTPUT": "specialization;cache-stats"}
    cold = run(build("lambdas.cu"), tmp_path, **wanted)
    own = ["x 9.5 164.5", "x 10.5 227.5", "x 5.25 113.75", "x 10.25 428.75", "x 15.25 743.75"]
    assert untraced(cold) == [*own, "sum 1128 0"]
    assert lines(cold, "[LambdaSpec]") == [
        "[LambdaSpec] Replacing slot 1 with i32 7",
        "[LambdaSpec] Replacing slot 0 with double 2.500000e+00",
        "[LambdaSpec] Replacing slot 1 with i32 7",
        "[LambdaSpec] Replacing slot 0 with double 3.500000e+00",
        "[LambdaSpec] Replacing slot 0 with float 5.000000e-01",
        *("[LambdaSpec] Replacing slot 0 with i32 2", "[LambdaSpec] Replacing slot 0 with i32 3")
        * 2,
    ]
    assert "MemoryCache rank 0 hits 0 accesses 7" in cold.stdout
    warm = run(build("lambdas.cu"), tmp_path, **wanted)
    assert untraced(warm) == untraced(cold)
    assert lines(warm, "[LambdaSpec]") == []
    assert "StorageCache rank 0 hits 7 accesses 7" in warm.stdout


def test_closure_for_host_and_device_is_compiled_for_both(build: Build, tmp_path: Path) -> None:
    for hits in (0, 1):
        done = run(
            build("both_sides.cu"), tmp_path, PROTEUS_TRACE_OUTPUT="specialization;cache-stats"
        )
        assert untraced(done) == ["device 10 host 15"]
        values = lines(done, "[LambdaSpec]")
        assert values == ["[LambdaSpec] Replacing slot 0 with i32 5"] * (0 if hits else 2)
        for engine in ("Host", "Device"):
            label = f"[proteus][JitEngine{engine}]"
            assert f"{label} StorageCache rank 0 hits {hits} accesses 1" in done.stdout


def test_shared_array_has_the_size_that_is_constant(build: Build, tmp_path: Path) -> None:
    done = run(build("lambdas.cu"), tmp_path, PROTEUS_TRACE_OUTPUT="specialization")
    (line,) = lines(done, "[SharedArray]")
    assert line.startswith("[SharedArray] Replace CB double* proteus::shared_array<double, 256")
    assert line.endswith(
        " with @.proteus.shared = internal addrspace(3) global [384 x i8] undef, align 16"
    )


def test_marked_host_functions_launch_marked_kernels(build: Build, tmp_path: Path) -> None:
    program = build("host_launch.cu", "-O2")
    traces = "specialization;cache-stats"
    cold = run(program, tmp_path, PROTEUS_TRACE_OUTPUT=traces)
    warm = run(program, tmp_path, PROTEUS_TRACE_OUTPUT=traces)
    for done, hits in ((cold, (0, 0)), (warm, (2, 2))):
        assert lines(done, "y ") == ["y 0 1 7", "y 0 3 15", "y 0 10 15"]
        for engine, found in zip(("Device", "Host"), hits, strict=True):
            begin = f"[proteus][JitEngine{engine}] "
            assert lines(done, f"{begin}MemoryCache rank 0 hits") == [
                f"{begin}MemoryCache rank 0 hits 1 accesses 3"
            ]
            assert lines(done, f"{begin}StorageCache") == [
                f"{begin}StorageCache rank 0 hits {found} accesses 2"
            ]
    assert "[ArgSpec] Replaced Function _Z6launchPfi ArgNo 1 with value i32 2" in cold.stdout
    assert lines(warm, "[ArgSpec]") == []


def test_compiler_that_dies_is_said_once_of_kernels_and_functions(
    build: Build, tmp_path: Path
) -> None:
    done = run(build("host_launch.cu", "-O2"), tmp_path, MNEME_COMPILE_PROGRAM="/bin/false")
    assert lines(done, "y ") == ["y 0 1 7", "y 0 3 15", "y 0 10 15"]
    (warning,) = done.stderr.splitlines()
    assert "ended without an answer" in warning


def test_program_learns_of_its_kernels_and_switches_them(build: Build, tmp_path: Path) -> None:
    done = run(build("metadata.cu"), tmp_path, PROTEUS_TRACE_OUTPUT="cache-stats")
    assert untraced(done) == ["plain: 0", "_Z5counti BC 1 1 12", "count 4"]
    # The engine that came last speaks first: that for kernels came with the first capture.
    assert [line.split(" rank")[0] for line in lines(done, "[proteus]") if "hits" in line] == [
        "[proteus][JitEngineHost] MemoryCache",
        "[proteus][JitEngineHost] StorageCache",
        "[proteus][JitEngineDevice] MemoryCache",
        "[proteus][JitEngineDevice] StorageCache",
    ]
    assert "[JitEngineDevice] MemoryCache rank 0 hits 1 accesses 2" in done.stdout


def test_content_may_lie_in_device_memory(build: Build, tmp_path: Path) -> None:
    wanted = {"PROTEUS_TRACE_OUTPUT": "specialization;cache-stats"}
    done = run(build("device_memory.cu"), tmp_path, **wanted)
    assert untraced(done) == ["out 100.5 0", "out 100.5 0", "out 460.5 0"]
    assert "[4 x i32] [i32 1, i32 2, i32 3, i32 40]" in done.stdout
    assert "MemoryCache rank 0 hits 1 accesses 3" in done.stdout


def test_shared_array_stays_one_where_a_call_does_not_know_its_size(
    build: Build, tmp_path: Path
) -> None:
    done = run(build("shared_array.cu"), tmp_path, PROTEUS_TRACE_OUTPUT="specialization")
    assert untraced(done) == ["shared 33 33"]
    assert lines(done, "[SharedArray]") == []
