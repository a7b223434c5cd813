"""spack-repo/: the recipes name what the project needs; Spack itself reads them where it is."""

from __future__ import annotations

import contextlib
import re
import runpy
import shutil
import subprocess
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

tomllib = pytest.importorskip("tomllib")  # part of Python from 3.11 on

ROOT = Path(__file__).parents[2]
REPOSITORY = ROOT / "spack-repo"
RECIPES = REPOSITORY / "spack_repo" / "mneme" / "packages"

# What scripts/lib.sh installs with apt, and the Spack package that is it; None for tools of
# whoever develops mneme.
APT = {
    "clang-22": "llvm",
    "llvm-22-dev": "llvm",
    "llvm-22-tools": "llvm",
    "lld-22": "llvm",
    "liblld-22-dev": "llvm",
    "clang-tools-22": None,
    "libclang-rt-22-dev": "llvm",
    "cmake": "cmake",
    "ninja-build": "ninja",
    "ccache": None,
    "pkg-config": "pkgconfig",
    "git": None,
    "make": None,
    "libzstd-dev": "zstd",
    "libxxhash-dev": "xxhash",
    "libboost-context-dev": "boost",
    "nlohmann-json3-dev": "nlohmann-json",
    "doctest-dev": "doctest",
    "python3": "python",
    "python3-dev": "python",
    "python3-venv": None,
}


@dataclass
class Recipe:
    """The directives of one package.py."""

    versions: list[str] = field(default_factory=list)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    dependencies: list[tuple[str, str]] = field(default_factory=list)  # spec, condition
    package: type | None = None

    def specs(self, name: str) -> list[str]:
        return [spec for spec, _ in self.dependencies if re.split(r"[@+~ ]", spec)[0] == name]


def read(package: str) -> Recipe:
    """Run a recipe with a `spack.package` that writes down what it is told."""
    recipe = Recipe()
    conditions: list[str] = []

    @contextlib.contextmanager
    def when(condition: str) -> Any:
        conditions.append(condition)
        yield
        conditions.pop()

    def depends_on(spec: str, when: str = "", **_: Any) -> None:
        recipe.dependencies.append((spec, " ".join([*conditions, when]).strip()))

    def ignore(*_: Any, **__: Any) -> None:
        pass

    directives: dict[str, Any] = {
        "CMakePackage": type("CMakePackage", (), {}),
        "version": lambda name, **_: recipe.versions.append(name),
        "variant": lambda name, **options: recipe.variants.update({name: options}),
        "depends_on": depends_on,
        "extends": depends_on,
        "when": when,
        "run_after": lambda *_: lambda function: function,
    }
    directives |= dict.fromkeys(("license", "conflicts", "requires", "generator"), ignore)
    fake = types.ModuleType("spack.package")
    fake.__dict__.update(directives)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "spack", types.ModuleType("spack"))
        patch.setitem(sys.modules, "spack.package", fake)
        content = runpy.run_path(str(RECIPES / package / "package.py"))
    class_name = "".join(part.capitalize() for part in package.split("_"))
    recipe.package = content[class_name]
    return recipe


@pytest.fixture(scope="module")
def mneme() -> Recipe:
    return read("mneme")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def shell_list(name: str) -> list[str]:
    text = (ROOT / "scripts" / "lib.sh").read_text()
    found = re.search(rf"^{name}=\((.*?)\)", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return re.findall(r"[^\s']+", found[1])


def test_both_layouts_hold_the_same_recipes() -> None:
    packages = sorted(path.parent.name for path in RECIPES.glob("*/package.py"))
    assert packages == ["mneme", "mneme_vector_add"]
    for name in packages:
        older = REPOSITORY / "packages" / name.replace("_", "-") / "package.py"
        assert older.samefile(RECIPES / name / "package.py")
    assert len(list((REPOSITORY / "packages").iterdir())) == len(packages)
    older_repo = yaml.safe_load((REPOSITORY / "repo.yaml").read_text())["repo"]
    repo = yaml.safe_load((RECIPES.parent / "repo.yaml").read_text())["repo"]
    assert older_repo == {"namespace": "mneme", "subdirectory": "packages"}
    assert repo == {"namespace": "mneme", "api": "v2.0"}


def test_a_git_address_leads_to_the_recipes() -> None:
    index = yaml.safe_load((ROOT / "spack-repo-index.yaml").read_text())
    (path,) = index["repo_index"]["paths"]
    assert (ROOT / path).samefile(RECIPES.parent)


def test_scaffolded_environments_find_the_repository() -> None:
    template = yaml.safe_load((ROOT / "templates" / "spack" / "template.yaml").read_text())
    named = template["parameters"]["repository"]["default"]
    assert Path(named.replace("$MNEME_SOURCE", str(ROOT))).samefile(REPOSITORY)


def test_versions_are_the_projects(mneme: Recipe, project: dict[str, Any]) -> None:
    assert mneme.versions == [project["version"]]
    example = read("mneme_vector_add")
    assert example.versions == mneme.versions
    assert example.specs("mneme") == [f"mneme@{project['version']} +python"]


def test_variants_are_the_documented_ones(mneme: Recipe) -> None:
    defaults = {name: options["default"] for name, options in mneme.variants.items()}
    assert defaults == {
        "python": True,
        "jit": True,
        "tests": False,
        "llvm": "static",
        "cuda": False,
        "rocm": False,
    }
    text = (ROOT / "docs" / "spack.md").read_text()
    for name in defaults:
        assert f"| `{name}" in text, name


@pytest.mark.parametrize("group", ["dependencies", "build"])
def test_python_packages_have_the_projects_limits(
    mneme: Recipe, project: dict[str, Any], group: str
) -> None:
    wanted = list(project["dependencies"])
    if group == "build":
        pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
        wanted = [one for one in pyproject["build-system"]["requires"] if "scikit" not in one]
    for requirement in wanted:
        found = re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,<([\d.]+))?", requirement)
        assert found is not None, requirement
        name, least, below = found[1], found[2], found[3]
        if name == "llvmlite":
            # An older one serves an older LLVM; a conflict in the recipe says which.
            assert f'"^py-llvmlite@:{before(least)}"' in source("mneme")
            assert mneme.specs("py-llvmlite")
            continue
        limit = before(below) if below else ""
        assert mneme.specs(f"py-{name}") == [f"py-{name}@{least}:{limit}"], requirement


