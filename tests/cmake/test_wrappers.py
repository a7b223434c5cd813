"""mneme-cc and mneme-cxx in the place of a compiler: what they add, and projects built with them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from cmake_parts import BUILD, HERE, added, recorded_kernels, run_command, run_here

pytest_plugins = ["cmake_fixtures"]
pytestmark = pytest.mark.compile

WRAPPED = HERE / "wrapped"
KERNELS = {"firstKernel", "secondKernel"}
CLANG = f"clang++-{json.loads((BUILD / 'config.json').read_text())['llvm_version'].split('.')[0]}"

PLUGIN, LIBRARY, TOOLKIT, RUNTIME = "-fpass-plugin", "-lmneme_rt", "--cuda-path", "-Wl,-rpath"
DEVICE_LINK = "--offload-link"


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        (["-c", "a.cpp"], {PLUGIN}),
        (["-S", "-x", "c++", "-"], {PLUGIN}),
        (["-c", "a b.cu", '-DTEXT="q q"', "-I", "c.cu"], {PLUGIN, TOOLKIT}),
        (["-xcuda", "-c", "a.cpp"], {PLUGIN, TOOLKIT}),
        (["-x", "cuda", "a.cpp", "-o", "a"], {PLUGIN, TOOLKIT, LIBRARY, RUNTIME}),
        (["-c", "a.cpp", "-I", "b.cu", "-o", "c.cu", "-MF", "d.cu"], {PLUGIN}),
        (["-###", "-c", "a.cu"], {PLUGIN, TOOLKIT}),
        (["-v", "a.cpp"], {PLUGIN, LIBRARY}),
        (["-E", "a.cu"], {TOOLKIT}),
        (["-E", "a.cpp"], set()),
        (["-M", "-x", "cuda", "a.cpp"], {TOOLKIT}),
        (["-MMD", "-c", "a.cpp"], {PLUGIN}),
        (["-fsyntax-only", "a.cu"], {TOOLKIT}),
        (["a.o", "b.o", "-o", "a"], {LIBRARY}),
        (["-shared", "a.o", "-l", "cudart"], {LIBRARY, RUNTIME}),
        (["--offload-link", "a.o"], {TOOLKIT, LIBRARY, RUNTIME}),
        (["-fgpu-rdc", "a.o", "b.o"], {TOOLKIT, LIBRARY, RUNTIME, DEVICE_LINK}),
        (["-fgpu-rdc", "a.o", "--hip-link"], {LIBRARY}),
        (["-fgpu-rdc", "-fno-gpu-rdc", "a.o"], {LIBRARY}),
        (["-fgpu-rdc", "-r", "a.o"], set()),
        (["-fgpu-rdc", "-c", "a.cu"], {PLUGIN, TOOLKIT}),
        (["-r", "a.o", "-o", "b.o"], set()),
        (["-Wl,-r", "-nostdlib", "a.o"], set()),
        (["-static", "a.o"], set()),
        (["-static", "a.cpp"], set()),
        (["-static-pie", "a.cu"], {TOOLKIT, RUNTIME}),
        (["-nostartfiles", "a.o"], {LIBRARY}),
        (["--language", "cuda", "-c", "a.cpp"], {PLUGIN, TOOLKIT}),
        (["-Xclang", "-fpass-plugin=/own/libMnemePasses.so", "-c", "a.cpp"], set()),
        (["@loop", "a.cu", "-c"], {PLUGIN, TOOLKIT}),
        (["-cc1", "-emit-obj", "a.cpp"], set()),
        (["-c", "-x", "hip", "--offload-arch=gfx90a", "a.cpp"], {PLUGIN}),
        (["--offload-arch=sm_90", "--cuda-path=/own", "-c", "a.cu"], {PLUGIN}),
        (["-c", "a.cu", "-fpass-plugin=/own/libMnemePasses.so"], {TOOLKIT}),
        (["@words"], {PLUGIN, TOOLKIT}),
        (["--version"], set()),
        (["-v"], set()),
        (["-print-resource-dir"], set()),
        (["a.cpp", "--version"], set()),
        ([], set()),
    ],
    ids=lambda words: " ".join(sorted(words) if isinstance(words, set) else words),
)
def test_flags_are_added_where_they_belong(
    arguments: list[str], kinds: set[str], build_tree: Path, told: Path
) -> None:
    (told.parent / "words").write_text("-c \"a b.cu\"\n-o 'c'\n")
    (told.parent / "loop").write_text("-O1 @again")
    (told.parent / "again").write_text("@loop")
    found = added(build_tree, told, *arguments)
    options = {option.split("=")[0] for option in found}
    seen = options & {PLUGIN, LIBRARY, TOOLKIT, DEVICE_LINK}
    if any(
        option.startswith(RUNTIME) and not option.endswith(f"{build_tree}/lib") for option in found
    ):
        seen.add(RUNTIME)
    assert seen == kinds
    default_arch = [option for option in found if option.startswith("--offload-arch")]
    links_device = DEVICE_LINK in seen
    is_chosen = links_device or any(option.startswith("--offload") for option in arguments)
    assert len(default_arch) == (1 if TOOLKIT in kinds and not is_chosen else 0)


@pytest.mark.parametrize(
    "arguments", [["-c", "a.cu"], ["-x", "hip", "--offload-arch=gfx90a", "-c", "a.cpp"], ["a.cpp"]]
)
def test_what_becomes_of_unset_locals_is_left_to_the_passes(
    arguments: list[str], build_tree: Path, told: Path
) -> None:
    found = added(build_tree, told, *arguments)
    assert not [option for option in found if "auto-var-init" in option]


def test_plain_compilers_and_a_switch_leave_programs_as_they_are(
    build_tree: Path, told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = added(build_tree, told, "a.cu", "-o", "a", tool="mneme-clang++")
    assert any(option.startswith("--cuda-path=") for option in plain)
    assert [option for option in plain if "mneme" in option.rpartition("/")[2].lower()] == []
    assert added(build_tree, told, "-c", "a.c", tool="mneme-clang") == []
    assert any(PLUGIN in option for option in added(build_tree, told, "-c", "a.c", tool="mneme-cc"))
    monkeypatch.setenv("MNEME_INSTRUMENT", "0")
    assert added(build_tree, told, "a.cpp") == []


@pytest.mark.parametrize("words", [["--", "-a.cu", "b.cu"], ["@words"]], ids=" ".join)
def test_options_stay_before_inputs_that_look_like_options(
    words: list[str], build_tree: Path, told: Path
) -> None:
    (told.parent / "words").write_text("-- -a.cu b.cu")
    command = (build_tree / "bin" / "mneme-cxx", "-c", "-o", "--", *words)
    done = run_command(*command, cwd=told.parent, MNEME_CLANGXX=str(told))
    lines = done.stdout.splitlines()
    assert lines[:4] == ["-c", "-o", "--", "--start-no-unused-arguments"]
    assert lines[-len(words) - 1 :] == ["--end-no-unused-arguments", *words]
    assert any(line.startswith(PLUGIN) for line in lines)
    assert any(line.startswith(TOOLKIT) for line in lines)


def test_errors_are_the_compilers_own(build_tree: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.cpp").write_text("int main() { return missing; }\n")
    ours = run_command(build_tree / "bin" / "mneme-cxx", "-Werror", "bad.cpp", cwd=tmp_path)
    theirs = run_command(CLANG, "-Werror", "bad.cpp", cwd=tmp_path)
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr)
    assert ours.returncode == 1


def test_response_file_and_questions_reach_the_compiler(build_tree: Path, tmp_path: Path) -> None:
    wrapper = build_tree / "bin" / "mneme-cxx"
    (tmp_path / "a b.cu").write_text(
        (WRAPPED / "first.cu").read_text() + "const char* text = TEXT;"
    )
    (tmp_path / "words").write_text(
        f"-O1 --offload-arch=sm_90 -I'{HERE}' '-DTEXT=\"it is\"'\n-c \"a b.cu\" -o first.o\n"
    )
    done = run_command(wrapper, "@words", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert b"__mneme_ir_" in (tmp_path / "first.o").read_bytes()
    assert b"it is" in (tmp_path / "first.o").read_bytes()
    (tmp_path / "first.o").unlink()
    commands = run_command(wrapper, "-###", "@words", cwd=tmp_path)
    assert commands.stderr.count("libMnemePasses.so") >= 2, commands.stderr
    assert not (tmp_path / "first.o").exists()
    needed = run_command(wrapper, "-M", f"-I{HERE}", WRAPPED / "first.cu", cwd=tmp_path)
    assert (needed.returncode, needed.stderr) == (0, "")
    assert f"{HERE}/fill.h" in needed.stdout


def _with_wrappers(prefix: Path) -> dict[str, str]:
    return {"PATH": f"{prefix}/bin{os.pathsep}{os.environ['PATH']}", "MNEME_BUILD_DIR": ""}


def test_makefile_project_in_parallel(moved_prefix: Path, tmp_path: Path) -> None:
    command = ("make", "-j3", "-f", WRAPPED / "Makefile", f"SOURCE={WRAPPED}", "CXX=mneme-cxx")
    done = run_command(*command, cwd=tmp_path, **_with_wrappers(moved_prefix))
    assert (done.returncode, done.stderr) == (0, "")
    assert recorded_kernels(moved_prefix, tmp_path / "app", tmp_path / "db") == KERNELS
    assert "it is done" in run_here(moved_prefix, "run", "--", tmp_path / "app").stdout


def test_pkg_config_prints_flags_of_a_moved_prefix(moved_prefix: Path, tmp_path: Path) -> None:
    folder = {"PKG_CONFIG_PATH": str(moved_prefix / "lib" / "pkgconfig")}
    flags = run_command("pkg-config", "--cflags", "--libs", "mneme", **folder).stdout.split()
    compiler = run_command("pkg-config", "--variable=cxx", "mneme", **folder).stdout.strip()
    unit, program = WRAPPED.parent / "proteus" / "app.cu", tmp_path / "app"
    command = (compiler, "--offload-arch=sm_90", f"-I{HERE}", unit, "-o", program, "-lcudart")
    done = run_command(*command, *flags)
    assert done.returncode == 0, done.stderr
    assert recorded_kernels(moved_prefix, program, tmp_path / "db") == {"existing"}


@pytest.mark.skipif(not shutil.which("automake"), reason="automake is not installed")
def test_autotools_project(moved_prefix: Path, tmp_path: Path) -> None:
    for name in ("configure.ac", "Makefile.am", "main.cpp", "first.cu", "second.cu"):
        shutil.copy(WRAPPED / name, tmp_path)
    made = run_command("autoreconf", "-i", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    environment = _with_wrappers(moved_prefix)
    configured = run_command("./configure", "CXX=mneme-cxx", cwd=tmp_path, **environment)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    done = run_command("make", "-j2", f"SHARED={HERE}", cwd=tmp_path, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert recorded_kernels(moved_prefix, tmp_path / "app", tmp_path / "db") == KERNELS


@pytest.mark.skipif(not shutil.which("meson"), reason="meson is not installed")
def test_meson_project(moved_prefix: Path, tmp_path: Path) -> None:
    environment = {**_with_wrappers(moved_prefix), "CXX": "mneme-cxx"}
    configured = run_command("meson", "setup", tmp_path / "build", WRAPPED, **environment)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    done = run_command("meson", "compile", "-C", tmp_path / "build", **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    program = tmp_path / "build" / "app"
    assert recorded_kernels(moved_prefix, program, tmp_path / "db") == KERNELS


@pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not installed")
@pytest.mark.parametrize("place", ["in front", "behind"])
def test_compiler_cache(place: str, build_tree: Path, tmp_path: Path) -> None:
    wrapper = str(build_tree / "bin" / "mneme-cxx")
    environment = {"CCACHE_DIR": str(tmp_path / "cache"), "CCACHE_NOSTATS": ""}
    command = ["ccache", wrapper] if place == "in front" else [wrapper]
    if place == "behind":
        environment["MNEME_CLANGXX"] = f"ccache {CLANG}"
    unit = ("-O1", "--offload-arch=sm_90", f"-I{HERE}", "-c", WRAPPED / "first.cu", "-o", "first.o")
    for _ in range(2):
        done = run_command(*command, *unit, cwd=tmp_path, **environment)
        assert done.returncode == 0, done.stderr
    counts = run_command("ccache", "--print-stats", **environment).stdout
    hits = {line.split("\t")[0]: int(line.split("\t")[1]) for line in counts.splitlines()}
    assert (hits["direct_cache_hit"] + hits["preprocessed_cache_hit"], hits["cache_miss"]) == (1, 1)
    assert b"mneme" in (tmp_path / "first.o").read_bytes()


@pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not installed")
@pytest.mark.parametrize("tool", ["mneme-cxx", "mneme-clang++"])
def test_new_pass_plugin_is_not_served_old_objects(
    tool: str, build_tree: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "lib" / "libMnemePasses.so"
    for folder, file in (("bin", tool), ("lib", plugin.name)):
        (tmp_path / folder).mkdir()
        shutil.copy2(build_tree / folder / file, tmp_path / folder)
    environment = {"CCACHE_DIR": str(tmp_path / "cache"), "MNEME_CLANGXX": f"ccache {CLANG}"}
    (tmp_path / "a.cpp").write_text("int answer() { return 42; }\n")
    named = [f"-fpass-plugin={plugin}"] if tool == "mneme-clang++" else []
    unit = (tmp_path / "bin" / tool, "-c", "a.cpp", *named)
    misses = []
    for _ in range(2):
        for _ in range(2):
            done = run_command(*unit, cwd=tmp_path, **environment)
            assert (done.returncode, done.stderr) == (0, "")
        counts = run_command("ccache", "--print-stats", **environment).stdout
        misses += [line for line in counts.splitlines() if line.startswith("cache_miss\t")]
        with plugin.open("ab") as file:
            file.write(b"another plugin")
    assert misses == ["cache_miss\t1", "cache_miss\t2"]


@pytest.mark.parametrize("tool", ["mneme-cc", "mneme-cxx", "mneme-clang", "mneme-clang++"])
def test_caches_in_front_see_a_new_pass_plugin(tool: str, build_tree: Path) -> None:
    plugin = build_tree / "lib" / "libMnemePasses.so"
    assert (build_tree / "bin" / tool).stat().st_mtime >= plugin.stat().st_mtime
