"""The scripts of the checkout: what they install, and what they say of arguments."""

from __future__ import annotations

import io
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from mneme.install import paths as _paths

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"


def test_what_is_installed_is_what_the_project_requires() -> None:
    listing = f'. {SCRIPTS}/lib.sh; printf "%s\\n" "${{python_packages[@]}}"'
    installed = subprocess.check_output(["bash", "-c", listing], text=True).splitlines()
    text = (ROOT / "pyproject.toml").read_text()
    needed = re.findall(r'"([^"]+)"', text.split("requires = ")[1].splitlines()[0])
    needed += re.findall(
        r'^  "(\S+)",', text.split("\ndependencies = ")[1].split("\n]")[0], re.MULTILINE
    )
    assert len(needed) >= 9
    assert sorted(set(needed) - set(installed)) == []


def test_package_is_found_by_the_environment_of_the_checkout(tmp_path: Path) -> None:
    made = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    there = f". {SCRIPTS}/lib.sh; venv={made}; build={tmp_path}/a\\'b; tell_venv"
    subprocess.run(["bash", "-c", there], check=True)
    code = "import mneme, os; print(mneme.__file__); print(os.environ['MNEME_BUILD_DIR'])"
    ours = ("MNEME_BUILD_DIR", "PYTHONPATH")
    variables = {name: value for name, value in os.environ.items() if name not in ours}
    found = subprocess.check_output([made / "bin" / "python", "-c", code], text=True, env=variables)
    assert found.splitlines() == [str(ROOT / "python/mneme/__init__.py"), f"{tmp_path}/a'b"]


def test_the_demo_ends_with_the_line_that_gives_a_shell_its_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    (tmp_path / "my build" / "bin").mkdir(parents=True)
    tool = tmp_path / "my build" / "bin" / "mneme-cxx"
    tool.touch(mode=0o755)
    line = runpy.run_path(str(SCRIPTS / "demo.py"))["what_next"](tool.parents[1]).splitlines()[-1]
    python = Path(sys.executable)
    command = ["bash", "-c", f"{line}; command -v mneme-cxx {python.name}"]
    found = subprocess.check_output(command, text=True).splitlines()
    assert found == [str(tool), str(python)]


def test_the_demo_tells_the_gain_of_each_program_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (3.0, 0.0, 0.0))
    demo = runpy.run_path(str(SCRIPTS / "demo_tuned.py"))
    kernel, gain, program = demo["TunedKernel"], demo["Gain"], demo["TunedProgram"]
    kernels = [
        kernel(name="diffuse", symbol="_Z7diffusev", baseline_us=9.0, best_us=5.0),
        kernel(name="scale", symbol="_Z5scalev", baseline_us=9.0, best_us=5.0),
    ]
    stays = program(example="stencil2d", kernels=kernels, plain_ms=100.0)
    # A gain in replays is not a gain in the program.
    sentence = (
        "stencil2d: nothing that was found is certainly faster in the program: it stays as it is"
    )
    assert stays.sentence() == sentence
    monkeypatch.setattr("os.getloadavg", lambda: (17.3, 0.0, 0.0))
    assert stays.sentence() == f"{sentence} (17 processes share 2 cores, which hides gains)"
    kernels[0].gain = gain(ratio=1.8, low=1.6, high=2.04)
    assert stays.sentence() == (
        "stencil2d: the kernel diffuse runs 1.80 times as fast in the program (95 %: 1.60 to 2.04)"
    )


def test_the_tables_of_the_demo_fit_a_terminal_of_80_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    demo = runpy.run_path(str(SCRIPTS / "demo.py"))
    times = ["2647 =", "2679 =", "583 =", "601 =", "590 =", "1318 ="]
    row = demo["ReplayRow"]("linked_list", "axpby<double>", "4096 / 256", 839680, times, True)
    console = Console(width=80, file=io.StringIO(), record=True)
    demo["show"]([row], console)
    text = console.export_text()
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())
    assert {"linked_list", "axpby<double>", "2647", "1318", "yes"} <= set(text.split())


