"""Code objects that HIP programs load themselves: their launches are recorded, and replay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from conftest import Finished, mneme, records
from test_hip import APPS, build, hip  # noqa: F401 - skips where there is no HIP
from test_hip_record import record, replay_all
from test_hip_stand_in import on_stand_in, stand_in  # noqa: F401 - skips without it
from tuned_runs import kernels_of, write_tuned

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.hip, pytest.mark.compile]

Command = tuple["Path", ...]


def _named(folder: Path, name: str) -> list[Path]:
    """The records of kernels of this name."""
    return [file for file in records(folder) if _facts(file)["KernelName"] == name]


def _facts(file: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(file.read_text())
    return facts


@pytest.fixture(scope="module")
def loading(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The program with the code objects it loads; the last is one without the program's IR."""
    folder = tmp_path_factory.mktemp("modules")
    code = ("--cuda-device-only", APPS / "module_code.hip")
    build(APPS / "modules.hip", "-o", folder / "modules", "-lamdhip64")
    build(*code, "-o", folder / "one.co")
    build(*code, "-DOTHER", "--no-gpu-bundle-output", "-o", folder / "other.co")
    command = (folder / "modules", folder / "one.co", folder / "other.co")
    done = mneme("record", "-rdb", folder / "db", "--device", "cpu", "--", *command, command[1])
    assert done.returncode == 0, done.stderr
    (alone,) = _named(folder / "db", "alone")
    made = mneme("compile", alone, "--arch", "gfx90a", "-o", folder / "made.co", MNEME_CARRY_IR="1")
    assert made.returncode == 0, made.stderr
    return (*command, folder / "made.co")


def _record_on_cpu(folder: Path, command: Command) -> Finished:
    return mneme("record", "-rdb", folder, "-mr", "8", "--device", "cpu", "--", *command)


@pytest.mark.parametrize("on_gpu", [False, True])
def test_launches_of_loaded_code_are_recorded(
    on_gpu: bool,
    loading: Command,
    tmp_path: Path,
) -> None:
    plain = on_stand_in(*loading) if on_gpu else mneme("run", "--device", "cpu", "--", *loading)
    assert plain.stdout.endswith("then: hipSuccess\n"), plain.stdout + plain.stderr
    recorded = record(tmp_path, *loading) if on_gpu else _record_on_cpu(tmp_path, loading)
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    # Its own `work`, `work` of one object (five times, after which it is loaded anew), of the
    # other, `count` and `raise`.
    assert "recorded 9 instances of 5 kernels" in recorded.stderr
    assert sorted(len(_facts(file)["instances"]) for file in _named(tmp_path, "work")) == [1, 1, 5]
    named = "kernel 'alone': its code, which the program loaded itself, carries no mneme IR"
    assert named in recorded.stderr
    assert replay_all(tmp_path, "cpu") == ["exact"] * 9
    assert replay_all(tmp_path, "hip:0") == ["exact"] * 9


@pytest.mark.parametrize("on_gpu", [False, True])
def test_launches_past_the_compilers_own(on_gpu: bool, tmp_path: Path) -> None:
    """By structures, handles and pointers."""
    program = tmp_path / "launches"
    build(APPS / "launches.hip", "-o", program, "-lamdhip64")
    plain = on_stand_in(program) if on_gpu else mneme("run", "--device", "cpu", "--", program)
    assert plain.stdout.count("hipSuccess") == 7, plain.stdout + plain.stderr
    folder = tmp_path / "db"
    recorded = record(folder, program) if on_gpu else _record_on_cpu(folder, (program,))
    assert (recorded.stdout, recorded.returncode) == (plain.stdout, 0), recorded.stderr
    assert "recorded 6 instances of 1 kernel" in recorded.stderr
    assert replay_all(folder, "cpu") == ["exact"] * 6
    assert replay_all(folder, "hip:0") == ["exact"] * 6


@pytest.mark.parametrize("on_gpu", [False, True])
def test_threads_may_load_and_unload_code(on_gpu: bool, loading: Command, tmp_path: Path) -> None:
    program, folder = tmp_path / "threads", tmp_path / "db"
    build(APPS / "module_threads.hip", "-std=c++20", "-pthread", "-o", program, "-lamdhip64")
    command = (program, loading[1])
    assert on_stand_in(*command).stdout == "0 wrong\n"
    recorded = record(folder, *command) if on_gpu else _record_on_cpu(folder, command)
    assert recorded.stdout == "0 wrong\n", recorded.stderr
    # One of each thread: the values of variables do not tell launches apart.
    assert "recorded 6 instances of 1 kernel (48 launches)" in recorded.stderr
    assert replay_all(folder, "cpu") == ["exact"] * 6


def test_tuned_kernels_of_loaded_code_are_said_to_have_no_effect(
    loading: Command, tmp_path: Path
) -> None:
    assert "alone" in kernels_of([loading[1]])
    tuned = write_tuned(tmp_path / "tuned.json", ["alone"])
    done = on_stand_in(*loading, PROTEUS_TUNED_KERNELS=str(tuned))
    assert done.stdout == on_stand_in(*loading).stdout
    assert "('alone'), none of which is in this program" in done.stderr


def test_a_kernel_that_loaded_code_has_not_is_not_found(tmp_path: Path) -> None:
    source = tmp_path / "asking.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        "#include <cstdio>\n"
        'extern "C" __global__ void present() {}\n'
        "int main(int, char** arguments) {\n"
        "  hipModule_t module{};\n"
        "  hipFunction_t function{};\n"
        "  if (hipModuleLoad(&module, arguments[1]) != hipSuccess)\n"
        "    return 1;\n"
        '  for (const char* name : {"present", "absent"})\n'
        "    std::puts(hipGetErrorName(hipModuleGetFunction(&function, module, name)));\n"
        "}\n"
    )
    build("--cuda-device-only", source, "-o", tmp_path / "code.co")
    build(source, "-o", tmp_path / "asking", "-lamdhip64")
    line = ("run", "--device", "cpu", "--", tmp_path / "asking", tmp_path / "code.co")
    done = mneme(*line)
    assert (done.stdout, done.returncode) == ("hipSuccess\nhipErrorNotFound\n", 0)
    assert "code that the program loaded has no kernel 'absent'" in done.stderr
    assert done.stderr.count("mneme: ") == 1
