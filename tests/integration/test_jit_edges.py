"""Marked kernels at the edges: what annotations refuse, AMD's ABI, settings of the reference tool."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import BUILD, Finished, mneme, run_command

SOURCES = Path(__file__).resolve().parents[1] / "apps" / "jit"
WRAPPER = BUILD / "bin" / "mneme-cxx"
HAS_HIP = Path("/usr/include/hip/hip_runtime.h").is_file()
EDGES = ["bytes 594", "words 119995", "json 4", "shared 14999", "error 0"]

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api" / "driver").is_file(), reason="no CUDA toolkit"
    ),
]


def compiled(*arguments: str | Path) -> Finished:
    return run_command(WRAPPER, *arguments)


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with marks that are rare."""
    program = tmp_path_factory.mktemp("edges") / "edges"
    options = ("-x", "cuda", "--offload-arch=sm_90", "-lcudart")
    done = compiled(*options, SOURCES / "edges.cu", "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    return program


def run(program: Path, folder: Path, **environment: str) -> Finished:
    return mneme(
        "run", "--device", "cpu", "--", program,
        PROTEUS_CACHE_DIR=str(folder / "cache"), **environment,
    )  # fmt: skip


def lines(done: Finished, begin: str) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith(begin)]


def untraced(done: Finished) -> list[str]:
    return [line for line in done.stdout.splitlines() if not line.startswith("[")]


def test_unsigned_counts_of_elements_have_no_sign(edges: Path, tmp_path: Path) -> None:
    done = run(edges, tmp_path, PROTEUS_TRACE_OUTPUT="specialization")
    assert untraced(done) == EDGES
    contents = [line.split(" = private constant ")[1] for line in lines(done, "[ArgSpec]")[:3]]
    assert [text.split(" x ")[0] for text in contents] == ["[200", "[40000", "[250"]


BOUNDS = """
#include <cstdio>
#include <proteus/JitInterface.h>
__attribute__((annotate("jit"))) __global__ __launch_bounds__(64) void wide(int* out) {
  out[threadIdx.x] = blockDim.x;
}
__attribute__((annotate("jit", 1))) int twice(int n) { return 2 * n; }
int main() {
  int* out;
  cudaMallocManaged(&out, 256 * sizeof(int));
  wide<<<1, 256>>>(out);
  cudaDeviceSynchronize();
  printf("wide %d %d %d\\n", out[255], cudaGetLastError(), twice(21));
}
"""


def test_blocks_may_be_larger_than_the_bounds_in_the_source(tmp_path: Path) -> None:
    (tmp_path / "wide.cu").write_text(BOUNDS)
    options = ("-x", "cuda", "--offload-arch=sm_90", "-lcudart")
    done = compiled(*options, tmp_path / "wide.cu", "-o", tmp_path / "wide")
    assert (done.returncode, done.stderr) == (0, "")
    done = run(tmp_path / "wide", tmp_path, PROTEUS_TRACE_OUTPUT="specialization")
    assert untraced(done) == ["wide 256 0 42"]
    assert "[LaunchBoundSpec] MaxThreads 256 MinBlocksPerSM 0" in done.stdout
    off = {"PROTEUS_SPECIALIZE_LAUNCH_BOUNDS": "0"}
    assert untraced(run(tmp_path / "wide", tmp_path, **off)) == ["wide 0 1 42"]


def test_pipeline_that_is_none_ends_the_program(edges: Path, tmp_path: Path) -> None:
    refused = run(edges, tmp_path, PROTEUS_OPT_PIPELINE="default<O3>,nonsense")
    assert refused.returncode != 0
    assert "[proteus][FATAL ERROR]" in refused.stderr
    assert "invalid pass pipeline 'default<O3>,nonsense'" in refused.stderr


def test_tuned_values_of_other_kinds_are_defaults(edges: Path, tmp_path: Path) -> None:
    file = tmp_path / "tuned.json"
    file.write_text(
        '{"_Z5wordsPKitPi": {"Pipeline": 5, "CodeGen": 3, "LaunchBounds": 1, "OptLevel": 1, '
        '"SpecializeDims": false, "SpecializeDimsRange": 7, "CodeGenOptLevel": "2", '
        '"TunedMaxThreads": "5", "MinBlocksPerSM": 4}}'
    )
    done = run(
        edges, tmp_path, PROTEUS_TUNED_KERNELS=str(file), PROTEUS_TRACE_OUTPUT="specialization"
    )
    assert (done.returncode, untraced(done)) == (0, EDGES)
    begin = "[KernelConfig] ID:_Z5wordsPKitPi "
    assert lines(done, begin) == [begin + "CG:RTC SA:1 LB:1 SD:0 SDR:0 OL:3 CGL:3 TMT:-1 BPSM:4 "]
    bounded = run(
        edges, tmp_path, PROTEUS_TUNED_KERNELS=str(file), PROTEUS_TRACE_OUTPUT="specialization",
        PROTEUS_SPECIALIZE_DIMS_RANGE="1",
    )  # fmt: skip
    assert " SD:0 SDR:1 " in lines(bounded, begin)[0]
    assert "MinBlocksPerSM 4" not in done.stdout


