"""spack-repo/: the recipes name what the project needs; Spack itself reads them where it is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mneme.install import paths as _paths
from spack_recipes import (
    BUILD_SYSTEM,
    HELPERS,
    RECIPES,
    REPOSITORY,
    ROOT,
    InstallError,
    Recipe,
    audit,
    parameters,
    parse,
    read,
)

tomllib = pytest.importorskip("tomllib")  # part of Python from 3.11 on

PACKAGES = ("mneme", "mneme_vector_add")

# The packages that scripts/lib.sh installs with apt, and their Spack packages; None for tools that
# only developers of mneme need.
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


def test_what_spack_builds_knows_the_repository(mneme: Recipe) -> None:
    assert (
        'self.define("MNEME_SPACK_REPOSITORY", join_path(_checkout, "spack-repo"))' in mneme.source
    )
    assert "spack_repository" in _paths.config()


def test_versions_are_the_projects(mneme: Recipe, project: dict[str, Any]) -> None:
    assert list(mneme.versions) == ["main", project["version"]]
    example = read("mneme_vector_add")
    assert example.versions == mneme.versions
    assert example.specs("mneme") == [f"mneme@{project['version']}: +python"]


def test_variants_are_the_documented_ones(mneme: Recipe) -> None:
    defaults = {name: options["default"] for name, options in mneme.variants.items()}
    assert defaults == {
        "python": True,
        "llvmlite": False,
        "plotly": False,
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
            assert f"^py-llvmlite@:{before(least)}" in mneme.conflicts
            assert mneme.specs("py-llvmlite")
            continue
        limit = before(below) if below else ""
        assert mneme.specs(f"py-{name}") == [f"py-{name}@{least}:{limit}"], requirement


def before(version: str) -> str:
    """The newest release series below a version, as Spack's ranges, which include it, name it."""
    *head, last = version.split(".")
    return ".".join([*head, str(int(last) - 1)])


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
    named = set(re.findall(r'"(MNEME_\w+)"', mneme.source))
    assert {"MNEME_ENABLE_JIT", "MNEME_ENABLE_PYTHON", "MNEME_LINK_SHARED_LLVM"} <= named
    files = [ROOT / "CMakeLists.txt", ROOT / "cmake" / "CMakeLists.txt"]
    files += (ROOT / "runtime").rglob("CMakeLists.txt")
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
    assert list(mneme.conflicts) == ["^py-llvmlite@:0.49", "+llvmlite", "+plotly"]


def compiler(*languages: str) -> dict[str, Any]:
    compilers = {"compilers": {one: f"/usr/bin/{one}" for one in languages}}
    external = {"spec": "gcc@12.2.0", "prefix": "/usr", "extra_attributes": compilers}
    return {"externals": [external]}


ROCM = {"buildable": False, "externals": [{"spec": "hip@6.4.0", "prefix": "/opt/rocm"}]}


@pytest.mark.parametrize(
    "packages",
    [
        {},
        {"gcc": compiler("c", "cxx", "fortran")},
        {"gcc": compiler("c", "cxx"), "hip": ROCM},
        {"gcc": compiler("c", "cxx"), "llvm": compiler("fortran")},
    ],
    ids=["unknown", "fortran", "external", "another compiler"],
)
def test_rocm_is_there_where_it_can_be_built(packages: dict[str, Any]) -> None:
    recipe = read("mneme", packages=packages)
    assert ("hip@6:", "+rocm") in recipe.dependencies
    recipe.variants["rocm"]["validator"]("mneme", "rocm", (True,))


@pytest.mark.parametrize("languages", [("c", "cxx"), ("c", "cxx", "fortran"), ()])
@pytest.mark.parametrize("package", PACKAGES)
def test_reading_a_recipe_asks_nothing_that_reads_recipes(
    package: str, languages: tuple[str, ...]
) -> None:
    """Spack's database may build the index, which reads every recipe: this one again, half made."""
    assert read(package, packages={"gcc": compiler(*languages)}).package is not None
    broken = read("mneme").source.replace(
        "    if _configuration is None:\n",
        "    from spack import store\n    store.STORE.db.query('gcc')\n    if _configuration is None:\n",
    )
    with pytest.raises(AssertionError, match=r"asks spack\.store\.STORE while it is read"):
        read("mneme", source=broken)


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unpacked_archive_says_how_it_is_built(tmp_path: Path, package: str) -> None:
    path = (
        tmp_path / "m" / "spack-repo" / "spack_repo" / "mneme" / "packages" / package / "package.py"
    )
    path.parent.mkdir(parents=True)
    for is_checkout in (False, True):
        recipe = read(package, source=(RECIPES / package / "package.py").read_text(), path=path)
        assert recipe.package.manual_download is not is_checkout
        said = recipe.package().download_instr
        assert f"'{tmp_path / 'm'}' is not a Git checkout" in said
        assert f"spack develop --path '{tmp_path / 'm'}' {package.replace('_', '-')}@main" in said
        (tmp_path / "m" / ".git").mkdir(exist_ok=True)


