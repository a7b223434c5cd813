"""`mneme scaffold replay` of code without IR: the reproducer builds, runs and compares.

There is no GPU here: `link_driver.cpp` is a driver that knows the recorded kernel.
"""

from __future__ import annotations

import json
import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Finished, mneme, reads_golden, run_command

from mneme.errors import InvalidArgument, MnemeError, Unsupported
from mneme.install.build_settings import build_setting
from mneme.scaffold.rendering import ScaffoldRequest, load_template, render

pytestmark = reads_golden

RECORD = ROOT / "tests" / "golden" / "v2" / "16372073875777044691.json"
RECORD_ID = "3913246467672645478"
OPTIONS = "// options of the driver's compiler: 0=24 7=1\n"
TEXTURE = {
    "Handle": "0x0000000000000001",
    "Surface": False,
    "Source": "linear",
    "Bytes": 64,
    "Memory": "0x0000600000000000",
    "Size": [16, 0, 0],
    "Format": 32,
    "Channels": 1,
    **dict.fromkeys(("Pitch", "Flags", "Levels"), 0),
    "Sampler": {
        **dict.fromkeys(("Filter", "Flags", "MaxAnisotropy", "MipmapFilter"), 0),
        "Address": [0, 0, 0],
        "Levels": [0, 0, 0],
        "Border": [0, 0, 0, 0],
    },
}
PTXAS = Path(os.environ.get("CUDA_HOME", "/none"), "bin", "ptxas")
needs_ptxas = pytest.mark.skipif(not PTXAS.is_file(), reason="CUDA_HOME names no ptxas")


def _recorded(folder: Path, form: str, code: bytes, **fields: Any) -> Path:
    """Write a recording of the same launch, whose code is an image without IR."""
    folder.mkdir(parents=True, exist_ok=True)
    content = json.loads(RECORD.read_text())
    for name in ("Checksum", "ModuleHashes"):
        del content[name]
    content.update(CodeForm=form, Modules=[f"RecordedCode_1.{form}"], **fields)
    for path in RECORD.parent.glob(f"DeviceState.*.{RECORD.stem}.*"):
        shutil.copy(path, folder / path.name)
    (folder / f"RecordedCode_1.{form}").write_bytes(code)
    (folder / RECORD.name).write_text(json.dumps(content))
    return folder / RECORD.name


def _with(record: Path, **facts: Any) -> None:
    """Write facts about the launch into its record."""
    content = json.loads(record.read_text())
    content["instances"][RECORD_ID].update(facts)
    content["Options"] = {**content.get("Options", {}), "unrecorded_reads": ["clocks"]}
    record.write_text(json.dumps(content))


@pytest.fixture(scope="module")
def ptx() -> str:
    """The kernel's PTX, with its variable in it."""
    native = import_module("mneme._native")
    code = native.RecordedCode(RECORD)
    configuration = {"grid": {"x": 1, "y": 1, "z": 1}, "block": {"x": 64, "y": 1, "z": 1}}
    options = json.dumps({"want_assembly": True})
    made = code.compile(json.dumps(configuration), code.recorded_target("sm_90"), options)
    return str(made["assembly"]).replace(".extern .global", ".visible .global")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, ptx: str) -> Path:
    """A folder with the reproducer of PTX, built without CMake and without mneme."""
    folder = tmp_path_factory.mktemp("replay")
    record = _recorded(folder / "db", "ptx", (OPTIONS + ptx + "\0").encode())
    _with(record, Limits={"Stack": 65536}, Multiprocessors={"Used": 32, "Of": 132})
    made = mneme("scaffold", "replay", "--out", folder / "out", "-rdb", record)
    assert made.returncode == 0, made.stderr
    built = run_command(
        *(build_setting("cxx"), "-std=c++17", "-Wall", "-Wextra", "-Werror"),
        *(folder / "out" / "main.cpp", "-o", folder / "out" / "reproduce", "-ldl"),
    )
    assert built.returncode == 0, built.stderr
    shutil.rmtree(folder / "db")
    return folder / "out"