def test_marking_every_kernel_drops_what_the_source_marks(tmp_path: Path) -> None:
    (tmp_path / "all.cu").write_text(BOUNDS)
    plugin = BUILD / "lib" / "libMnemePasses.so"
    options = ("-x", "cuda", "--offload-arch=sm_90", "-lcudart", f"-fplugin={plugin}")
    every = ("-Xclang", "-mllvm", "-Xclang", "-force-proteus-jit-annotate-all")
    done = compiled(*options, *every, tmp_path / "all.cu", "-o", tmp_path / "all")
    assert (done.returncode, done.stderr) == (0, "")
    done = run(tmp_path / "all", tmp_path, PROTEUS_TRACE_OUTPUT="specialization;cache-stats")
    assert untraced(done) == ["wide 256 0 42"]
    assert "[JitEngineDevice] MemoryCache rank 0 hits 0 accesses 1" in done.stdout
    assert "JitEngineHost" not in done.stdout


def test_marked_kernels_may_have_all_shared_memory(edges: Path, tmp_path: Path) -> None:
    refused = run(edges, tmp_path, PROTEUS_DISABLE="1")
    assert refused.stdout.splitlines()[-1] == "error 1"
    for done in (run(edges, tmp_path), run(edges, tmp_path)):
        assert (done.returncode, done.stdout.splitlines()) == (0, EDGES)


def test_names_of_variables_can_be_long(edges: Path, tmp_path: Path) -> None:
    done = run(edges, tmp_path, PROTEUS_TRACE_OUTPUT="specialization")
    (line,) = lines(done, "[GVarInfo]")
    assert line.startswith("[GVarInfo]: a_name_of_")
    assert line.endswith(" VarSize:4")


def test_debug_output_names_functions_and_adds_no_traces(edges: Path, tmp_path: Path) -> None:
    silent = run(edges, tmp_path, PROTEUS_DEBUG_OUTPUT="1")
    assert silent.stdout.splitlines() == EDGES
    done = run(edges, tmp_path, PROTEUS_DEBUG_OUTPUT="1", PROTEUS_TRACE_OUTPUT="cache-stats")
    uses = lines(done, "[proteus][JitEngineDevice] MemoryCache rank 0 HashValue")
    assert len(uses) == 4
    assert all(" FnName _Z" in line for line in uses)
    assert not lines(done, "[ArgSpec]")
    assert "Kernel Trace" not in done.stdout


def test_cuda_has_one_way_to_generate_code(edges: Path, tmp_path: Path) -> None:
    done = run(
        edges, tmp_path, PROTEUS_CODEGEN="Serial", PROTEUS_TRACE_OUTPUT="specialization"
    )  # fmt: skip
    (warning,) = lines(done, "[proteus]")
    assert warning == (
        "[proteus] Warning: Proteus supports only RTC in the current build system configuration, "
        "defaulting Codegen to RTC"
    )
    assert all(" CG:RTC " in line for line in lines(done, "[KernelConfig]"))


def test_chain_of_caches_is_named_as_it_was_given(edges: Path, tmp_path: Path) -> None:
    done = run(
        edges, tmp_path,
        PROTEUS_OBJECT_CACHE_CHAIN="Storage", PROTEUS_TRACE_OUTPUT="specialization",
    )  # fmt: skip
    assert lines(done, "[ObjectCacheChain]")[:2] == [
        "[ObjectCacheChain] Added cache level: Storage",
        "[ObjectCacheChain] Chain for JitEngineDevice: Storage",
    ]
    refused = run(edges, tmp_path, PROTEUS_OBJECT_CACHE_CHAIN="tape")
    assert refused.returncode != 0
    assert "[proteus][FATAL ERROR]" in refused.stderr
    assert "Unknown cache type: tape" in refused.stderr


