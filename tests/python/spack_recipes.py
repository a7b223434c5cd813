"""The recipes of spack-repo/, run and audited without Spack.

Stands for the part of Spack's package API that the recipes use: directives have the parameters that
they have there, specs are parsed, names that the API does not have are complaints. Where there is a
Spack, test_spack.py compares this file's idea of the API with it.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[2]
REPOSITORY = ROOT / "spack-repo"
RECIPES = REPOSITORY / "spack_repo" / "mneme" / "packages"

# Besides the directives: what the bodies of the recipes' functions call.
HELPERS = (
    *("Executable", "InstallError", "SkipTest", "cache_extra_test_sources", "check_outputs"),
    *("find", "install", "join_path", "mkdirp", "test_part"),
)
# What comes with the build system, from the repository `builtin` since Spack 1.0.
BUILD_SYSTEM = ("CMakePackage", "generator")
VERSION = r"[\w.]+"
RANGE = rf"(?:{VERSION}:{VERSION}|{VERSION}:|:{VERSION}|={VERSION}|{VERSION})"
PART = re.compile(
    rf"(?P<name>\^?[a-z0-9][a-z0-9-]*)(?![\w=])|@(?P<versions>{RANGE}(?:,{RANGE})*)"
    r"|(?P<switch>[+~]\w+)|(?P<key>\w+)=(?P<value>[\w,.]+)|\s+"
)


class Forbidden(types.ModuleType):
    """A module of Spack's that reads recipes, or may: none is loaded when one of them asks."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system's own questions
            raise AttributeError(name)
        raise AssertionError(f"the recipe asks {self.__name__}.{name} while it is read")


class InstallError(Exception):
    """What a recipe refuses with."""


@dataclass
class Spec:
    """One package of a spec: `llvm@19:22 +clang`; without a name it is the recipe's own."""

    name: str = ""
    versions: str = ""
    variants: dict[str, Any] = field(default_factory=dict)


def parse(text: str) -> list[Spec]:
    """The parts of a spec as Spack writes them; ValueError at the first thing that is none."""
    specs, at = [Spec()], 0
    while at < len(text):
        found = PART.match(text, at)
        if found is None:
            raise ValueError(f"'{text}' is not a spec from '{text[at:]}' on")
        at = found.end()
        if name := found["name"]:
            if not name.startswith("^") and specs[-1] != Spec():
                raise ValueError(f"'{text}' names two packages")
            specs.append(Spec(name.removeprefix("^")))
        elif found["versions"]:
            specs[-1].versions = found["versions"]
        elif found["switch"]:
            specs[-1].variants[found["switch"][1:]] = found["switch"][0] == "+"
        elif found["key"]:
            specs[-1].variants[found["key"]] = found["value"]
    return [spec for spec in specs if spec != Spec()]


@dataclass
class Recipe:
    """What one package.py said."""

    versions: dict[str, dict[str, Any]] = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    dependencies: list[tuple[str, str]] = field(default_factory=list)  # spec, condition
    conditions: list[str] = field(default_factory=list)  # specs that say something of this package
    conflicts: dict[str, str] = field(default_factory=dict)  # and what Spack then says
    package: Any = None
    source: str = ""

    def specs(self, name: str) -> list[str]:
        """Every spec by which the package depends on `name`."""
        return [spec for spec, _ in self.dependencies if parse(spec)[0].name == name]


class Directives:
    """Spack's directives, with those of their parameters that a recipe of ours may need."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.inside: list[str] = []

    def holds(self, condition: str | None) -> str:
        parse(condition or "")
        self.recipe.conditions.extend([condition] if condition else [])
        return " ".join([*self.inside, condition or ""]).strip()

    @contextlib.contextmanager
    def when(self, condition: str) -> Iterator[None]:
        self.holds(condition)
        self.inside.append(condition)
        yield
        self.inside.pop()

    def depends_on(
        self,
        spec: str,
        when: str | None = None,
        type: str | tuple[str, ...] = ("build", "link"),  # noqa: A002
    ) -> None:
        kinds = {type} if isinstance(type, str) else set(type)
        if not kinds <= {"build", "link", "run", "test"}:
            raise ValueError(f"{spec}: {kinds} are not kinds of dependencies")
        if not parse(spec)[0].name:
            raise ValueError(f"'{spec}' names no package")
        self.recipe.dependencies.append((spec, self.holds(when)))

    def extends(self, spec: str, when: str | None = None) -> None:
        self.depends_on(spec, when)

    def version(self, ver: str, *, branch: str = "", tag: str = "", commit: str = "") -> None:
        self.recipe.versions[ver] = {"branch": branch, "tag": tag, "commit": commit}

    def variant(
        self,
        name: str,
        default: bool | str | None = None,
        description: str = "",
        values: tuple[str, ...] | None = None,
        multi: bool | None = None,
        validator: Callable[[str, str, tuple[Any, ...]], None] | None = None,
        sticky: bool = False,
    ) -> None:
        options = {"default": default, "description": description, "values": values}
        options |= {"multi": bool(multi), "validator": validator, "sticky": sticky}
        self.recipe.variants[name] = options

    def conflicts(self, conflict_spec: str, when: str | None = None, msg: str = "") -> None:
        self.holds(when)
        self.holds(conflict_spec)
        self.recipe.conflicts[conflict_spec] = msg

    def requires(
        self, *requirement_specs: str, policy: str = "one_of", when: str | None = None
    ) -> None:
        if policy not in {"one_of", "any_of"}:
            raise ValueError(f"'{policy}' is not a policy")
        for spec in (when, *requirement_specs):
            self.holds(spec)

    def run_after(self, phase: str, when: str | None = None) -> Callable[[Any], Any]:
        if phase not in {"cmake", "build", "install"}:
            raise ValueError(f"'{phase}' is not a phase of a CMake package")
        self.holds(when)
        return lambda function: function

    def license(self, license_identifier: str) -> None:
        pass

    def known(self) -> dict[str, Callable[..., Any]]:
        names = set(vars(Directives)) - {"holds", "known"}
        return {name: getattr(self, name) for name in names if not name.startswith("_")}


def parameters() -> dict[str, list[str]]:
    """The names of the directives' parameters."""
    known = Directives(Recipe()).known()
    return {name: list(inspect.signature(one).parameters) for name, one in known.items()}


