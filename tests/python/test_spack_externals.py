"""What `mneme scaffold spack --externals` finds here, and the recipe of `spack-package`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mneme import _vendors
from mneme.errors import InvalidArgument
from mneme.install import spack_externals
from mneme.scaffold.rendering import ScaffoldRequest, load_template, render, write
from spack_recipes import ROOT, audit, read

tomllib = pytest.importorskip("tomllib")  # part of Python from 3.11 on


def toolkit(place: Path, release: int = 13000, *, is_whole: bool = True) -> Path:
    for name in ("include", "bin", "nvvm/libdevice"):
        (place / name).mkdir(parents=True)
    (place / "include" / "cuda.h").write_text(f"#define CUDA_VERSION {release}\n")
    compiler = place / "bin" / "nvcc"
    compiler.write_text(f"#!/bin/sh\necho '#$ TOP={place}/bin/..' >&2\n")
    compiler.chmod(0o755)
    if is_whole:
        (place / "bin" / "ptxas").touch()
    return place


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a toolkit."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(_vendors, "TOOLKIT_USUAL_PLACE", str(tmp_path / "usual"))
    monkeypatch.setattr(spack_externals, "_wheels", list)
    return tmp_path


def test_every_python_package_of_the_recipe_can_be_an_external() -> None:
    recipe = read("mneme")
    wanted = {
        spec.split("@")[0]
        for spec, condition in recipe.dependencies
        if spec.startswith("py-") and not {"+llvmlite", "+tests"} & set(condition.split())
    }
    assert wanted == {f"py-{name}" for name in spack_externals.PYTHON_PACKAGES}


def test_packages_are_named_with_their_own_prefix_and_python(nowhere: Path) -> None:
    found = spack_externals.externals(with_dependencies=True)
    assert {"python", "py-optuna", "py-typer"} <= found.keys()
    (python,) = found["python"]["externals"]
    assert python["prefix"] == sys.base_prefix
    (optuna,) = found["py-optuna"]["externals"]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = [Path(optuna["prefix"]) / lib / version for lib in ("lib", "lib64")]
    assert any((one / "site-packages" / "optuna").is_dir() for one in folders)
    assert optuna["dependencies"][0]["spec"] == python["spec"]
    assert all(one["buildable"] is False for one in found.values())
    older = spack_externals.externals(with_dependencies=False)
    assert "dependencies" not in older["py-optuna"]["externals"][0]
    assert "cuda" not in found


def test_a_toolkit_is_its_own_folder_and_not_a_wrappers(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spack_externals.toolkit() is None
    real = toolkit(nowhere / "toolkit")
    wrapper = nowhere / "bin" / "nvcc"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {real}/bin/nvcc "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:/usr/bin:/bin")
    assert spack_externals.toolkit() == ("cuda@13.0", real)
    wrapper.unlink()
    wrapper.symlink_to(real / "bin" / "nvcc")
    assert spack_externals.toolkit() == ("cuda@13.0", real)
    # A variable comes first, but not one that leads to a part of a toolkit.
    monkeypatch.setenv("CUDA_PATH", str(toolkit(nowhere / "other", 12090)))
    monkeypatch.setenv("CUDA_HOME", str(toolkit(nowhere / "part", 12040, is_whole=False)))
    assert spack_externals.toolkit() == ("cuda@12.9", nowhere / "other")


def scaffold(template: str, out: Path, **values: object) -> Path:
    write(render(ScaffoldRequest(template=load_template(template), out=out, values=values)))
    return out


def test_an_environment_includes_its_externals(tmp_path: Path) -> None:
    out = scaffold("spack", tmp_path, externals=True)
    assert yaml.safe_load((out / "spack.yaml").read_text())["spack"]["include"] == ["packages.yaml"]
    packages = yaml.safe_load((out / "packages.yaml").read_text())["packages"]
    assert "py-optuna" in packages
    assert "&" not in (out / "packages.yaml").read_text()  # aliases are hard to edit
    plain = scaffold("spack", tmp_path / "plain")
    assert not (plain / "packages.yaml").exists()


def test_externals_are_found_before_mneme_is_built(tmp_path: Path) -> None:
    """By the sources alone: Spack is going to build them."""
    sources = tmp_path / "sources"
    for name in ("python/mneme", "templates", "spack-repo"):
        shutil.copytree(ROOT / name, sources / name, symlinks=True)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mneme",
            "scaffold",
            "spack",
            "--externals",
            "--out",
            tmp_path / "out",
        ],
        env={"PYTHONPATH": str(sources / "python"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "packages.yaml").is_file()
    environment = yaml.safe_load((tmp_path / "out" / "spack.yaml").read_text())["spack"]
    assert environment["repos"] == {"mneme": str(sources / "spack-repo")}


def test_a_recipe_of_ones_own_is_in_order(tmp_path: Path) -> None:
    out = scaffold("spack-package", tmp_path, name="my-app", git="file:///tmp/a", program="solve")
    repo = yaml.safe_load((out / "repo.yaml").read_text())["repo"]
    assert repo == {"namespace": "my_app", "subdirectory": "packages"}
    path = out / "packages" / "my-app" / "package.py"
    for today in (True, False):
        recipe = read("my-app", source=path.read_text(), path=path, today=today)
        assert audit(recipe) == []
        assert recipe.specs("mneme") == ["mneme +python"]
        assert recipe.versions["main"]["branch"] == "main"
    assert "def build_targets" in path.read_text()
    cpu = scaffold("spack-package", tmp_path / "cpu", cuda="none")
    path = cpu / "packages" / "my-app" / "package.py"
    assert not read("my-app", source=path.read_text(), path=path).specs("cuda")


@pytest.mark.parametrize("name", ["My-App", "my_app", "-a", "a--b", "mneme", "1a", "a b"])
def test_names_that_spack_cannot_have_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match="--name is"):
        scaffold("spack-package", tmp_path, name=name)


def test_the_toolkit_of_the_wheels_is_of_one_release() -> None:
    """clang gives ptxas what nvvm and crt hold: a later release's is refused as unsupported."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    pinned = dict(one.split("==") for one in extras["cuda-toolkit"] if "==" in one)
    assert {pinned[f"nvidia-{name}"] for name in ("cuda-nvcc", "nvvm", "cuda-crt")} == {"13.0.*"}
