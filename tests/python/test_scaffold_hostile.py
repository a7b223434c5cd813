"""What stands in a recording, or is typed as an option, stays a value in whatever is made of it."""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mneme.errors import ArtifactCorrupt, InvalidArgument
from mneme.scaffold import rendering as scaffold
from mneme.scaffold.for_tune import space_class
from mneme.scaffold.quoting import FILTERS
from mneme.scaffold.recording import short_name
from mneme.scaffold.rendering import (
    ScaffoldRequest,
    Template,
    list_templates,
    load_template,
    render,
    write,
)

CANARY = "canary-was-run"
# Each ends or opens something somewhere: lines, quotes, comments, substitutions, anchors, tags.
PIECES = [
    f"\n{CANARY}\n",
    f"$({CANARY})",
    f"`{CANARY}`",
    f"';{CANARY};'",
    f'";{CANARY};"',
    f"}}{CANARY};{{",
    f'\\"); {CANARY}(); //',
    *("\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\0", "\x1b[2J\x1b]0;x\x07"),
    *("'", '"', '"""', "'''", "\\", "\\\\", "*/", "/*", "//", "??/", "#", "%s", "%n", "%(prog)s"),
    *("{{ 7 * 7 }}", "{% raw %}", "{#", "${{ x }}", "@VAR@", "${VAR}", "$VAR", "$<CONFIG>", "]==]"),
    *(
        "- &a",
        "*a",
        "!!python/object/apply:os.system",
        ": ",
        "? ",
        "|",
        ">",
        "&",
        "<",
        "---",
        "...",
    ),
    *("--force", " ", "\t", "~", "ü", "\u202eabc", "\ufeff", "\U0001f600", "\udc80", "0", "1e9"),
]
hostile = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join),
    st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=12),
)
TEMPLATES = [one.name for one in list_templates()]
# Parameters in which the user writes commands.
CODE = {"setup", "mneme"}


def recording(text: str) -> dict[str, Any]:
    """Return a recording as templates see it; every text of it is hostile."""
    dims = {"x": 4, "y": 2, "z": 1}
    scalar = {"index": 0, "name": text, "type": text, "size": 4, "bytes": text, "value": text}
    argument = {"name": text, "type": text, "kind": text, "value": text, "is_specializable": True}
    return {
        **dict.fromkeys(("record_database", "record_relative", "record_id", "kernel_name"), text),
        **dict.fromkeys(("demangled_name", "static_hash", "arch", "device"), text),
        "short_name": short_name(text),
        "modules": [text],
        "grid": dims,
        "block": dims,
        "shared_mem": 0,
        "is_cooperative": False,
        "occurrences": 3,
        "recorded_ns": 4,
        "args": [argument],
        "scalars": [scalar],
        "regions": [{"address": "0x10", "size_bytes": 8, "kind": text, "name": text}],
    }


def additions(text: str) -> dict[str, Any]:
    region = {"address": 16, "size": 8, "name": text, "is_in_image": False}
    return {
        "storage_file": text,
        "class_name": "MyApp",
        "space_class": space_class(short_name(text)),
        "block_choices": {axis: [1, 2] for axis in "xyz"},
        "replay": {
            "target": "sm_90",
            "ptx": "83",
            "llvm": "22.1",
            "llvm_major": "22",
            "written": 8,
            "passes": text,
            "has_run": False,
            "opt_options": [text],
            "llc_options": [text],
            "ptxas_options": [],
            "fp_contract": "on",
            "form": "ptx",
            "code": "code.ptx",
            "image": "code.ptx",
            "code_text": "PTX",
            "is_ptx": True,
            "by_ptxas": False,
            "beyond_ptxas": "",
            "jit": [(7, 1)],
            "grid": "1, 1, 1",
            "block": "1, 1, 1",
            "cluster": "1, 1, 1",
            "carveout": -1,
            "cache_config": 0,
            "limits": [(0, 65536)],
            "remarks": [text],
            "regions": [{**region, "before": "nullptr", "after": '"000.after"'}],
            "arguments": [{"bytes": "0x01", "text": text}],
        },
    }


def rendered(template: Template, out: Path, text: str) -> dict[str, str] | None:
    """Return the files made of hostile values; None if they are refused."""
    values = {
        one.name: text
        for one in template.parameters
        if isinstance(one.default, str) and not one.choices and one.name not in CODE
    }
    if template.name in ("cmake", "spack-package"):
        values.pop("name")  # an identifier, see test_scaffold.py and test_spack_externals.py
    request = ScaffoldRequest(template=template, out=out, values=values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaffold, "_recording", lambda _: recording(text))
        patch.setattr(
            scaffold,
            "_additions",
            lambda *_: scaffold.Additions(context=additions(text)),
        )
        try:
            made = render(request)
        except InvalidArgument:
            return None
    # Paths of the output directory are not what is tried here.
    return {
        one.path.name: one.content.decode(errors="surrogateescape").replace(str(out), "/out")
        for one in made.files
    }


