"""Tuned and annotated kernels of HIP programs under the vendor's runtime, which a stand-in plays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Finished, mneme, run_command
from test_hip import APPS, PROGRAMS, build, hidden_program, hip, programs  # noqa: F401 - fixtures
from test_hip_stand_in import STAND_IN, on_stand_in, stand_in  # noqa: F401 - skips without it
from tuned_runs import TRACE, counts, kernels_of, warnings, write_tuned

pytestmark = [pytest.mark.hip, pytest.mark.compile]


def tuned_run(
    program: Path, folder: Path, *arguments: str, fault: str = "", **keys: object
) -> Finished:
    """Run a program with all of its kernels tuned alike."""
    return on_stand_in(
        program,
        *arguments,
        PROTEUS_TUNED_KERNELS=str(
            write_tuned(folder / "tuned.json", kernels_of([program]), **keys)
        ),
        PROTEUS_CACHE_DIR=str(folder / "cache"),
        PROTEUS_TRACE_OUTPUT=TRACE,
        MNEME_CARRY_IR="1",
        MNEME_STAND_IN_FAULT=fault,
    )


@pytest.fixture(scope="module")
def memory_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine launches: device and constant variables, streams, a cooperative one."""
    program = tmp_path_factory.mktemp("memory") / "memory"
    build(APPS / "memory.hip", "-o", program, "-lamdhip64")
    return program


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "reduction"])
def test_examples_run_tuned(name: str, programs: Path, tmp_path: Path) -> None:  # noqa: F811
    plain = on_stand_in(programs / name, *PROGRAMS[name])
    for stored in (0, 1):
        done = tuned_run(programs / name, tmp_path, *PROGRAMS[name], SpecializeArgs=True)
        assert (done.stdout, done.returncode) == (plain.stdout, 0), done.stderr
        found = counts(done.stderr)
        assert found.tuned > 0
        assert (found.as_built, found.failed, found.stored_before) == (0, 0, stored)


def test_variables_stay_the_programs(memory_program: Path, tmp_path: Path) -> None:
    done = tuned_run(memory_program, tmp_path, Pipeline="default<O2>")
    assert done.stdout == on_stand_in(memory_program).stdout, done.stderr
    found = counts(done.stderr)
    assert (found.tuned, found.as_built, found.failed) == (9, 0, 0)