def before(version: str) -> str:
    """The newest release series below a version, as Spack's ranges, which include it, name it."""
    *head, last = version.split(".")
    return ".".join([*head, str(int(last) - 1)])


def source(package: str) -> str:
    return (RECIPES / package / "package.py").read_text()


def test_the_least_python_is_the_projects(mneme: Recipe, project: dict[str, Any]) -> None:
    least = project["requires-python"].removeprefix(">=")
    assert f"python@{least}:" in mneme.specs("python")


def test_system_packages_have_a_dependency(mneme: Recipe) -> None:
    packages = shell_list("apt_packages")
    unknown = set(packages) - set(APT)
    assert not unknown, (
        f"scripts/lib.sh installs {unknown}; say in this test which Spack package that is"
    )
    for package in packages:
        name = APT[package]
        assert name is None or mneme.specs(name), f"the recipe forgets {name} ({package})"


def test_build_options_exist(mneme: Recipe) -> None:
    named = set(re.findall(r'"(MNEME_\w+)"', source("mneme")))
    assert {"MNEME_ENABLE_JIT", "MNEME_ENABLE_PYTHON", "MNEME_LINK_SHARED_LLVM"} <= named
    files = [ROOT / "CMakeLists.txt", *(ROOT / "runtime").rglob("CMakeLists.txt")]
    text = "\n".join(path.read_text() for path in files)
    for name in named:
        assert re.search(rf"(option|set)\({name}\b", text), name


def test_the_cmake_minimum_is_the_projects(mneme: Recipe) -> None:
    found = re.search(r"VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found is not None
    for recipe in (mneme, read("mneme_vector_add")):
        assert recipe.specs("cmake") == [f"cmake@{found[1]}:"]


def test_vendors_exclude_neither_each_other_nor_anything_else(mneme: Recipe) -> None:
    assert ("cuda@12:", "+cuda") in mneme.dependencies
    assert ("hip@6:", "+rocm") in mneme.dependencies
    conflicts = re.findall(r"conflicts\(\s*\"([^\"]+)", source("mneme"))
    assert conflicts == ["^py-llvmlite@:0.49"]


def test_sources_are_the_ones_around_the_recipe(mneme: Recipe) -> None:
    assert mneme.package is not None
    assert vars(mneme.package)["git"] == f"file://{ROOT.resolve()}"


def test_smoke_tests_say_what_they_check(mneme: Recipe) -> None:
    assert mneme.package is not None
    tests = {name: value for name, value in vars(mneme.package).items() if name.startswith("test_")}
    functions = {name: value for name, value in tests.items() if callable(value)}
    assert {"test_version", "test_record_and_replay"} <= set(functions)
    for name, function in functions.items():
        assert function.__doc__, name


def spack(*arguments: str | Path, scope: Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("spack")
    assert program is not None
    return subprocess.run(
        [program, "-C", str(scope), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("layout", [REPOSITORY, RECIPES.parent], ids=["older", "today"])
def test_spack_reads_and_audits_the_recipes(tmp_path: Path, layout: Path) -> None:
    if shutil.which("spack") is None:
        pytest.skip("Spack is not installed")
    version = spack("--version", scope=tmp_path).stdout
    is_new = int(version.split(".")[0]) >= 1
    if layout != REPOSITORY and not is_new:
        pytest.skip("this Spack reads the older layout only")
    repos: Any = {"mneme": str(layout)} if is_new else [str(layout)]
    (tmp_path / "repos.yaml").write_text(yaml.safe_dump({"repos": repos}))
    if spack("info", "zstd", scope=tmp_path).returncode != 0:
        pytest.skip("this Spack has no recipes of its own")
    for package, text in (("mneme", "+rocm"), ("mneme-vector-add", "cuda_arch")):
        read_back = spack("info", package, scope=tmp_path)
        assert read_back.returncode == 0, read_back.stderr
        assert text.strip("+") in read_back.stdout
    if is_new:  # older recipes know too few versions of Python packages
        audit = spack("audit", "packages", "mneme", "mneme-vector-add", scope=tmp_path)
        assert audit.returncode == 0, audit.stdout + audit.stderr