def shape(tree: ast.AST) -> str:
    return re.sub(r"Constant\(.*?\)(?=[,)\]])", "C", ast.dump(Literals().visit(tree)))


class Literals(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(type(node.value).__name__)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = "Space"
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("Space") if node.id.endswith("Space") else node


def check_python(text: str, benign: str) -> None:
    assert shape(ast.parse(text)) == shape(ast.parse(benign))


def outline(value: object) -> object:
    """Return the shape of data: a list of texts may have any length."""
    if isinstance(value, dict):
        return {key: outline(one) for key, one in value.items()}
    if isinstance(value, list):
        kinds = [outline(one) for one in value]
        return [str] if all(kind is str for kind in kinds) else kinds
    return type(value)


def check_yaml(text: str, benign: str) -> None:
    assert outline(yaml.safe_load(text)) == outline(yaml.safe_load(benign))


def check_shell(text: str, benign: str) -> None:
    del benign
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        stubs = place / "stubs"
        stubs.mkdir()
        for command in ("mkdir", "sbatch", "flux", "mneme", "cat"):
            (stubs / command).write_text("#!/bin/bash\nexit 0\n")
        (stubs / CANARY).write_text(f"#!/bin/bash\n: > {place}/ran\n")
        for one in stubs.iterdir():
            one.chmod(0o755)
        script = place / "script"
        script.write_bytes(text.replace("cd /out", "cd .").encode(errors="surrogateescape"))
        environment = {"PATH": str(stubs)}
        line = ["/bin/bash", script]
        assert subprocess.run([line[0], "-n", script], check=False).returncode == 0
        subprocess.run(
            [*line, "1"], env=environment, cwd=place, check=False, capture_output=True, timeout=20
        )
        assert not (place / "ran").exists(), text


def check_header(text: str, benign: str) -> None:
    assert len(text.splitlines()) == len(benign.splitlines())
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None or "kKernel =" not in text:
        return
    flags = ["-x", "c++", "-std=c++17", "-trigraphs", "-fsyntax-only", "-Werror=comment"]
    done = subprocess.run(
        [compiler, *flags, "-"],
        input=text.encode(errors="surrogateescape"),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()


def check_lines(text: str, benign: str) -> None:
    assert len(text.split("\n")) == len(benign.split("\n"))
    assert text.isprintable() or all(one.isprintable() or one == "\n" for one in text)


CHECKS = {
    ".py": check_python,
    ".yaml": check_yaml,
    ".yml": check_yaml,
    ".sh": check_shell,
    ".slurm": check_shell,
    ".h": check_header,
    ".cpp": check_header,
    ".cu": check_header,
    ".md": check_lines,
    ".txt": check_lines,
    ".rsp": check_lines,
}


@functools.cache
def benign_files(name: str) -> tuple[Template, dict[str, str]]:
    """Return a template, and its files made of values that do no harm."""
    template = load_template(name)
    with tempfile.TemporaryDirectory() as out:
        made = rendered(template, Path(out), "plain")
    assert made is not None
    return template, made


def check_template(name: str, text: str) -> bool:
    """Check every file; return whether the values were taken."""
    template, benign = benign_files(name)
    with tempfile.TemporaryDirectory() as out:
        made = rendered(template, Path(out), text)
    if made is None:
        return False
    assert made.keys() == benign.keys()
    for file, content in made.items():
        CHECKS[Path(file).suffix](content, benign[file])
    return True


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=hostile)
@example(text="\ud800")
def test_hostile_values_stay_values(name: str, text: str) -> None:
    check_template(name, text)


@pytest.mark.parametrize("piece", [one for one in PIECES if one.isprintable()])
@pytest.mark.parametrize("name", TEMPLATES)
def test_what_can_be_quoted_is_quoted(name: str, piece: str) -> None:
    assert check_template(name, f"void f<{piece}>(int)")


@pytest.mark.parametrize("text", ["a\nb", "a\x1b[2J", "a\u2028b", "a\0b"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_names_of_a_recording_with_control_characters_are_written_or_refused(
    name: str, text: str
) -> None:
    check_template(name, text)


@pytest.mark.parametrize("text", PIECES)
def test_literals_mean_the_text(text: str) -> None:
    assert ast.literal_eval(FILTERS["py"](text)) == text
    if "\udc80" not in text:
        assert yaml.safe_load(FILTERS["yaml"](text)) == text
        assert yaml.safe_load(f"a: {FILTERS['yaml'](text)} # {FILTERS['line'](text)}") == {
            "a": text
        }
    if "\0" in text:
        for name in ("sh", "c_string", "cmake"):
            with pytest.raises(InvalidArgument, match="NUL"):
                FILTERS[name](text)
        return
    done = subprocess.run(
        ["bash", "-c", f"printf %s {FILTERS['sh'](text)} # {FILTERS['line'](text)}"],
        capture_output=True,
        check=True,
    )
    assert done.stdout == os.fsencode(text)


def test_cmake_arguments_mean_the_text(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    texts = [one for one in PIECES if "\0" not in one]
    content = "cmake_minimum_required(VERSION 3.16)\n"
    for number, text in enumerate(texts):
        content += f"# {FILTERS['line'](text)}\n"
        content += f'file(WRITE "{tmp_path}/{number}" {FILTERS["cmake"](text)})\n'
    script = tmp_path / "script.cmake"
    script.write_bytes(content.encode(errors="surrogateescape"))
    subprocess.run(["cmake", "-P", script], check=True, timeout=60)
    written = [(tmp_path / str(number)).read_bytes() for number in range(len(texts))]
    assert written == [text.encode(errors="surrogateescape") for text in texts]


def test_c_strings_mean_the_text(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    texts = [one for one in PIECES if "\0" not in one]
    lines = [f"{FILTERS['c_string'](one)}, // {FILTERS['c_comment'](one)}" for one in texts]
    # A trigraph, or a backslash at the end of a comment, would swallow a line.
    source = "#include <cstdio>\nconst char* all[] = {\n" + "\n".join(lines) + "\n};\n"
    source += 'int main() { for (const char* one : all) std::printf("%s%c", one, 0); }\n'
    (tmp_path / "a.cpp").write_bytes(source.encode(errors="surrogateescape"))
    flags = ["-std=c++14", "-trigraphs", "-Wall", "-Werror"]
    subprocess.run(
        [compiler, *flags, tmp_path / "a.cpp", "-o", tmp_path / "a"], check=True, timeout=120
    )
    done = subprocess.run([tmp_path / "a"], check=True, capture_output=True, timeout=20)
    printed = done.stdout.split(b"\0")[:-1]
    assert printed == [one.encode(errors="surrogateescape") for one in texts]


def own_template(directory: Path, text: str) -> Path:
    directory.mkdir()
    (directory / "template.yaml").write_text(
        "description: A\nparameters: {value: {help: A, default: a}}\nfiles: {out: {from: o.j2}}\n"
    )
    (directory / "o.j2").write_text(text)
    return directory


def test_a_value_without_filter_is_one_line(tmp_path: Path) -> None:
    template = load_template(str(own_template(tmp_path / "own", "# {{ value }}\n")))
    good = render(ScaffoldRequest(template=template, out=tmp_path, values={"value": "f<a>(b)"}))
    assert good.files[0].content == b"# f<a>(b)\n"
    with pytest.raises(InvalidArgument, match=r"a\\x0ab.*with the filter for its place"):
        render(ScaffoldRequest(template=template, out=tmp_path, values={"value": "a\nb"}))


@pytest.mark.parametrize(
    "text", ["{{ ''.__class__.__mro__ }}", "{{ self._TemplateReference__context }}"]
)
def test_templates_from_elsewhere_run_no_code(text: str, tmp_path: Path) -> None:
    template = load_template(str(own_template(tmp_path / "own", text)))
    with pytest.raises(ArtifactCorrupt, match="is wrong|cannot be filled in"):
        render(ScaffoldRequest(template=template, out=tmp_path))


def test_a_folder_here_is_no_template_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_template(tmp_path / "tune", "mine")
    own_template(tmp_path / "mine", "mine")
    monkeypatch.chdir(tmp_path)
    assert load_template("tune").recording == "required"
    assert load_template("./tune").recording == "none"
    with pytest.raises(LookupError, match=r"named with a slash: './mine'"):
        load_template("mine")


def test_a_template_reads_what_is_beside_it_only(tmp_path: Path) -> None:
    directory = own_template(tmp_path / "own", "x")
    description = directory / "template.yaml"
    description.write_text(description.read_text().replace("o.j2", "/etc/hostname"))
    with pytest.raises(ArtifactCorrupt, match="not beside it"):
        load_template(str(directory))


def test_files_of_a_scaffold_with_a_strange_directory_run(tmp_path: Path) -> None:
    out = tmp_path / f"a '\"$({CANARY}) `{CANARY}`\n{CANARY}"
    template = load_template("spack")
    made = render(ScaffoldRequest(template=template, out=out, values={"needs": f"$({CANARY})"}))
    write(made)
    assert yaml.safe_load((out / "spack.yaml").read_text())["spack"]["specs"][-1] == f"$({CANARY})"
    words = json.dumps(made.next_steps)
    assert CANARY in words
