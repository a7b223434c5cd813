"""Code without IR that a program loads itself: recorded, replayed, tuned by its launch."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from conftest import BUILD, made_once, mneme, optimize, records, replay_all, run_command
from without_ir_parts import KERNEL, LOADER, SUMS

WRAPPER = BUILD / "bin" / "mneme-cxx"

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api").is_dir(),
        reason="tests/apps/api is not built: no CUDA toolkit",
    ),
]


def _make(folder: Path) -> None:
    """Make the program, the kernel's image for the CPU device, and a recording of both."""
    source = folder / "kernel.cu"
    source.write_text(KERNEL)
    asked = run_command(BUILD / "bin" / "nvcc", "-", "__cmake_determine_cuda").stdout
    toolkit = re.findall(r"TOP=(.*)", asked)[0]
    device = ("-O2", "--offload-arch=sm_90", "--cuda-device-only", "-c")
    loader, cubin, image = folder / "loader", folder / "kernel.cubin", folder / "scale.cpu"
    host = ("-isystem", f"{toolkit}/include", "-lcuda")
    for command in (
        (WRAPPER, *device, source, "-o", cubin),
        (WRAPPER, LOADER, *host, "-o", loader),
    ):
        done = run_command(*command)
        assert done.returncode == 0, done.stderr
    for arguments in (
        ("record", "-rdb", folder / "with_ir", "--device", "cpu", "--", loader, cubin),
        ("compile", folder / "with_ir", "--arch", "cpu", "-o", image),
        ("record", "-rdb", folder / "db", "--device", "cpu", "--", loader, image),
    ):
        done = mneme(*arguments)
        assert done.returncode == 0, done.stderr
        if arguments[0] == "record":
            assert done.stdout == SUMS
    (folder / "told").write_text(done.stderr)


@pytest.fixture(scope="module")
def made() -> Path:
    return made_once("without_ir", _make)


@pytest.fixture(scope="module")
def recording(made: Path) -> Path:
    return made / "db"


def test_launches_are_recorded_whatever_their_addresses(made: Path, recording: Path) -> None:
    assert "recorded 2 instances of 1 kernel (3 launches)" in (made / "told").read_text()
    assert "not recorded" not in (made / "told").read_text()
    (record,) = records(recording)
    content = json.loads(record.read_text())
    assert (content["CodeForm"], content["Launches"]) == ("cpu", 3)
    assert content["Modules"] == [f"RecordedCode_{record.stem}.cpu"]
    assert (recording / content["Modules"][0]).read_bytes() == (made / "scale.cpu").read_bytes()
    assert content["ArgSizes"] == [32, 8, 4]
    assert sorted(one["Occurrences"] for one in content["instances"].values()) == [1, 2]


def test_replays_are_exact(recording: Path) -> None:
    replayed = replay_all(recording, "default<O3>")
    assert [one.result_class for one in replayed] == ["exact"] * 2


def test_another_block_is_exact_and_other_code_is_refused(recording: Path) -> None:
    done = mneme("replay", recording, "scale@1", "-bidx", "64", "-gidx", "16", "--device", "cpu")
    assert done.result["result_class"] == "exact", done.stderr
    for option in ("default<O1>", "--specialize", "-sdims", "-slb"):
        done = mneme("replay", recording, "scale@1", option, "--device", "cpu")
        assert done.returncode != 0
        assert done.stdout == ""
        assert "'scale' was recorded without IR (its code is an image for the CPU" in done.stderr
        assert "its grid, block and dynamic shared memory can be changed" in done.stderr
    done = mneme("replay", recording, "scale@1", "--output-ll", "final.ll", "--device", "cpu")
    assert "but not with output of IR" in done.stderr


def test_it_is_shown_and_listed(recording: Path) -> None:
    shown = mneme("show", recording, "scale@1")
    assert "(cpu, no IR: its grid, block and dynamic shared memory can be" in shown.stdout
    details = json.loads(mneme("show", recording, "scale@1", "--json").stdout)
    assert details["code_form"] == "cpu"
    assert "what is possible): scale\n" in mneme("ls", recording).stdout
    (listed,) = json.loads(mneme("ls", recording, "--json").stdout)["kernels"]
    assert (listed["code_form"], listed["demangled_name"]) == ("cpu", "scale")


