"""`mneme scaffold cmake`: the project builds, its program runs, is recorded and replayed."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import mneme, records, run_command

from mneme.errors import InvalidArgument
from mneme.scaffold.rendering import ScaffoldRequest, load_template, render


def test_the_project_builds_runs_and_is_recorded(tmp_path: Path) -> None:
    project = tmp_path / "my project"
    made = mneme("scaffold", "cmake", "--out", project, "--name", "string_1")
    assert made.returncode == 0, made.stderr
    assert sorted(path.name for path in project.iterdir()) == [
        "CMakeLists.txt",
        "README.md",
        "main.cu",
    ]
    options = mneme("config", "cmake-args").stdout.split()
    configured = run_command(
        "cmake", "-S", project, "-B", project / "build", "-G", "Ninja", *options
    )
    assert configured.returncode == 0, configured.stdout + configured.stderr
    built = run_command("cmake", "--build", project / "build")
    assert built.returncode == 0, built.stdout + built.stderr
    program = project / "build" / "string_1"

    ran = mneme("run", "--device", "cpu", "--", program, "63", "40")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("string_1: 63 points, 40 steps, error ")
    assert "PASSED" in ran.stdout

    database = tmp_path / "recording"
    done = mneme("record", "-rdb", database, "--device", "cpu", "--", program, "1023", "3")
    assert done.returncode == 0, done.stderr
    (record,) = records(database)
    replayed = mneme(
        "replay", "-rdb", record, "--device", "cpu", "--grid-dim-x", "2", "default<O2>"
    )
    # The kernel strides, so it does not depend on the grid.
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.result["verified"] is True


@pytest.mark.parametrize("name", ["two words", "1st", "test", "with-dash", ""])
def test_names_that_cannot_be_are_refused(name: str, tmp_path: Path) -> None:
    request = ScaffoldRequest(template=load_template("cmake"), out=tmp_path, values={"name": name})
    with pytest.raises(InvalidArgument, match="--name is"):
        render(request)
