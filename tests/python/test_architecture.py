"""The shape of the sources: which modules print, how long things are. test_rooms.py checks rooms."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "mneme"
LONGEST_FILE = 500
LONGEST_FUNCTION = 60
VENDOR_WORD = re.compile(r"(?<![a-z])(cuda|hip)(?![a-z])", re.IGNORECASE)


@functools.cache
def modules() -> dict[str, ast.Module]:
    """Return the modules by their paths; one test for all takes less than one for each."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text())
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def test_only_the_command_line_prints() -> None:
    forbidden = {"print", "sys.stdout.write", "sys.stderr.write", "sys.exit"}
    found = {
        f"{path}:{node.lineno}"
        for path, tree in modules().items()
        if not path.startswith("cli/") and not path.endswith("__main__.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in forbidden
    }
    assert found == set()


def test_functions_are_short() -> None:
    # Signature and docstring say the contract; the body is what has to be short.
    long = {
        f"{path}: {node.name}": length
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.body[0].lineno) > LONGEST_FUNCTION
    }
    assert long == {}


def test_vendor_words_stay_in_their_table() -> None:
    words = {
        f"{path}: {text}"
        for path, tree in modules().items()
        # The second is about one vendor's nodes.
        if not path.endswith(("_vendors.py", "amd_node.py"))
        for text in texts_outside_docstrings(tree)
        if VENDOR_WORD.search(text)
    }
    assert words == set()


def texts_outside_docstrings(tree: ast.AST) -> Iterator[str]:
    docstrings = {id(text) for text in docstring_nodes(tree)}
    for node in ast.walk(tree):
        if id(node) not in docstrings:
            yield from texts_of(node)


def docstring_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def texts_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def test_one_header_knows_the_versions_of_llvm() -> None:
    condition = re.compile(
        r"#\s*(?:el)?if.*(?:LLVM_VERSION|LLVM_MAJOR|has_include *\( *<(?:llvm|lld))"
    )
    found = {
        str(path.relative_to(ROOT))
        for room in ("runtime", "passes", "include")
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".h", ".hpp", ".cpp") and condition.search(path.read_text())
    }
    assert found == {"runtime/compiler/ir/compat.h"}


def test_one_header_reads_the_environment() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "runtime").rglob("*")
        if path.suffix in (".h", ".cpp") and re.search(r"\bgetenv\(", path.read_text())
    }
    assert found == {"runtime/core/base/environment.h"}


@pytest.mark.parametrize("directory", ["python", "runtime", "passes", "tests", "scripts", "cmake"])
def test_files_are_readable_in_one_sitting(directory: str) -> None:
    long = {
        str(path.relative_to(ROOT)): length
        for path in (ROOT / directory).rglob("*")
        if path.suffix in (".py", ".h", ".cpp", ".cu", ".cmake", ".sh")
        if (length := len(path.read_text(errors="replace").splitlines())) > LONGEST_FILE
    }
    assert long == {}


def test_every_module_says_what_it_offers() -> None:
    """A module begins with what it is for, and lists its names."""
    silent = {
        path
        for path, tree in modules().items()
        if not ast.get_docstring(tree)
        or not (path.endswith("__main__.py") or "__all__" in assigned_names(tree))
    }
    assert silent == set()


def assigned_names(tree: ast.Module) -> set[str]:
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def test_every_source_says_what_it_is() -> None:
    """Headers do by themselves; other files where no header of their name does."""
    silent = {
        str(path.relative_to(ROOT))
        for room in ("runtime", "passes", "include")
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".h", ".cpp", ".c", ".cu")
        if path.suffix == ".h" or not path.with_suffix(".h").exists()
        if not path.read_text().startswith(("//", "/*"))
    }
    # Not held to it yet.
    assert {
        name for name in silent if not name.startswith(("runtime/devices/", "runtime/recorder/"))
    } == set()