@pytest.mark.parametrize(
    "command",
    [
        ("explain",),
        ("compile", "--arch", "cpu"),
        ("bisect", "--device", "cpu"),
        ("scaffold",),
        ("export",),
    ],
    ids=lambda command: command[0],
)
def test_what_needs_ir_says_so(recording: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    verb, *options = command
    words: tuple[str | Path, ...]
    if verb == "scaffold":
        words = ("replay", recording, "scale@1", "--out", tmp_path / "project")
    elif verb == "bisect":
        words = (recording, "scale@1", "default<O1>")
    else:
        words = (recording,) if verb == "export" else (recording, "scale@1")
    if verb == "export":
        options = ["--features", str(tmp_path / "features.csv")]
    done = mneme(verb, *words, *options)
    assert (done.returncode != 0) == (verb != "export")
    assert "'scale' was recorded without IR" in done.stderr
    assert "Traceback" not in done.stderr


def test_tune_searches_launches_only(recording: Path, tmp_path: Path) -> None:
    where = ("--device", "cpu", "--results-dir", tmp_path / "tuned")
    done = mneme("tune", recording, "scale@1", "--trials", "3", *where, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "only grid and block are searched: the code is an image for the CPU" in done.stderr
    space = json.loads((tmp_path / "tuned" / "search_space.json").read_text())
    varied = {name for name, one in space["dimensions"].items() if one["type"] != "fixed"}
    assert varied <= {"block_shape", "blocks"}
    assert len(space["dimensions"]["block_shape"]["choices"]) > 1
    trials = (tmp_path / "tuned" / "trials.jsonl").read_text().splitlines()
    assert all(json.loads(one)["status"] == "verified" for one in trials)
    assert not list((tmp_path / "tuned").glob("*tuned_kernels*"))
    done = mneme("tune", recording, "scale@1", "--trials", "3", "--passes", "default<O1>", *where)
    assert "'scale' was recorded without IR" in done.stderr


def test_variants_without_other_code_are_compared(recording: Path, tmp_path: Path) -> None:
    done = mneme(
        *("compare", recording, "--variant", "own=", "--variant", "blocks=-bidx 64 -gidx 16"),
        *("--variant", "code=default<O1>", "--rounds", "6", "--device", "cpu", "--json"),
        *("--results-dir", tmp_path / "compared"),
    )
    assert done.returncode == 0, done.stderr
    for kernel in json.loads(done.stdout)["kernels"]:
        assert kernel["variants"]["blocks"]["verdict"] not in ("wrong", "failed", "invalid")
        assert kernel["variants"]["code"]["verdict"] == "invalid"
        assert "without IR" in kernel["variants"]["code"]["reason"]


def test_it_is_copied_and_trimmed(recording: Path, tmp_path: Path) -> None:
    copied, trimmed = tmp_path / "copied", tmp_path / "trimmed"
    assert mneme("copy", recording, copied).returncode == 0
    assert len(list(copied.glob("RecordedCode_*.cpu"))) == 1
    done = mneme("trim", recording, "scale@1", "--device", "cpu", "-o", trimmed, timeout=300)
    assert done.returncode == 0, done.stderr
    assert [one.result_class for one in replay_all(trimmed, "default<O3>")] == ["exact"]


def test_damaged_code_and_code_for_other_devices_do_not_run(
    recording: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "db"
    shutil.copytree(recording, folder)
    (record,), (code,) = records(folder), folder.glob("RecordedCode_*")
    content = json.loads(record.read_text())
    del content["Checksum"]
    record.write_text(json.dumps({**content, "CodeForm": "cubin", "Arch": "sm_80"}))
    done = mneme("replay", folder, "scale@1", "--device", "cpu")
    assert done.returncode != 0
    assert (
        "'scale' was recorded without IR (its code is a cubin): it runs on a GPU of architecture "
        "sm_80, not on the CPU device\n"
    ) in done.stderr
    record.write_text(json.dumps(content))
    code.write_bytes(code.read_bytes()[:-1] + b"?")
    done = mneme("replay", folder, "scale@1", "--device", "cpu")
    assert "is damaged" in done.stderr


def test_optimize_searches_them_and_says_what_stays(made: Path, tmp_path: Path) -> None:
    where = ("--seed", "1", "--device", "cpu", "-o", tmp_path / "out", "--no-knowledge")
    program = ("--", made / "loader", made / "scale.cpu")
    done = optimize(*where, *program, trials=6)
    assert done.returncode in (0, 1), done.stderr
    result = json.loads((tmp_path / "out" / "optimize.json").read_text())
    assert any(
        one.startswith("scale: only grid and block are searched, because the code is an image for")
        for one in result["notes"]
    )
    (kernel,) = result["kernels"]
    assert (kernel["demangled_name"], kernel["code_form"]) == ("scale", "cpu")
    assert kernel["is_searched"], kernel["reason"]
    if kernel["is_kept"]:  # other dimensions are faster here
        assert result["use"].split()[1:3] == ["mneme", "run"]
        tuned = json.loads((tmp_path / "out" / "tuned.json").read_text())
        (variant,) = tuned["scale"]["Mneme"]["Variants"]
        assert (variant["CodeForm"], variant["Guards"]) == ("cpu", ["Arch"])
    else:
        assert kernel["reason"]
