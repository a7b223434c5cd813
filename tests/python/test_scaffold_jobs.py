"""Batch jobs from templates: rendered, and run by bash, by a real Slurm and by a stand-in of Flux."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mneme.deploy.tuned_file import read_tuned_file
from mneme.scaffold.rendering import ScaffoldRequest, load_template, render, write
from native_parts import needs_native
from postgresql_parts import postgresql
from slurm_node import slurm_node, wait_for_jobs, why_not

PROGRAM = Path(os.environ.get("MNEME_BUILD_DIR", "build")) / "examples" / "vector_add"

pytestmark = [pytest.mark.compile, needs_native]

# What a cluster's own wrapper of a job would set.
SLURM_VARIABLES = {"SLURM_JOB_ID": "17", "SLURM_ARRAY_JOB_ID": "16", "SLURM_CPUS_PER_TASK": "1"}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("recording of jobs")
    line = [sys.executable, "-m", "mneme", "record", "-rdb", directory, "--device", "cpu", "--"]
    subprocess.run([*line, PROGRAM, "4096"], check=True, capture_output=True, timeout=120)
    (path,) = directory.glob("*.json")
    return path


def scaffold(name: str, record: Path, out: Path, **values: object) -> Path:
    """Render and write a template; jobs that tune 6 configurations together on the CPU device."""
    given = {
        "jobs": 2,
        "trials": 6,
        "gpus": 0,
        "cores": 1,
        "preset": "quick",
        "setup": "export MNEME_DEVICE=cpu",
        "mneme": f"{sys.executable} -m mneme",
        **values,
    }
    request = ScaffoldRequest(
        template=load_template(name), out=out, values=given, record_database=record
    )
    write(render(request))
    return out


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )


def trials(directory: Path) -> int:
    """Return how many trials the jobs have made together."""
    files = directory.glob("results/job-*/trials.jsonl")
    return sum(len(path.read_text().splitlines()) for path in files)


@pytest.mark.parametrize("name", ["slurm", "flux"])
def test_scripts_have_no_mistakes_a_shell_finds(name: str, record: Path, tmp_path: Path) -> None:
    option = {"slurm": "partition", "flux": "queue"}[name]
    out = scaffold(name, record, tmp_path / "it's here", **{option: "long"})
    for script in (*out.glob("*.sh"), *out.glob("*.slurm")):
        assert os.access(script, os.X_OK)
        done = run("bash", "-n", script)
        assert (done.returncode, done.stderr) == (0, "")


def test_slurm_directives_say_what_was_asked_for(record: Path, tmp_path: Path) -> None:
    out = scaffold("slurm", record, tmp_path, jobs=8, gpus=2, partition="long", account="me")
    text = (out / "tune.slurm").read_text()
    directives = {line.removeprefix("#SBATCH ") for line in text.splitlines() if "#SBATCH" in line}
    wanted = {"--array=0-7", "--gpus=2", "--cpus-per-task=1", "--partition=long", "--account=me"}
    assert directives >= wanted
    assert "--workers 2" in (out / "tune_job.sh").read_text()
    assert text.index("#SBATCH --signal") < text.index("set -euo"), "Slurm stops reading there"


def storage_of(script: Path, **variables: str) -> str:
    """What a job's `mneme tune` finds in its environment."""
    lines = script.read_text().splitlines()
    shown = [one for one in lines if one.startswith(("storage=", "export MNEME_STUDY_STORAGE="))]
    done = subprocess.run(
        ["bash", "-c", "\n".join([*shown, 'printf %s "$MNEME_STUDY_STORAGE"'])],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_database_comes_from_the_environment(record: Path, tmp_path: Path) -> None:
    url = "postgresql://me@db/study"
    script = scaffold("slurm", record, tmp_path, storage=url) / "tune_job.sh"
    assert storage_of(script) == url
    assert storage_of(script, MNEME_STUDY_STORAGE="sqlite:///a b") == "sqlite:///a b"
    # Among the arguments everybody on the node would see it.
    assert "--optuna-storage" not in script.read_text()


@pytest.mark.parametrize("template", ["slurm", "flux"])
def test_a_password_is_in_no_script(record: Path, tmp_path: Path, template: str) -> None:
    url = "postgresql://me:hush$4711@db/study"
    out = scaffold(template, record, tmp_path / "it's here", storage=url)
    assert storage_of(out / "tune_job.sh") == url
    holders = [path for path in out.rglob("*") if "4711" in path.read_text()]
    assert holders == [out / "study_storage"]
    assert holders[0].stat().st_mode & 0o777 == 0o600


def test_jobs_share_a_study_and_go_on(record: Path, tmp_path: Path) -> None:
    """The scripts of Slurm as it runs them, by bash: two jobs, one of them started again."""
    out = scaffold("slurm", record, tmp_path / "it's here")
    for task in ("0", "1", "1"):
        done = run("bash", out / "tune.slurm", SLURM_ARRAY_TASK_ID=task, **SLURM_VARIABLES)
        assert done.returncode == 0, done.stderr
    assert sorted(one.name for one in (out / "results").iterdir()) == ["job-0", "job-1"]
    assert trials(out) == 6
    summary = json.loads((out / "results" / "job-0" / "summary.json").read_text())
    assert summary["status"] == "completed"


@pytest.mark.slow
def test_a_job_names_a_winner_before_its_time_is_over(record: Path, tmp_path: Path) -> None:
    out = scaffold("slurm", record, tmp_path, jobs=1, trials=100_000, preset="full")
    end = str(int(time.time()) + 20)
    done = run("bash", out / "tune.slurm", **SLURM_VARIABLES, SLURM_JOB_END_TIME=end)
    assert done.returncode == 0, done.stderr
    # Half of what is left is for the search; a busy machine may need more than the rest to end it.
    (seconds,) = re.findall(r"so everything is done within (\d+) s", done.stderr)
    assert int(seconds) <= 10
    summary = json.loads((out / "results" / "job-0" / "summary.json").read_text())
    assert summary["status"] == "timeout"
    assert summary["gain"] is not None  # an interrupted search has none


@pytest.mark.slow
def test_jobs_share_a_study_in_postgresql(record: Path, tmp_path: Path) -> None:
    with postgresql() as url:
        # The password of a real one would not be in the scripts.
        out = scaffold("slurm", record, tmp_path, storage="postgresql://nobody@nowhere/study")
        for task in ("0", "1"):
            variables = {**SLURM_VARIABLES, "SLURM_ARRAY_TASK_ID": task}
            done = run("bash", out / "tune.slurm", MNEME_STUDY_STORAGE=url, **variables)
            assert done.returncode == 0, done.stderr
    assert trials(out) == 6
    assert not (out / "study.journal").exists()


def with_gain(out: Path) -> None:
    """Make the first job have found something, which a launch of microseconds does not."""
    path = out / "results" / "job-0" / "best.json"
    best = json.loads(path.read_text())
    best["trial"] = best["same_launch"]["trial"] = 1
    best["same_launch"]["gain"] = best["gain"] = {
        "ratio": 1.5,
        "low": 1.4,
        "high": 1.6,
        "significant": True,
        "rounds": 12,
    }
    path.write_text(json.dumps(best))


def test_best_of_all_jobs_is_deployed(record: Path, tmp_path: Path) -> None:
    out = scaffold("slurm", record, tmp_path, jobs=1, trials=2)
    assert run("bash", out / "tune.slurm", **SLURM_VARIABLES).returncode == 0
    with_gain(out)
    done = run(out / "deploy_job.sh")
    assert done.returncode == 0, done.stderr
    (kernel,) = read_tuned_file(out / "tuned.json").values()
    assert kernel.variants[0].match.arch == "cpu"


def test_jobs_tune_every_kernel_of_a_recording(tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    line = [sys.executable, "-m", "mneme", "record", "-rdb", recording, "--device", "cpu", "-mr"]
    guests = [PROGRAM.with_name(name) for name in ("vector_add", "reduction")]
    for guest in guests:
        subprocess.run([*line, "1", "--", guest, "4096"], check=True, timeout=120)
    out = tmp_path / "jobs"
    given = ["--jobs", "2", "--trials", "4", "--gpus", "0", "--preset", "quick"]
    given += ["--mneme", f"{sys.executable} -m mneme", "--out", str(out)]
    done = run(sys.executable, "-m", "mneme", "scaffold", "slurm", recording, *given)
    assert done.returncode == 0, done.stderr
    for task in ("0", "1", "1"):
        done = run("bash", out / "tune.slurm", SLURM_ARRAY_TASK_ID=task, **SLURM_VARIABLES)
        assert done.returncode == 0, done.stderr
    counts = {
        kernel: sum(
            len(one.read_text().splitlines()) for one in out.glob(f"*/*/{kernel}*/t*.jsonl")
        )
        for kernel in ("vectorAdd", "blockSum")
    }
    assert all(counts.values())
    assert sum(counts.values()) <= 5  # the shares of two kernels are rounded
    done = run(out / "deploy_job.sh")
    assert done.returncode == 0, done.stderr


def test_no_gain_is_no_failure_of_the_deploying_job(record: Path, tmp_path: Path) -> None:
    out = scaffold("slurm", record, tmp_path / "jobs", jobs=1, trials=2, setup="")
    done = run("bash", out / "tune.slurm", **SLURM_VARIABLES)  # on the CPU device, as gpus is 0
    assert done.returncode == 0, done.stderr
    best_file = out / "results" / "job-0" / "best.json"
    assert json.loads((best_file.parent / "config.json").read_text())["device"] == "cpu"
    best = json.loads(best_file.read_text())
    best_file.write_text(json.dumps({**best, "trial": -1, "gain": {**best["gain"], "ratio": 1.0}}))
    done = run(out / "deploy_job.sh")
    assert done.returncode == 0, done.stderr
    assert "worth deploying" in done.stderr
    assert not (out / "tuned.json").exists()
    broken = scaffold("slurm", record, tmp_path / "broken", mneme=f"{sys.executable} -m nothing")
    assert run(broken / "deploy_job.sh").returncode != 0


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
def test_slurm_runs_the_jobs(record: Path, tmp_path: Path) -> None:
    out = scaffold("slurm", record, tmp_path / "it's here")
    cluster = tmp_path / "cluster"
    cluster.mkdir()
    with slurm_node(cluster) as environment:
        done = run(out / "submit.sh", **environment)
        assert done.returncode == 0, done.stderr
        wait_for_jobs(environment)
    logs = {path.name: path.read_text() for path in out.glob("*.log")}
    assert set(logs) == {"job-0.log", "job-1.log", "deploy.log"}
    assert trials(out) == 6, logs
    for task in ("0", "1"):
        assert (out / "results" / f"job-{task}" / "best.json").is_file(), logs[f"job-{task}.log"]
    assert "worth deploying" in logs["deploy.log"] or (out / "tuned.json").is_file()


# Flux is in no Debian package. The stand-in runs what is submitted at once, checks that the options
# are those of `flux submit`, and gives jobs numbers; it proves the scripts, not the options' meaning.
FLUX = """#!/bin/bash
set -euo pipefail
[[ $1 == submit ]] || { echo "no command $1" >&2; exit 1; }
shift
output=/dev/null
while [[ $1 == --* ]]; do
    case $1 in
        --output=*) output=${1#*=} ;;
        --nodes=1|--ntasks=1|--cores-per-task=[0-9]*|--gpus-per-task=[0-9]*) ;;
        --time-limit=*[mh]|--job-name=*|--queue=*|--bank=*) ;;
        --dependency=afterany:f[0-9]*) [[ -e "$FLUX_STATE/${1##*:}" ]] ;;
        *) echo "no option $1" >&2; exit 1 ;;
    esac
    shift
done
number=f$(ls "$FLUX_STATE" | wc -l)
"$@" >"$output" 2>&1 || true
touch "$FLUX_STATE/$number"
echo "$number"
"""


@pytest.mark.slow
def test_flux_scripts_run_the_jobs(record: Path, tmp_path: Path) -> None:
    out = scaffold("flux", record, tmp_path / "it's here", queue="debug")
    programs, state = tmp_path / "bin", tmp_path / "state"
    programs.mkdir()
    state.mkdir()
    (programs / "flux").write_text(FLUX)
    (programs / "flux").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    for _ in range(2):
        done = run(out / "submit.sh", PATH=path, FLUX_STATE=str(state))
        assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["tuning: job f3", "tuning: job f4", "deploying: job f5"]
    assert trials(out) == 6, "submitted again, the jobs have nothing left to try"
    log = (out / "deploy.log").read_text()
    assert "worth deploying" in log or (out / "tuned.json").is_file()
