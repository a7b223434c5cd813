"""HIP programs are recorded under the vendor's own runtime, which a stand-in plays here."""

from __future__ import annotations

import json
from pathlib import Path

import conftest
import pytest
from conftest import ROOT, Finished, instances, mneme, records
from test_hip import APPS, PROGRAMS, build, hidden_program, hip, programs  # noqa: F401 - fixtures
from test_hip_stand_in import STAND_IN, on_stand_in, stand_in  # noqa: F401 - skips without it

pytestmark = [pytest.mark.hip, pytest.mark.compile]

# The programs load another file than the command, as on a machine with several versions of ROCm.
ENVIRONMENT = {
    "LD_LIBRARY_PATH": str(STAND_IN),
    "MNEME_HIP_LIBRARY": str(STAND_IN / "libamdhip64.so.6"),
    "MNEME_CARRY_IR": "1",
}


def record(folder: Path, *program: str | Path) -> Finished:
    """Record a program on the stand-in's GPU."""
    line = ("record", "-rdb", folder, "-mr", "8", "--device", "hip:0", "--", *program)
    return mneme(*line, **ENVIRONMENT)


def replay_all(folder: Path, device: str) -> list[str]:
    """Replay every launch; what each came to."""
    replayed = conftest.replay_all(folder, device=device, **ENVIRONMENT)
    return [one.why if one.result_class == "failed" else one.result_class for one in replayed]


