"""What the templates `tune` and `ci` write is run, and does what it says."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from mneme.deploy import plan_deployment
from mneme.deploy.tuned_file import read_tuned_file
from mneme.deploy.tuning_results import read_result
from mneme.errors import InvalidArgument
from mneme.scaffold.rendering import ScaffoldRequest, load_template, render, write
from native_parts import needs_native

EXAMPLES = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples"
PROGRAM = EXAMPLES / "vector_add"

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("recording")
    line = [sys.executable, "-m", "mneme", "record", "-rdb", directory, "--device", "cpu", "--"]
    subprocess.run([*line, PROGRAM, "4096"], check=True, capture_output=True, timeout=120)
    (path,) = directory.glob("*.json")
    return path


def scaffold(name: str, record: Path, out: Path, **values: object) -> Path:
    request = ScaffoldRequest(
        template=load_template(name), out=out, values=values, record_database=record
    )
    write(render(request))
    return out


def run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=cwd,
        env={**os.environ, "MNEME_DEVICE": "cpu"},
    )


def tune(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = run(sys.executable, out / "tune.py", "--results", out / "results", *arguments)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("sampler", ["exhaustive", "random", "tpe"])
@pytest.mark.parametrize("executor", ["local", "dask"])
@pytest.mark.parametrize("launch", [True, False])
def test_tune_scripts_are_clean(
    sampler: str, executor: str, launch: bool, record: Path, tmp_path: Path
) -> None:
    out = scaffold(
        "tune", record, tmp_path, sampler=sampler, executor=executor, launch=launch, trials=7
    )
    text = (out / "tune.py").read_text()
    compile(text, "tune.py", "exec")
    # Baseline and candidate are compared on one device.
    assert "submit_together((baseline, config), fresh=True)" in text
    assert ("compares times of one only" in text) == (executor == "dask")
    # The kernel's own names and values.
    assert "vectorAdd(float const*, float const*, float*, float, int)" in text
    assert "n: i32 = 4096 (can be made a constant)" in text
    assert "# alpha, n as constants" in text
    assert ('"block_x"' in text) == launch
    assert '"block_y"' not in text, "the launch has one axis"
    checks = ["ruff", "check", "--isolated", "--line-length=100", "--select=E,F,W,B"]
    # A line that names the recording, or arguments, is as long as these are.
    done = run(sys.executable, "-m", *checks, "--ignore=E501", out / "tune.py")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_tune_script_leaves_results_to_deploy(sampler: str, record: Path, tmp_path: Path) -> None:
    out = scaffold("tune", record, tmp_path, sampler=sampler, trials=6)
    done = tune(out)
    assert "6 configurations; best:" in done.stdout
    assert len((out / "results" / "trials.jsonl").read_text().splitlines()) == 6
    result = read_result(out / "results")
    assert result.facts["kernel_name"] == "_Z9vectorAddPKfS0_Pffi"
    assert (result.match.arch, result.match.device[:3]) == ("cpu", "CPU")
    assert result.best.gain is not None
    assert result.best.gain.low <= result.best.gain.ratio <= result.best.gain.high
    plan_deployment([out / "results"])
    (kernel,) = read_tuned_file(out / "results" / "tuned.json").values()
    assert kernel.variants[0].pipeline == result.best.config.passes


def test_tune_script_continues_its_study(record: Path, tmp_path: Path) -> None:
    out = scaffold("tune", record, tmp_path, sampler="tpe", launch=False)
    tune(out, "--trials", "4")
    done = tune(out, "--trials", "6")
    assert "2 configurations; best:" in done.stdout


def test_exhaustive_script_tries_everything(record: Path, tmp_path: Path) -> None:
    out = scaffold("tune", record, tmp_path, sampler="exhaustive", launch=False)
    script = out / "tune.py"
    text = script.read_text()
    # Four of the pipelines times sixteen other choices are too many for a test.
    few = text.replace(
        '["default<O1>", "default<O2>", "default<O3>", "default<Os>"]', '["default<O1>"]'
    )
    few = few.replace("[0, 1, 2, 4]", "[0, 1]")
    assert few != text
    script.write_text(few)
    assert "16 configurations; best:" in tune(out).stdout


def test_dask_script_evaluates_in_processes_of_dask(record: Path, tmp_path: Path) -> None:
    pytest.importorskip("dask.distributed")
    out = scaffold("tune", record, tmp_path, sampler="random", executor="dask", trials=4)
    assert "4 configurations; best:" in tune(out, "--workers", "1").stdout


def test_tune_needs_a_recording() -> None:
    with pytest.raises(InvalidArgument, match="fitted to a recording; name one behind it"):
        render(ScaffoldRequest(template=load_template("tune")))


def job(out: Path, provider: str) -> dict[str, Any]:
    """Return the rendered job; the same keys for both providers."""
    if provider == "gitlab":
        content = yaml.safe_load((out / "performance/kernel-performance.gitlab-ci.yml").read_text())
        one = content["kernel-performance"]
        return {"commands": one["script"], "runner": one["tags"], "kept": one["artifacts"]["paths"]}
    content = yaml.safe_load((out / ".github/workflows/kernel-performance.yml").read_text())
    one = content["jobs"]["kernel-performance"]
    steps = one["steps"]
    return {
        "commands": [step["run"] for step in steps if "run" in step],
        "runner": one["runs-on"],
        "kept": [step["with"]["path"] for step in steps if "path" in step.get("with", {})],
    }


@pytest.mark.parametrize("provider", ["gitlab", "github"])
def test_ci_job_passes_where_nothing_changed(provider: str, record: Path, tmp_path: Path) -> None:
    out = scaffold("ci", record, tmp_path, provider=provider, tolerance=999, runner="h200")
    script = out / "performance" / "check_performance.py"
    done = run(sys.executable, script)
    assert (done.returncode, "make it with --update" in done.stdout) == (2, True)
    assert run(sys.executable, script, "--update").returncode == 0
    found = job(out, provider)
    assert "h200" in found["runner"]
    (command,) = found["commands"]
    words = shlex.split(command)
    assert words[0] == "python"
    done = run(sys.executable, *words[1:], cwd=out)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("vectorAdd(float const*, float const*, float*, float, int): ")
    (report,) = found["kept"]
    assert json.loads((out / report).read_text())["now"]["verified"]


@pytest.fixture(scope="module")
def checked(record: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A check whose baseline is there."""
    out = scaffold("ci", record, tmp_path_factory.mktemp("ci"), program=str(PROGRAM.resolve()))
    done = run(sys.executable, out / "performance" / "check_performance.py", "--update")
    assert done.returncode == 0, done.stderr
    return out / "performance"


