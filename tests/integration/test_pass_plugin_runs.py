"""Production runs with kernels that are tuned with a pass plugin, and comparisons of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import Finished, example, mneme
from pass_plugins import HAS_SHARED_LLVM, built_plugin
from tuned_runs import TRACE, counts, kernels_of, warnings, write_tuned

from mneme.code_texts import plugin_files
from mneme.deploy.tuned_file import read_tuned_file

pytestmark = [
    pytest.mark.compile,
    pytest.mark.skipif(not HAS_SHARED_LLVM, reason="no shared LLVM"),
]
BREAKS = "planted-drop-stores,default<O3>"


@pytest.fixture(scope="module")
def planted() -> Path:
    return built_plugin("planted")


def run(folder: Path, plugins: str, passes: str = BREAKS, **keys: str) -> Finished:
    program = example("vector_add")
    tuned = write_tuned(
        folder / "tuned.json", kernels_of([program]), Pipeline=passes, PassPlugins=plugins, **keys
    )
    return mneme(
        *("run", "--device", "cpu", "--", program),
        PROTEUS_TUNED_KERNELS=str(tuned),
        PROTEUS_CACHE_DIR=str(folder / "cache"),
        PROTEUS_TRACE_OUTPUT=TRACE,
    )


def test_production_runs_compile_with_the_plugin(planted: Path, tmp_path: Path) -> None:
    plugins = plugin_files([str(planted)])
    broken = run(tmp_path, plugins)
    assert counts(broken.stderr).tuned > 0, broken.stderr
    assert "PASSED" not in broken.stdout  # the pass has done its work
    right = run(tmp_path, plugins, "planted-nothing,default<O3>", LlvmOptions="planted-times=3")
    assert counts(right.stderr).tuned > 0, right.stderr
    assert "PASSED" in right.stdout
    assert warnings(right.stderr) == []


@pytest.mark.parametrize("fault", ["changed", "missing", "crash", "no option"])
def test_kernel_runs_as_built_where_the_plugin_is_not_what_it_was(
    fault: str, planted: Path, tmp_path: Path
) -> None:
    plugin = tmp_path / "plugin.so"
    shutil.copy(planted, plugin)
    plugins = plugin_files([str(plugin)])
    passes, keys = BREAKS, {}
    if fault == "changed":
        with plugin.open("ab") as file:
            file.write(b"\0")
    elif fault == "missing":
        plugin.unlink()
    elif fault == "crash":
        passes = "planted-crash"
    else:
        keys["LlvmOptions"] = "no-such-option"
    done = run(tmp_path, plugins, passes, **keys)
    assert "PASSED" in done.stdout, done.stderr
    says = {
        "changed": "has changed since it was named",
        "missing": "Could not load library",
        "crash": "died of signal 11",
        "no option": "LLVM has no option '-no-such-option'",
    }
    (said,) = warnings(done.stderr)
    assert says[fault] in said


def test_files_of_tuned_kernels_keep_plugins_and_options(tmp_path: Path) -> None:
    path = write_tuned(
        tmp_path / "tuned.json", ["k"], PassPlugins="/a.so@0123456789abcdef", LlvmOptions="b=1"
    )
    (variant,) = read_tuned_file(path)["k"].variants
    assert variant.pass_plugins == "/a.so@0123456789abcdef"
    assert variant.llvm_options == "b=1"
    assert {"PassPlugins", "LlvmOptions"} <= variant.to_json().keys()


def test_comparison_names_kernel_and_plugin_of_each_fault(
    recordings: dict[str, Path], planted: Path, tmp_path: Path
) -> None:
    faults = ("drop-stores", "slow", "crash")
    variants = [
        f"--variant={name}=--passes 'planted-{name},default<O3>' --pass-plugin '{planted}'"
        for name in faults
    ]
    done = mneme(
        *("compare", recordings["vector_add"], "--device", "cpu", "--json"),
        *("--results-dir", tmp_path / "out"),
        *("--variant=usual=--passes 'default<O3>'", *variants),
    )
    assert done.returncode == 0, done.stderr
    said = json.dumps(json.loads(done.stdout))
    assert "wrong" in said
    assert "slower" in said
    assert f"it ran the pass plugin '{planted}'" in said


@pytest.mark.parametrize("fault", ["drop-stores", "crash"])
def test_bisection_names_the_pass_of_the_plugin(
    fault: str, recordings: dict[str, Path], planted: Path, tmp_path: Path
) -> None:
    done = mneme(
        *("bisect", recordings["vector_add"], f"default<O1>,planted-{fault}", "--pass-plugin"),
        *(planted, "--device", "cpu", "-o", tmp_path / "out"),
    )
    assert done.returncode == 0, done.stderr
    assert "Planted<&(anonymous namespace)::" in done.stdout
    assert {"drop-stores": "dropStores", "crash": "crash"}[fault] in done.stdout
    assert f"--pass-plugin={planted}@" in (tmp_path / "out" / "replay.sh").read_text()
