"""The engine of scaffolds: what is rendered, what is refused, what is never replaced."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mneme.cli.exit_codes import ExitCode
from mneme.errors import ArtifactCorrupt, InvalidArgument, NotFound
from mneme.scaffold.recording import short_name
from mneme.scaffold.rendering import (
    Scaffold,
    ScaffoldRequest,
    list_templates,
    load_template,
    render,
    write,
)
from native_parts import needs_native

RECORD = Path(__file__).resolve().parents[1] / "golden" / "v2" / "16372073875777044691.json"

DESCRIPTION = """
description: A test
recording: optional
parameters:
  size: {help: A number, default: 3}
  ratio: {help: A number, default: 0.5}
  shade: {help: A colour, default: dark blue, choices: [dark blue, red]}
  loud: {help: A flag, default: false}
files:
  "{{ shade | replace(' ', '-') }}/out.sh": {from: out.sh.j2, executable: true}
  plain.txt: {from: plain.txt.j2}
next: |
  run {{ (out ~ "/out.sh") | sh }}
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    directory = tmp_path / "a template"
    directory.mkdir()
    (directory / "template.yaml").write_text(DESCRIPTION)
    (directory / "out.sh.j2").write_text("echo {{ shade | sh }} {{ size + 1 }} {{ loud }}\n")
    (directory / "plain.txt.j2").write_text("{{ shade | py }} {{ ratio | json }}\n")
    return directory


def rendered(template: Path, out: Path, **values: Any) -> Scaffold:
    return render(ScaffoldRequest(template=load_template(str(template)), out=out, values=values))


def test_files_are_rendered_with_defaults(template: Path, tmp_path: Path) -> None:
    made = rendered(template, tmp_path / "o")
    assert [file.path.relative_to(tmp_path / "o").as_posix() for file in made.files] == [
        "dark-blue/out.sh",
        "plain.txt",
    ]
    assert made.files[0].content == b"echo 'dark blue' 4 False\n"
    assert made.files[1].content == b'"dark blue" 0.5\n'
    assert made.next_steps == f"run {tmp_path}/o/out.sh"
    assert not (tmp_path / "o").exists()


def test_values_have_the_type_of_the_default(template: Path, tmp_path: Path) -> None:
    made = rendered(template, tmp_path, size="7", ratio="2", shade="red", loud="yes")
    assert made.files[0].content == b"echo red 8 True\n"
    assert made.files[1].content == b'"red" 2.0\n'


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"size": "many"}, "--size is 'many', not a whole number"),
        ({"ratio": "half"}, "--ratio is 'half', not a number"),
        ({"shade": "green"}, "--shade is 'green', not dark blue, red"),
        ({"loud": "maybe"}, "--loud is 'maybe', not true or false"),
        ({"max_size": 1}, "has no option --max-size; it has --size"),
    ],
)
def test_wrong_values_are_refused(
    template: Path, tmp_path: Path, values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        rendered(template, tmp_path, **values)
    assert sentence in str(caught.value)


def test_written_files_are_whole_and_executable(template: Path, tmp_path: Path) -> None:
    paths = write(rendered(template, tmp_path / "o"))
    assert os.access(paths[0], os.X_OK)
    assert not stat.S_IMODE(paths[1].stat().st_mode) & 0o111
    left = sorted(one.name for one in (tmp_path / "o").rglob("*") if one.is_file())
    assert left == ["out.sh", "plain.txt"]


def test_nothing_is_written_where_a_file_is_there(template: Path, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "plain.txt").symlink_to("nowhere")
    made = rendered(template, tmp_path / "o")
    with pytest.raises(InvalidArgument, match="plain.txt' is there already, so nothing is written"):
        write(made)
    assert [one.name for one in (tmp_path / "o").iterdir()] == ["plain.txt"]
    write(made, force=True)
    assert (tmp_path / "o" / "plain.txt").read_text() == '"dark blue" 0.5\n'
    with pytest.raises(InvalidArgument, match="are there already"):
        write(made)


def test_unknown_names_are_errors(template: Path, tmp_path: Path) -> None:
    (template / "plain.txt.j2").write_text("{{ colour }}")
    with pytest.raises(ArtifactCorrupt, match="plain.txt.j2 is wrong: 'colour' is undefined"):
        rendered(template, tmp_path)


def test_files_stay_below_the_output_directory(template: Path, tmp_path: Path) -> None:
    text = DESCRIPTION.replace("plain.txt:", "../plain.txt:")
    (template / "template.yaml").write_text(text)
    with pytest.raises(ArtifactCorrupt, match="outside the output directory"):
        rendered(template, tmp_path / "o")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "description: x", "{", "files: {}", DESCRIPTION.replace("optional", "perhaps")],
)
def test_malformed_descriptions_are_named(template: Path, tmp_path: Path, text: str) -> None:
    (template / "template.yaml").write_text(text)
    with pytest.raises(ArtifactCorrupt, match="template.yaml' describes no template"):
        rendered(template, tmp_path)


def test_missing_sources_are_named(template: Path, tmp_path: Path) -> None:
    (template / "plain.txt.j2").unlink()
    with pytest.raises(ArtifactCorrupt, match="'plain.txt.j2', which is not there"):
        rendered(template, tmp_path)


