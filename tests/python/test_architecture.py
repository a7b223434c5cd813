"""The shape of the sources: which modules print, how long things are. test_rooms.py checks rooms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "mneme"
LONGEST_FILE = 500
LONGEST_FUNCTION = 60
VENDOR_WORD = re.compile(r"(?<![a-z])(cuda|hip)(?![a-z])", re.IGNORECASE)


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_only_the_command_line_prints(path: Path) -> None:
    if path.parent.name == "cli":
        return
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    names = {ast.unparse(call.func) for call in calls}
    assert names.isdisjoint({"print", "sys.stdout.write", "sys.stderr.write", "sys.exit"}) or (
        path.name == "__main__.py"
    )


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_functions_are_short(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    # Signature and docstring say the contract; the body is what has to be short.
    long = {
        function.name: length
        for function in functions
        if (length := (function.end_lineno or 0) - function.body[0].lineno) > LONGEST_FUNCTION
    }
    assert long == {}


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_vendor_words_stay_in_their_table(path: Path) -> None:
    if path.name in ("_vendors.py", "amd_node.py"):  # the latter is about one vendor's nodes
        return
    tree = ast.parse(path.read_text())
    docstrings = {id(text) for text in docstring_nodes(tree)}
    words = [
        text
        for node in ast.walk(tree)
        if id(node) not in docstrings
        for text in texts_of(node)
        if VENDOR_WORD.search(text)
    ]
    assert words == []


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


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_every_module_says_what_it_offers(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "a module begins with what it is for"
    names = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert path.name == "__main__.py" or "__all__" in names


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
