"""`mneme VERB RECORDING [KERNEL] [PASSES]`: the same words and mistakes for every verb."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import typer

from cli_parts import mneme_here
from mneme.cli._recording import tell_apart
from mneme.cli.exit_codes import ExitCode
from mneme.recording.recorded_execution import RecordedExecution
from native_parts import needs_native

pytestmark = needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
WALK = GOLDEN / "13326948811992799613.json"
ONLY = "3913246467672645478"

VERBS = {
    "replay": ["replay", "{words}"],
    "tune": ["tune", "{words}", "--trials", "1", "--baseline-only", "--results-dir", "{out}"],
    "compile": ["compile", "{words}"],
    "show": ["show", "{words}"],
    "explain": ["explain", "{words}"],
    "suggest": ["suggest", "{words}"],
    "scaffold": ["scaffold", "tune", "{words}", "--out", "{out}"],
    "ls": ["ls", "{words}"],
}


@pytest.fixture(autouse=True)
def knowledge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is known about any kernel."""
    monkeypatch.setenv("MNEME_KNOWLEDGE", str(tmp_path / "knowledge.sqlite"))


def mneme(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return mneme_here(*arguments, MNEME_DEVICE="cpu")


def run(verb: str, out: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    arguments: list[str | Path] = []
    for part in VERBS[verb]:
        arguments += words if part == "{words}" else [part.format(words="", out=out)]
    return mneme(*arguments)


@pytest.mark.compile
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "words", [[GOLDEN, "link"], ["-rdb", GOLDEN, "link"], [GOLDEN, ONLY[:6]], [WALK, "@2"]]
)
def test_every_verb_takes_recording_and_kernel(
    verb: str, words: list[str | Path], tmp_path: Path
) -> None:
    done = run(verb, tmp_path / "out", *words)
    assert done.returncode == (ExitCode.NOT_VERIFIED if verb == "suggest" else ExitCode.OK), done
    assert "walk" not in done.stdout or words[0] == WALK
    if verb == "tune":
        best = json.loads((tmp_path / "out" / "baseline.json").read_text())
        assert best["result"]["verified"] is True


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([GOLDEN, "nosuch"], ExitCode.RECORD_UNREADABLE, "has no kernel 'nosuch'; it has:"),
        ([GOLDEN], ExitCode.INVALID_CONFIGURATION, "holds 2 kernels; name one behind"),
        ([GOLDEN, "k"], ExitCode.INVALID_CONFIGURATION, "'k' fits 2 kernels of"),
        ([GOLDEN, "walk@7"], ExitCode.RECORD_UNREADABLE, "none of them is @7"),
        ([GOLDEN, "walk", "sroa", "x"], ExitCode.USAGE, "x"),
        (["nowhere", "walk"], ExitCode.RECORD_UNREADABLE, "nowhere"),
        ([GOLDEN, "-rid", "99999"], ExitCode.RECORD_UNREADABLE, "has no instance 99999"),
    ],
)
def test_the_same_mistake_ends_alike(
    verb: str, words: list[str | Path], code: ExitCode, sentence: str, tmp_path: Path
) -> None:
    if verb == "ls" and (
        code is ExitCode.INVALID_CONFIGURATION or words[-1] in ("walk@7", "99999")
    ):
        pytest.skip("lists all that fit, and no launches")
    done = run(verb, tmp_path / "out", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    first, *listed = done.stderr.splitlines()
    names = [line.split()[0].partition("(")[0] for line in listed]
    assert names == (["walk", "link"] if first.endswith(":") else [])


@pytest.mark.parametrize(
    ("words", "database", "kernel", "passes"),
    [
        ([GOLDEN, "walk", "default<O1>"], None, "walk", "default<O1>"),
        ([GOLDEN, "default<O1>"], None, None, "default<O1>"),
        ([GOLDEN, "sroa,instcombine"], None, None, "sroa,instcombine"),
        ([GOLDEN, "walk"], None, "walk", None),
        ([GOLDEN, "nosuch"], None, "nosuch", None),
        ([GOLDEN, "nosuch<3>"], None, None, "nosuch<3>"),
        ([GOLDEN, "O3"], None, None, "O3"),
        ([WALK, "nosuch"], None, None, "nosuch"),
        ([WALK, "walk"], None, "walk", None),
        (["default<O1>"], WALK, None, "default<O1>"),
        (["nosuch"], WALK, None, "nosuch"),
        (["walk(int)"], GOLDEN, "walk(int)", None),
        (["walk", "nosuch"], GOLDEN, "walk", "nosuch"),
        ([], GOLDEN, None, None),
    ],
)
def test_word_is_a_kernel_or_a_pipeline(
    words: list[str | Path], database: Path | None, kernel: str | None, passes: str | None
) -> None:
    told = tell_apart(*map(str, words), database=database, has_passes=True)
    assert (told.kernel, told.passes) == (kernel, passes)
    assert told.recording == (database or words[0])


def test_kernel_of_a_directory_may_be_called_like_a_pass(tmp_path: Path) -> None:
    data = json.loads(WALK.read_text())
    data.pop("Checksum")
    data["DemangledName"] = "sink(int)"
    (tmp_path / WALK.name).write_text(json.dumps(data))
    assert tell_apart(str(tmp_path), "sink", has_passes=True).kernel == "sink"
    assert tell_apart(str(tmp_path), "dce", has_passes=True).passes == "dce"
    # Command lines of before go on meaning what they meant.
    assert tell_apart("sink", database=tmp_path, has_passes=True).passes == "sink"
    record = str(tmp_path / WALK.name)
    assert tell_apart(record, "sink", has_passes=True).passes == "sink"


def test_words_too_many_or_too_few_are_refused() -> None:
    with pytest.raises(typer.BadParameter, match="no recording is named"):
        tell_apart(None, None)
    with pytest.raises(typer.BadParameter, match="'b' is one argument too many"):
        tell_apart("a", "b", database=GOLDEN)


def test_ls_lists_what_fits() -> None:
    for words, kernels in (([GOLDEN, "k"], 2), ([GOLDEN, "walk"], 1), ([WALK], 1)):
        done = mneme("ls", *words, "--json")
        assert done.returncode == ExitCode.OK, done.stderr
        assert len(json.loads(done.stdout)["kernels"]) == kernels


@pytest.mark.compile
def test_all_launches_of_one_kernel_are_tuned(tmp_path: Path) -> None:
    out = tmp_path / "out"
    common = ["--trials", "2", "--results-dir", out, "--space-preset", "quick"]
    done = mneme("tune", GOLDEN, "walk", "--all", *common)
    assert done.returncode == ExitCode.OK, done.stderr
    assert list(out.glob("walk-*/best.json"))
    assert not list(out.glob("link-*"))
    done = mneme("tune", GOLDEN, "walk@1", "--all", *common)
    assert done.returncode == ExitCode.INVALID_CONFIGURATION
    assert "'walk@1' names one; leave --all out" in done.stderr


@pytest.mark.compile
def test_explain_takes_the_values_of_a_recorded_launch() -> None:
    told = [mneme("explain", GOLDEN, f"walk@{number}") for number in (1, 2)]
    assert [one.returncode for one in told] == [ExitCode.OK] * 2, told
    values = [next(line for line in one.stdout.splitlines() if "1 limit" in line) for one in told]
    assert values[0] != values[1]
    assert all("block and grid" in one.stdout and "Probes" not in one.stdout for one in told)
    given = mneme("explain", WALK, "@2", "--value", "limit=77", "--json")
    (argument,) = json.loads(given.stdout)["arguments"]
    assert argument["value"] == "77"


@pytest.mark.compile
def test_explain_takes_the_options_of_the_other_verbs() -> None:
    first = next(iter(json.loads(WALK.read_text())["instances"]))
    told = [
        mneme("explain", *words)
        for words in (["-rdb", GOLDEN, "walk", "-rid", first], [WALK, "@1"], [WALK, "-rid", first])
    ]
    assert [one.returncode for one in told] == [ExitCode.OK] * 3, told
    assert len({one.stdout for one in told}) == 1
    done = mneme("explain", "program", "walk", "-rid", first)
    assert "-rid does nothing with a program; it chooses a launch of a recording" in done.stderr
    done = mneme("explain")
    assert done.returncode == ExitCode.USAGE
    assert "nothing is named; say PROGRAM or a recording" in done.stderr


def test_show_numbers_launches() -> None:
    shown = mneme("show", GOLDEN, "walk").stdout
    ids = list(json.loads(WALK.read_text())["instances"])
    for number, record_id in enumerate(ids, start=1):
        assert f"launch @{number} {record_id}:" in shown
        one = json.loads(mneme("show", GOLDEN, f"walk@{number}", "--json").stdout)
        assert [each["record_id"] for each in one["instances"]] == [record_id]
        assert [each["number"] for each in one["instances"]] == [number]


def test_show_names_the_part_of_a_device(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(WALK)
    part = next(iter(record.kernel_instances.values()))
    part.multiprocessors = {"Used": 32, "Of": 132}
    record.to_json(tmp_path / WALK.name)
    shown = mneme("show", tmp_path / WALK.name).stdout
    assert shown.count("ran on 32 of 132 multiprocessors; a replay runs on as many") == 1
    one = json.loads(mneme("show", tmp_path / WALK.name, part.dynamic_hash, "--json").stdout)
    assert '"multiprocessors": {"Used": 32, "Of": 132}' in json.dumps(one)


def test_show_names_limits_that_the_program_set(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(WALK)
    launch = next(iter(record.kernel_instances.values()))
    launch.limits = {"Stack": 65536, "Launches": 4096}
    record.to_json(tmp_path / WALK.name)
    shown = mneme("show", tmp_path / WALK.name).stdout
    assert shown.count("limits set: a stack of 64.0 KiB per thread, 4096 launches of its own") == 1
    one = json.loads(mneme("show", tmp_path / WALK.name, launch.dynamic_hash, "--json").stdout)
    assert '"limits": {"Stack": 65536, "Launches": 4096}' in json.dumps(one)


def test_show_names_what_the_program_preferred_of_the_cache(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(WALK)
    launch = next(iter(record.kernel_instances.values()))
    launch.cache_config = "PreferL1"
    record.to_json(tmp_path / WALK.name)
    assert mneme("show", tmp_path / WALK.name).stdout.count(" shared, PreferL1;") == 1
    one = json.loads(mneme("show", tmp_path / WALK.name, launch.dynamic_hash, "--json").stdout)
    assert '"cache_config": "PreferL1"' in json.dumps(one)


def test_show_says_that_a_kernel_launches_kernels(tmp_path: Path) -> None:
    record = RecordedExecution.from_json(WALK)
    record.extras["Options"] = {"unrecorded_reads": ["clocks", "launches of its own"]}
    record.to_json(tmp_path / WALK.name)
    shown = mneme("show", tmp_path / WALK.name).stdout
    assert "not recorded  clocks: its replays may differ" in shown
    assert "launches  kernels itself: its replays may differ, or fail" in shown
