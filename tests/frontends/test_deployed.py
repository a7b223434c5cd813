"""Kernels that a program makes while it runs are recorded, tuned and deployed as others are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from modules import build

from mneme.deploy.check import check_tuned_file

pytestmark = [pytest.mark.compile, pytest.mark.slow]

SCRIPT = """
import ctypes, sys, proteus
frontend, factor = sys.argv[1:]
cuda = ctypes.CDLL(None)
memory = ctypes.c_void_p()
cuda.cudaMallocManaged(ctypes.byref(memory), ctypes.c_size_t(8 * 1024), 1)
x = ctypes.cast(memory, ctypes.POINTER(ctypes.c_double))
for i in range(1024):
    x[i] = i
source = '''extern "C" __global__ void scale(double* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k) x[i] = x[i] * FACTOR + k;
}'''
module = proteus.compile(source, frontend, target="cuda", extra_args=["-DFACTOR=" + factor])
kernel = module.get_kernel("scale", [proteus.ptr, proteus.i32])
status = kernel.launch(16, 64, [memory.value, 3]) or 0
cuda.cudaDeviceSynchronize()
print("status", status, "x %g" % x[1023])
"""


def mneme(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command of mneme that has to succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "mneme", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "MNEME_DEVICE": "cpu", **variables},
    )
    assert done.returncode == 0, done.stderr
    return done


def tuned(record: Path, out: Path) -> Path:
    """Results of a short tuning that claim a gain: what is found in microseconds is noise."""
    (launch,) = json.loads(record.read_text())["instances"]
    line = ["tune", "-rdb", record, "-rid", launch, "--trials", 1, "--quiet"]
    mneme(*line, "--space-preset", "quick", "--results-dir", out)
    path = out / "best.json"
    best = json.loads(path.read_text())
    best["trial"] = 1
    best["config"].update(passes="default<O1>", specialize=True)
    best["gain"] = {"ratio": 1.5, "low": 1.4, "high": 1.6, "significant": True, "rounds": 12}
    path.write_text(json.dumps(best))
    return out


class Application:
    """A program, what it is started with, and a folder for what comes of it."""

    def __init__(self, folder: Path, *command: object) -> None:
        self.folder = folder
        self.command = command

    def deployed(self) -> Path:
        """Its kernels, recorded, tuned and deployed."""
        database = self.folder / "recordings"
        mneme("record", "--device", "cpu", "-rdb", database, "--", *self.command)
        results = [
            tuned(record, self.folder / "results" / record.stem)
            for record in sorted(database.glob("[0-9]*.json"))
        ]
        file = self.folder / "tuned.json"
        mneme("deploy", *results, "-o", file)
        return file

    def run(self, *arguments: object, **variables: str) -> tuple[str, list[str]]:
        """What it prints beside statistics, and what mneme says."""
        done = mneme(
            *("run", "--device", "cpu", "--", *self.command[: -len(arguments) or None], *arguments),
            PROTEUS_CACHE_DIR=str(self.folder / "cache"),
            **variables,
        )
        lines = [line for line in done.stdout.splitlines() if not line.startswith("[proteus]")]
        return "\n".join(lines), done.stderr.splitlines()

    def runs_tuned(self, file: Path, kernels: int = 1) -> None:
        """It computes the same, tuned."""
        plain, _ = self.run()
        asked = {
            "PROTEUS_TUNED_KERNELS": str(file),
            "PROTEUS_TRACE_OUTPUT": "kernel-trace;cache-stats",
        }
        for _ in ("cold", "warm"):
            said, notes = self.run(**asked)
            assert said == plain
            fits = [line for line in notes if line.endswith("variant 0, fits this launch")]
            assert len(fits) == kernels, notes
            assert any(f"launches: {kernels} tuned, 0 of tuned" in line for line in notes), notes
            assert not [line for line in notes if not line.startswith("mneme: [")]

    def says_of_other_code(self, file: Path, name: str) -> None:
        """With another factor it says once that the file does not fit, and computes the same."""
        plain, _ = self.run("3")
        said, notes = self.run("3", PROTEUS_TUNED_KERNELS=str(file))
        assert said == plain
        assert len(notes) == 1, notes
        assert notes[0].startswith(
            f"mneme: tuned kernel '{name}' is not used: its code is not the one that was tuned ("
        )
        assert "tune it again, unless 'mneme deploy --check' finds" in notes[0]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a folder with blanks")
    return build("deployed.cpp", folder / "program", "g++" if shutil.which("g++") else "clang++")


@pytest.mark.parametrize(
    ("kind", "name"),
    [("ir", "scale"), ("cpp", "scale"), ("instance", "_Z7scaleOfIdEvPT_i"), ("dsl", "scale")],
)
def test_kernels_of_a_program(program: Path, tmp_path: Path, kind: str, name: str) -> None:
    application = Application(tmp_path, program, kind, "2")
    file = application.deployed()
    (known,) = json.loads(file.read_text())
    assert known == name or (kind == "dsl" and known.startswith("scale$jit$"))
    application.runs_tuned(file)
    application.says_of_other_code(file, name)


@pytest.mark.hip
@pytest.mark.parametrize("kind", ["ir", "cpp", "instance", "dsl"])
def test_kernels_of_hip(tmp_path: Path, kind: str) -> None:
    program = build("deployed.cpp", tmp_path / "program", "clang++", "-DTEST_HIP")
    application = Application(tmp_path, program, kind, "2")
    application.runs_tuned(application.deployed())


def test_kernels_with_one_name(program: Path, tmp_path: Path) -> None:
    application = Application(tmp_path, program, "pair", "2")
    file = application.deployed()
    entry = json.loads(file.read_text())["scale"]["Mneme"]
    assert len({one["StaticHash"] for one in entry["Variants"]}) == 2
    application.runs_tuned(file, kernels=2)
    # Neither replaces the other: programs for 3 and 4 carry the code of only one of them.
    _, notes = application.run("3", PROTEUS_TUNED_KERNELS=str(file))
    assert len(notes) == 1
    assert "tuned kernel 'scale' is not used" in notes[0]


def test_kernels_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    application = Application(tmp_path, sys.executable, script, "cpp", "2")
    file = application.deployed()
    application.runs_tuned(file)
    application.says_of_other_code(file, "scale")


def test_entries_without_a_hash_serve_every_module(program: Path, tmp_path: Path) -> None:
    application = Application(tmp_path, program, "dsl", "2")
    file = tmp_path / "tuned.json"
    file.write_text('{"scale$jit$1$": {"Pipeline": "default<O1>"}}')
    _, notes = application.run(PROTEUS_TUNED_KERNELS=str(file), PROTEUS_TRACE_OUTPUT="kernel-trace")
    assert [line for line in notes if "variant 0" in line], notes


def test_files_for_kernels_that_are_not_made(program: Path, tmp_path: Path) -> None:
    application = Application(tmp_path, program, "cpp", "2")
    file = tmp_path / "tuned.json"
    file.write_text('{"other": {}}')
    _, notes = application.run(PROTEUS_TUNED_KERNELS=str(file))
    assert notes == [f"mneme: no kernel that '{file}' names was launched, so nothing ran as tuned"]
    (check,) = check_tuned_file(file, [program])
    assert check.status == "not there"
    assert check.reason.endswith("a production run says whether one they make then fits")