def test_file_of_tuned_kernels_has_to_be_one(edges: Path, tmp_path: Path) -> None:
    file = tmp_path / "tuned.json"
    for content in (None, "[]"):
        if content:
            file.write_text(content)
        refused = run(edges, tmp_path, PROTEUS_TUNED_KERNELS=str(file))
        assert refused.returncode != 0
        assert "[proteus][FATAL ERROR]" in refused.stderr
        assert "tuned.json" in refused.stderr
        disabled = run(edges, tmp_path, PROTEUS_TUNED_KERNELS=str(file), PROTEUS_DISABLE="1")
        assert disabled.returncode == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPECIALIZE_ARGS", "true"),
        ("SPECIALIZE_DIMS", ""),
        ("DISABLE", "true"),
        ("CODEGEN", "slow"),
        ("OPT_LEVEL", "7"),
        ("CODEGEN_OPT_LEVEL", "4"),
    ],
)
def test_setting_that_means_nothing_ends_the_program(
    edges: Path, tmp_path: Path, name: str, value: str
) -> None:
    refused = run(edges, tmp_path, **{f"PROTEUS_{name}": value})
    assert refused.returncode != 0
    assert "[proteus][FATAL ERROR]" in refused.stderr
    assert f"PROTEUS_{name}" in refused.stderr


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("refused") / "refused"
    options = ("-x", "cuda", "--offload-arch=sm_90", "-lcudart")
    done = compiled(*options, SOURCES / "refused.cu", "-o", program)
    assert (done.returncode, done.stderr) == (0, "")
    return program


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("0", "Invalid number of elements in array: 0"),
        ("1", "Invalid number of elements in array: -7"),
        ("2", "JIT Incompatible type in runtime constant array: 7"),
        ("3", "JIT Incompatible type in runtime constant array: 8"),
        ("4", "JIT Incompatible type in runtime constant: 100"),
    ],
)
def test_value_that_cannot_become_constant_ends_the_program(
    refused: Path, tmp_path: Path, case: str, reason: str
) -> None:
    done = mneme(
        "run", "--device", "cpu", "--", refused, case, PROTEUS_CACHE_DIR=str(tmp_path / "cache")
    )
    assert done.returncode != 0
    assert "[proteus][FATAL ERROR]" in done.stderr
    assert reason in done.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("0", "argument 0 is out of range"),
        ("0, 0", "argument 0 is out of range"),
        ("3", "argument 3 is out of range"),
        ("2", "Unknown Type i16"),
        (r'"{\"arg\": 1, \"type\": \"int\"}"', "'type' that is not an integer"),
    ],
)
def test_annotation_that_means_nothing_is_refused(
    arguments: str, reason: str, tmp_path: Path
) -> None:
    source = tmp_path / "k.cu"
    mark = f'__attribute__((annotate("jit", {arguments})))'
    source.write_text(f"{mark} __global__ void k(int n, short m) {{}}\n")
    done = compiled("-x", "cuda", "--offload-arch=sm_90", "-c", source, "-o", tmp_path / "k.o")
    assert done.returncode != 0
    assert f"[proteus][FATAL ERROR] {source}:1 => " in done.stderr
    assert reason in done.stderr


@pytest.mark.parametrize("kernel", ["__global__", ""])
@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ("short", "Unknown Type i16"),
        ("const unsigned short", "Unknown Type i16"),
        ("_Float16", "Unknown Type half"),
        ("__half", "Unknown Type i16"),
    ],
)
def test_array_of_short_numbers_is_refused(
    kernel: str, element: str, reason: str, tmp_path: Path
) -> None:
    source = tmp_path / "k.cu"
    source.write_text(
        "#include <cuda_fp16.h>\n#include <proteus/JitInterface.h>\n"
        f"{kernel} void k({element}* v, int n) {{ proteus::jit_array(v, n); }}\n"
    )
    done = compiled("-x", "cuda", "--offload-arch=sm_90", "-c", source, "-o", tmp_path / "k.o")
    assert done.returncode != 0
    assert "[proteus][FATAL ERROR]" in done.stderr
    assert reason in done.stderr


