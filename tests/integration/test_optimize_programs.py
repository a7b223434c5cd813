"""`mneme optimize`, as a user runs it: on the CPU device, with programs that are unusual."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import conftest
import pytest
from conftest import BUILD, ROOT, Finished, example, mneme, run_command

from mneme.recording.launch_facts import launch_facts
from mneme.recording.recorded_execution import RecordedExecution

pytestmark = [pytest.mark.compile, pytest.mark.slow]

WRAPPER = BUILD / "bin" / "mneme-cxx"


def build(folder: Path, name: str, *options: str) -> Path:
    program, source = folder / name, ROOT / f"tests/apps/optimize/{name}.cu"
    arguments = [*options, "-x", "cuda", "--offload-arch=sm_90", source, "-o", program, "-lcudart"]
    done = run_command(WRAPPER, *arguments)
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program of 30 kernels."""
    return build(tmp_path_factory.mktemp("many"), "many")


def optimize(folder: Path, *command: str | Path, trials: int = 8) -> Finished:
    options = ("--seed", "1", "--device", "cpu", "-o", folder / "out")
    return conftest.optimize(*options, *command, trials=trials)


def as_told(command: str) -> Finished:
    """Run the command that mneme names to go on, with more trials."""
    tool, verb, *arguments = shlex.split(command)
    assert (tool, verb) == ("mneme", "optimize")
    return conftest.optimize(*arguments, trials=16)


def result_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "out" / "optimize.json").read_text())
    return content


def all_records(program: Path, folder: Path) -> list[RecordedExecution]:
    done = mneme("record", "-rdb", folder / "records", "--device", "cpu", "--", program)
    assert done.returncode == 0, done.stderr
    return [RecordedExecution.from_json(one) for one in (folder / "records").glob("[0-9]*.json")]


def kernel_of(folder: Path, name: str) -> dict[str, Any]:
    return next(
        one for one in result_of(folder)["kernels"] if one["demangled_name"].startswith(name)
    )


def tuned_names(folder: Path) -> str:
    path = folder / "out" / "tuned.json"
    return path.read_text() if path.is_file() else ""


def test_a_program_becomes_faster(many: Path, tmp_path: Path) -> None:
    done = optimize(tmp_path, "--", many, "pid")
    assert done.returncode == 0, done.stderr
    result = result_of(tmp_path)
    assert result["status"] == "completed"
    heavy = kernel_of(tmp_path, "heavy")
    assert heavy["is_kept"]
    assert heavy["production"]["low"] > 1  # a hundredfold gain, however busy the machine is
    assert heavy["launches"] == 6
    assert "_Z5heavy" in tuned_names(tmp_path)
    # None of the other kernels was worth tuning.
    assert len(result["kernels"]) <= 2
    assert "every byte but" in result["output_rule"]
    assert (tmp_path / "out" / "report.html").is_file()
    assert "use it: PROTEUS_TUNED_KERNELS=" in done.stderr
    # What was found works by itself.
    again = mneme(
        *("run", "--device", "cpu", "--", many),
        PROTEUS_TUNED_KERNELS=str(tmp_path / "out" / "tuned.json"),
        PROTEUS_CACHE_DIR=str(tmp_path / "out" / "runs" / "cache"),
    )
    assert again.stdout == mneme("run", "--device", "cpu", "--", many).stdout


def test_a_kernel_that_ends_the_program_is_left_out(many: Path, tmp_path: Path) -> None:
    optimize(tmp_path, "--", many, "heavy")
    heavy = kernel_of(tmp_path, "heavy")
    assert not heavy["is_kept"]
    assert "SIGABRT" in heavy["reason"]
    assert "heavy" not in tuned_names(tmp_path)