@pytest.mark.parametrize("options", [(), ("-fgpu-rdc",)], ids=["units apart", "relocatable"])
def test_variables_that_no_host_code_names_stay_the_programs(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """Static ones; two units have some of the same names."""
    program = hidden_program(tmp_path, *options)
    done = tuned_run(program, tmp_path)
    assert done.stdout == on_stand_in(program).stdout, done.stderr
    found = counts(done.stderr)
    assert (found.tuned, found.as_built, found.failed) == (14, 0, 0), done.stderr


def test_variables_of_another_unit_are_found(tmp_path: Path) -> None:
    for unit in ("caller", "callee"):
        build("-fgpu-rdc", "-c", APPS / f"{unit}.hip", "-o", tmp_path / f"{unit}.o")
    objects = (tmp_path / "caller.o", tmp_path / "callee.o")
    build("--hip-link", "-fgpu-rdc", *objects, "-o", tmp_path / "rdc", "-lamdhip64")
    done = tuned_run(tmp_path / "rdc", tmp_path)
    assert done.stdout == on_stand_in(tmp_path / "rdc").stdout
    assert (counts(done.stderr).tuned, counts(done.stderr).failed) == (1, 0), done.stderr


def test_a_graph_captures_tuned_kernels(tmp_path: Path) -> None:
    build(APPS / "graphs.hip", "-o", tmp_path / "graphs", "-lamdhip64")
    done = tuned_run(tmp_path / "graphs", tmp_path)
    assert done.stdout == "0 broken promises\n", done.stderr
    assert counts(done.stderr).tuned > 0


@pytest.mark.parametrize(
    ("fault", "tuned", "said"),
    [
        ("hipModuleLoadData", 0, "loading the tuned kernel"),
        ("hipModuleLoadData:1=hipErrorNoBinaryForGpu", 3, "hipErrorNoBinaryForGpu"),
        ("hipModuleGetFunction", 0, "loading the tuned kernel"),
        ("hipModuleLaunchKernel", 1, ""),
        ("hipModuleLaunchKernel:2=hipErrorOutOfMemory", 8, ""),
        ("missing:hipModuleLaunchCooperativeKernel", 8, ""),
        ("missing:hipModuleLaunchKernel", 0, "this ROCm has no hipModuleLaunchKernel"),
    ],
)
def test_the_program_runs_as_built_where_hip_fails(
    fault: str, tuned: int, said: str, memory_program: Path, tmp_path: Path
) -> None:
    done = tuned_run(memory_program, tmp_path, fault=fault)
    assert (done.stdout, done.returncode) == (on_stand_in(memory_program).stdout, 0), done.stderr
    assert counts(done.stderr).tuned == tuned, done.stderr
    assert said in "\n".join(warnings(done.stderr))


def test_recorded_tuned_and_deployed_on_one_gpu(programs: Path, tmp_path: Path) -> None:  # noqa: F811
    program = programs / "stencil2d"
    found = {"LD_LIBRARY_PATH": str(STAND_IN), "MNEME_CARRY_IR": "1"}
    found["MNEME_HIP_LIBRARY"] = str(STAND_IN / "libamdhip64.so.6")
    recording, results, tuned = tmp_path / "db", tmp_path / "results", tmp_path / "tuned.json"
    done = mneme("record", "-rdb", recording, "--device", "hip:0", "--", program, **found)
    assert done.returncode == 0, done.stderr
    line = ["tune", "-rdb", recording, "--trials", "1", "--quiet", "--space-preset", "quick"]
    done = mneme(*line, "--device", "hip:0", "--results-dir", results, **found)
    assert done.returncode == 0, done.stderr
    # Which of two configurations is faster is noise here; what is deployed has to be certain.
    best = json.loads((results / "best.json").read_text())
    best["trial"] = 1
    best["config"].update(passes="default<O1>", specialize=True)
    best["gain"] = {"ratio": 1.5, "low": 1.4, "high": 1.6, "significant": True, "rounds": 12}
    (results / "best.json").write_text(json.dumps(best))
    done = mneme("deploy", results, "-o", tuned)
    assert done.returncode == 0, done.stderr
    traced = {"PROTEUS_TRACE_OUTPUT": TRACE, "PROTEUS_CACHE_DIR": str(tmp_path / "cache")}
    done = on_stand_in(program, PROTEUS_TUNED_KERNELS=str(tuned), MNEME_CARRY_IR="1", **traced)
    assert done.stdout == on_stand_in(program).stdout
    assert counts(done.stderr).tuned == 10, done.stderr


def test_annotated_kernels_are_compiled_while_the_program_runs(tmp_path: Path) -> None:
    source = ROOT / "tests" / "apps" / "jit" / "pointers.hip"
    program = tmp_path / "pointers"
    done = run_command(
        BUILD / "bin" / "mneme-cxx", "--offload-arch=gfx90a", source, "-o", program, "-lamdhip64"
    )
    assert done.returncode == 0, done.stderr
    plain = mneme("run", "--device", "cpu", "--", program, PROTEUS_CACHE_DIR=str(tmp_path / "cpu"))
    traced = {"PROTEUS_TRACE_OUTPUT": "kernel-trace", "PROTEUS_CACHE_DIR": str(tmp_path / "gpu")}
    done = on_stand_in(program, MNEME_CARRY_IR="1", **traced)
    assert (done.returncode, done.stderr) == (0, "")
    said = [line for line in done.stdout.splitlines() if not line.startswith("[proteus]")]
    assert said == plain.stdout.splitlines()
    assert len(said) == 9
    compiled = [line for line in done.stdout.splitlines() if "specializations=" in line]
    assert len(compiled) == 8