def _reproduce(
    program: Path, link_driver: Path, *words: str | Path, **environment: str
) -> Finished:
    command = f'cd "{program}" && exec ./reproduce {" ".join(map(str, words))}'
    return run_command("sh", "-c", command, LD_LIBRARY_PATH=str(link_driver), **environment)


HERE = {"LINK_DRIVER_HEAD": "1", "LINK_DRIVER_OPTIONS": "0=24 7=1 "}


def test_limits_of_the_context_are_raised_and_the_rest_is_told(
    program: Path, link_driver: Path
) -> None:
    assert "kLimits[] = {{0, 65536}, {0, 0}}" in (program / "launch.h").read_text()
    assert _reproduce(program, link_driver, LINK_DRIVER_STACK="65536", **HERE).returncode == 0
    done = _reproduce(program, link_driver, LINK_DRIVER_STACK="65537", **HERE)
    assert (done.returncode, done.stderr) == (2, "launching the kernel: a fake error (719)\n")
    text = (program / "README.md").read_text()
    assert "everything that the kernel uses: clocks. Memory may differ" in text
    assert "The recorded launch used 32 of 132 multiprocessors; here it gets all." in text
    assert "ends with 2; without a GPU" in text


def test_the_recorded_launch_leaves_what_was_recorded(program: Path, link_driver: Path) -> None:
    done = _reproduce(program, link_driver, **HERE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Fake GPU, CUDA driver 13.0, code for sm_90: code.ptx" in done.stdout
    assert "SAME: the kernel leaves what was recorded" in done.stdout


def test_differences_are_shown_in_memory_and_in_variables(program: Path, link_driver: Path) -> None:
    done = _reproduce(program, link_driver, LINK_DRIVER_WRONG="1", **HERE)
    assert done.returncode == 1
    assert "region at 0x600000000000, offset 40: expected 0x00000002" in done.stdout
    assert "DIFFERENT: 1 bytes" in done.stdout
    other = program.parent / "other"
    shutil.copytree(program / "memory", other)
    # The variable is where the image has it, and is compared there.
    changed = next(path for path in other.iterdir() if len(path.read_bytes()) == 8)
    changed.write_bytes(b"\1" + changed.read_bytes()[1:])
    done = _reproduce(program, link_driver, "code.ptx", other, **HERE)
    assert "region at 0x7e0000000200 head, offset 0: expected 0x00000001" in done.stdout
    assert done.returncode == 1


def test_options_of_the_program_for_its_driver_are_given(program: Path, link_driver: Path) -> None:
    assert "int kJitOptions[] = {0, 7, 0}" in (program / "launch.h").read_text()
    done = _reproduce(program, link_driver, **{**HERE, "LINK_DRIVER_OPTIONS": "0=32 "})
    assert done.returncode == 2
    assert "loading code.ptx: a fake error (1)" in done.stderr
    assert (program / "ptxas.rsp").read_text() == "-arch=sm_90 -O1 --maxrregcount=24\n"


@needs_ptxas
def test_machine_code_of_ptxas_runs_instead(program: Path, link_driver: Path) -> None:
    words = ("--options-file", program / "ptxas.rsp", program / "code.ptx")
    done = run_command(PTXAS, *words, "-o", program / "kernel.cubin")
    assert done.returncode == 0, done.stderr
    done = _reproduce(program, link_driver, "kernel.cubin", "memory", **HERE)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_ptxas
def test_cmake_builds_it_with_other_limits_and_options(
    ptx: str, link_driver: Path, tmp_path: Path
) -> None:
    record = _recorded(tmp_path / "db", "ptx", ptx.encode())
    words = ("--max-threads", "128", "--min-blocks-per-sm", "2", "--max-registers", "32")
    ours = ("--codegen-opt", "1", "--assembler-options=--def-load-cache=cg")
    made = mneme("scaffold", "replay", record, "--out", tmp_path / "out", *words, *ours)
    assert made.returncode == 0, made.stderr
    code = (tmp_path / "out" / "code.ptx").read_text()
    for directive in (".maxntid 128", ".minnctapersm 2", ".maxnreg 32"):
        assert f"\n{directive}\n" in code
    options = (tmp_path / "out" / "ptxas.rsp").read_text()
    assert options == "-arch=sm_90 -O1 --def-load-cache=cg\n"
    configured = run_command(
        *("cmake", "-S", tmp_path / "out", "-B", tmp_path / "build", "-G", "Ninja"),
        *(f"-DCMAKE_CXX_COMPILER={build_setting('cxx')}", f"-DPTXAS={PTXAS}"),
    )
    assert configured.returncode == 0, configured.stdout + configured.stderr
    built = run_command("cmake", "--build", tmp_path / "build")
    assert built.returncode == 0, built.stdout + built.stderr
    done = run_command(
        tmp_path / "build" / "reproduce", LD_LIBRARY_PATH=str(link_driver), LINK_DRIVER_HEAD="1"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{tmp_path}/build/kernel.cubin" in done.stdout


def _files(record: Path, **values: object) -> dict[str, bytes]:
    request = ScaffoldRequest(
        template=load_template("replay"), out=Path("out"), values=values, record_database=record
    )
    return {str(one.path.relative_to("out")): one.content for one in render(request).files}


def test_ptxas_assembles_for_the_features_that_code_needs(ptx: str, tmp_path: Path) -> None:
    code = ptx.replace(".target sm_90", ".target sm_90a")
    record = _recorded(tmp_path, "ptx", code.encode())
    assert _files(record)["ptxas.rsp"] == b"-arch=sm_90a -O3\n"
    assert _files(record, target="sm_100")["ptxas.rsp"] == b"-arch=sm_100 -O3\n"
    with pytest.raises(InvalidArgument, match="the reproducer needs sm_NN"):
        _files(record, target="cpu")


def test_ptxas_makes_the_code_where_its_options_are_asked_for(ptx: str, tmp_path: Path) -> None:
    record = _recorded(tmp_path, "ptx", ptx.encode())
    by_driver, by_ptxas = _files(record), _files(record, codegen_opt=1)
    command = "\n    ptxas --options-file ptxas.rsp code.ptx -o kernel.cubin\n    g++ "
    for files, image, compiler in (
        (by_driver, "code.ptx", "\nThe driver compiles `code.ptx`"),
        (by_ptxas, "kernel.cubin", "\nptxas compiles `code.ptx`"),
    ):
        text = files["README.md"].decode()
        assert f'#define IMAGE "{image}"'.encode() in files["main.cpp"]
        assert compiler in text
        assert (command in text) == (files is by_ptxas)
    with pytest.raises(InvalidArgument, match="needs --max-threads"):
        _files(record, min_blocks_per_sm=2)


def test_options_that_ptxas_does_not_have_are_named(ptx: str, tmp_path: Path) -> None:
    code = "// options of the driver's compiler: 0=24 11=1 14=1\n" + ptx
    record = _recorded(tmp_path, "ptx", code.encode())
    files = _files(record)
    assert files["ptxas.rsp"] == b"-arch=sm_90 -O3 --maxrregcount=24\n"
    assert b"`CUjit_option`: `11=1 14=1`.\n" in files["README.md"]
    assert b"CUjit_option" not in _files(_recorded(tmp_path, "ptx", ptx.encode()))["README.md"]
    record = _recorded(tmp_path, "ptx", code.encode())
    with pytest.raises(Unsupported, match=r"option \(11 of CUjit_option\) that ptxas does not"):
        _files(record, codegen_opt=1)


@pytest.mark.parametrize("form", ["cubin", "fatbin"])
def test_machine_code_and_fat_binaries_stay_as_they_are(form: str, tmp_path: Path) -> None:
    record = _recorded(tmp_path, form, b"\x7fELF machine code")
    files = _files(record)
    assert files[f"code.{form}"] == b"\x7fELF machine code"
    assert "ptxas.rsp" not in files
    assert b"PTXAS" not in files["CMakeLists.txt"]
    assert f'#define IMAGE "code.{form}"'.encode() in files["main.cpp"]
    assert b"kSharedCarveout = -1" in files["launch.h"]
    assert b"kSharedCarveout = 0;" in _files(record, shared_carveout=1)["launch.h"]
    assert b"kCacheConfig = 0;" in files["launch.h"]
    _with(record, CacheConfig="PreferL1")
    assert b"kCacheConfig = 2;" in _files(record)["launch.h"]
    assert b"kCacheConfig = 0;" in _files(record, shared_carveout=1)["launch.h"]
    # No variable is known to be in the image: the memory is where it was.
    assert b"true," not in files["launch.h"].partition(b"kRegions")[2]
    for option, value in (("codegen_opt", 1), ("max_threads", 64), ("max_registers", 32)):
        with pytest.raises(Unsupported, match=f"which --{option.replace('_', '-')} needs"):
            _files(record, **{option: value})


@pytest.mark.parametrize(
    ("fields", "values", "refused", "sentence"),
    [
        ({}, {"passes": "default<O1>"}, Unsupported, "without IR .* which --passes needs"),
        ({}, {"specialize": True}, Unsupported, "which --specialize needs"),
        ({}, {"llvm": "ptx"}, Unsupported, "without PTX: its code is a cubin; leave --llvm out"),
        ({"Textures": [TEXTURE]}, {}, Unsupported, "reads textures, which the reproducer"),
        (
            {"DeviceHeap": {"Address": "0x0000000100000000", "Bytes": 1 << 23}},
            {},
            Unsupported,
            "uses the device's heap",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    fields: dict[str, Any],
    values: dict[str, object],
    refused: type[MnemeError],
    sentence: str,
    tmp_path: Path,
) -> None:
    record = _recorded(tmp_path, "cubin", b"machine code")
    _with(record, **fields)
    with pytest.raises(refused, match=sentence):
        _files(record, **values)


def test_jobs_need_no_ir_and_a_script_that_tunes_it_does(tmp_path: Path) -> None:
    record = _recorded(tmp_path, "cubin", b"machine code")
    for name in ("slurm", "flux", "ci"):
        request = ScaffoldRequest(template=load_template(name), record_database=record)
        assert render(request).files
    request = ScaffoldRequest(template=load_template("tune"), record_database=record)
    with pytest.raises(Unsupported, match="was recorded without IR"):
        render(request)


def test_an_image_for_the_cpu_device_is_refused(tmp_path: Path) -> None:
    record = _recorded(tmp_path, "cpu", b"an image")
    with pytest.raises(Unsupported, match="image for the CPU device.*NVIDIA GPUs only"):
        _files(record)


def test_code_that_ran_is_taken_where_there_is_ir(ptx: str, tmp_path: Path) -> None:
    shutil.copytree(RECORD.parent, tmp_path, dirs_exist_ok=True)
    record = tmp_path / RECORD.name
    with pytest.raises(Unsupported, match="without the code that its program ran; template replay"):
        _files(record, llvm="recorded")
    content = json.loads(record.read_text())
    del content["Checksum"]
    (tmp_path / "RecordedCode_1.cubin").write_bytes(b"machine code")
    (tmp_path / "RecordedCode_1.ptx").write_text(ptx)
    native = import_module("mneme._native")
    content["Images"] = [
        {
            "Form": form,
            "File": f"RecordedCode_1.{form}",
            "Hash": native.content_hash((tmp_path / f"RecordedCode_1.{form}").read_bytes()),
        }
        for form in ("cubin", "ptx")
    ]
    record.write_text(json.dumps(content))
    assert _files(record, llvm="recorded")["code.cubin"] == b"machine code"
    assert b".maxnreg 24\n" in _files(record, llvm="ptx", max_registers=24)["code.ptx"]
    assert "kernel.ll" in _files(record)
    with pytest.raises(InvalidArgument, match="--passes is for IR, and --llvm takes"):
        _files(record, llvm="ptx", passes="default<O1>")
