"""Options that make no sense are one sentence before anything starts; idle ones are named."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli_parts import mneme_here
from deploy_samples import best, facts, write_result
from mneme.cli import _tune_output, main
from mneme.cli.exit_codes import ExitCode
from mneme.errors import InvalidArgument
from mneme.session.events import Progress
from mneme.session.options import TuneOptions
from native_parts import needs_native

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "v2"
RECORD = GOLDEN / "16372073875777044691.json"

pytestmark = [pytest.mark.compile, needs_native]


def mneme(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return mneme_here(*arguments, MNEME_DEVICE="cpu", **environment)


def assert_refused(
    done: subprocess.CompletedProcess[str], *words: str, code: int | None = None
) -> None:
    codes = (ExitCode.USAGE, ExitCode.INVALID_CONFIGURATION) if code is None else (code,)
    assert done.returncode in codes, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--kernels", "("], "regular expression"),
        (["--kernels", "[z-a]"], "regular expression"),
        (["--kernels", "*x"], "regular expression"),
        (["--kernels", "a" * 5000], "characters"),
        *(
            (["-rr", ranks], "--record-ranks")
            for ranks in ("x", "-1", "3-1", ",", "1,,2", "1-", "٣")
        ),
        (["-rr", "99999999999"], "--record-ranks"),
        *((["--dims", dims], "--dims") for dims in ("4", "4/0", "4x4x4x4/1", "4/4;;", "k:", "٣/1")),
        (["-mr", "-1"], "-mr"),
        (["-sr", "-1"], "-sr"),
        (["-mr", "99999999999999999999999"], "-mr"),
        (["-mr", "1.5"], "-mr"),
        *((["-vass", size], "-vass") for size in ("-1", "0", "1025", "x", "1.5", "nan")),
        (["--epilogue-format", "x"], "--epilogue-format"),
        *(
            (["--kernel-patience", time], "--kernel-patience")
            for time in ("-1", "0", "x", "nan", "1e7")
        ),
        (["--device", "x"], "'x'"),
    ],
)
def test_settings_of_the_recorder_are_checked_first(
    options: list[str], word: str, tmp_path: Path
) -> None:
    mark = tmp_path / "started"
    done = mneme("record", "-rdb", tmp_path / "r", *options, "--", "/bin/sh", "-c", f": > {mark}")
    assert_refused(done, word)
    assert not mark.exists()
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MNEME_RR_KERNELS", "("),
        ("MNEME_RECORD_DIMS", "4/0"),
        ("MNEME_RECORD_RANKS", "x"),
        ("MNEME_MAX_RECORDINGS", "-1"),
        ("MNEME_SKIP_RECORDINGS", "x"),
        ("MNEME_PAGE_SIZE", "0"),
        ("MNEME_EPILOGUE_TYPE", "x"),
        ("MNEME_KERNEL_PATIENCE", "0"),
        ("MNEME_LOG_DIR", "/nowhere"),
        ("MNEME_ALLOCATIONS", "x"),
        ("MNEME_GRAPHS", "x"),
    ],
)
def test_variables_of_the_recorder_are_checked_first(
    variable: str, value: str, tmp_path: Path
) -> None:
    done = mneme("record", "-rdb", tmp_path, "--", "/bin/false", **{variable: value})
    assert_refused(done)


@pytest.mark.parametrize("ranks", ["all", "0", "0,2-3", "0,", ""])
@pytest.mark.parametrize("kernels", ["", "foo|bar<.*>", "^_Z[0-9]+", r"a\(b\)"])
def test_good_settings_are_taken(ranks: str, kernels: str, tmp_path: Path) -> None:
    done = mneme("record", "-rdb", tmp_path, "-rr", ranks, "--kernels", kernels, "--", "/bin/true")
    assert done.returncode == ExitCode.OK, done.stderr


@pytest.mark.parametrize(
    "options",
    [
        *([f"-{kind}id{axis}", "0"] for kind in "gb" for axis in "xyz"),
        *(["--timeout", value] for value in ("nan", "inf", "-1")),
        *(["--confidence", value] for value in ("nan", "2", "-1")),
        *(["--time-budget", value] for value in ("nan", "inf", "-1")),
        ["-gidx", "4294967296"],
        ["-it", "99999999999999999999"],
        ["--warmup", "-1"],
        ["--max-iterations", "0"],
        ["-co", "4"],
        ["-shem", "-1"],
        ["--tolerance", "nan"],
    ],
)
def test_numbers_of_replay_are_checked(options: list[str]) -> None:
    assert_refused(mneme("replay", "-rdb", RECORD, *options, "default<O1>"))


@pytest.mark.parametrize(
    "options",
    [
        {"seed": 2**32},
        {"iterations": 2**32},
        {"warmup": 2**32},
        {"trials": 2**40},
        {"workers": 2**20},
        {"compile_workers": -1},
        {"confidence": float("nan")},
        {"confidence": 1.5},
        {"early_stop": float("nan")},
        {"early_stop": float("inf")},
        {"timeout": float("nan")},
        {"trial_timeout": 0.0},
        {"space_arg": ["a=1"]},
        {"proteus_output": "/nowhere/tuned.json"},
    ],
)
def test_numbers_of_tune_are_checked(options: dict[str, Any]) -> None:
    values = {"record_database": "x", "trials": 1, **options}
    ((name, _),) = options.items()
    with pytest.raises(InvalidArgument, match=f"--{name.replace('_', '-')} "):
        TuneOptions.from_dict(values).validate()


def test_a_tuned_file_may_go_to_results_that_are_not_there_yet(tmp_path: Path) -> None:
    TuneOptions.from_dict(
        {
            "record_database": "x",
            "trials": 1,
            "results_dir": str(tmp_path / "r"),
            "proteus_output": str(tmp_path / "r" / "tuned.json"),
        }
    ).validate()


@pytest.mark.parametrize("storage", ["nothing://x", "/nowhere/study.journal"])
def test_a_storage_is_tried_before_anything_is_measured(storage: str, tmp_path: Path) -> None:
    done = mneme(
        *("tune", "-rdb", RECORD, "--trials", "1", "--results-dir", tmp_path / "r"),
        *("--optuna-storage", storage),
    )
    code = ExitCode.IO_FAILED if storage.startswith("/") else ExitCode.INVALID_CONFIGURATION
    assert_refused(done, storage, code=code)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            ["replay", "-rdb", RECORD, "--max-threads", "64", "--min-threads-per-block", "2", "{}"],
            "--max-threads, --min-threads-per-block do nothing without --set-launch-bounds",
        ),
        (
            ["replay", "-rdb", RECORD, "--time-budget", "3", "{}"],
            "--time-budget does nothing without --confidence",
        ),
        (
            ["compile", RECORD, "--arch", "cpu", "--min-blocks", "2", "{}"],
            "--min-blocks does nothing without --set-launch-bounds",
        ),
        (
            ["tune", "-rdb", RECORD, "--trials", "1", "--print-space", "--study-name", "x"],
            "--study-name does nothing without --optuna-storage",
        ),
    ],
)
def test_options_without_effect_are_named(line: list[str], sentence: str) -> None:
    done = mneme(*(str(part).replace("{}", "default<O1>") for part in line))
    assert done.returncode == ExitCode.OK, done.stderr
    assert f"mneme: {sentence}" in done.stderr.splitlines()


def test_what_is_left_out_for_one_reason_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(9):
        name = f"k{number}(int)"
        write_result(tmp_path / str(number), best(facts=facts(demangled_name=name)))
    names = [str(tmp_path / str(number)) for number in range(9)]
    code = main(["deploy", *names, "--min-gain", "9", "-o", str(tmp_path / "out.json")])
    assert code == ExitCode.NOT_VERIFIED
    told = [one for one in capsys.readouterr().err.splitlines() if "left out" in one]
    assert len(told) == 1
    assert "k4(int) and 4 more are left out" in told[0]


def test_a_warning_that_repeats_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with _tune_output.QuietOutput() as output:
        for _ in range(1000):
            output.warn("a worker is slow")
        output.warn("something else")
    assert capsys.readouterr().err.splitlines() == [
        "mneme: a worker is slow",
        "mneme: something else",
        "mneme: 1000 times: a worker is slow",
    ]


@pytest.mark.parametrize(
    ("best", "words"),
    [
        (None, "nothing faster yet"),
        (SimpleNamespace(metric=2.5e6, speedup=1.25), "best 2.50 ms (1.25x)"),
    ],
)
def test_progress_shows_the_best_so_far(best: Any, words: str) -> None:
    progress = Progress(done=3, total=8, best=best, seconds=2.0, done_now=3, time_left=4.0)
    assert _tune_output._line(progress) == f"3/8 trials, {words}, 1.5/s, 3 s left"


def test_a_config_file_is_checked_like_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"trials": -1}))
    assert_refused(mneme("tune", "-rdb", RECORD, "--config", path), "--trials")
