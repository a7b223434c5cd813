"""`mneme doctor` tells what is there, what is missing and what is broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mneme.install import hints as _install_hints
from mneme.install import paths as _paths
from mneme.install.doctor import State, examine
from mneme.install.hints import package_hint, toolkit_hint


def doctor(**environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Exit code and findings by name."""
    done = subprocess.run(
        [sys.executable, "-m", "mneme", "doctor", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["usable"] is (done.returncode == 0)
    return done.returncode, {one["name"]: one for one in told["findings"]}


def compiler(folder: Path, body: str) -> str:
    """A program in the place of clang."""
    path = folder / "clang++"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_everything_that_is_here_is_found(tmp_path: Path) -> None:
    code, found = doctor(MNEME_CACHE_DIR=str(tmp_path / "cache"), PROTEUS_CACHE_DIR="")
    assert code == 0
    for name in ("mneme", "libraries", "clang", "pass plugin", "ptxas", "nvJitLink", "device cpu"):
        assert found[name]["state"] == "ok", found[name]
    assert str(_paths.prefix()) in found["mneme"]["detail"]
    assert found["CUDA toolkit"]["detail"].startswith("13.0, ")
    assert found["LLVM in the library"]["detail"].startswith(_paths.config()["llvm_version"])
    assert found["cache of compiled kernels"]["detail"] == str(tmp_path / "cache")
    assert found["package optuna"]["state"] == "ok"


def test_missing_extras_do_not_look_like_a_failure() -> None:
    command = [sys.executable, "-m", "mneme", "doctor"]
    environment = {**os.environ, "PROTEUS_MLIR_OPT_BIN": "/no/mlir-opt"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.startswith("mneme: recording, replaying and tuning work here;")


def test_mlir_opt_is_told(tmp_path: Path) -> None:
    code, found = doctor(PROTEUS_MLIR_OPT_BIN="/no/mlir-opt")
    assert (code, found["mlir-opt"]["state"]) == (0, "missing")
    assert "-tools, or set PROTEUS_MLIR_OPT_BIN" in found["mlir-opt"]["remedy"]
    tool = tmp_path / "mlir-opt"
    tool.write_text("#!/bin/sh\necho '  LLVM version 77.1'\n")
    tool.chmod(0o755)
    code, found = doctor(PROTEUS_MLIR_OPT_BIN=str(tool))
    assert (code, found["mlir-opt"]["detail"]) == (0, f"77.1, {tool}")


def test_absent_clang_is_missing_and_the_rest_works() -> None:
    code, found = doctor(MNEME_CLANGXX="/no/clang")
    assert (code, found["clang"]["state"]) == (0, "missing")
    assert "/no/clang" in found["clang"]["detail"]
    assert "install clang" in found["clang"]["remedy"]
    assert "pass plugin" not in found


def test_other_clang_is_broken(tmp_path: Path) -> None:
    code, found = doctor(MNEME_CLANGXX=compiler(tmp_path, "echo clang version 15.0.6"))
    assert (code, found["clang"]["state"]) == (6, "broken")
    assert "15.0.6, but mneme's passes are for" in found["clang"]["detail"]


def test_rocms_clang_of_the_wanted_number_is_broken(tmp_path: Path) -> None:
    major = str(_paths.config()["llvm_version"]).partition(".")[0]
    says = f'echo "AMD clang version {major}.0.0git (https://github.com/ROCm/llvm-project.git)"'
    code, found = doctor(MNEME_CLANGXX=compiler(tmp_path, says))
    assert (code, found["clang"]["state"]) == (6, "broken")
    detail = f"AMD clang version {major}.0.0git, but mneme's passes are for {major}"
    assert found["clang"]["detail"] == detail


def test_clang_that_cannot_load_the_passes_is_broken(tmp_path: Path) -> None:
    version = _paths.config()["llvm_version"]
    refusing = (
        f'[ "$1" = --version ] && echo clang version {version} && exit\necho refused >&2; exit 1'
    )
    code, found = doctor(MNEME_CLANGXX=compiler(tmp_path, refusing))
    assert (code, found["pass plugin"]["state"]) == (6, "broken")
    assert found["pass plugin"]["detail"] == "refused"


def test_toolkit_that_the_compiler_refuses_is_not_in_order(tmp_path: Path) -> None:
    for file, text in {"bin/ptxas": "", "include/cuda.h": "#define CUDA_VERSION 13000\n"}.items():
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text(text)
        (tmp_path / file).chmod(0o755)
    (tmp_path / "nvvm" / "libdevice").mkdir(parents=True)
    code, found = doctor(CUDA_HOME=str(tmp_path), MNEME_PTXAS="/no/ptxas")
    toolkit = found["CUDA toolkit"]
    assert (code, toolkit["state"]) == (0, "missing")
    assert toolkit["detail"] == f"{tmp_path} lacks cuRAND's headers, which clang includes"
    assert "install them" in toolkit["remedy"]


def test_missing_library_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = tmp_path / "prefix"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "config.json").write_text('{"llvm_version": "22.1"}')
    monkeypatch.setattr(_paths, "prefix", lambda: prefix)
    libraries = {one.name: one for one in examine()}["libraries"]
    assert libraries.state is State.BROKEN
    assert "librecord.so" in libraries.detail


def test_cache_that_others_can_write_to_is_told(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    code, found = doctor(PROTEUS_CACHE_DIR=str(shared))
    cache = found["cache of tuned programs"]
    assert (code, cache["state"]) == (0, "missing")
    assert "others can write" in cache["detail"]
    assert "PROTEUS_CACHE_DIR" in cache["remedy"]


def test_hints_are_spacks_where_spack_installed_mneme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert package_hint("cmaes", "'mneme-gpu[tune]'") == "pip install 'mneme-gpu[tune]'"
    (tmp_path / ".spack").mkdir()
    monkeypatch.setattr(_install_hints, "prefix", lambda: tmp_path)
    assert package_hint("optuna") == "spack install py-optuna && spack load py-optuna"
    assert "--target DIR cmaes, with DIR in PYTHONPATH" in package_hint("cmaes")
    assert toolkit_hint() == "set CUDA_HOME, or: spack load cuda"
