"""mneme_apply_tuned(): what a file of tuned kernels says, built into a program."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from cmake_parts import BUILD, HERE, build, configure, run_command, run_here

pytestmark = pytest.mark.compile

SMOOTH, COUNT, PLAIN = "_Z6smoothPKdPdi", "_Z5countIdEvPT_", "_Z5plainPdi"
PIPELINE = "function(sroa),cgscc(inline),function(mneme-unroll<2>),default<O1>"
SMOOTH_ENTRY = {
    "LaunchBounds": True,
    "TunedMaxThreads": 512,
    "MinBlocksPerSM": 2,
    "SpecializeDims": False,
    "Pipeline": PIPELINE,
}
COUNT_ENTRY = {"LaunchBounds": False, "SpecializeArgs": True, "Pipeline": "function(sroa)"}


@dataclass(frozen=True)
class Built:
    """A project built once, and what it said."""

    directory: Path
    tuned_file: Path
    words: str
    plain: str
    """Assembly of the program as it is."""
    tuned: str
    """Assembly of the program that was built ahead of time."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("ahead")
    tuned, directory = folder / "tuned > 1, 2.json", folder / "build"
    tuned.write_text(json.dumps({SMOOTH: SMOOTH_ENTRY, COUNT: COUNT_ENTRY}))
    options = [f"-DTUNED={tuned}"]
    if shutil.which("ccache"):
        # A cache knows of no file that only an option of the passes names.
        launcher = f"cmake;-E;env;CCACHE_DIR={folder / 'cache'};ccache"
        options.append(f"-DCMAKE_CUDA_COMPILER_LAUNCHER={launcher}")
    configured = configure(HERE / "tuned", directory, BUILD, *options)
    assert configured.returncode == 0, configured.words
    words = build(directory, "--parallel", "2").words
    return Built(directory, tuned, words, ptx(directory / "app"), ptx(directory / "tuned_app"))


def ptx(program: Path) -> str:
    """The text of the assembly in a program."""
    content = program.read_bytes()
    begin = content.index(b".version ")
    return content[begin : content.index(b"\0", begin)].decode()


def code_of(assembly: str, kernel: str) -> str:
    """One kernel, without comments, blanks and the numbers of functions in the names of labels."""
    begin = assembly.index(f".entry {kernel}(")
    text = assembly[begin : assembly.index("\n}", begin)]
    text = re.sub(r"\s*//.*", "", text)
    text = re.sub(r"\$L__BB\d+_", "$L_", text)
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def test_code_is_that_of_a_tuned_run(built: Built, tmp_path: Path) -> None:
    database = tmp_path / "db"
    done = run_here(
        BUILD, "record", "-rdb", database, "--device", "cpu", "--", built.directory / "app"
    )
    assert done.returncode == 0, done.stderr
    (record,) = [
        file
        for file in database.glob("*.json")
        if json.loads(file.read_text())["KernelName"] == SMOOTH
    ]
    compiled = tmp_path / "smooth.ptx"
    done = run_here(BUILD, "compile", record, PIPELINE, "--arch", "sm_90", "--ptx", compiled)
    assert done.returncode == 0, done.stderr
    ahead = code_of(built.tuned, SMOOTH)
    assert ahead.replace(".maxnreg 64\n", "") == code_of(compiled.read_text(), SMOOTH)
    assert ahead != code_of(built.plain, SMOOTH)


def test_other_kernels_and_storage_are_as_without(built: Built) -> None:
    assert code_of(built.tuned, PLAIN) == code_of(built.plain, PLAIN)
    assert built.tuned.count(" seen = 1;") == 1
    assert "atom" in built.tuned
    # Without an inliner in its pipeline, the kernel calls what the ordinary one has inside.
    assert "call" in code_of(built.tuned, COUNT)
    assert "call" not in code_of(built.plain, COUNT)


def test_what_is_left_is_told(built: Built) -> None:
    assert (
        "'void count<double>(double*)': left to runs with PROTEUS_TUNED_KERNELS: specialised "
        "arguments, specialised dimensions" in built.words
    )
    assert "'smooth" not in built.words


def test_programs_print_the_same(built: Built) -> None:
    outputs = {
        run_here(BUILD, "run", "--", built.directory / name).stdout
        for name in ("app", "tuned_app", "tuned_rdc_app")
    }
    (output,) = outputs
    assert len(output.split()) == 32


def test_program_is_built_again_when_the_file_changes(built: Built) -> None:
    assert ".maxnreg 64" in built.tuned
    changed = {**SMOOTH_ENTRY, "MinBlocksPerSM": 4, "Pipeline": "default<O3>,no-such-pass"}
    built.tuned_file.write_text(json.dumps({SMOOTH: changed}))
    words = build(built.directory, "--target", "tuned_app").words
    # A pipeline this compiler does not know leaves the kernel with the program's own.
    assert re.search(
        r"'smooth\(double const\*, double\*, int\)' is built with the program's own pipeline, not "
        r"with 'default<O3>,no-such-pass': unknown .*'no-such-pass'",
        words,
    )
    code = code_of(ptx(built.directory / "tuned_app"), SMOOTH)
    assert code.replace(".maxnreg 32\n", "") == code_of(built.plain, SMOOTH)
    assert ".maxnreg 32" in code


@pytest.mark.skipif(
    not Path("/usr/include/hip/hip_runtime.h").is_file()
    or not any(Path("/usr/lib").glob("*/amdgcn/bitcode/ocml.bc")),
    reason="libamdhip64-dev and rocm-device-libs are not installed",
)
def test_hip_program_is_built_with_chosen_and_with_tuned_kernels(tmp_path: Path) -> None:
    tuned = tmp_path / "tuned.json"
    entry = {"LaunchBounds": False, "SpecializeDims": False, "Pipeline": "default<O1>"}
    tuned.write_text(json.dumps({"_Z5halvePdi": entry}))
    configured = run_command(
        *("cmake", "-S", HERE / "hip_program", "-B", tmp_path / "build", "-G", "Ninja"),
        f"-DCMAKE_CXX_COMPILER={BUILD / 'bin' / 'mneme-clang++'}",
        *(f"-DCMAKE_PREFIX_PATH={BUILD}", f"-DTUNED={tuned}", "-DCMAKE_BUILD_TYPE=Release"),
        **dict.fromkeys(("ROCM_PATH", "HIP_PATH", "ROCM_HOME"), ""),
    )
    assert configured.returncode == 0, configured.words
    assert "warning" not in build(tmp_path / "build").words
    for program in ("app", "tuned_app"):
        assert b"__mneme_ir_" in (tmp_path / "build" / program).read_bytes()