@pytest.mark.parametrize("name", ["nothing", "", ".", "../templates"])
def test_unknown_templates_are_named(name: str) -> None:
    with pytest.raises(NotFound, match="there are .*tune"):
        load_template(name)


@needs_native
def test_recording_is_described(template: Path, tmp_path: Path) -> None:
    names = ("kernel_name", "short_name", "static_hash", "arch", "block.x", "args[1].name")
    text = " ".join(f"{{{{ recording.{name} }}}}" for name in (*names, "scalars[0].value"))
    (template / "plain.txt.j2").write_text(text)
    request = ScaffoldRequest(
        template=load_template(str(template)), out=tmp_path, record_database=RECORD
    )
    content = render(request).files[1].content.decode()
    assert content == "_Z4linkP4Nodeii link e3354a727224c0d3 sm_90 64 count 40"


def test_recordings_are_named_where_needed_only(template: Path, tmp_path: Path) -> None:
    description = template / "template.yaml"
    description.write_text(DESCRIPTION.replace("optional", "required"))
    with pytest.raises(InvalidArgument, match="fitted to a recording; name one behind it"):
        rendered(template, tmp_path)
    description.write_text(DESCRIPTION.replace("optional", "none"))
    request = ScaffoldRequest(template=load_template(str(template)), record_database=RECORD)
    with pytest.raises(InvalidArgument, match="takes no recording"):
        render(request)


def test_every_template_has_a_description_and_help() -> None:
    found = {one.name: one for one in list_templates()}
    assert "tune" in found
    for one in found.values():
        assert one.description
        assert all(item.help for item in one.parameters)
        assert one.files
        assert one.next_steps


def mneme(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "mneme", "scaffold", *(str(one) for one in arguments)]
    environment = {**os.environ, "COLUMNS": "160"}
    return subprocess.run(
        line, capture_output=True, text=True, check=False, timeout=60, env=environment
    )


def test_command_lists_templates_with_their_options() -> None:
    done = mneme("--list")
    assert done.returncode == ExitCode.OK, done.stderr
    assert "tune" in done.stdout
    assert "--sampler" in done.stdout


def test_command_prints_json_alone(template: Path, tmp_path: Path) -> None:
    listed = {one["name"]: one for one in json.loads(mneme("--list", "--json").stdout)}
    assert listed["tune"]["parameters"]["sampler"]["choices"] == ["exhaustive", "random", "tpe"]
    done = mneme(template, "--out", tmp_path / "o", "--json")
    names = [str(tmp_path / "o" / "dark-blue" / "out.sh"), str(tmp_path / "o" / "plain.txt")]
    assert json.loads(done.stdout)["files"] == names


def test_command_takes_the_options_of_the_template(template: Path, tmp_path: Path) -> None:
    done = mneme(template, "--size", "9", "--out", tmp_path / "o", "--shade=red", "--loud")
    assert done.returncode == ExitCode.OK, done.stderr
    assert (tmp_path / "o" / "red" / "out.sh").read_text() == "echo red 10 True\n"
    assert done.stdout == f"run {tmp_path}/o/out.sh\n"
    done = mneme(template, "--out", tmp_path / "o", "--shade=red", "--no-loud", "--force")
    assert (tmp_path / "o" / "red" / "out.sh").read_text() == "echo red 4 False\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], ExitCode.USAGE, "say which template"),
        (["--colour", "red"], ExitCode.INVALID_CONFIGURATION, "has no option --colour"),
        (["--size"], ExitCode.USAGE, "--size needs a value"),
        (["-stray"], ExitCode.USAGE, "'-stray' is not an option"),
        (["stray"], ExitCode.RECORD_UNREADABLE, "cannot open 'stray'"),
        (["stray", "a", "b"], ExitCode.USAGE, "'b' is one argument too many"),
    ],
)
def test_command_explains_mistakes(
    template: Path, tmp_path: Path, arguments: list[str], code: ExitCode, words: str
) -> None:
    done = mneme(*([template] if arguments else []), *arguments, "--out", tmp_path / "o")
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("demangled", "name"),
    [
        ("void ns::axpby<double>(int, double)", "axpby"),
        ("(anonymous namespace)::apply(float*, int)", "apply"),
        ("walk(int)", "walk"),
        ("void f<(Kind)1>(int)", "f"),
        ("kernel", "kernel"),
        ("operator()(int)", "operator"),
    ],
)
def test_kernels_have_a_short_name(demangled: str, name: str) -> None:
    assert short_name(demangled) == name


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("slurm", {"jobs": "0"}),
        ("slurm", {"cores": "-1"}),
        ("flux", {"gpus": "-1"}),
        ("ci", {"tolerance": "nan"}),
        ("tune", {"trials": "0"}),
        ("replay", {"codegen_opt": "4"}),
    ],
)
def test_numbers_out_of_range_are_refused(name: str, values: dict[str, str]) -> None:
    ((option, value),) = values.items()
    parameter = next(one for one in load_template(name).parameters if one.name == option)
    with pytest.raises(InvalidArgument, match=f"{parameter.option} is {value}; it has to be"):
        parameter.value_of(value)