def test_the_picture_in_the_readme_shows_what_the_demo_prints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    demo = runpy.run_path(str(SCRIPTS / "demo.py"))
    tuned = runpy.run_path(str(SCRIPTS / "demo_tuned.py"))
    console = Console(width=demo["WIDTH"], record=True, file=io.StringIO())
    demo["show"]([], console)
    tuned["show"]([], console)
    printed = re.split(r"[┃\n]", console.export_text())
    texts = {text for one in printed if (text := one.strip()) and one[0] not in "┏┡└"}
    assert {"snapshot", "as built µs"} <= texts
    picture = ET.parse(ROOT / "docs" / "images" / "demo.svg").getroot()
    drawn = {(one.text or "").replace("\xa0", " ").strip() for one in picture.iter() if one.text}
    assert texts - drawn == set(), "remake it: scripts/demo --picture docs/images/demo.svg"


def test_bundle_without_the_interpreter_it_asks_for_says_so() -> None:
    command = [SCRIPTS / "gpu-bundle", "--python"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("mneme: --python needs an interpreter behind it")


@pytest.mark.parametrize(("name", "stays"), [("clang++-22", True), ("g++", False)])
def test_wheels_of_other_compilers_are_built_from_the_start(
    tmp_path: Path, name: str, stays: bool
) -> None:
    drop = runpy.run_path(str(SCRIPTS / "wheel.py"))["drop_build_of_other_compilers"]
    for program in ("clang-22", "clang++-22"):
        (tmp_path / program).touch(0o755)
    build = tmp_path / "build"
    build.mkdir()
    (build / "CMakeCache.txt").write_text(
        f"CMAKE_CXX_COMPILER:FILEPATH={tmp_path}/{name}\n"
        f"CMAKE_C_COMPILER:STRING={tmp_path}/clang-22\nCMAKE_CXX_COMPILER_AR:FILEPATH=/ar\n"
    )
    drop(build, {"PATH": str(tmp_path)})
    assert build.exists() == stays


def test_environment_for_wheels_is_made_again_after_a_failure(tmp_path: Path) -> None:
    builder = runpy.run_path(str(SCRIPTS / "wheel.py"))["builder"]
    steps: list[str] = []
    failing = ["pip"]

    def run(_log: Path, command: list[str], _variables: dict[str, str]) -> None:
        steps.append(command[2])
        if command[2] in failing:
            sys.exit("failed")
        (tmp_path / "venv" / "bin").mkdir(parents=True, exist_ok=True)
        (tmp_path / "venv" / "bin" / "python").touch()

    builder.__globals__["run"] = run
    other = Path("/another/python")
    with pytest.raises(SystemExit):
        builder(other, tmp_path, tmp_path / "log", {})
    failing.clear()
    made = [builder(other, tmp_path, tmp_path / "log", {}) for _ in range(2)]
    assert made == [tmp_path / "venv" / "bin" / "python"] * 2
    assert steps == ["venv", "pip"] * 2


class Builds:
    """Build directories with one source each, whose target has a precompiled header."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.header = folder / "own.h"
        self.compiler = Path(str(_paths.config()["llvmdir"])) / "bin" / "clang++"
        self.variables = {
            **os.environ,
            "CCACHE_DIR": str(folder / "cache"),
            "CCACHE_SLOPPINESS": "pch_defines,time_macros",
        }
        (folder / "unit.cpp").write_text("int answer() { return ANSWER; }\n")

    def answer(self, directory: str, *flags: str) -> bytes:
        """Compile in a new build directory, by commands as CMake writes them."""
        made = self.folder / directory / "target.dir"
        made.mkdir(parents=True)
        headers = made / "cmake_pch.hxx"
        headers.write_text(f'#include "{self.header}"\n')
        (made / "cmake_pch.hxx.cxx").touch()
        place = "target.dir/cmake_pch.hxx.pch"
        self.run(
            *(made.parent, *flags, "-Xclang", "-emit-pch", "-Xclang", "-include", "-Xclang"),
            *(headers, "-x", "c++-header", "-MD", "-MT", place, "-MF", f"{place}.d"),
            *("-o", place, "-c", made / "cmake_pch.hxx.cxx"),
        )
        known = ("-include-pch", f"{headers}.pch", "-include", headers)
        words = [word for one in known for word in ("-Xclang", one)]
        source = self.folder / "unit.cpp"
        self.run(made.parent, *flags, *words, "-o", "target.dir/unit.o", "-c", source)
        return (made / "unit.o").read_bytes()

    def run(self, directory: Path, *words: str | Path) -> None:
        command = [SCRIPTS / "with-ccache", self.compiler, "-Xclang", "-fno-pch-timestamp", *words]
        subprocess.run(command, check=True, cwd=directory, env=self.variables)

    def hits(self) -> int:
        said = subprocess.check_output(["ccache", "--print-stats"], text=True, env=self.variables)
        counts = dict(line.split("\t") for line in said.splitlines())
        return int(counts["direct_cache_hit"]) + int(counts["preprocessed_cache_hit"])


def header(answer: int) -> str:
    return f"#pragma once\nenum {{ ANSWER = {answer} }};\n"


@pytest.mark.compile
@pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not installed")
def test_what_one_build_directory_has_compiled_serves_others(tmp_path: Path) -> None:
    builds = Builds(tmp_path)
    builds.header.write_text(header(42))
    first = builds.answer("first")
    assert (builds.answer("a part/of another"), builds.hits()) == (first, 1)
    # A new header is seen, though precompiled, and so are flags; what is older is still there.
    builds.header.write_text(header(43))
    assert builds.answer("later") != first
    builds.header.write_text(header(42))
    assert (builds.answer("optimised", "-O2") != first, builds.hits()) == (True, 1)
    assert (builds.answer("again"), builds.hits()) == (first, 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a directory is missing; see the first lines of scripts/cuda12"),
        (["new", "--version", "11.8"], "there is no CUDA 11.8 here, only 12.6 and 12.9"),
        (["full"], "/full' is not empty"),
        (["new", "nvidia-cudnn-cu12"], "write it behind the name: nvidia-cudnn-cu12==VERSION"),
        (
            ["new", "nvidia-nvcomp-cu12"],
            "which version of 'nvidia-nvcomp-cu12' goes with CUDA 12.9",
        ),
    ],
)
def test_a_toolkit_of_cuda_12_is_refused_in_one_sentence(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    done = subprocess.run(
        [SCRIPTS / "cuda12", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert said in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["full"]


@pytest.mark.parametrize(
    ("release", "package", "wanted"),
    [
        ("12.9", "nvidia-cuda-profiler-api-cu12", "nvidia-cuda-profiler-api-cu12==12.9.*"),
        ("12.6", "nvidia-nvjitlink-cu12", "nvidia-nvjitlink-cu12==12.6.*"),
        ("12.9", "nvidia-cufft-cu12", "nvidia-cufft-cu12==11.4.1.*"),
        ("12.6", "nvidia-cusparse-cu12", "nvidia-cusparse-cu12==12.5.4.*"),
        ("12.9", "nvidia-nvjpeg-cu12", "nvidia-nvjpeg-cu12==12.4.0.*"),
        *(("12.9", one, one) for one in ("nvidia-cudnn-cu12==9.1.0.70", "a<2", "a>1", "a~=1.2")),
    ],
)
def test_a_part_of_cuda_12_has_the_version_of_its_release(
    release: str, package: str, wanted: str
) -> None:
    asked = f'. {SCRIPTS}/lib.sh; cuda12_part "$1" "$2"'
    said = subprocess.check_output(["bash", "-c", asked, "bash", release, package], text=True)
    assert said == f"{wanted}\n"


@pytest.mark.parametrize("release", ["12.6", "12.9"])
def test_parts_of_cuda_12_that_are_always_there_have_those_versions(release: str) -> None:
    listing = "cuda12_packages" if release == "12.6" else "cuda129_packages"
    asked = (
        f'. {SCRIPTS}/lib.sh; for one in "${{{listing}[@]}}"; do echo "$one"; '
        f'cuda12_part {release} "${{one%%=*}}"; done'
    )
    said = subprocess.check_output(["bash", "-c", asked], text=True).splitlines()
    assert said[::2] == said[1::2] != []