@pytest.mark.skipif(not HAS_HIP, reason="no HIP headers in /usr/include")
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_marks_of_pointers_work_with_the_abi_of_amd(level: str, tmp_path: Path) -> None:
    program = tmp_path / "pointers"
    options = ("--offload-arch=gfx90a", level, "-lamdhip64")
    done = compiled(SOURCES / "pointers.hip", "-o", program, *options)
    assert (done.returncode, done.stderr) == (0, "")
    traced = {"PROTEUS_TRACE_OUTPUT": "specialization", "PROTEUS_CODEGEN": "serial"}
    done = run(program, tmp_path, **traced)
    results = ["scalar 4", "array 15", "object 21", "reference 4", "vector 5 16002"]
    assert untraced(done) == [*results, "shared 7", "lambda 10", "lambda 12", "lambda 15"]
    assert len(lines(done, "[ArgSpec]")) == 6
    assert lines(done, "[LambdaSpec]") == [
        "[LambdaSpec] Replacing slot 1 with i32 4",
        "[LambdaSpec] Replacing slot 0 with double 2.500000e+00",
        "[LambdaSpec] Replacing slot 0 with i32 2",
        "[LambdaSpec] Replacing slot 0 with i32 3",
    ]
    assert " global [32 x i8] undef, align 16" in lines(done, "[SharedArray]")[0]
    assert not any("addrspace(4)" in line for line in lines(done, "[ArgSpec]"))
    replaced = [line for line in lines(done, "[DimSpec] Replace") if "__HIP_" in line]
    assert [line.rsplit(" ", 1)[1] for line in replaced] == ["2", "16"]
    assert "[DimSpec] Range llvm.amdgcn.workitem.id.x [0,16)" in done.stdout
    assert all(" CG:Serial " in line for line in lines(done, "[KernelConfig]"))


# Both kinds of annotations in one unit, and a kernel that needs another unit.
RELOCATABLE = """
#include <cstdio>
#include <hip/hip_runtime.h>
extern __device__ int twice(int n);
__attribute__((annotate("jit", 2))) __global__ void with(int* out, int n) { out[0] = twice(n); }
__attribute__((annotate("jit"))) __global__ void without(int* out) { out[1] = blockDim.x; }
__attribute__((annotate("jit"), annotate("mine"))) __global__ void others(int* out) { out[2] = 7; }
int main() {
  int* out;
  (void)hipMallocManaged((void**)&out, 12);
  with<<<1, 1>>>(out, 21);
  without<<<1, 8>>>(out);
  others<<<1, 1>>>(out);
  (void)hipDeviceSynchronize();
  printf("%d %d %d\\n", out[0], out[1], out[2]);
}
"""


@pytest.mark.skipif(not HAS_HIP, reason="no HIP headers in /usr/include")
def test_annotations_of_each_kind_go_with_relocatable_code_for_amd(tmp_path: Path) -> None:
    (tmp_path / "caller.hip").write_text(RELOCATABLE)
    (tmp_path / "callee.hip").write_text(
        "#include <hip/hip_runtime.h>\n"
        "__device__ int twice(int n) { return 2 * n; }\n"
        '__attribute__((annotate("jit"))) __global__ void unused(int* out) { *out = 1; }\n'
    )
    options = ("--offload-arch=gfx90a", "-fgpu-rdc")
    for unit in ("caller", "callee"):
        object_file = tmp_path / f"{unit}.o"
        done = compiled(*options, "-c", tmp_path / f"{unit}.hip", "-o", object_file)
        assert (done.returncode, done.stderr) == (0, "")
    objects = (tmp_path / "caller.o", tmp_path / "callee.o")
    done = compiled(*options, "--hip-link", *objects, "-o", tmp_path / "program", "-lamdhip64")
    assert (done.returncode, done.stderr) == (0, "")
    done = run(tmp_path / "program", tmp_path, PROTEUS_TRACE_OUTPUT="specialization")
    assert untraced(done) == ["42 8 7"], done.stderr
    assert len(lines(done, "[KernelConfig]")) == 3


def test_programs_with_and_without_kernels_share_a_cache(tmp_path: Path) -> None:
    (tmp_path / "f.cpp").write_text(
        '__attribute__((annotate("jit", 1))) int times(int n, int m) { return n * m; }'
    )
    (tmp_path / "main.cpp").write_text("int times(int, int); int main() { return times(2, 3); }")
    (tmp_path / "k.cu").write_text("__global__ void kernel(int* out) { *out = 1; }")
    made = [
        (("-c", tmp_path / "f.cpp"), "f.o"),
        (("-c", "-x", "cuda", "--offload-arch=sm_90", tmp_path / "k.cu"), "k.o"),
        ((tmp_path / "main.cpp", tmp_path / "f.o"), "plain"),
        ((tmp_path / "main.cpp", tmp_path / "f.o", tmp_path / "k.o", "-lcudart"), "cuda"),
    ]
    for arguments, name in made:
        done = compiled(*arguments, "-o", tmp_path / name)
        assert (done.returncode, done.stderr) == (0, "")
    for times, hits in enumerate([0, 1, 1]):
        for name in ("plain", "cuda"):
            done = run(tmp_path / name, tmp_path, PROTEUS_TRACE_OUTPUT="cache-stats")
            assert done.returncode == 6, done.stderr
            (storage,) = lines(done, "[proteus][JitEngineHost] StorageCache")
            assert storage.endswith(f"hits {hits} accesses 1"), (name, times)
