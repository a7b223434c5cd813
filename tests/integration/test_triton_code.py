"""Kernels whose IR lies in Triton's cache: recorded with it, and with the code that ran.

On the CPU device programs load code for it; the cache has that in place of cubins.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    BUILD,
    Finished,
    instances,
    made_once,
    mneme,
    optimize,
    records,
    run_command,
)
from without_ir_parts import write_results

from mneme import _native
from mneme.recording.recorded_execution import RecordedExecution

SAMPLES = Path(__file__).resolve().with_name("triton")
WRAPPER = BUILD / "bin" / "mneme-cxx"
KERNELS = ("scale_kernel", "softmax_kernel")
NAMES = {
    "scale_kernel": ["x", "y", "n", "a", "", ""],
    "softmax_kernel": ["out", "inp", "in_stride", "out_stride", "n_cols", "", ""],
}

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(
        not (BUILD / "tests" / "apps" / "api").is_dir(),
        reason="tests/apps/api is not built: no CUDA toolkit",
    ),
]


def _image(kernel: str) -> bytes:
    code = (SAMPLES / f"{kernel}.llir").read_bytes()
    image: bytes = _native.compile_ir([code], kernel, target="cpu")["image"]
    return image


def _make(folder: Path) -> None:
    asked = run_command(BUILD / "bin" / "nvcc", "-", "__cmake_determine_cuda").stdout
    toolkit = re.findall(r"TOP=(.*)", asked)[0]
    loader = folder / "loader"
    built = run_command(
        *(WRAPPER, SAMPLES / "loader.cpp", "-isystem", f"{toolkit}/include", "-lcuda"),
        *("-o", loader),
    )
    assert built.returncode == 0, built.stderr
    for number, kernel in enumerate(KERNELS):
        entry = folder / "cache" / f"ENTRY{number}"
        entry.mkdir(parents=True)
        for file in SAMPLES.glob(f"{kernel}.*"):
            shutil.copy(file, entry)
        (entry / f"{kernel}.cubin").write_bytes(_image(kernel))
        (entry / f"{kernel}.json").write_text(json.dumps({"triton_version": "3.9.0"}))
    (folder / "cache" / "a file").touch()
    done = _record(folder, folder / "db", folder / "cache")
    assert done.returncode == 0, done.stderr
    assert "recorded 2 instances of 2 kernels (2 launches)" in done.stderr


def _record(folder: Path, recording: Path, cache: Path) -> Finished:
    words: list[str | Path] = ["record", "-rdb", recording, "--device", "cpu", "--"]
    words.append(folder / "loader")
    for number, kernel in enumerate(KERNELS):
        words.append(folder / "cache" / f"ENTRY{number}" / f"{kernel}.cubin")
    return mneme(*words, TRITON_CACHE_DIR=str(cache))


@pytest.fixture(scope="module")
def made() -> Path:
    return made_once("triton_code", _make)


@pytest.fixture(scope="module")
def recording(made: Path) -> Path:
    return made / "db"


def test_records_have_the_ir_and_what_ran(made: Path, recording: Path) -> None:
    found = {one.kernel_name: one for one in map(RecordedExecution.from_json, records(recording))}
    assert set(found) == set(KERNELS)
    for number, (name, record) in enumerate(sorted(found.items())):
        entry = made / "cache" / f"ENTRY{number}"
        assert (record.code_form, record.producer) == ("", "Triton 3.9.0")
        assert record.arg_names == NAMES[name]
        (code,) = record.llvm_files
        assert code.endswith(f"RecordedIR_{record.static_hash}.ll")
        assert Path(code).read_bytes() == (SAMPLES / f"{name}.llir").read_bytes()
        assert set(record.images) == {"cpu", "ptx"}
        assert Path(record.images["ptx"]).read_bytes() == (SAMPLES / f"{name}.ptx").read_bytes()
        assert Path(record.images["cpu"]).read_bytes() == (entry / f"{name}.cubin").read_bytes()


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_recorded_code_and_other_pipelines_replay(recording: Path, kernel: str) -> None:
    for words in (("--llvm", "recorded"), ("default<O3>",), ("default<O1>",), ("--specialize",)):
        done = mneme("replay", recording, f"{kernel}@1", *words, "--device", "cpu")
        assert done.result["result_class"] == "exact", (words, done.stderr)


def test_recorded_code_takes_no_pipelines_and_ptx_runs_on_gpus(recording: Path) -> None:
    where = ("replay", recording, "scale_kernel@1", "--device", "cpu")
    done = mneme(*where, "default<O1>", "--llvm", "recorded")
    assert done.returncode != 0
    assert "'scale_kernel' shall run as recorded (its code is an image for the CPU" in done.stderr
    assert "but not with other passes" in done.stderr
    done = mneme(*where, "--llvm", "ptx")
    assert "(its code is PTX): it runs on an NVIDIA GPU, not on the CPU device" in done.stderr


def test_it_is_shown(recording: Path) -> None:
    shown = " ".join(mneme("show", recording, "scale_kernel@1").stdout.split())
    assert "(IR of Triton 3.9.0); as its program ran it: RecordedCode_" in shown
    assert all(name in shown for name in NAMES["scale_kernel"])


def test_tune_keeps_the_launch_and_writes_no_tuned_kernels(recording: Path, tmp_path: Path) -> None:
    where = ("--device", "cpu", "--results-dir", tmp_path / "tuned")
    done = mneme("tune", recording, "scale_kernel@1", "--trials", "3", *where, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "grid and block stay as they are: Triton 3.9.0 made the code for them" in done.stderr
    assert "as built" not in done.stderr  # the same code as that of the baseline
    trials = (tmp_path / "tuned" / "trials.jsonl").read_text().splitlines()
    assert all(json.loads(one)["status"] == "verified" for one in trials)
    assert not list((tmp_path / "tuned").glob("*tuned_kernels*"))


def test_gains_are_those_over_the_code_that_the_program_loads(
    recording: Path, tmp_path: Path
) -> None:
    where = ("--device", "cpu", "--results-dir", tmp_path / "tuned", "--trials", "2")
    done = mneme(
        *("tune", recording, "softmax_kernel@1", "--passes", "default<O1>", *where), timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "(the code that it loads): gains are over that" in done.stderr
    best, baseline = (
        json.loads((tmp_path / "tuned" / f"{name}.json").read_text())
        for name in ("best", "baseline")
    )
    assert best["as_built_metric"] == baseline["as_built"]["metric"]
    assert baseline["as_built"]["config"]["llvm"] == "recorded"
    assert "cannot be shown" not in done.stderr


def _deployed(recording: Path, folder: Path, kernel: str, **configured: Any) -> Path:
    (record,) = (one for one in records(recording) if kernel in one.read_text())
    (launch,) = instances(record)
    results = write_results(folder / kernel, record, launch, "cpu", **configured)
    done = mneme("deploy", results, "-o", folder / "tuned.json", "--merge")
    assert done.returncode == 0, done.stderr
    return folder / "tuned.json"


def _run(made: Path, tuned: Path | str, **changed: Path) -> Finished:
    images: list[str | Path] = [
        changed.get(kernel, made / "cache" / f"ENTRY{number}" / f"{kernel}.cubin")
        for number, kernel in enumerate(KERNELS)
    ]
    words: list[str | Path] = ["run", "--device", "cpu", "--", made / "loader", *images]
    return mneme(
        *words,
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_TRACE_OUTPUT="kernel-trace" if tuned else "",
    )


def test_what_was_found_is_deployed_for_the_code_that_triton_made(
    made: Path, recording: Path, tmp_path: Path
) -> None:
    alone = _run(made, "").stdout
    _deployed(recording, tmp_path, "scale_kernel", passes="default<O1>", specialize=True)
    tuned = _deployed(recording, tmp_path, "softmax_kernel", passes="default<O2>")
    (variant,) = json.loads(tuned.read_text())["scale_kernel"]["Mneme"]["Variants"]
    assert (variant["CodeForm"], variant["Pipeline"]) == ("cpu", "default<O1>")
    assert variant["Guards"] == ["Arch", "Arg:2", "Arg:3"]
    assert bytes.fromhex(variant["Cubin"])[:4] == b"\x7fELF"
    done = _run(made, tuned)
    assert (done.returncode, done.stdout) == (0, alone), done.stderr
    traced = [line for line in done.stderr.splitlines() if "[kernel-trace]" in line]
    assert [line.rpartition(": ")[2] for line in traced] == [
        "variant 0, fits this launch",
        "variant 0, fits this launch",
    ]
    assert "not used" not in done.stderr


def test_other_code_and_damaged_files_run_as_triton_made_them(
    made: Path, recording: Path, tmp_path: Path
) -> None:
    alone = _run(made, "").stdout
    other = tmp_path / "other.cubin"
    own = (made / "cache" / "ENTRY0" / "scale_kernel.cubin").read_bytes()
    other.write_bytes(own[:-1] + b"?")
    tuned = _deployed(recording, tmp_path, "scale_kernel", passes="default<O1>")
    done = _run(made, tuned, scale_kernel=other)
    assert done.stdout == alone
    assert "'scale_kernel' was not used: no launch of it had the code" in done.stderr
    content = json.loads(tuned.read_text())
    (variant,) = content["scale_kernel"]["Mneme"]["Variants"]
    softmax = _image("softmax_kernel").hex()
    for changes, told in (
        ({"Cubin": "7f454c46"}, "what the file has in its place is not device code"),
        ({"Cubin": softmax}, "the file's code has no such kernel"),
        ({"Processor": "0" * 16}, "its machine code is for another processor"),
        ({"Guards": ["Arch", "Arg:2"], "Match": {**variant["Match"], "Args": [
            {**one, "Bytes": "00" * (len(one["Bytes"]) // 2)} for one in variant["Match"]["Args"]
        ]}}, "'scale_kernel' was not used"),
    ):  # fmt: skip
        content["scale_kernel"]["Mneme"]["Variants"] = [{**variant, **changes}]
        tuned.write_text(json.dumps(content))
        done = _run(made, tuned)
        assert (done.returncode, done.stdout) == (0, alone), done.stderr
        assert told in done.stderr


def test_optimize_searches_them(made: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(made / "cache", cache)
    program = [str(made / "loader")]
    for number, kernel in enumerate(KERNELS):  # slow code, so that something gains in replays
        code = (SAMPLES / f"{kernel}.llir").read_bytes()
        slow = _native.compile_ir([code], kernel, target="cpu", passes="default<O0>", codegen_opt=0)
        program.append(str(cache / f"ENTRY{number}" / f"{kernel}.cubin"))
        Path(program[-1]).write_bytes(slow["image"])
    where = ("--seed", "1", "--device", "cpu", "-o", tmp_path / "out", "--no-knowledge")
    done = optimize(
        *(*where, "--", *program), trials=4, launches="all", TRITON_CACHE_DIR=str(cache)
    )
    assert done.returncode in (0, 1), done.stderr
    result = json.loads((tmp_path / "out" / "optimize.json").read_text())
    assert {one["name"] for one in result["kernels"]} == set(KERNELS)
    for kernel in result["kernels"]:
        assert (kernel["code_form"], kernel["is_searched"]) == ("cpu", True), kernel["reason"]


def test_variants_are_compared_with_the_recorded_code(recording: Path, tmp_path: Path) -> None:
    done = mneme(
        *("compare", recording, "--kernel", "scale_kernel", "--variant", "own=--llvm recorded"),
        *("--variant", "less=default<O1>", "--rounds", "6", "--device", "cpu", "--json"),
        *("--results-dir", tmp_path / "compared"),
    )
    assert done.returncode == 0, done.stderr
    for kernel in json.loads(done.stdout)["kernels"]:
        for one in kernel["variants"].values():
            assert one["verdict"] not in ("wrong", "failed", "invalid")


def test_copies_and_trimmed_recordings_keep_the_code(recording: Path, tmp_path: Path) -> None:
    copied, trimmed = tmp_path / "copied", tmp_path / "trimmed"
    assert mneme("copy", recording, copied).returncode == 0
    name = "softmax_kernel@1"
    done = mneme("trim", copied, name, "--device", "cpu", "-o", trimmed, timeout=300)
    assert done.returncode == 0, done.stderr
    for folder in (copied, trimmed):
        done = mneme("replay", folder, name, "--llvm", "recorded", "--device", "cpu")
        assert done.result["result_class"] == "exact", done.stderr


def test_other_files_in_the_cache_change_nothing(made: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(made / "cache", cache)
    image = cache / "ENTRY0" / "scale_kernel.cubin"
    image.write_bytes(image.read_bytes()[:-1] + b"?")
    llir = cache / "ENTRY1" / "softmax_kernel.llir"
    llir.write_text(llir.read_text().replace("i32 %2, i32 %3", "i32 %2, i64 %3"))
    done = _record(made, tmp_path / "db", cache)
    assert done.returncode == 0, done.stderr
    found = map(RecordedExecution.from_json, records(tmp_path / "db"))
    assert [one.code_form for one in found] == ["cpu", "cpu"]


def test_ir_of_an_llvm_that_is_too_new_is_named(recording: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    assert mneme("copy", recording, copied).returncode == 0
    path = next(one for one in records(copied) if "scale_kernel" in one.read_text())
    record = json.loads(path.read_text())
    (copied / record["Modules"][0]).write_text(
        (SAMPLES / "scale_kernel.llir").read_text().replace("fmul float", "fnew float")
    )
    for key in ("Checksum", "ModuleHashes"):
        del record[key]
    path.write_text(json.dumps(record))
    done = mneme("replay", copied, "scale_kernel@1", "--device", "cpu")
    assert "is not LLVM IR that the LLVM" in done.stderr
    assert "'--llvm recorded' runs it as its program did" in done.stderr
    done = mneme("replay", copied, "scale_kernel@1", "--llvm", "recorded", "--device", "cpu")
    assert done.result["result_class"] == "exact", done.stderr