def test_an_output_that_tuning_changes_is_refused_until_it_is_ignored(
    many: Path, tmp_path: Path
) -> None:
    done = optimize(tmp_path, "--", many, "wrong")
    assert done.returncode == 1
    assert not tuned_names(tmp_path)
    reason = kernel_of(tmp_path, "heavy")["reason"]
    assert "instead of" in reason
    assert reason.endswith("x in replays")
    [said] = [line for line in done.stderr.splitlines() if "without another search" in line]
    command = said.rpartition(": ")[2]
    words = shlex.split(command)
    assert words[words.index("--ignore") + 1] == r"sum ([-+.\w]+)"
    accepted = as_told(command)
    assert accepted.returncode == 0, accepted.stderr
    assert "tuning heavy" not in accepted.stderr
    assert "goes wrong" not in accepted.stderr
    assert kernel_of(tmp_path, "heavy")["is_kept"]
    assert "without what --ignore finds" in result_of(tmp_path)["output_rule"]


def test_what_is_one_ulp_off_is_offered_and_had_by_the_command_that_is_named(
    tmp_path: Path,
) -> None:
    done = optimize(tmp_path, "--", build(tmp_path, "nearly", "-O2"))
    assert done.returncode == 0, done.stderr
    offer = re.compile(r"nearly in replays: [0-9.e+]+x if 1 ULP is acceptable: (mneme .*)")
    [note] = [one for one in result_of(tmp_path)["notes"] if offer.fullmatch(one)]
    assert f"mneme: {note}" in done.stderr.splitlines()
    [best] = (tmp_path / "out" / "results").glob("nearly-*/best.json")
    assert not json.loads(best.read_text())["config"]["specialize"]
    taken = as_told(offer.fullmatch(note)[1])  # type: ignore[index]
    assert taken.returncode == 0, taken.stderr
    assert "recording its" not in taken.stderr
    winner = json.loads(best.read_text())
    assert winner["config"]["specialize"]
    assert winner["result"]["result_class"] == "within_tolerance"
    assert not any("acceptable" in one for one in result_of(tmp_path)["notes"])
    # The other kernel has no argument of that name, and is tuned all the same.
    assert "names a region" not in json.dumps(result_of(tmp_path)["kernels"])


def test_launches_are_delayed_as_a_file_says(many: Path, tmp_path: Path) -> None:
    kernels = [record.kernel_name for record in all_records(many, tmp_path)]
    [heavy] = [name for name in kernels if "heavy" in name]
    delays = tmp_path / "delays"
    for line, least, most in (
        (f"300000000 300000000 {heavy}\n", 1, 60),
        ("900000000 900000000 another\n", 0, 1),
        (f"no number {heavy}\n", 0, 1),
    ):
        delays.write_text(line)
        done = mneme("run", "--device", "cpu", "--", many, "time", MNEME_DELAYS=str(delays))
        assert done.returncode == 0, done.stderr
        assert least <= int(done.stdout.split()[2]) <= most


def test_a_time_that_follows_from_code_alone_is_told_by_kernels_that_are_compiled_again(
    many: Path, tmp_path: Path
) -> None:
    done = optimize(tmp_path, "--", many, "clock")
    assert done.returncode == 0, done.stderr
    assert "goes wrong" not in done.stderr
    assert "every byte but 1 word" in result_of(tmp_path)["output_rule"]
    recompiled, cache = tmp_path / "out" / "runs" / "recompiled.json", tmp_path / "cache"
    again = mneme(
        *("run", "--device", "cpu", "--", many),
        PROTEUS_TUNED_KERNELS=str(recompiled),
        PROTEUS_CACHE_DIR=str(cache),
    )
    assert again.stdout == mneme("run", "--device", "cpu", "--", many).stdout
    assert "as it was built" not in again.stderr
    assert any(one.is_file() for one in cache.rglob("*"))


def test_a_command_decides_where_the_output_varies(many: Path, tmp_path: Path) -> None:
    done = optimize(tmp_path, "--check", "grep -q '^sum'", "--", many, "lines")
    assert done.returncode == 0, done.stderr
    assert "'grep -q '^sum'' accepts it" in result_of(tmp_path)["output_rule"]