@pytest.mark.parametrize(("factor", "code", "word"), [(0.01, 1, "slower: "), (100, 0, "faster: ")])
def test_ci_check_compares_intervals(
    checked: Path, tmp_path: Path, factor: float, code: int, word: str
) -> None:
    baseline = checked / "baseline.json"
    before = baseline.read_text()
    changed = json.loads(before)
    changed["median_ns"] = int(changed["median_ns"] * factor)
    changed["time_ci_ns"] = [int(one * factor) for one in changed["time_ci_ns"]]
    try:
        baseline.write_text(json.dumps(changed))
        done = run(sys.executable, checked / "check_performance.py")
    finally:
        baseline.write_text(before)
    assert done.returncode == code, done.stderr
    assert word in done.stdout


@pytest.mark.parametrize(
    ("program", "code", "word"),
    [("stencil2d", 2, "has no kernel '_Z9vectorAdd"), ("gone", 2, "there is no program")],
)
def test_ci_check_says_what_it_cannot_measure(
    checked: Path, program: str, code: int, word: str
) -> None:
    path = EXAMPLES / program
    done = run(sys.executable, checked / "check_performance.py", "--program", path)
    assert done.returncode == code
    assert word in done.stderr


def test_ci_check_needs_the_same_device(checked: Path) -> None:
    baseline = checked / "baseline.json"
    before = baseline.read_text()
    try:
        baseline.write_text(before.replace('"device": "cpu"', '"device": "cuda:0"'))
        done = run(sys.executable, checked / "check_performance.py")
    finally:
        baseline.write_text(before)
    assert (done.returncode, "measured on cpu, the baseline on cuda:0" in done.stdout) == (2, True)
