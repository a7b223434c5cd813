"""`mneme explain` and `mneme show` of launches that were recorded without IR."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli_parts import mneme_here
from mneme.cli.exit_codes import ExitCode
from mneme.machine_code import PtxFacts, Resources, code_facts
from mneme.machine_code.ptx_features import PTX_FEATURES
from mneme.measure.compile_record import CompiledKernel
from mneme.recording.configured import configured
from mneme.recording.recorded_execution import RecordedExecution
from mneme.why import Way, comparison
from mneme.why.build import _figures
from native_parts import needs_native

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "tests" / "unit" / "embed" / "images"
GOLDEN = ROOT / "tests" / "golden" / "v1"
STATIC_HASH = "1416834155090425783"
PTXAS = Path(os.environ.get("CUDA_HOME", "/none"), "bin", "ptxas")

needs_ptxas = pytest.mark.skipif(
    not PTXAS.is_file(), reason="CUDA_HOME names no toolkit with ptxas"
)


def recorded(folder: Path, form: str, image: bytes, **changes: Any) -> Path:
    """Make a recording of one launch of `uses`, whose code is this."""
    shutil.copytree(GOLDEN, folder, ignore=shutil.ignore_patterns("*14750330367451325428*"))
    record = folder / f"{STATIC_HASH}.json"
    content = json.loads(record.read_text())
    launch = next(name for name in content["instances"] if name.startswith("1972"))
    content["instances"] = {launch: {**content["instances"][launch], "BlockDims": BLOCK}}
    names = {"KernelName": "uses", "DemangledName": "uses", "CodeForm": form, "Arch": "sm_80"}
    code = f"RecordedCode_{STATIC_HASH}.{form}"
    del content["Checksum"], content["ModuleHashes"]
    record.write_text(json.dumps({**content, **names, "Modules": [code], **changes}))
    (folder / code).write_bytes(image)
    return folder


BLOCK = {"x": 64, "y": 2, "z": 1}
PTX = (IMAGES / "uses.ptx").read_bytes()
CUBIN = (IMAGES / "uses.cubin").read_bytes()


def explained(*words: str | Path, **environment: str) -> dict[str, Any]:
    environment.setdefault("MNEME_NVDISASM", "/none")
    done = mneme_here("explain", *words, "--json", **environment)
    assert done.returncode == ExitCode.OK, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@needs_native
def test_a_cubin_is_explained_by_what_it_uses(tmp_path: Path) -> None:
    found = explained(recorded(tmp_path / "db", "cubin", CUBIN))
    (one,) = found["configurations"]
    assert (one["name"], found["target"]) == ("recorded", "sm_80")
    assert one["code"]["ptx"] is None
    assert one["code"]["resources"]["registers"] == one["figures"]["registers"] == 14
    assert one["figures"] == {
        **dict.fromkeys(("waves_per_simd", "spilled_bytes")),
        "registers": 14,
        "register_limit": 128,
        "shared_bytes": 4096,
        "local_bytes": 400,
        "barriers": 4,
        "constant_bytes": 64,
        "code_bytes": 1024,
        "occupancy": 1.0,
    }
    assert one["occupancy"]["limits"] == ["threads"]
    assert (one["opcodes"], one["features"], one["passes"]) == (None, {}, [])
    assert [one["options"] for one in found["can_be_tried"]] == ["--shared-carveout 49"]


@needs_native
@needs_ptxas
def test_ptx_is_explained_by_its_text_and_what_ptxas_makes_of_it(tmp_path: Path) -> None:
    directory = recorded(tmp_path / "db", "ptx", PTX)
    variants = [f"--variant={one}" for one in ("few=--max-registers 16", "o0=--codegen-opt 0")]
    found = explained(directory, "recorded", *variants, "--arch", "sm_90")
    usual, few, o0 = found["configurations"]
    assert usual["code"]["ptx"]["features"]["loops"] == 1
    assert usual["accesses"]["st.local.4"] == 2
    assert usual["code"]["ptx"]["max_registers"] == 0
    assert few["code"]["ptx"]["max_registers"] == 16
    assert usual["code"]["resources"]["target"] == found["target"] == "sm_90"
    assert o0["figures"]["code_bytes"] > usual["figures"]["code_bytes"]
    differences = found["differences"]["figures"]
    assert differences["code_bytes"] == [one["figures"]["code_bytes"] for one in (usual, few, o0)]
    assert found["differences"]["features"] == {}
    options = [one["options"] for one in found["can_be_tried"]]
    text = " ".join(mneme_here("explain", directory).stdout.split())
    assert "PTX 8.0 for sm_80 declares at most 256 threads of a block, 2 blocks on a m" in text
    assert "--codegen-opt 1, --codegen-opt 2, --ptxas=OPTION" in options
    assert "--set-launch-bounds" not in options  # the PTX has some


@needs_native
def test_what_is_told_is_for_the_gpu_that_ptx_names_or_an_option(tmp_path: Path) -> None:
    directory = recorded(tmp_path / "db", "ptx", PTX)
    told = explained(directory, MNEME_ASSEMBLER="driver")
    assert (told["target"], told["is_target_assumed"]) == ("sm_80", True)
    done = mneme_here("explain", directory, MNEME_ASSEMBLER="driver")
    text = " ".join(done.stdout.split())
    assert "can be tried for sm_80, which the PTX names; --arch names your GPU -" in text
    told = explained(directory, "--arch", "sm_90", MNEME_ASSEMBLER="driver")
    assert (told["target"], told["is_target_assumed"]) == ("sm_90", False)
    cubin = recorded(tmp_path / "cubin", "cubin", CUBIN)
    assert not explained(cubin)["is_target_assumed"]
    assert "names your GPU" not in mneme_here("explain", cubin).stdout


@needs_native
@needs_ptxas
@pytest.mark.skipif(not PTXAS.with_name("fatbinary").is_file(), reason="no fatbinary")
def test_ptx_in_a_fat_binary_is_told_about_in_the_same_way(tmp_path: Path) -> None:
    ptx, made = tmp_path / "k.ptx", tmp_path / "k.fatbin"
    ptx.write_bytes(PTX.replace(b"sm_80", b"sm_52"))
    command = [PTXAS.with_name("fatbinary"), f"--create={made}"]
    subprocess.run([*command, f"--image3=kind=ptx,sm=52,file={ptx}"], check=True, timeout=60)
    told = explained(recorded(tmp_path / "db", "fatbin", made.read_bytes(), Arch="sm_52"))
    assert told["target"] in ("sm_70", "sm_75")
    assert told["is_target_assumed"]


@needs_native
@needs_ptxas
def test_ptx_for_an_old_gpu_is_told_about_on_the_oldest_that_tools_know(tmp_path: Path) -> None:
    ptx = PTX.replace(b"sm_80", b"sm_52")
    directory = recorded(tmp_path / "db", "ptx", ptx, Arch="sm_52")
    told = explained(directory, "recorded", "--variant=few=--max-registers 16")
    assert told["target"] in ("sm_70", "sm_75")  # by what this ptxas knows
    assert told["configurations"][0]["figures"]["occupancy"] is not None
    assert {one["target_cpu"] for one in told["configurations"]} == {told["target"]}
    text = " ".join(mneme_here("explain", directory).stdout.split())
    assert f"for {told['target']}, the oldest GPU that can be told about (the PTX n" in text
    page = tmp_path / "why.html"
    mneme_here("explain", directory, "--html", page)
    assert "(the PTX names sm_52); --arch names your GPU" in page.read_text()
    wrong = recorded(tmp_path / "wrong", "ptx", ptx.replace(b"ret;", b"rat;"), Arch="sm_52")
    done = mneme_here("explain", wrong)
    assert done.returncode not in (ExitCode.OK, ExitCode.INTERNAL)
    assert "sm_120" not in done.stderr


def test_all_configurations_are_for_the_gpu_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = RecordedExecution.from_json(
        recorded(tmp_path / "db", "ptx", PTX) / f"{STATIC_HASH}.json"
    )
    (launch,) = record.values()
    ways = [Way(name=one, configuration=configured(record, launch)) for one in ("a", "b")]
    wanted = []

    def build(_way: Way, _database: Path, _launch: str, target: str, _limit: float | None) -> Any:
        wanted.append(target)
        compiled = SimpleNamespace(target="sm_75")
        return SimpleNamespace(compiled=compiled, has_ir=True, is_of_ptx=False)

    monkeypatch.setattr(comparison, "build", build)
    comparison.explain_builds(ways, record.path, launch.dynamic_hash)
    assert wanted == ["", "sm_75"]


@needs_native
def test_a_launch_is_chosen_once_and_what_does_nothing_is_named(tmp_path: Path) -> None:
    directory = recorded(tmp_path / "db", "cubin", CUBIN)
    done = mneme_here("explain", directory, "--value", "n=3")
    assert "--value does nothing without IR" in done.stderr
    record = directory / f"{STATIC_HASH}.json"
    content = json.loads(record.read_text())
    ((name, launch),) = content["instances"].items()
    content["instances"] |= {str(int(name) + 1): launch}
    record.write_text(json.dumps(content))
    done = mneme_here("explain", directory)
    assert done.returncode == ExitCode.OK, done.stderr
    assert done.stderr.count("differ in scalar arguments only") == 1


@needs_native
def test_code_for_the_cpu_device_is_refused_in_a_sentence(tmp_path: Path) -> None:
    directory = recorded(tmp_path / "db", "cpu", b"")
    for words in (("uses", "recorded"), ("uses", "--variant=one=-bidx 32")):
        done = mneme_here("explain", directory, *words)
        assert done.returncode == ExitCode.UNAVAILABLE
        assert "for the CPU device), which an explanation of its code needs; its" in done.stderr


@needs_native
def test_code_bytes_are_those_of_the_kernel_with_and_without_ir() -> None:
    for ir in ("", "define void @uses()"):
        compiled = CompiledKernel(
            kernel_name="uses", target="sm_80", image=CUBIN, ir=ir, assembly="", statistics={}
        )
        figures = _figures(compiled, code_facts("uses", CUBIN))
        assert figures["code_bytes"] == 1024  # another kernel is in the image


@needs_native
def test_a_pipeline_of_a_launch_without_ir_is_refused(tmp_path: Path) -> None:
    directory = recorded(tmp_path / "db", "ptx", PTX)
    done = mneme_here("explain", directory, "uses", "default<O1>")
    assert done.returncode == ExitCode.UNAVAILABLE
    assert "'uses' was recorded without IR (its code is PTX), which a conf" in done.stderr
    done = mneme_here("explain", directory, "uses", "--arch", "sm_75")
    assert done.returncode == ExitCode.UNAVAILABLE
    assert "it is for sm_80, and does not run on sm_75" in done.stderr
    done = mneme_here("explain", recorded(tmp_path / "cpu", "cpu", b""))
    assert "(its code is an image for the CPU device), which mneme explain needs" in done.stderr


@needs_native
@pytest.mark.parametrize("form", ["ptx", "cubin", "fatbin"])
def test_damaged_code_is_an_error_and_no_crash(tmp_path: Path, form: str) -> None:
    whole = {"ptx": PTX, "cubin": CUBIN, "fatbin": (IMAGES / "waits.fatbin").read_bytes()}[form]
    for number, image in enumerate((b"", whole[:200], whole[: len(whole) // 2], b"\x7fELF")):
        directory = recorded(tmp_path / str(number), form, image)
        done = mneme_here("explain", directory, MNEME_ASSEMBLER="driver")
        assert done.returncode not in (ExitCode.OK, ExitCode.INTERNAL), image
        assert "uses" in done.stderr or "damaged" in done.stderr or "code is" in done.stderr
        assert "Traceback" not in done.stderr
        shown = mneme_here("show", directory, "--json")
        assert json.loads(shown.stdout)["code"]["problem"], image
        assert "code unread  " in mneme_here("show", directory).stdout


@needs_native
def test_the_text_says_what_the_code_is_and_what_can_be_tried(tmp_path: Path) -> None:
    directory = recorded(tmp_path / "db", "cubin", CUBIN)
    done = mneme_here("explain", directory, MNEME_NVDISASM="/none")
    assert done.returncode == ExitCode.OK, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    text = " ".join(done.stdout.split())
    assert "its code is a cubin without IR: its grid, block, dynamic shared memory and" in text
    assert "registers of a thread 14" in text
    assert "hardware barriers of a block 4" in text
    assert "occupancy 100 %: 16 blocks of 128 threads" in text
    assert "Where compiling took its time" not in text
    assert "LLVM" not in text
    assert "no nvdisasm of a" in text
    page = tmp_path / "why.html"
    done = mneme_here("explain", directory, "--html", page)
    assert "hardware barriers of a block" in page.read_text()
    assert 'id="passes"' not in page.read_text()


@needs_native
def test_opcodes_are_compared_where_a_program_lists_them(tmp_path: Path) -> None:
    program = tmp_path / "nvdisasm"
    lines = "\n".join(f"  /*00{10 + number}0*/  FFMA R1, R2 ;" for number in range(3))
    program.write_text(f"#!/bin/sh\necho '.text.uses:'\ncat <<E\n{lines}\nE\n")
    program.chmod(0o755)
    directory = recorded(tmp_path / "db", "cubin", CUBIN)
    found = explained(directory, MNEME_NVDISASM=str(program))
    assert found["configurations"][0]["opcodes"] == {"FFMA": 3}
    done = mneme_here("explain", directory, MNEME_NVDISASM=str(program))
    assert re.search(r"Instructions of the machine code.*\n  FFMA +3\n", done.stdout)
    assert "no nvdisasm" not in done.stdout


@needs_native
def test_show_has_the_same_numbers(tmp_path: Path) -> None:
    directory = recorded(tmp_path / "db", "cubin", CUBIN)
    code = json.loads(mneme_here("show", directory, "--json").stdout)["code"]
    assert code == explained(directory)["configurations"][0]["code"]
    shown = mneme_here("show", directory).stdout
    assert "machine code  for sm_80: 14 registers, 4.0 KiB static shared memory, 400" in shown
    directory = recorded(tmp_path / "ptx", "ptx", PTX)
    code = json.loads(mneme_here("show", directory, "--json").stdout)["code"]
    assert code["resources"] is None  # nothing is assembled
    assert code["ptx"]["features"]["instructions"] == 28
    shown = mneme_here("show", directory).stdout
    assert "PTX  version 8.0 for sm_80: 28 instructions, 1 loop, blocks of 256 threads at" in shown
    assert json.loads(mneme_here("show", GOLDEN, "walk@1", "--json").stdout)["code"] is None


@needs_native
@needs_ptxas
@pytest.mark.compile
def test_ir_is_compared_with_what_the_programs_compiler_made_of_it(tmp_path: Path) -> None:
    directory = tmp_path / "db"
    shutil.copytree(GOLDEN, directory, ignore=shutil.ignore_patterns("*14750330367451325428*"))
    record = directory / f"{STATIC_HASH}.json"
    content = json.loads(record.read_text())
    del content["Checksum"]
    ptx = directory / f"RecordedCode_{STATIC_HASH}.ptx"
    ptx.write_bytes(PTX.replace(b"uses(", b"_Z4walki("))
    cubin = ptx.with_suffix(".cubin")
    subprocess.run([PTXAS, "-arch=sm_90", ptx, "-o", cubin], check=True, timeout=60)
    images = [
        {"Form": one.suffix[1:], "File": one.name, "Hash": _hash(one)} for one in (cubin, ptx)
    ]
    record.write_text(json.dumps({**content, "Images": images}))
    own = [f"--variant={one}=--llvm {form}" for one, form in (("own", "recorded"), ("of", "ptx"))]
    line = (directory, "walk@1", "default<O3>", *own, "--arch", "sm_90")
    with_ir, image, text = explained(*line)["configurations"]
    assert with_ir["features"]["instructions"] > 0
    assert with_ir["code"]["ptx"]["features"]["instructions"] > 0
    assert (image["code"]["ptx"], image["accesses"], text["features"]) == (None, {}, {})
    assert image["figures"]["registers"] == text["figures"]["registers"]
    assert text["code"]["ptx"]["features"]["instructions"] == 28
    shown = mneme_here("explain", *line).stdout
    assert re.search(r"  instructions of PTX +\d+ +- +28\n", shown)
    assert re.search(r"  store: local memory, 4 bytes +0 +- +2\n", shown)
    assert "    B  not known without IR\n" in shown
    assert "\n  A\n  B\n  C  PTX 8.0" not in shown
    code = json.loads(mneme_here("show", directory, "walk@1", "--json").stdout)["code"]
    assert code["resources"] == image["code"]["resources"]
    assert code["ptx"] == text["code"]["ptx"]


def _hash(path: Path) -> str:
    from mneme import _native  # noqa: PLC0415 - loads native code

    return str(_native.content_hash(path.read_bytes()))


def test_every_field_is_documented() -> None:
    page = (ROOT / "docs" / "explain.md").read_text()
    for name, text in PTX_FEATURES.items():
        assert f"| `{name}` | {text} |" in page
    for kind in (PtxFacts, Resources):
        for name in kind.__dataclass_fields__:
            assert f"`{name}`" in page


@needs_ptxas
@pytest.mark.parametrize(("bounds", "limit"), [("", 128), (".minnctapersm 4", 64)])
def test_launch_bounds_with_a_number_of_blocks_limit_registers(
    tmp_path: Path, bounds: str, limit: int
) -> None:
    """As proposals of more registers have it."""
    source, cubin = tmp_path / "k.ptx", tmp_path / "k.cubin"
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    source.write_text(f"{head}.entry k() .maxntid 256 {bounds} .maxnreg 128 {{ ret; }}")
    subprocess.run([PTXAS, "-arch=sm_90", source, "-o", cubin], check=True, timeout=60)
    uses = code_facts("k", cubin.read_bytes()).resources
    assert uses is not None
    assert uses.register_limit == limit