def test_ctrl_c_leaves_what_was_found_and_resume_goes_on(many: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "mneme", "optimize", "--device", "cpu", "-o", out]
    running = subprocess.Popen(
        [*command, "--budget", "10m", "--", many], stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while (
        sum(one.read_bytes().count(b"\n") for one in out.glob("results/*/trials.jsonl")) < 3
        and time.monotonic() < end
    ):
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert (
        f"go on with: mneme optimize --resume -o {out} --budget 600s --device cpu -- {many}" in said
    )
    assert result_of(tmp_path)["status"] == "interrupted"
    refused = optimize(tmp_path, "--", many)
    assert refused.returncode == 3
    assert "go on with it by --resume" in refused.stderr
    done = optimize(tmp_path, "--resume", "--", many)
    assert done.returncode == 0, done.stderr
    assert "recording its" not in done.stderr
    assert kernel_of(tmp_path, "heavy")["is_kept"]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_its_end_is_that_of_everything_the_program_started(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Also of what a script started: mneme alone is asked to end, as batch systems do."""
    script = "sleep 600 & echo $! > pid.new; mv pid.new pid; wait"
    command = [sys.executable, "-m", "mneme", "optimize", "--device", "cpu", "-o", "out"]
    running = subprocess.Popen(
        [*command, "--", "/bin/sh", "-c", script],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
    )
    while not (tmp_path / "pid").is_file() and running.poll() is None:
        time.sleep(0.05)
    started = int((tmp_path / "pid").read_text())
    assert is_running(started)
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "interrupted" in said
    assert result_of(tmp_path)["status"] == "interrupted"
    assert not is_running(started)


def test_the_launch_that_takes_the_time_is_tuned_although_it_comes_late(tmp_path: Path) -> None:
    optimize(tmp_path, "--", build(tmp_path, "levels", "-O1"), trials=2)
    [record] = (tmp_path / "out" / "recording").glob("[0-9]*.json")
    instances = json.loads(record.read_text())["instances"]
    # The first four have grids of 1 to 4 blocks; a busy machine may make one of them heavy, too.
    assert 1024 in [one["GridDims"]["x"] for one in instances.values()]
    assert kernel_of(tmp_path, "sweep")["directories"]


def test_what_changes_with_every_launch_becomes_no_constant(tmp_path: Path) -> None:
    done = optimize(tmp_path, "--", build(tmp_path, "steps", "-O1"))
    assert done.returncode in (0, 1), done.stderr
    (trials,) = (tmp_path / "out" / "results").glob("*/trials.jsonl")
    tried = [json.loads(line)["config"] for line in trials.read_text().splitlines()]
    assert {one.get("specialized_args") for one in tried if one["specialize"]} == {"1,2,3"}
    # Nor do production runs give other dimensions to launches with other integers.
    assert {(one["grid"]["x"], one["block"]["x"]) for one in tried} == {(256, 256)}
    for entry in json.loads(tuned_names(tmp_path) or "{}").values():
        (variant,) = entry["Mneme"]["Variants"]
        assert variant["SpecializedArgs"] in ([], [1, 2, 3])
        assert not any(guard.startswith("Arg") for guard in variant["Guards"])


def test_launches_from_the_middle_of_the_time_are_recorded(tmp_path: Path) -> None:
    optimize(tmp_path, "--", build(tmp_path, "frontier", "-O2"), trials=2)
    (path,) = (tmp_path / "out" / "recording").glob("[0-9]*.json")
    record = RecordedExecution.from_json(path)
    steps = sorted(launch_facts(path, one)["args"][-1]["value"] for one in record)
    # Which of the twenty is in the middle is up to the machine.
    assert steps == list(range(steps[0], steps[0] + 4))


def test_a_first_step_from_zeros_says_nothing_of_other_launches(tmp_path: Path) -> None:
    recording, results = tmp_path / "recording", tmp_path / "results"
    program = build(tmp_path, "from_zeros", "-O2")
    done = mneme("record", "-rdb", recording, "--device", "cpu", "--", program)
    assert done.returncode == 0, done.stderr
    [record] = recording.glob("[0-9]*.json")
    # A sixteenth of the blocks leave the recorded memory behind, too.
    options = ("--device", "cpu", "--grid-dim-x", "2", "--grid-dim-y", "8")
    done = mneme("replay", "-rdb", record, *options, "default<O3>")
    assert done.returncode == 0, done.stderr
    options = ("--space-preset", "full", "--no-knowledge", "--trials", "20", "--seed", "1")
    done = mneme(
        "tune", "-rdb", record, "--device", "cpu", "--results-dir", results, *options, timeout=120
    )
    assert done.returncode == 0, done.stderr
    tried = [
        json.loads(line)["config"] for line in (results / "trials.jsonl").read_text().splitlines()
    ]
    assert {tuple(one["grid"].values()) for one in tried} == {(8, 32, 1)}
    assert {tuple(one["block"].values()) for one in tried} == {(32, 8, 1)}


def test_why_a_kernel_is_not_recorded_is_what_the_recorder_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEME_GRAPHS", "whole")
    done = optimize(tmp_path, "--json", "--", build(tmp_path, "captured", "-O2"))
    assert done.returncode == 1, done.stderr
    # With a table of kernels for people, which is not for standard output then.
    assert json.loads(done.stdout)["kernels"] == result_of(tmp_path)["kernels"]
    why = "a graph was launched whose kernels are not recorded: MNEME_GRAPHS is 'whole'"
    assert kernel_of(tmp_path, "add")["reason"] == why
    assert done.stderr.count(f"so none can be tuned: {why}\n") == 1
    assert "built with" not in done.stderr


def test_each_has_a_directory_of_its_own_and_none_stays_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "mneme", "optimize", "--device", "cpu", "--quiet", "--"]
    assert mneme("optimize", "--device", "cpu", "--", "./not-there").returncode == 4
    assert not list(tmp_path.iterdir())
    several = [
        subprocess.Popen([*command, "/bin/true"], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for one in several:
        _, said = one.communicate(timeout=120)
        assert (one.returncode, "no launch of a kernel was seen" in said) == (1, True), said
    assert len(list(tmp_path.glob("mneme-optimize/true-*/optimize.json"))) == 4


def test_ranks_of_mpi_are_one_program(many: Path, tmp_path: Path) -> None:
    mpiexec = shutil.which("mpiexec")
    assert mpiexec, "mpiexec is missing: scripts/test installs mpich"
    done = optimize(tmp_path, "--", mpiexec, "-n", "2", many)
    assert done.returncode in (0, 1), done.stderr
    result = result_of(tmp_path)
    assert result["status"] == "completed"
    # Every rank's launches count, one rank's are recorded, and all run with what is kept.
    assert kernel_of(tmp_path, "heavy")["launches"] == 2 * 6
    assert result["output_rule"].startswith("every byte")


def test_a_launcher_around_it_is_refused(tmp_path: Path) -> None:
    done = mneme("optimize", "-o", tmp_path / "out", "--", "./app", PMI_SIZE="4", PMI_RANK="1")
    assert done.returncode == 3
    assert "it starts the launcher itself: mneme optimize -- mpiexec -n 4 ./app" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        (["./not-there"], 4, "the program './not-there' is not found"),
        (["/bin/false"], 3, "the program as built fails: it ended with exit code 1"),
        (["/bin/sh", "-c", "exit 7"], 3, "mneme optimize -- sh -c './app; test $? -eq 7'"),
        (["/bin/false", "-n", "4"], 3, "sh -c '/bin/false -n 4; test $? -eq 1'"),
        (["/bin/sh", "-c", "echo 'sum: 7'; echo ===; exit 1"], 3, "exit code 1: sum: 7; if it"),
        (["/bin/true"], 1, "no launch of a kernel was seen: it launches none on this device"),
        (["/bin/true"], 1, "is not built with add_mneme() or the compiler wrappers"),
        (["/bin/sh", "-c", "kill -SEGV $$"], 3, "it ended with SIGSEGV"),
    ],
)
def test_what_cannot_be_optimized_is_one_sentence(
    tmp_path: Path, command: list[str], code: int, sentence: str
) -> None:
    done = optimize(tmp_path, "--", *command)
    assert done.returncode == code
    assert sentence in done.stderr


def test_kernels_without_ir_are_named(tmp_path: Path) -> None:
    """The very same program, built by a compiler without mneme, has nothing to be tuned."""
    done = optimize(tmp_path, "--", example("vector_add_plain"))
    assert done.returncode == 3
    assert "the program as built fails: it ended with exit code 2: launch vectorAdd" in done.stderr
