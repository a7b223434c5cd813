"""`mneme compare` without a device: variants, results that are kept, and exit codes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from compare_samples import Simulated, compared, make_cases, variant
from mneme import compare as room
from mneme.cli import compare as command
from mneme.cli._variants import variant_of, variants_in, variants_with_passes
from mneme.cli.app import run
from mneme.compare import BASELINE_NAME, CompareOptions, Comparison, find_cases
from mneme.compare.cases import names_of
from mneme.compare.limits import Limits, percentage
from mneme.compare.occupancy import occupancy
from mneme.compare.variants import complete
from mneme.errors import BackendUnavailable, InvalidArgument, NotFound
from mneme.measure.compile_pool import CompileAnswer
from mneme.mneme_types import ExperimentResult
from native_parts import needs_native

pytestmark = needs_native
A, B, C = variant("a", "default<O1>"), variant("b", "default<O2>"), variant("c", "default<O3>")
WRONG = ExperimentResult(
    executed=True,
    result_class="wrong",
    image_hash="w",
    mismatches=[
        {
            "region": "out",
            "element": 3,
            "actual": "1",
            "expected": "2",
            "differing": 4,
            "elements": 9,
        }
    ],
)


# Variants.


def test_a_variant_takes_every_option_of_replay_that_is_of_configurations() -> None:
    one = variant_of(
        "fast=--passes 'default<O2>,adce' --codegen-opt 2 --max-registers 64 --specialize "
        "--specialized-args 0,2 --block-dim-x 128 --shared-mem 16"
    )
    assert (one.name, one.changes.block) == ("fast", (128, None, None))
    given = {key: value for key, value in one.changes.values.items() if value not in {None, ""}}
    assert given == {
        "passes": "default<O2>,adce",
        "codegen_opt": 2,
        "max_registers": 64,
        "specialize": True,
        "specialized_args": "0,2",
        "shared_mem": 16,
        "min_blocks_per_sm": 0,
    }


@pytest.mark.parametrize("text", ["x='default<O1>'", "x=--passes='default<O1>'"])
def test_a_pipeline_may_be_a_word_or_an_option(text: str) -> None:
    assert variant_of(text).changes.values["passes"] == "default<O1>"


def test_a_variant_may_be_what_was_recorded() -> None:
    one = variant_of("recorded=")
    assert one.changes.values["passes"] is None
    assert one.options == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("default<O2>", "has no name"),
        ("--codegen-opt=2", "has no name"),
        ("x=--nosuch 1", r"'x' is not understood: No such option.*--nosuch"),
        ("x=--codegen-opt 7", r"'x' is not understood: .*7"),
        ("x=--iterations 9", "--iterations, which does not change"),
        ("x=--output-ll f", "--output-ll, which does not change"),
        ("x=--device cpu", "--device, which does not change"),
        ("x='a", "not words of a shell"),
        ("x=--passes", "lacks the pipeline"),
        ("x=--passes a b", "several pipelines"),
        ("x=--help", "replay --help-all"),
    ],
)
def test_a_variant_that_cannot_be_meant_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(typer.BadParameter, match=sentence):
        variant_of(text)


def test_pipelines_are_variants_called_by_them() -> None:
    long = "default<O3>," + ",".join(["adce"] * 40)
    names = [one.name for one in variants_with_passes(["default<O1>", long, long + ",dse"])]
    assert names[0] == "default<O1>"
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 40


@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_file_has_options_as_text_list_or_map(suffix: str, tmp_path: Path) -> None:
    content = {
        "base": None,
        "text": "--passes 'default<O1>'",
        "list": ["--passes", "default<O2>"],
        "map": {"passes": "default<O3>", "codegen_opt": 1, "specialize": True},
    }
    file = tmp_path / f"variants.{suffix}"
    file.write_text(json.dumps(content))  # which is YAML, too
    found = variants_in(file)
    assert [one.name for one in found] == ["base", "text", "list", "map"]
    assert [one.changes.values["passes"] for one in found] == [
        None,
        "default<O1>",
        "default<O2>",
        "default<O3>",
    ]
    assert found[3].changes.values["codegen_opt"] == 1
    assert found[3].changes.values["specialize"] is True


def test_one_variant_is_compared_with_what_was_recorded() -> None:
    assert [one.name for one in complete([A])] == [BASELINE_NAME, "a"]
    assert [one.name for one in complete([A, B])] == ["a", "b"]


@pytest.mark.parametrize("given", [[], [A, A], [A, variant("x" * 61)]])
def test_variants_need_names_of_their_own(given: list[Any]) -> None:
    with pytest.raises(InvalidArgument, match="variant"):
        complete(given)


# What is measured.


def test_launches_of_a_tree_count_once(tmp_path: Path) -> None:
    make_cases(tmp_path / "tree", 4)
    twice = find_cases([tmp_path / "tree", tmp_path / "tree" / "r0"])
    assert [one.record.demangled_name[:2] for one in twice.found] == ["k0", "k1", "k2", "k3"]
    assert [one.recording for one in twice.found] == ["r0", "r0", "r0", "r1"]
    assert twice.repeated == 3
    assert len(find_cases([tmp_path / "tree"], ["k1", "k3"]).found) == 2


def test_a_tree_without_recordings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "package.json").write_text("{}")
    with pytest.raises(NotFound, match="holds no recording"):
        find_cases([tmp_path])
    with pytest.raises(NotFound, match="there is no recording"):
        find_cases([tmp_path / "nowhere"])


def test_each_round_has_every_variant_in_an_order_that_is_drawn(tmp_path: Path) -> None:
    simulated, again = Simulated(), Simulated()
    for place, one in (("r", simulated), ("again", again)):
        compared(make_cases(tmp_path, 1), (A, B, C), one, tmp_path / place, rounds=60)
    order = "".join(one[-2] for one in simulated.launched)
    rounds = [order[at : at + 3] for at in range(0, len(order), 3)]
    assert len(rounds) == 1 + 60
    assert rounds[0] == "123"
    assert {"".join(sorted(one)) for one in rounds} == {"123"}
    assert len(set(rounds)) == 6
    assert again.launched == simulated.launched


def test_a_disturbance_of_the_rounds_period_is_not_a_finding(tmp_path: Path) -> None:
    # With every other round reversed, the slow launches would always be those of one variant.
    simulated = Simulated(period=(1.2, 1.0, 1.0, 1.2), noise=0.001)
    found = compared(make_cases(tmp_path, 12), (A, B), simulated, tmp_path / "r")
    assert not found.gains
    assert not found.regressions


def test_equal_code_is_not_measured(tmp_path: Path) -> None:
    simulated = Simulated(has_equal_code=True)
    found = compared(make_cases(tmp_path, 2), (A, B), simulated, tmp_path / "r")
    assert [row.verdict for row in found.rows] == ["same code"] * 2
    assert len(simulated.launched) == 4
    (summary,) = found.summaries
    assert summary.mean is not None
    assert summary.mean.ratio == 1


def test_equal_code_is_measured_if_asked_for(tmp_path: Path) -> None:
    simulated = Simulated(has_equal_code=True)
    found = compared(
        make_cases(tmp_path, 1), (A, B), simulated, tmp_path / "r", measures_equal=True
    )
    assert [row.verdict for row in found.rows] == ["no difference"]


def test_code_that_two_variants_share_is_measured_once(tmp_path: Path) -> None:
    simulated = Simulated()
    other = variant("other", "default<O2>")
    found = compared(make_cases(tmp_path, 1), (A, B, other), simulated, tmp_path / "r", rounds=6)
    assert [row.outcome.same_as for row in found.rows] == ["", "b"]
    assert found.rows[0].ratio == found.rows[1].ratio
    assert len(simulated.launched) == 3 + 2 * 6


def test_a_failing_variant_costs_itself_only(tmp_path: Path) -> None:
    simulated = Simulated(
        failures={
            "default<O2>": WRONG,
            "default<O3>": CompileAnswer(failure="The compiler crashed (signal 11)"),
            "default<Os>": ExperimentResult(
                failed=True, error="Worker timed out after 1.0 s", worker_died=True
            ),
        },
        factors={"default<O0>": 2.0},
    )
    variants = (A, B, C, variant("s", "default<Os>"), variant("slow", "default<O0>"))
    found = compared(make_cases(tmp_path, 2), variants, simulated, tmp_path / "r")
    assert [(row.verdict, row.outcome.reason) for row in found.rows[:4]] == [
        ("wrong result", "out: element 3 is 1, not 2; 4 of 9 differ"),
        ("not compiled", "The compiler crashed (signal 11)"),
        ("crashed or hung", "Worker timed out after 1.0 s"),
        ("slower", ""),
    ]
    assert not found.unusable


def test_a_launch_without_a_verified_baseline_is_not_compared(tmp_path: Path) -> None:
    simulated = Simulated(failures={"default<O1>": WRONG})
    found = compared(make_cases(tmp_path, 1), (A, B), simulated, tmp_path / "r")
    ((name, reason),) = found.unusable
    assert name == "k0"
    assert reason.startswith("the baseline is not verified: out: element 3")
    assert [row.verdict for row in found.rows] == ["not compared"]
    assert found.rows[0].outcome.is_verified


def test_a_launch_that_cannot_be_opened_costs_itself_only(tmp_path: Path) -> None:
    simulated = Simulated(unopened={"1000.json": NotFound("a snapshot is missing")})
    found = compared(make_cases(tmp_path, 2), (A, B), simulated, tmp_path / "r")
    assert found.unusable == [("k0", "a snapshot is missing")]
    assert [row.verdict for row in found.rows] == ["not compared", "no difference"]


def test_without_any_device_the_reason_is_raised(tmp_path: Path) -> None:
    simulated = Simulated(unopened={"1000.json": BackendUnavailable("the GPU is gone")})
    with pytest.raises(BackendUnavailable, match="the GPU is gone"):
        compared(make_cases(tmp_path, 2), (A, B), simulated, tmp_path / "r")


def test_launches_that_are_called_alike_have_different_names() -> None:
    def case(name: str, **more: Any) -> dict[str, Any]:
        known = {"label": "", "place": "", "number": 1, "launches": 1, "recording": "r"}
        hashes = {"static_hash": "12345678901", "record_id": "9"}
        return {"kernel": name, **known, **hashes, **more}

    cases = [
        case("void k<int>(int*)"),
        case("f(int)", recording="a/x"),
        case("f(int)", recording="b/y"),
        case("(anonymous namespace)::g(int)", place="src/a.cu:1"),
        case("(anonymous namespace)::g(float)", place="src/b.cu:2"),
        case("h(int)", static_hash="11111111111"),
        case("h(float)", static_hash="22222222222", number=2, launches=2),
        case("h(double)", static_hash="33333333333", number=2, launches=2),
        case("long" * 20 + "<float>(int)"),
        case("long" * 20 + "<double>(int)"),
    ]
    names = names_of(cases, 30)
    assert names[:8] == [
        *("k<int>", "f [x]", "f [y]", "g [a.cu:1]", "g [b.cu:2]"),
        *("h", "h@2 [22222222]", "h@2 [33333333]"),
    ]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 30


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("sm_90", 256, 32, 0), 1.0),
        (("sm_90", 256, 33, 0), 0.75),
        (("sm_90", 256, 255, 0), 0.125),
        (("sm_90", 1024, 64, 0), 0.5),
        (("sm_90", 128, 32, 100 * 1024), 0.125),
        (("sm_90", 32, 16, 0), 0.5),
        (("sm_90a", 256, 32, 0), 1.0),
        (("sm_86", 256, 40, 0), 1.0),
        (("sm_75", 64, 32, 32 * 1024), 4 / 32),
        (("sm_20", 256, 32, 0), None),
        (("gfx90a", 256, 32, 0), None),
        (("cpu", 256, 0, 0), None),
    ],
)
def test_occupancy_is_that_of_the_guide(arguments: Any, expected: float | None) -> None:
    assert occupancy(*arguments) == expected


# Results that are kept.


def test_resuming_measures_what_is_left(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, 4)
    first = compared(cases[:3], (A, B), Simulated(), tmp_path / "r")
    simulated = Simulated(seed=1)
    whole = compared(cases, (A, B), simulated, tmp_path / "r", resume=True)
    assert len(simulated.launched) == 2 + 2 * 16
    assert [one.to_dict() for one in whole.results[:3]] == [one.to_dict() for one in first.results]


def test_a_torn_line_is_measured_again(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, 3)
    compared(cases, (A, B), Simulated(), tmp_path / "r")
    lines = tmp_path / "r" / "kernels.jsonl"
    lines.write_bytes(lines.read_bytes()[:-40])
    simulated = Simulated()
    whole = compared(cases, (A, B), simulated, tmp_path / "r", resume=True)
    assert len(simulated.launched) == 2 + 2 * 16
    assert len(whole.results) == 3
    assert len(lines.read_bytes().splitlines()) == 4
    again = compared(cases, (A, B), Simulated(), tmp_path / "r", resume=True)
    assert len(again.results) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"variants": (A, C)}, "other variants"),
        ({"rounds": 18}, "another number of rounds"),
        ({"iterations": 7}, "another number of launches"),
    ],
)
def test_another_comparison_is_not_resumed(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    cases = make_cases(tmp_path, 1)
    compared(cases, (A, B), Simulated(), tmp_path / "r")
    more = {"variants": (A, B), "resume": True, **change}
    with pytest.raises(InvalidArgument, match=words):
        compared(cases, more.pop("variants"), Simulated(), tmp_path / "r", **more)


def test_results_are_not_overwritten(tmp_path: Path) -> None:
    cases = make_cases(tmp_path, 1)
    compared(cases, (A, B), Simulated(), tmp_path / "r")
    with pytest.raises(InvalidArgument, match="--resume"):
        compared(cases, (A, B), Simulated(), tmp_path / "r")
    with pytest.raises(NotFound, match="nothing to resume"):
        compared(cases, (A, B), Simulated(), tmp_path / "other", resume=True)


# The command.


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Simulated:
    """What measures in the command."""
    made = Simulated(factors={"default<O0>": 1.25, "default<O2>": 0.8})
    real = command._run

    def with_simulated(
        recordings: Sequence[Path], kernels: Sequence[str], options: CompareOptions, **more: Any
    ) -> Comparison:
        monkeypatch.setattr(
            room,
            "run_comparison",
            lambda cases, options, listener: room.session.run_comparison(
                cases, options, listener, make_executor=made
            ),
        )
        return real(recordings, kernels, options, **more)

    monkeypatch.setattr(command, "_run", with_simulated)
    return made


def compare(tmp_path: Path, *words: str) -> int:
    make_cases(tmp_path / "tree", 3)
    line = ("compare", str(tmp_path / "tree"), "--device", "cpu", "--rounds", "16")
    return run([*line, "--results-dir", str(tmp_path / "results"), *words])


FASTER, SLOWER = ("--variant", "new='default<O2>'"), ("--variant", "new='default<O0>'")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (SLOWER, 0),
        ((*SLOWER, "--fail-on", "regression=3%"), 9),
        ((*SLOWER, "--fail-on", "regression=0.5"), 0),
        ((*SLOWER, "--fail-on", "mean=10%"), 9),
        ((*FASTER, "--fail-on", "regression=0%", "--fail-on", "mean=0%"), 0),
        ((*FASTER, "--fail-on", "wrong", "--fail-on", "failed"), 0),
        ((*FASTER, "--fail-on", "nonsense"), 3),
        ((*FASTER, "--fail-on", "regression=much"), 3),
        ((*FASTER, "--fdr", "0"), 3),
        ((*FASTER, "--rounds", "3"), 3),
        ((*FASTER, "--kernels", "nosuch"), 4),
        (("--variant", "nameless"), 2),
        ((), 3),
    ],
)
def test_exit_codes(
    words: tuple[str, ...], code: int, simulated: Simulated, tmp_path: Path
) -> None:
    assert compare(tmp_path, *words) == code


def test_wrong_and_failed_variants_fail_where_asked_for(
    simulated: Simulated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated.failures = {"default<O2>": WRONG, "default<O3>": CompileAnswer(failure="no")}
    line = (*FASTER, "--variant", "worse='default<O3>'", "--variant", "base=")
    words = ("--variant", "first='default<O1>'", *line)
    assert compare(tmp_path, *words) == 0
    told = capsys.readouterr().err
    assert "new: wrong result for k0, k1, k2: out: element 3 is 1, not 2" in told
    assert "worse: not compiled for k0, k1, k2: no" in told
    assert compare(tmp_path, *words, "--resume", "--fail-on", "wrong") == 9
    assert "--fail-on: k1, new: wrong result" in capsys.readouterr().err
    assert compare(tmp_path, *words, "--resume", "--fail-on", "failed") == 9
    assert "--fail-on: k2, worse: not compiled" in capsys.readouterr().err


def test_nothing_to_compare_is_a_failure(simulated: Simulated, tmp_path: Path) -> None:
    simulated.failures = {"default<O3>": WRONG}
    assert compare(tmp_path, *FASTER) == 7


def test_resuming_needs_a_directory(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "nowhere", *FASTER, "--resume"]) == 3
    assert "--results-dir" in capsys.readouterr().err


def test_tables_fit_into_eighty_columns(
    simulated: Simulated,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ("--passes", "default<O1>", "--passes", "default<O0>", "--passes", "x" * 100)
    assert compare(tmp_path, *words) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "slower" in out


def test_many_rows_are_cut_to_those_that_differ(
    simulated: Simulated,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mneme.cli._compare_output._MOST_ROWS", 5)
    words = ("--passes", "default<O3>", "--passes", "default<O0>", "--passes", "default<O1>")
    assert compare(tmp_path, *words) == 0
    out = capsys.readouterr().out
    table, _, _ = out.partition("Over ")
    assert table.count("slower") == 3
    assert "3 more without a difference; --html and --json show all" in table


def test_json_is_all_there_is_on_stdout(
    simulated: Simulated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(tmp_path, *SLOWER, "--json", "--fail-on", "regression=3%") == 9
    printed = json.loads(capsys.readouterr().out)
    assert printed["baseline"] == BASELINE_NAME
    assert [one["name"] for one in printed["kernels"]] == ["k0", "k1", "k2"]
    new = printed["kernels"][0]["variants"]["new"]
    assert new["verdict"] == "slower"
    assert new["interval"][0] < new["ratio"] < new["interval"][1] < 1
    assert new["spill_bytes"] == 24
    assert len(printed["exceeded"]) == 3


def test_limits_are_read_as_percentages() -> None:
    assert percentage("3%", "x") == pytest.approx(0.03)
    assert percentage("0.03", "x") == pytest.approx(0.03)
    limits = Limits.parse(["regression=3%", "wrong"])
    assert (limits.regression, limits.mean, limits.is_wrong_allowed) == (0.03, None, False)