@pytest.fixture(scope="module")
def memory_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that uses every kind of memory."""
    program = tmp_path_factory.mktemp("memory") / "memory"
    build(APPS / "memory.hip", "-o", program, "-lamdhip64")
    return program


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_goes_there_and_back(
    name: str,
    programs: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    program = (programs / name, *PROGRAMS[name])
    plain = on_stand_in(*program)
    recorded = record(tmp_path, *program)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    (file,) = records(tmp_path)
    facts = json.loads(file.read_text())
    assert (facts["Arch"], facts["Device"], facts["VASize"]) == ("gfx90a", "hip:0", 64 << 30)
    accepted = {"exact"} | (
        {"within_tolerance", "nondeterministic"} if name == "reduction" else set()
    )
    first = instances(file)[0]
    for device in ("cpu", "hip:0"):
        line = ("replay", "-rdb", file, "-rid", first, "--device", device, "default<O3>")
        done = mneme(*line, **ENVIRONMENT)
        assert done.result["result_class"] in accepted, done.stderr


def test_every_kind_of_memory_and_launch(memory_program: Path, tmp_path: Path) -> None:
    plain = on_stand_in(memory_program)
    assert plain.stdout.endswith("then: hipSuccess\n")
    recorded = record(tmp_path, memory_program)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    assert "recorded 9 instances of 4 kernels (10 launches)" in recorded.stderr
    assert replay_all(tmp_path, "cpu") == ["exact"] * 9
    assert replay_all(tmp_path, "hip:0") == ["exact"] * 9


def test_mappings_are_of_one_size_where_rocm_wants_that(
    memory_program: Path, tmp_path: Path
) -> None:
    version = "70226015"
    environment = (f"MNEME_STAND_IN_VERSION={version}", "MNEME_LOG_LEVEL=warn")
    recorded = record(tmp_path, "env", *environment, memory_program)
    assert "recorded 9 instances of 4 kernels (10 launches)" in recorded.stderr
    assert "accessible" not in recorded.stderr
    line = ("replay", "-rdb", records(tmp_path)[0], "--device", "hip:0", "default<O2>")
    done = mneme(*line, **ENVIRONMENT, MNEME_STAND_IN_VERSION=version)
    assert done.result["result_class"] == "exact", done.stderr


@pytest.mark.parametrize("fault", ["", "hipModuleLoadData=hipErrorOutOfMemory"])
def test_a_large_program_is_hashed_on_the_device_if_possible(
    fault: str,
    programs: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    """More than is fetched to the host: our own kernels do it, code objects by then."""
    program = (programs / "vector_add", "4000000")
    environment = (f"MNEME_STAND_IN_FAULT={fault}", "MNEME_LOG_LEVEL=warn")
    recorded = record(tmp_path, "env", *environment, *program)
    assert recorded.stdout == on_stand_in(*program).stdout
    assert ("memory is hashed on the host" in recorded.stderr) == bool(fault)
    assert replay_all(tmp_path, "cpu") == ["exact"]


@pytest.mark.parametrize("arguments", [("beside", "8"), ("cancel", "10"), ("jump",), ("away",)])
def test_threads_do_what_they_do_alone(arguments: tuple[str, ...], tmp_path: Path) -> None:
    source = ROOT / "tests" / "apps" / "threads" / "threads.hip"
    build(source, "-o", tmp_path / "threads", "-lamdhip64", "-pthread")
    recorded = record(tmp_path / "db", tmp_path / "threads", *arguments)
    plain = on_stand_in(tmp_path / "threads", *arguments)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, plain.returncode)
    assert "of 1 kernel" in recorded.stderr


def test_copies_of_other_threads_wait_for_a_recording(tmp_path: Path) -> None:
    source = ROOT / "tests" / "apps" / "threads" / "copies.hip"
    build(source, "-o", tmp_path / "copies", "-lamdhip64", "-pthread")
    recorded = record(tmp_path / "db", tmp_path / "copies")
    plain = on_stand_in(tmp_path / "copies")
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0)
    assert "recorded 5 instances of 1 kernel" in recorded.stderr
    for device in ("cpu", "hip:0"):
        assert replay_all(tmp_path / "db", device) == ["exact"] * 5


def test_graphs_run_as_ever_and_their_kernels_are_recorded(tmp_path: Path) -> None:
    """Nothing is waited for while a stream is captured into one."""
    build(APPS / "graphs.hip", "-o", tmp_path / "graphs", "-lamdhip64")
    recorded = record(tmp_path / "db", tmp_path / "graphs")
    assert recorded.stdout == on_stand_in(tmp_path / "graphs").stdout
    assert "recorded 4 instances of 1 kernel (106 launches)" in recorded.stderr
    assert "not recorded" not in recorded.stderr
    assert replay_all(tmp_path / "db", "hip:0") == ["exact"] * 4


def test_relocatable_device_code_is_recorded(tmp_path: Path) -> None:
    for unit in ("caller", "callee"):
        build("-fgpu-rdc", "-c", APPS / f"{unit}.hip", "-o", tmp_path / f"{unit}.o")
    objects = (tmp_path / "caller.o", tmp_path / "callee.o")
    build("--hip-link", "-fgpu-rdc", *objects, "-o", tmp_path / "rdc", "-lamdhip64")
    recorded = record(tmp_path / "db", tmp_path / "rdc")
    assert recorded.stdout == on_stand_in(tmp_path / "rdc").stdout
    assert replay_all(tmp_path / "db", "cpu") == ["exact"]


@pytest.mark.parametrize("options", [(), ("-fgpu-rdc",)], ids=["units apart", "relocatable"])
def test_variables_that_only_kernels_know_are_recorded(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """Static ones, also those a pointer leads to; two units have some of the same names."""
    program = hidden_program(tmp_path, *options)
    recorded = record(tmp_path / "db", program)
    assert recorded.stdout == on_stand_in(program).stdout
    assert "cannot be found" not in recorded.stderr
    assert "recorded 12 instances of 8 kernels" in recorded.stderr
    for device in ("cpu", "hip:0"):
        assert replay_all(tmp_path / "db", device) == ["exact"] * 12


def test_tables_of_functions_are_recorded(tmp_path: Path) -> None:
    build(APPS / "functions.hip", "-o", tmp_path / "functions", "-lamdhip64")
    recorded = record(tmp_path / "db", tmp_path / "functions")
    assert recorded.stdout == on_stand_in(tmp_path / "functions").stdout
    assert "cannot be found" not in recorded.stderr
    assert replay_all(tmp_path / "db", "cpu") == ["exact"] * 3


def test_variables_that_cannot_be_found_are_named(tmp_path: Path) -> None:
    """Where HIP takes no more variables."""
    build(APPS / "functions.hip", "-o", tmp_path / "functions", "-lamdhip64")
    fault = "MNEME_STAND_IN_FAULT=hipGetSymbolAddress:3=hipErrorInvalidSymbol"
    recorded = record(tmp_path / "db", "env", fault, tmp_path / "functions")
    assert recorded.stdout == on_stand_in(tmp_path / "functions").stdout
    assert "cannot be found: a replay starts it from its initial value" in recorded.stderr


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("missing:hipMemMap", "this ROCm has no hipMemMap"),
        ("missing:hipStreamIsCapturing", "recorded 9 instances"),
        ("elsewhere:hipMemAddressReserve", "recorded where the vendor placed it"),
        ("hipMemAddressReserve", "recorded where the vendor placed it"),
        ("hipMemCreate=hipErrorOutOfMemory", "recorded where the vendor placed it"),
        ("hipMemCreate:2=hipErrorOutOfMemory", "recorded 9 instances"),
        ("hipMemSetAccess:1", "recorded 9 instances"),
        ("hipEventCreateWithFlags", "making an event failed"),
        ("hipMemcpyDtoHAsync:3=hipErrorIllegalAddress", "copying device memory to the host failed"),
        ("hipStreamCreateWithFlags", "making a stream failed"),
        ("hipGetSymbolAddress", "the address of device variable 'step' cannot be found"),
        ("hipHostMalloc:2", "pinning"),
    ],
)
def test_the_program_goes_on_as_ever_where_hip_fails(
    fault: str, said: str, memory_program: Path, tmp_path: Path
) -> None:
    plain = on_stand_in(memory_program)
    recorded = record(tmp_path, "env", f"MNEME_STAND_IN_FAULT={fault}", memory_program)
    assert said in recorded.stderr
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
