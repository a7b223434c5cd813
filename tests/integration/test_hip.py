"""HIP programs go the same way as CUDA ones: run, record, replay, tune, deploy, on the CPU device."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from contextlib import closing
from dataclasses import asdict
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    BUILD,
    PIPELINES,
    ROOT,
    Finished,
    instances,
    made_once,
    mneme,
    records,
    run_command,
)

from mneme import _native
from mneme.pipelines.pipeline import PipelineManager

pytestmark = [pytest.mark.hip, pytest.mark.compile]

SOURCES = ROOT / "examples" / "hip"
APPS = ROOT / "tests" / "apps" / "hip_api"
GPU = "gfx90a"
# Programs with the arguments that make them small.
PROGRAMS = {
    "vector_add": ("10000",),
    "stencil2d": (),
    "heat3d": (),
    "reduction": ("20000",),
    "nbody": (),
}
SPECIALISATIONS: tuple[dict[str, bool], ...] = (
    {},
    {"specialize": True},
    {"specialize": True, "specialize_dims": True, "set_launch_bounds": True},
)


@pytest.fixture(scope="session", autouse=True)
def hip() -> None:
    """Skip where no HIP is installed."""
    roots = (os.environ.get("ROCM_PATH", ""), os.environ.get("HIP_PATH", ""), "/opt/rocm", "/usr")
    if not any(root and (Path(root) / "include/hip/hip_runtime.h").is_file() for root in roots):
        pytest.skip("no HIP headers: install libamdhip64-dev and rocm-device-libs, or ROCm")


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with the examples, built as HIP as their readers build them."""

    def build_all(folder: Path) -> None:
        arguments = shlex.split(mneme("config", "cmake-args").stdout)
        done = run_command("cmake", "-S", SOURCES, "-B", folder, "-G", "Ninja", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        done = run_command("ninja", "-C", folder, *PROGRAMS, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once("hip", build_all)


def run(programs: Path, name: str, **environment: str) -> Finished:
    program = (programs / name, *PROGRAMS[name])
    return mneme("run", "--device", "cpu", "--", *program, **environment)


@pytest.fixture(scope="session")
def hip_recordings(programs: Path) -> dict[str, tuple[Path, Finished]]:
    """Each program's recording, and what the program said."""

    def record_all(folder: Path) -> None:
        for name, arguments in PROGRAMS.items():
            line = ("record", "-rdb", folder / name, "--device", "cpu", "--", programs / name)
            (folder / f"{name}.said").write_text(json.dumps(asdict(mneme(*line, *arguments))))

    folder = made_once("recorded-hip", record_all)
    said = {name: json.loads((folder / f"{name}.said").read_text()) for name in PROGRAMS}
    return {name: (folder / name, Finished(**words)) for name, words in said.items()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_output_is_the_same_when_recorded(
    name: str, programs: Path, hip_recordings: dict[str, tuple[Path, Finished]]
) -> None:
    plain = run(programs, name)
    folder, recorded = hip_recordings[name]
    assert plain.returncode == 0, plain.stdout + plain.stderr
    assert plain.stdout.endswith("PASSED\n")
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, plain.returncode)
    (record,) = records(folder)
    facts = json.loads(record.read_text())
    assert (facts["Arch"], facts["Device"]) == (GPU, "cpu")
    assert facts["VASize"] == 64 << 30


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_launch_replays_exactly(
    name: str, hip_recordings: dict[str, tuple[Path, Finished]]
) -> None:
    accepted = {"exact"}
    if name == "reduction":  # atomics add in any order
        accepted |= {"within_tolerance", "nondeterministic"}
    (record,) = records(hip_recordings[name][0])
    for record_id in instances(record):
        with closing(_native.ReplaySession(str(record), record_id, "cpu")) as session:
            recorded: dict[str, Any] = json.loads(session.recorded())
            block = recorded["block"]
            recorded["max_threads"] = block["x"] * block["y"] * block["z"]
            for passes, special in product(PIPELINES[1::2], SPECIALISATIONS):
                configuration = json.dumps({**recorded, **special, "passes": passes})
                text, _, _ = session.run(configuration, '{"iterations": 1, "warmup": 0}')
                result = json.loads(text)
                assert result["verified"], f"{configuration}: {result}"
                assert result["result_class"] in accepted, f"{configuration}: {result}"


def _disassembled(record: Path) -> str:
    llvm = Path(mneme("config", "llvmdir").stdout.strip()) / "bin" / "llvm-dis"
    modules = json.loads(record.read_text())["Modules"]
    done = run_command(llvm, record.parent / modules[0], "-o", "-")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wrong_code_is_reported(
    hip_recordings: dict[str, tuple[Path, Finished]], tmp_path: Path
) -> None:
    (record,) = records(hip_recordings["vector_add"][0])
    edited = tmp_path / "edited.ll"
    line = ("replay", "-rdb", record, "--device", "cpu", "--ir", edited, "default<O1>")
    right = _disassembled(record)
    edited.write_text(right)
    assert mneme(*line).result["result_class"] == "exact"
    wrong, edits = re.subn(r"(icmp slt i32 %\w+), %\w+", r"\1, 9999", right)
    assert edits == 1
    edited.write_text(wrong)
    done = mneme(*line)
    assert done.returncode != 0
    assert not done.result["verified"]
    (mismatch,) = done.result["mismatches"]
    assert (mismatch["offset"] // 4, mismatch["differing"]) == (9999, 1)


def _code(code_object: Path, kernel: str) -> list[str]:
    """Return a kernel's instructions, without what fills the space behind them."""
    objdump = Path(mneme("config", "llvmdir").stdout.strip()) / "bin" / "llvm-objdump"
    done = run_command(objdump, "-d", f"--disassemble-symbols={kernel}", code_object)
    assert done.returncode == 0, done.stderr
    lines = [line.partition("//")[0].strip() for line in done.stdout.splitlines()[6:]]
    end = max(index for index, line in enumerate(lines) if line.startswith("s_endpgm"))
    return lines[: end + 1]


@pytest.mark.parametrize("name", ["vector_add", "stencil2d", "heat3d", "reduction"])
def test_code_for_the_gpu_is_what_clang_makes(
    name: str, hip_recordings: dict[str, tuple[Path, Finished]], tmp_path: Path
) -> None:
    (record,) = records(hip_recordings[name][0])
    kernel = json.loads(record.read_text())["KernelName"]
    ours, clangs = tmp_path / "ours.co", tmp_path / "clangs.co"
    done = mneme("compile", record, "-o", ours)
    assert done.returncode == 0, done.stderr
    statistics = json.loads(done.stdout)["statistics"]
    assert statistics["target_id"].endswith(GPU)
    assert statistics["occupancy"] == 8
    source = ("-x", "hip", ROOT / "examples" / name / f"{name}.cu", "-I", SOURCES)
    build("-O3", *source, "--cuda-device-only", "--no-gpu-bundle-output", "-DNDEBUG", "-o", clangs)
    assert _code(ours, kernel) == _code(clangs, kernel)


def test_explain_counts_registers_of_the_gpu(programs: Path) -> None:
    line = ("explain", programs / "stencil2d", "diffuse", "--value", "width=100")
    done = mneme(*line, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    assert f"compiled for {GPU}" in done.stdout
    nothing = next(line for line in done.stdout.splitlines() if "nothing" in line)
    assert re.search(r"│\s+[1-9][0-9]* │$", nothing), nothing


def test_any_pipeline_makes_code_for_another_gpu_or_is_a_sentence(
    hip_recordings: dict[str, tuple[Path, Finished]],
) -> None:
    (record,) = records(hip_recordings["heat3d"][0])
    for pipeline in PipelineManager().generate(samples=8, mean_passes=30, std=10, seed=3):
        done = mneme("compile", record, pipeline, "--arch", "gfx942", "--no-cache")
        if done.returncode == 0:
            assert json.loads(done.stdout)["statistics"]["vgpr_count"] > 0
        else:
            # 3: an LLVM other than the one that listed the passes may not know one.
            assert done.returncode in (3, 7), done.stderr
            assert done.stderr.startswith("mneme: "), done.stderr
    done = mneme("compile", record, "--arch", "gfx1030")
    assert done.returncode == 6, done.stderr
    assert "build the program with --offload-arch=gfx1030" in done.stderr


def test_production_run_takes_what_was_tuned(
    programs: Path, hip_recordings: dict[str, tuple[Path, Finished]], tmp_path: Path
) -> None:
    (record,) = records(hip_recordings["stencil2d"][0])
    results = tmp_path / "results"
    line = ["tune", "-rdb", record, "-rid", instances(record)[0], "--trials", "1", "--quiet"]
    line += ["--space-preset", "quick", "--device", "cpu", "--results-dir", results]
    done = mneme(*line)
    assert done.returncode == 0, done.stderr
    # Which of two configurations is faster is noise here; what is deployed has to be certain.
    best = json.loads((results / "best.json").read_text())
    best["trial"] = 1
    best["config"].update(passes="default<O1>", specialize=True)
    best["gain"] = {"ratio": 1.5, "low": 1.4, "high": 1.6, "significant": True, "rounds": 12}
    (results / "best.json").write_text(json.dumps(best))
    tuned = tmp_path / "tuned.json"
    done = mneme("deploy", results, "-o", tuned)
    assert done.returncode == 0, done.stderr
    done = mneme("deploy", "--check", tuned, programs / "stencil2d")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(
        programs,
        "stencil2d",
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_CACHE_DIR=str(tmp_path / "cache"),
        PROTEUS_TRACE_OUTPUT="kernel-trace",
    )
    assert done.stdout == run(programs, "stencil2d").stdout
    assert "variant 0, fits this launch" in done.stderr


def build(*arguments: str | Path, gpu: str = GPU) -> None:
    """Run the compiler wrapper as a Makefile would, once for all tests that want the same."""
    words = [f"--offload-arch={gpu}", "-O2", "-w", *map(str, arguments)]
    place = words.index("-o") + 1
    output, words[place] = words[place], "output"
    files = [Path(word) for word in words if Path(word).is_file()]
    facts = [*words, *(f"{file.stat().st_mtime_ns}" for file in files)]

    def compile_all(folder: Path) -> None:
        words[place] = str(folder / "output")
        done = run_command(BUILD / "bin" / "mneme-cxx", *words)
        assert done.returncode == 0, done.stderr

    folder = made_once(f"hip-{sha256(repr(facts).encode()).hexdigest()[:16]}", compile_all)
    shutil.copy(folder / "output", output)


def hidden_program(folder: Path, *options: str) -> Path:
    """Build two units with variables that no host code names."""
    first, second = folder / "first.o", folder / "second.o"
    build(*options, "-c", APPS / "hidden.hip", "-o", first)
    build(*options, "-c", APPS / "hidden.hip", "-DUNIT=second", "-DOTHER", "-o", second)
    linking = ("--hip-link", *options) if options else ()
    build(*linking, first, second, "-o", folder / "hidden", "-lamdhip64")
    return folder / "hidden"


@pytest.fixture(scope="session")
def api_program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The program of tests/apps/hip_api, and its code object."""
    folder = tmp_path_factory.mktemp("api")
    build(APPS / "api.hip", "-o", folder / "api", "-lamdhip64")
    build("--cuda-device-only", APPS / "api.hip", "-o", folder / "api.co")
    return folder / "api", folder / "api.co"


def test_runtime_keeps_the_promises_of_its_api(api_program: tuple[Path, Path]) -> None:
    done = mneme("run", "--device", "cpu", "--", *api_program)
    assert done.stdout == "0 broken promises\n"
    assert "hipMallocMipmappedArray is not supported on the CPU device" in done.stderr


def test_graphs_run_alone_and_recorded(tmp_path: Path) -> None:
    build(APPS / "graphs.hip", "-o", tmp_path / "graphs", "-lamdhip64")
    done = mneme("run", "--device", "cpu", "--", tmp_path / "graphs")
    assert done.stdout == "0 broken promises\n", done.stdout + done.stderr
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", tmp_path / "graphs")
    assert done.stdout == "0 broken promises\n", done.stdout + done.stderr
    assert "recorded 4 instances of 1 kernel (106 launches)" in done.stderr
    assert "not recorded" not in done.stderr


def test_variables_are_recorded(api_program: tuple[Path, Path], tmp_path: Path) -> None:
    """Device, constant and managed ones; what cannot be recorded is named."""
    done = mneme("record", "-rdb", tmp_path, "--device", "cpu", "--", *api_program)
    assert done.stdout == "0 broken promises\n"
    assert "its launch was refused: invalid configuration argument (status 9)" in done.stderr
    by_name = {json.loads(file.read_text())["DemangledName"]: file for file in records(tmp_path)}
    assert len(by_name) == 3
    record = by_name["useVariables(float*)"]
    done = mneme("replay", "-rdb", record, "--device", "cpu", "default<O2>")
    assert done.result["result_class"] == "exact", done.stderr
    # CUDA has no blocks as deep as this one.
    record = by_name["add(int const*, int*, int, int)"]
    launches = json.loads(record.read_text())["instances"]
    (deep,) = (name for name, launch in launches.items() if launch["BlockDims"]["z"] == 100)
    done = mneme("replay", "-rdb", record, "-rid", deep, "--device", "cpu", "default<O2>")
    assert done.result["result_class"] == "exact", done.stderr


def test_relocatable_device_code_goes_all_the_way(tmp_path: Path) -> None:
    """A kernel calls a function and reads a variable of another unit; its bundles are compressed."""
    for unit in ("caller", "callee"):
        build("-fgpu-rdc", "-c", APPS / f"{unit}.hip", "-o", tmp_path / f"{unit}.o")
    objects = (tmp_path / "caller.o", tmp_path / "callee.o")
    program = tmp_path / "relocatable"
    linking = ("--hip-link", "-fgpu-rdc", "--offload-compress")
    build(*linking, *objects, "-o", program, "-lamdhip64")
    recording = tmp_path / "recording"
    done = mneme("record", "-rdb", recording, "--device", "cpu", "--", program)
    assert done.stdout == "thread 63: 378\n", done.stderr
    (record,) = records(recording)
    done = mneme("replay", "-rdb", record, "--device", "cpu", "--specialize", "default<O3>")
    assert done.result["result_class"] == "exact", done.stderr


def test_program_may_use_both_runtimes(tmp_path: Path) -> None:
    objects = (tmp_path / "cuda.o", tmp_path / "hip.o")
    compiler = BUILD / "bin" / "mneme-cxx"
    done = run_command(compiler, "-c", APPS / "both.cu", "-o", objects[0])
    if done.returncode != 0:
        pytest.skip(f"CUDA cannot be compiled here: {done.stderr.splitlines()[0]}")
    build("-c", APPS / "both.hip", "-o", objects[1])
    program = tmp_path / "both"
    done = run_command(compiler, *objects, "-o", program, "-lcudart", "-lamdhip64")
    assert done.returncode == 0, done.stderr
    recording = tmp_path / "recording"
    done = mneme("record", "-rdb", recording, "--device", "cpu", "--", program)
    cuda = "CUDA: 36, cudaSuccess, device memory: 1\n"
    assert done.stdout == f"{cuda}HIP: 189, hipSuccess\n{cuda}"
    both = records(recording)
    assert {json.loads(record.read_text())["Arch"][:2] for record in both} == {"sm", "gf"}
    for record in both:
        done = mneme("replay", "-rdb", record, "--device", "cpu", "default<O2>")
        assert done.result["result_class"] == "exact", done.stderr


def test_device_is_the_gpu_the_program_is_built_for(tmp_path: Path) -> None:
    build(APPS / "wave.hip", "-o", tmp_path / "wave", "-lamdhip64", gpu="gfx1030")
    done = mneme("run", "--device", "cpu", "--", tmp_path / "wave")
    assert done.stdout == "gfx1030 10.3: 32 32\n", done.stderr


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_behind_pointers(tmp_path: Path, level: str) -> None:
    program = tmp_path / "functions"
    build(APPS / "functions.hip", level, "-o", program, "-lamdhip64")
    done = mneme("record", "-rdb", tmp_path / "db", "--device", "cpu", "--", program)
    assert done.stdout == "4032 7213 4034 7217\n", done.stderr
    replayed = 0
    for record in records(tmp_path / "db"):
        done = mneme("replay", "-rdb", record, "--device", "cpu", "default<O2>")
        assert done.result["result_class"] == "exact", done.stderr
        replayed += 1
    assert replayed == 3


def test_properties_of_newer_releases_have_their_layout() -> None:
    """HIP 6 and 7 call hipGetDevicePropertiesR0600, whose struct these headers do not know."""
    # In a process of its own: one that is loaded late finds little room for variables of threads.
    code = (
        "import ctypes, sys\n"
        "runtime = ctypes.CDLL(sys.argv[1])\n"
        'properties = ctypes.create_string_buffer(b"\\xff" * 1480, 1480)\n'
        "assert runtime.hipGetDevicePropertiesR0600(properties, 0) == 0\n"
        "print(properties.raw.hex())\n"
    )
    library = BUILD / "lib" / "libmneme_hiprt.so"
    properties = bytes.fromhex(run_command(sys.executable, "-c", code, library).stdout)
    assert properties[:5] == b"CPU ("
    assert int.from_bytes(properties[308:312], "little") == 64  # warpSize
    assert properties[1160:1166] == b"gfx90a"
    assert properties[1472:] == b"\xff" * 8


def test_every_function_of_the_vendors_library_is_there() -> None:
    """None reaches the vendor's own, which finds no GPU. What tools use to look on is left to it."""
    found = sorted(Path("/usr/lib").glob("*/libamdhip64.so.*"))
    if not found:
        pytest.skip("no libamdhip64 in /usr/lib")

    def exported(library: Path) -> set[str]:
        tool = Path(mneme("config", "llvmdir").stdout.strip()) / "bin" / "llvm-nm"
        lines = run_command(tool, "-D", "--defined-only", "-j", library).stdout.split()
        return {line.partition("@")[0] for line in lines}

    missing = exported(found[0]) - exported(BUILD / "lib" / "libmneme_hiprt.so")
    looking_on = re.compile(r"hip(\w*Callback|ApiName|KernelNameRef\w*|GetCmdName)|__hipGetPCH")
    assert not {name for name in missing if re.match("(__|_Z[0-9]+)?hip[A-Z]", name)} - {
        name for name in missing if looking_on.fullmatch(name)
    }