def read(
    package: str,
    *,
    source: str | None = None,
    path: Path | None = None,
    today: bool = True,
    packages: dict[str, Any] | None = None,
) -> Recipe:
    """Run a recipe as Spack 1.0 and newer do, or as Spack 0.23 does, with a packages.yaml."""
    path = path or RECIPES / package / "package.py"
    recipe = Recipe(source=path.read_text() if source is None else source)
    api: dict[str, Any] = Directives(recipe).known() | {name: object() for name in HELPERS}
    api["InstallError"] = InstallError
    api["join_path"] = lambda *parts: "/".join(parts)
    build_system: dict[str, Any] = {
        "CMakePackage": type("CMakePackage", (), {}),
        "generator": lambda *_: None,
    }
    names = ("spack", "spack.config", "spack.package", "spack_repo")
    modules = {name: types.ModuleType(name) for name in names}
    for name in ("store", "database", "repo", "environment", "solver"):
        modules[f"spack.{name}"] = Forbidden(f"spack.{name}")
        vars(modules["spack"])[name] = modules[f"spack.{name}"]
    vars(modules["spack.config"])["get"] = {"packages": packages or {}}.get
    if today:
        for name in ("builtin", "builtin.build_systems", "builtin.build_systems.cmake"):
            modules[f"spack_repo.{name}"] = types.ModuleType(name)
        vars(modules["spack_repo.builtin.build_systems.cmake"]).update(build_system)
    else:
        api |= build_system
    vars(modules["spack.package"]).update(api)
    content: dict[str, Any] = {"__file__": str(path), "__name__": package}
    with mock.patch.dict(sys.modules, modules):
        exec(compile(recipe.source, path, "exec"), content)
    recipe.package = content["".join(part.capitalize() for part in re.split("[_-]", package))]
    return recipe


def audit(recipe: Recipe) -> list[str]:
    """What Spack would complain about, as far as that needs no other recipes."""
    complaints = [f"'{name}' is not known" for name in sorted(unknown_names(recipe.source))]
    depended = {parse(spec)[0].name for spec, _ in recipe.dependencies}
    for text in filter(None, recipe.conditions):
        for spec in parse(text):
            if not spec.name:
                complaints += own_variants(recipe, text, spec)
            elif spec.name not in depended:
                complaints.append(f"'{text}' names {spec.name}, which is not a dependency")
    for name, options in recipe.variants.items():
        if not options["description"]:
            complaints.append(f"variant {name} has no description")
        if options["values"] and options["default"] not in options["values"]:
            complaints.append(f"variant {name} cannot have its default")
    return [*complaints, *audit_package(recipe)]


def audit_package(recipe: Recipe) -> Iterator[str]:
    """What the class itself lacks."""
    for name, source in recipe.versions.items():
        if not (any(source.values()) and getattr(recipe.package, "git", "")):
            yield f"version {name} comes from nowhere"
    for name, value in vars(recipe.package).items():
        if name.startswith("test_") and callable(value) and not value.__doc__:
            yield f"{name} does not say what it tests"
    if "fixme" in (recipe.package.__doc__ or "fixme").lower():
        yield "the package has no description"


def own_variants(recipe: Recipe, text: str, spec: Spec) -> Iterator[str]:
    """Variants a condition names that the package has not, or that cannot be so."""
    for name, value in spec.variants.items():
        options = recipe.variants.get(name)
        if options is None:
            yield f"'{text}' names variant {name}, which is none"
        elif options["values"] and value not in options["values"]:
            yield f"'{text}' gives variant {name} a value it cannot have"


def unknown_names(source: str) -> set[str]:
    """Names that a recipe reads and neither makes nor imports, and the API does not have."""
    known = {*dir(builtins), *parameters(), *HELPERS, *BUILD_SYSTEM, "__file__"}
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            known.update(one.asname or one.name for one in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
    return used - known
