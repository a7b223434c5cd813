"""`mneme compare` without a device: variants, results that are kept, and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compare_samples import WRONG, Simulated, compared, make_cases, variant
from mneme import compare as room
from mneme.compare import CompareOptions, find_cases
from mneme.compare.cases import names_of
from mneme.errors import BackendUnavailable, InvalidArgument, NotFound
from mneme.machine_code.occupancy import occupancy
from mneme.measure.compile_pool import CompileAnswer
from mneme.mneme_types import ExperimentResult
from native_parts import needs_native

pytestmark = needs_native
A, B, C = variant("a", "default<O1>"), variant("b", "default<O2>"), variant("c", "default<O3>")
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


def test_a_device_that_does_not_work_leaves_its_launches_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room.session, "devices_to_use", lambda _: ["cpu", "cpu"])
    told: list[str] = []
    listener = room.CompareListener()
    listener.warn = told.append  # type: ignore[method-assign]
    found = room.run_comparison(
        make_cases(tmp_path, 20),
        CompareOptions(variants=(A, B), results_dir=tmp_path / "r", rounds=16),
        listener,
        make_executor=Simulated(unavailable=(1,)),
    )
    assert len(found.results) == 20
    assert told in ([], ["cpu was left out: it fell off the bus"])


def test_too_few_rounds_are_warned_of(tmp_path: Path) -> None:
    told: list[str] = []
    listener = room.CompareListener()
    listener.warn = told.append  # type: ignore[method-assign]
    for rounds in (8, 16):
        room.run_comparison(
            make_cases(tmp_path, 4),
            CompareOptions(variants=(A, B), results_dir=tmp_path / str(rounds), rounds=rounds),
            listener,
            make_executor=Simulated(),
        )
    assert told == ["8 rounds are too few to find one difference among 4; 12 can"]


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
