"""Replays with passes of LLVM pass plugins: `mneme replay --pass-plugin`, and what goes wrong."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import BUILD, Finished, mneme, run_command
from pass_plugins import HAS_SHARED_LLVM, LLVM, built_plugin

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not HAS_SHARED_LLVM, reason="no shared LLVM"),
]

USUAL = "default<O3>"


@pytest.fixture(scope="module")
def planted() -> Path:
    """The plugin with all faults."""
    return built_plugin("planted")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be compiled before."""
    monkeypatch.setenv("MNEME_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def recording(recordings: dict[str, Path]) -> Path:
    return recordings["vector_add"]


def replay(
    recording: Path, passes: str, *plugins: str | Path, more: tuple[str, ...] = (), **variables: str
) -> Finished:
    options = [f"--pass-plugin={one}" for one in plugins]
    return mneme(
        "replay", recording, passes, *options, *more, "--device", "cpu", "-it", "1", "--warmup",
        "0", **variables,
    )  # fmt: skip


def sentence(done: Finished) -> str:
    """Return what went wrong, which has to be one line that is on stderr, too."""
    error: str = done.result["error"]
    assert "\n" not in error
    assert error in done.stderr
    return error


@pytest.mark.parametrize("passes", ["planted-nothing,default<O3>", "default<O2>,planted-nothing"])
def test_passes_of_a_plugin_stand_in_any_pipeline(
    passes: str, recording: Path, planted: Path
) -> None:
    done = replay(recording, passes, planted)
    assert done.returncode == 0, done.stderr
    assert done.result["verified"]
    config = json.loads(done.stdout)["Replay-config"]
    path, at, digits = config["pass_plugins"].rpartition("@")
    assert (path, at, len(digits)) == (str(planted), "@", 16)
    assert config["passes"] == passes


def test_what_a_pass_prints_is_beside_the_result(recording: Path, planted: Path) -> None:
    for pipeline in ("planted-talk,default<O1>", "planted-talk,default<O2>"):
        done = replay(recording, pipeline, planted)
        assert done.returncode == 0, done.stderr
        assert done.result["verified"]
        lines = done.stderr.splitlines()
        assert sum(line.startswith("planted counts ") for line in lines) == 1
        assert lines.count("planted complains") == 1
    again = replay(recording, "planted-talk,default<O1>", planted)
    assert "planted" not in again.stderr


def test_what_a_pass_prints_while_comparing_is_in_a_log(
    recording: Path, planted: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    line = (recording, "--device", "cpu", "--rounds", "6", "--iterations", "1", "--json")
    talks = f"x=--passes 'planted-talk,default<O1>' --pass-plugin {planted}"
    done = mneme("compare", *line, "--variant", talks, "--results-dir", results)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kernels"]
    logs = "".join(one.read_text() for one in (results / "logs").glob("Compiler-*.log"))
    assert "planted counts " in logs
    assert "planted complains" in logs


def test_one_pass_alone_is_a_pipeline(recording: Path, planted: Path) -> None:
    assert replay(recording, "planted-nothing", planted).returncode == 0
    unknown = replay(recording, "planted-nothing")
    assert unknown.returncode != 0


def test_without_the_plugin_its_pass_is_unknown(recording: Path) -> None:
    done = replay(recording, f"planted-nothing,{USUAL}")
    assert done.returncode == 3
    assert "planted-nothing" in sentence(done)


def test_unknown_pass_beside_a_plugin_is_an_invalid_request(recording: Path, planted: Path) -> None:
    done = replay(recording, f"planted-other,{USUAL}", planted)
    assert done.returncode == 3
    assert sentence(done).startswith(f"invalid pass pipeline 'planted-other,{USUAL}'")


def test_what_a_pass_does_is_in_the_code(recording: Path, planted: Path, tmp_path: Path) -> None:
    sizes = []
    for times in ("0", "100"):
        done = replay(
            recording, f"{USUAL},planted-slow", planted,
            more=(f"--mllvm=planted-times={times}",),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        sizes.append(done.result["obj_size"])
    assert sizes[1] > sizes[0]


def test_wrong_code_is_found_by_the_verification(recording: Path, planted: Path) -> None:
    done = replay(recording, f"planted-drop-stores,{USUAL}", planted)
    assert done.returncode == 1, done.stderr
    assert done.result["result_class"] == "wrong"
    assert done.result["mismatches"]


def test_plugins_are_known_by_their_content(recording: Path, planted: Path, tmp_path: Path) -> None:
    passes = f"planted-nothing,{USUAL}"
    plugin = tmp_path / "a plugin.so"
    shutil.copy(planted, plugin)

    def is_stored(*plugins: Path) -> bool:
        done = replay(recording, passes, *plugins)
        assert done.returncode == 0, done.stderr
        return bool(done.result["code_from_cache"])

    assert not is_stored(plugin)
    assert is_stored(plugin)
    assert is_stored(planted)  # wherever the file is
    with plugin.open("ab") as file:
        file.write(b"\0")
    assert not is_stored(plugin)


def test_file_that_has_changed_is_not_taken_for_the_first_one(
    recording: Path, planted: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "plugin.so"
    shutil.copy(planted, plugin)
    done = replay(recording, f"planted-nothing,{USUAL}", plugin)
    named = json.loads(done.stdout)["Replay-config"]["pass_plugins"]
    with plugin.open("ab") as file:
        file.write(b"\0")
    assert replay(recording, f"planted-nothing,{USUAL}", named).returncode == 0  # stored
    other = replay(recording, f"planted-nothing,{USUAL},planted-nothing", named)
    assert other.returncode == 7
    assert "has changed since it was named" in sentence(other)


def test_pass_that_crashes_says_which_plugin_it_was(recording: Path, planted: Path) -> None:
    done = replay(recording, f"planted-crash,{USUAL}", planted)
    assert done.returncode == 7
    assert "died of signal 11" in sentence(done)
    assert f"it ran the pass plugin '{planted}'" in sentence(done)


def test_pass_without_end_is_ended(recording: Path, planted: Path) -> None:
    done = replay(recording, f"planted-for-ever,{USUAL}", planted, MNEME_COMPILE_TIMEOUT="2")
    assert done.returncode == 7
    assert "was ended after 2 seconds" in sentence(done)
    assert f"it ran the pass plugin '{planted}'" in sentence(done)


@pytest.mark.parametrize(
    ("name", "says"),
    [("text", "Could not load library"), ("library", "no function 'llvmGetPassPluginInfo'")],
)
def test_what_is_not_a_plugin_is_refused(
    name: str, says: str, recording: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "plugin.so"
    if name == "text":
        plugin.write_text("nothing\n")
    else:
        shutil.copy(BUILD / "lib" / "libmneme_rt.so", plugin)
    done = replay(recording, USUAL, plugin)
    assert done.returncode == 7
    assert sentence(done).startswith(f"pass plugin '{plugin}': ")
    assert says in sentence(done)


def test_plugin_of_another_shape_is_refused(recording: Path) -> None:
    plugin = built_plugin("other_api")
    done = replay(recording, USUAL, plugin)
    assert done.returncode == 7
    assert "Wrong API version" in sentence(done)
    assert "build it with the headers of LLVM" in sentence(done)


def test_missing_plugin_is_named_at_once(recording: Path, tmp_path: Path) -> None:
    done = replay(recording, USUAL, tmp_path / "none.so")
    assert (done.returncode, done.stdout) == (3, "")
    assert f"there is no pass plugin '{tmp_path / 'none.so'}'" in done.stderr


def test_options_of_llvm_change_the_code_of_one_configuration(recording: Path) -> None:
    hashes = [
        done.result["image_hash"]
        for more in ((), ("--mllvm=vectorize-loops=false", "--mllvm", "-unroll-threshold=0"), ())
        if (done := replay(recording, USUAL, more=more)).returncode == 0
    ]
    assert len(hashes) == 3
    assert hashes[0] == hashes[2]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("no-such-option=1", "LLVM has no option '-no-such-option=1'"),
        ("unroll-threshold=many", "LLVM's option '-unroll-threshold' does not take 'many'"),
        ("unroll-threshold", "LLVM's option '-unroll-threshold' needs a value"),
    ],
)
def test_options_that_llvm_does_not_take_are_named(option: str, says: str, recording: Path) -> None:
    done = replay(recording, USUAL, more=(f"--mllvm={option}",))
    assert done.returncode == 3
    assert sentence(done).startswith(says)


def test_compile_takes_the_same(recording: Path, planted: Path) -> None:
    done = mneme(
        "compile", recording, f"planted-nothing,{USUAL}", "--pass-plugin", planted, "--arch", "cpu"
    )
    assert done.returncode == 0, done.stderr
    crashed = mneme(
        "compile", recording, f"planted-crash,{USUAL}", "--pass-plugin", planted, "--arch", "cpu"
    )
    assert crashed.returncode == 7
    assert f"it ran the pass plugin '{planted}'" in crashed.stderr


def test_plugin_that_is_linked_with_another_llvm_is_refused(
    recording: Path, tmp_path: Path
) -> None:
    other = tmp_path / "libLLVM.so.7.0"
    (tmp_path / "none.cpp").write_text("")
    for command in (
        ["-x", "c++", tmp_path / "none.cpp", "-Wl,-soname,libLLVM.so.7.0", "-o", other],
        [tmp_path / "none.cpp", "-Wl,--no-as-needed", other, f"-Wl,-rpath,{tmp_path}",
         "-o", tmp_path / "plugin.so"],
    ):  # fmt: skip
        built = run_command(LLVM / "bin" / "clang++", "-shared", "-fPIC", *command)
        assert built.returncode == 0, built.stderr
    done = replay(recording, USUAL, tmp_path / "plugin.so")
    assert done.returncode == 7
    assert "it is linked with 'libLLVM.so.7.0', and mneme uses 'libLLVM" in sentence(done)


def compiled_for_a_gpu(
    recording: Path, passes: str, folder: Path, *options: str | Path
) -> tuple[str, dict[str, Any]]:
    """Return the PTX of `blockSum`, which has barriers, and the compiler's statistics."""
    done = mneme(
        *("compile", recording, "blockSum", passes, "--arch", "sm_90", *options),
        *("--ptx", folder / "code.ptx"),
    )
    assert done.returncode == 0, done.stderr
    return (folder / "code.ptx").read_text(), json.loads(done.stdout)["statistics"]


def test_passes_see_the_code_of_gpus(
    recordings: dict[str, Path], planted: Path, tmp_path: Path
) -> None:
    passes = f"planted-drop-barriers,{USUAL}"
    usual, _ = compiled_for_a_gpu(recordings["reduction"], USUAL, tmp_path)
    broken, _ = compiled_for_a_gpu(
        recordings["reduction"], passes, tmp_path, "--pass-plugin", planted
    )
    barrier = re.compile(r"\b(bar|barrier)\.")
    assert barrier.search(usual)
    assert not barrier.search(broken)


def test_options_of_ptxas_reach_it(recordings: dict[str, Path], tmp_path: Path) -> None:
    (usual, before), (other, after) = (
        compiled_for_a_gpu(recordings["reduction"], USUAL, tmp_path, *more)
        for more in ((), ("--ptxas=--def-load-cache=cv",))
    )
    assert usual == other
    if not before["assembler"].startswith("ptxas"):
        pytest.skip("no ptxas is installed")
    assert before["image_hash"] != after["image_hash"]
