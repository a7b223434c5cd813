"""`mneme scaffold replay`: the reproducer builds, compiles as mneme does, runs and compares.

There is no GPU here: `link_driver.cpp` is a driver that knows the recorded kernel.
"""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from conftest import ROOT, Finished, mneme, reads_golden, run_command
from pass_plugins import HAS_SHARED_LLVM, built_plugin

from mneme.errors import InvalidArgument
from mneme.install import paths as _paths
from mneme.install.build_settings import build_setting
from mneme.scaffold.rendering import ScaffoldRequest, load_template, render

pytestmark = reads_golden

RECORD = ROOT / "tests" / "golden" / "v2" / "16372073875777044691.json"
LOOPING = RECORD.with_name("13326948811992799613.json")
RECORD_ID = "3913246467672645478"
PASSES = "function(sroa,instcombine<max-iterations=2;no-verify-fixpoint>),default<O2>"
NOTHING_RUN = 77


@pytest.fixture(scope="module")
def reproducer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built reproducer of a recorded launch."""
    folder = tmp_path_factory.mktemp("replay")
    made = mneme("scaffold", "replay", "--out", folder, "-rdb", RECORD, "--passes", PASSES,
                 "--codegen-opt", "2")  # fmt: skip
    assert made.returncode == 0, made.stderr
    configured = run_command(
        *("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja"),
        f"-DCMAKE_CXX_COMPILER={build_setting('cxx')}",
    )
    assert configured.returncode == 0, configured.stdout + configured.stderr
    built = run_command("cmake", "--build", folder / "build")
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def reproduce(reproducer: Path, link_driver: Path, **environment: str) -> Finished:
    return run_command(
        reproducer / "build" / "reproduce", LD_LIBRARY_PATH=str(link_driver), **environment
    )


def test_the_recorded_launch_leaves_what_was_recorded(reproducer: Path, link_driver: Path) -> None:
    done = reproduce(reproducer, link_driver)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SAME" in done.stdout
    assert "Fake GPU, CUDA driver 13.0, code for sm_90" in done.stdout


def test_the_first_difference_is_shown(reproducer: Path, link_driver: Path) -> None:
    done = reproduce(reproducer, link_driver, LINK_DRIVER_WRONG="1")
    assert done.returncode == 1
    # The value of node 2: 16 bytes a node, the value 8 bytes into it.
    assert "region at 0x600000000000, offset 40: expected 0x00000002" in done.stdout
    assert "got 0x00000007" in done.stdout
    assert "DIFFERENT: 1 bytes" in done.stdout


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ("LINK_DRIVER_ELSEWHERE", "address 0x600000000000 is not free in this process"),
        ("LINK_DRIVER_FAULT", "running the kernel: a fake error (700)"),
    ],
)
def test_what_the_driver_refuses_is_said(
    reproducer: Path, link_driver: Path, told: str, sentence: str
) -> None:
    done = reproduce(reproducer, link_driver, **{told: "1"})
    assert done.returncode == 2
    assert sentence in done.stderr


def test_without_a_gpu_it_says_that_nothing_was_run(reproducer: Path, link_driver: Path) -> None:
    done = reproduce(reproducer, link_driver, LINK_DRIVER_ABSENT="1")
    assert done.returncode == NOTHING_RUN
    assert "nothing was run" in done.stderr


def test_it_compiles_to_what_mneme_compiles(reproducer: Path) -> None:
    native = import_module("mneme._native")
    code = native.RecordedCode(RECORD, RECORD_ID)
    configuration = {
        "grid": {"x": 1, "y": 1, "z": 1},
        "block": {"x": 64, "y": 1, "z": 1},
        "passes": PASSES,
        "codegen_opt": 2,
    }
    options = json.dumps({"want_assembly": True, "use_cache": False})
    made = code.compile(json.dumps(configuration), code.recorded_target("sm_90"), options)
    assert (reproducer / "build" / "kernel.ptx").read_text() == made["assembly"]


def test_what_was_built_runs_elsewhere(reproducer: Path, link_driver: Path, tmp_path: Path) -> None:
    for name in ("reproduce", "kernel.cubin"):
        shutil.copy(reproducer / "build" / name, tmp_path / name)
    shutil.copytree(reproducer / "memory", tmp_path / "memory")
    # One byte of the other value of the list's head.
    head = tmp_path / "memory" / "001.after"
    head.write_bytes(b"\1" + head.read_bytes()[1:])
    done = run_command(
        tmp_path / "reproduce", tmp_path / "kernel.cubin", tmp_path / "memory",
        LD_LIBRARY_PATH=str(link_driver),
    )  # fmt: skip
    assert f"code for sm_90: {tmp_path}/kernel.cubin" in done.stdout
    assert "region at 0x7e0000000200 head, offset 0: expected 0x00000001" in done.stdout
    assert done.returncode == 1


def llvm_bin() -> Path:
    found = Path(_paths.config()["llvmdir"]) / "bin"
    assert (found / "opt").exists(), f"LLVM's opt is not in {found}"
    return found


def test_without_ptxas_the_driver_gets_ptx(
    reproducer: Path, link_driver: Path, tmp_path: Path
) -> None:
    build = tmp_path / "build"
    options = ("-DPTXAS=OFF", f"-DLLVM_BIN={llvm_bin()}", "-G", "Ninja")
    configured = run_command("cmake", "-S", reproducer, "-B", build, *options)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    assert run_command("cmake", "--build", build).returncode == 0
    assert not (build / "kernel.cubin").exists()
    done = run_command(build / "reproduce", LD_LIBRARY_PATH=str(link_driver))
    assert done.returncode == 0, done.stdout + done.stderr


def test_memory_files_are_what_was_recorded(reproducer: Path) -> None:
    before = [path.name for path in (reproducer / "memory").iterdir()]
    # Before the launch everything was zero, which needs no file.
    assert sorted(before) == ["000.after", "001.after"]
    head = int.from_bytes((reproducer / "memory" / "001.after").read_bytes(), "little")
    assert head == 0x600000000000
    assert not (reproducer / "memory" / "000.before").exists()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"max_mebibytes": 0}, "--max-mebibytes is 0"),
        ({"target": "cpu"}, "the reproducer needs sm_NN"),
        ({"passes": "no-such-pass"}, "no-such-pass"),
        ({"passes": "function(gvn,mneme-unroll<2>)"}, "takes function.mneme-unroll<N>. alone only"),
    ],
)
def test_what_cannot_be_is_refused(
    values: dict[str, object], sentence: str, tmp_path: Path
) -> None:
    request = ScaffoldRequest(
        template=load_template("replay"), out=tmp_path, values=values, record_database=RECORD
    )
    with pytest.raises(InvalidArgument, match=sentence):
        render(request)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not HAS_SHARED_LLVM, reason="no shared LLVM")
def test_plugin_is_copied_and_its_options_are_for_opt(tmp_path: Path) -> None:
    plugin = built_plugin("planted")
    values = {
        "passes": "planted-nothing,default<O2>",
        "pass_plugin": str(plugin),
        "llvm_options": "unroll-threshold=7 -planted-times=3",
        "assembler_options": "--def-load-cache=cv",
    }
    request = ScaffoldRequest(
        template=load_template("replay"), out=tmp_path, values=values, record_database=RECORD
    )
    files = {Path(file.path).name: file.content for file in render(request).files}
    assert files["plugin.so"] == plugin.read_bytes()
    assert b"-load-pass-plugin=${source}/plugin.so" in files["CMakeLists.txt"]
    for name, count in (("opt.rsp", 1), ("llc.rsp", 0)):
        assert b"-unroll-threshold=7" in files[name]
        assert files[name].count(b"-planted-times=3") == count
    assert files["ptxas.rsp"].endswith(b" --def-load-cache=cv\n")
    values["assembler_options"] = "'; rm"
    with pytest.raises(InvalidArgument, match="which is not an option"):
        render(request)


def test_loops_are_marked_before_tools_of_llvm_see_them(tmp_path: Path) -> None:
    request = ScaffoldRequest(
        template=load_template("replay"),
        out=tmp_path,
        values={"passes": "function(mneme-unroll<7>),default<O2>"},
        record_database=LOOPING,
        record_id="1972764553778116424",
    )
    files = {Path(file.path).name: file.content for file in render(request).files}
    assert b'"-passes=default<O2>"' in files["opt.rsp"]
    assert b"mneme-unroll" not in files["opt.rsp"]
    assert b'!"llvm.loop.unroll.count", i32 7' in files["kernel.ll"]


def test_what_comes_before_loops_are_marked_is_done_already(tmp_path: Path) -> None:
    request = ScaffoldRequest(
        template=load_template("replay"),
        out=tmp_path,
        values={"passes": "default<O1>,function(mneme-unroll<5>),default<O2>"},
        record_database=LOOPING,
        record_id="1972764553778116424",
    )
    files = {Path(file.path).name: file.content for file in render(request).files}
    assert b'"-passes=default<O2>"' in files["opt.rsp"]
    assert b'!"llvm.loop.unroll.count", i32 5' in files["kernel.ll"]
    assert b" alloca " not in files["kernel.ll"]


def test_tools_of_llvm_are_told_what_structurizecfg_needs(tmp_path: Path) -> None:
    request = ScaffoldRequest(
        template=load_template("replay"),
        out=tmp_path,
        values={"passes": "function(structurizecfg),default<O2>"},
        record_database=LOOPING,
        record_id="1972764553778116424",
    )
    files = {Path(file.path).name: file.content for file in render(request).files}
    assert b"(lower-switch,break-crit-edges,fix-irreducible,unify-loop-exits," in files["opt.rsp"]


def test_constants_that_only_pointers_lead_to_are_plain_memory() -> None:
    has = import_module("mneme.scaffold.for_replay")._has
    ir = b'; kernel\n@limit = addrspace(4) constant i32 3\n@"a b" = constant i32 1\n  load @other, '
    assert [has(ir, name) for name in ("limit", "a b", "other", "")] == [True, True, False, False]