def test_plotly_is_wanted_only_where_reports_are(mneme: Recipe) -> None:
    assert [when for spec, when in mneme.dependencies if spec.startswith("py-plotly")] == [
        "+python +plotly"
    ]


def test_rocm_without_fortran_is_refused_before_the_solver() -> None:
    recipe = read("mneme", packages={"gcc": compiler("c", "cxx")})
    validator = recipe.variants["rocm"]["validator"]
    with pytest.raises(InstallError, match="Fortran compiler, and packages.yaml has none"):
        validator("mneme", "rocm", (True,))
    validator("mneme", "rocm", (False,))
    # Spack validates what conditions name as well: none may name it.
    assert not any("+rocm" in one for one in recipe.conditions)
    older = read("mneme", packages={"gcc": compiler("c", "cxx")}, today=False)
    assert ("hip@6:", "+rocm") in older.dependencies  # whose hip needs none


def machines_packages() -> dict[str, Any]:
    """The block in the guide that names what a machine has."""
    text = (ROOT / "docs" / "spack.md").read_text()
    (block,) = [
        one
        for one in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
        if "\n  llvm:" in one and "packages:" in one
    ]
    packages: dict[str, Any] = yaml.safe_load(block)["packages"]
    return packages


def test_the_command_is_left_out_only_where_it_is_asked_for(mneme: Recipe) -> None:
    python = mneme.variants["python"]
    assert (python["default"], python["sticky"]) == (True, True)


def test_the_block_of_the_machines_packages_is_complete(mneme: Recipe) -> None:
    packages = machines_packages()
    needed = {
        parse(spec)[0].name
        for spec, condition in mneme.dependencies
        if condition in ("", "+python") and not parse(spec)[0].name.startswith("py-")
    }
    provided = {"pkgconfig": "pkg-config", "c": "gcc", "cxx": "gcc"}
    assert {provided.get(name, name) for name in needed} <= set(packages)
    assert all(entry["buildable"] is False for entry in packages.values())


def test_sources_are_the_ones_around_the_recipe(mneme: Recipe) -> None:
    assert mneme.package is not None
    assert vars(mneme.package)["git"] == f"file://{ROOT.resolve()}"


@pytest.mark.parametrize("today", [True, False], ids=["today", "0.23"])
@pytest.mark.parametrize("package", PACKAGES)
def test_recipes_run_and_are_in_order(package: str, today: bool) -> None:
    recipe = read(package, today=today)
    assert audit(recipe) == []
    assert recipe.package.__mro__[1].__name__ == "CMakePackage"


@pytest.mark.parametrize(
    ("sound", "broken", "complaint"),
    [
        ('when="+cuda"', 'when="+cudaa"', "'+cudaa' names variant cudaa, which is none"),
        ('when="llvm=shared"', 'when="llvm=share"', "'llvm=share' gives variant llvm a value it"),
        ('default="static"', 'default="inside"', "variant llvm cannot have its default"),
        ('"^llvm targets=nvptx"', '"^lvm targets=nvptx"', "names lvm, which is not a dependency"),
        ("raise SkipTest(", "raise SkipTests(", "'SkipTests' is not known"),
        ("os.getcwd()", "getcwd()", "'getcwd' is not known"),
        ('    git = f"', '    page = f"', "version 0.1.0 comes from nowhere"),
        ('"""the CPU device is there"""', "pass", "test_devices does not say what it tests"),
    ],
)
def test_the_audit_sees_mistakes(sound: str, broken: str, complaint: str) -> None:
    source = read("mneme").source
    assert sound in source
    found = audit(read("mneme", source=source.replace(sound, broken)))
    assert any(complaint in one for one in found), found


@pytest.mark.parametrize(
    ("sound", "broken", "error"),
    [
        ("llvm@19:22 +clang", "llvm@@19:22 +clang", ValueError),
        ('"zstd"', '"zstd cmake"', ValueError),
        ('type="build"', 'type="compile"', ValueError),
        ('type="run"', 'kind="run"', TypeError),
        ('run_after("install")', 'run_after("installs")', ValueError),
    ],
)
def test_recipes_with_mistakes_do_not_load(sound: str, broken: str, error: type[Exception]) -> None:
    source = read("mneme").source
    assert sound in source
    with pytest.raises(error):
        read("mneme", source=source.replace(sound, broken))


def test_specs_are_read_as_spack_writes_them() -> None:
    (llvm,) = parse("llvm@19:22 +clang ~lldb targets=nvptx,x86")
    assert (llvm.name, llvm.versions) == ("llvm", "19:22")
    assert llvm.variants == {"clang": True, "lldb": False, "targets": "nvptx,x86"}
    own, python = parse("+python ^python@3.10:")
    assert (own.name, own.variants) == ("", {"python": True})
    assert (python.name, python.versions) == ("python", "3.10:")


def spack(*arguments: str | Path, scope: Path) -> str:
    """Run the Spack on the PATH and give what it printed."""
    program = shutil.which("spack")
    if program is None:
        pytest.skip("Spack is not on the PATH")
    done = subprocess.run(
        [program, "-C", str(scope), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("layout", [REPOSITORY, RECIPES.parent], ids=["older", "today"])
def test_spack_reads_and_audits_the_recipes(tmp_path: Path, layout: Path) -> None:
    is_new = int(spack("--version", scope=tmp_path).split(".")[0]) >= 1
    if layout != REPOSITORY and not is_new:
        pytest.skip("this Spack reads the older layout only")
    repos: Any = {"mneme": str(layout)} if is_new else [str(layout)]
    (tmp_path / "repos.yaml").write_text(yaml.safe_dump({"repos": repos}))
    assert "rocm" in spack("info", "mneme", scope=tmp_path)
    assert "cuda_arch" in spack("info", "mneme-vector-add", scope=tmp_path)
    known = spack("versions", "--safe", "py-optuna", scope=tmp_path)
    if is_new and re.search(r"\b[4-9]\.\d", known):  # else they know too few Python packages
        spack("audit", "packages", "mneme", "mneme-vector-add", scope=tmp_path)


@pytest.mark.slow
def test_a_rocm_of_the_machine_is_one_external(tmp_path: Path) -> None:
    is_new = int(spack("--version", scope=tmp_path).split(".")[0]) >= 1
    repos: Any = {"mneme": str(REPOSITORY)} if is_new else [str(REPOSITORY)]
    (tmp_path / "repos.yaml").write_text(yaml.safe_dump({"repos": repos}))
    packages = {**machines_packages(), "hip": ROCM}
    (tmp_path / "packages.yaml").write_text(yaml.safe_dump({"packages": packages}))
    printed = spack("spec", "--fresh", "mneme ~python +rocm", scope=tmp_path).split("Concretized")[
        -1
    ]
    names = set(re.findall(r"\^?([\w-]+)@[\d.=]+", printed))
    assert {"mneme", "hip", "llvm"} <= names
    assert not names & {"llvm-amdgpu", "hsa-rocr-dev", "comgr", "rocm-device-libs", "hipcc"}


@pytest.mark.slow
def test_the_audit_here_knows_spacks_own_api(tmp_path: Path) -> None:
    script = tmp_path / "api.py"
    script.write_text(
        "import inspect, json, spack.package as api\n"
        "names = getattr(api, '__all__', dir(api))\n"
        f"known = {sorted(parameters())}\n"
        "print(json.dumps([list(names), {name: list(inspect.signature("
        "getattr(api, name)).parameters) for name in known}]))\n"
    )
    names, signatures = json.loads(spack("python", script, scope=tmp_path).splitlines()[-1])
    assert set(HELPERS) <= set(names)
    for name, wanted in parameters().items():
        assert set(wanted) <= set(signatures[name]), name
    if "CMakePackage" in names:  # before Spack 1.0
        assert set(BUILD_SYSTEM) <= set(names)


@pytest.mark.slow
def test_spack_installs_tests_and_uses_mneme(tmp_path: Path) -> None:
    """Builds mneme, which takes minutes; only where there is a Spack."""
    if shutil.which("spack") is None:
        pytest.skip("Spack is not on the PATH")
    command = [sys.executable, ROOT / "scripts" / "try_spack.py", tmp_path / "spack"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "device cpu" in done.stdout
    assert done.stdout.count("1 passed of 1 spec") == 2
    assert "Mneme::test_record_and_replay .. PASSED" in done.stdout
    assert "recorded 1 instance of 1 kernel" in done.stdout
