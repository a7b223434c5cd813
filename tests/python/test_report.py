"""Reports of tunings: whole, unfinished, without success, large, hostile."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mneme.cli.app import run
from mneme.cli.exit_codes import ExitCode
from mneme.errors import ArtifactCorrupt, NotFound
from mneme.report import write_report
from mneme.report.differences import compare
from mneme.report.figures import TimeUnit, log_labels
from mneme.report.results import read_results
from mneme.report.tables import settings
from report_samples import BASELINE_NS, KERNEL, write_results

pytest.importorskip("plotly", reason="Plotly is not installed")

TIMES, DASH = "\u00d7", "\u2013"


class Page(HTMLParser):
    """Texts, data of figures, and everything that names another place."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.text = ""
        self.figures: dict[str, Any] = {}
        self.places: list[str] = []
        self.scripts = 0
        self._figure: str | None = None
        self._is_code = False
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._is_code = tag in ("script", "style")
        self._figure = values.get("data-figure") if tag == "script" else None
        self.scripts += tag == "script" and self._figure is None
        self.places += [str(values[key]) for key in ("src", "href") if key in values]

    def handle_endtag(self, tag: str) -> None:
        self._is_code &= tag not in ("script", "style")

    def handle_data(self, data: str) -> None:
        if self._figure:
            self.figures[self._figure] = json.loads(data)
        elif not self._is_code:
            self.text += f"{data} "
        self._figure = None

    def words(self) -> str:
        return " ".join(self.text.split())


def report(directory: Path) -> Page:
    return Page(write_report(directory))


def test_report_says_the_gain_with_its_interval(tmp_path: Path) -> None:
    results = write_results(tmp_path / "run")
    page = report(results)
    gain = json.loads((results / "best.json").read_text())["gain"]
    words = page.words()
    low, high = f"{gain['low']:.3f}", f"{gain['high']:.3f}"
    assert f"{gain['ratio']:.3f}{TIMES} faster {low} {DASH} {high}{TIMES}" in words
    assert KERNEL in words
    assert "mneme deploy run -o tuned.json" in words
    for code in ("Optimised IR", "Assembly"):
        assert f"{code}: baseline and best" in words
    assert set(page.figures) == {
        f"k0-{name}"
        for name in ("history", "distribution", "failures", "importance", "parallel", "slices")
    }


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [(1.2, 44.0, ["1", "2", "5", "10", "20", "50"]), (0.3, 2.0, ["0.2", "0.5", "1", "2"])],
)
def test_labels_of_a_logarithmic_axis_are_whole_numbers_of_the_unit(
    low: float, high: float, labels: list[str]
) -> None:
    given = log_labels(low, high)
    assert [float(one) for one in given["ticktext"]] == pytest.approx(given["tickvals"])
    assert "|".join(labels) in "|".join(given["ticktext"])


def test_history_holds_every_trial_and_the_best_so_far(tmp_path: Path) -> None:
    page = report(write_results(tmp_path / "run"))
    verified, best, baseline, failed = page.figures["k0-history"]["data"]
    lines = [json.loads(one) for one in (tmp_path / "run/trials.jsonl").read_text().splitlines()]
    good = [one for one in lines if one["status"] == "verified"]
    assert verified["x"] == [one["trial"] for one in good]
    assert verified["y"] == pytest.approx([one["metric"] / 1000 for one in good])
    assert best["y"] == [min(verified["y"][: n + 1]) for n in range(len(good))]
    assert failed["x"] == [one["trial"] for one in lines if one["status"] != "verified"]
    assert baseline["y"] == [BASELINE_NS / 1000] * 2


def test_distribution_shows_measured_launches_without_warm_ups(tmp_path: Path) -> None:
    page = report(write_results(tmp_path / "run"))
    boxes = [one for one in page.figures["k0-distribution"]["data"] if one["type"] == "box"]
    assert [one["name"] for one in boxes] == ["baseline", "best"]
    times = json.loads((tmp_path / "run/baseline.json").read_text())["result"]["exec_time"]
    assert boxes[0]["x"] == pytest.approx([one / 1000 for one in times[2:]])


def test_no_significant_gain_is_said_first(tmp_path: Path) -> None:
    words = report(write_results(tmp_path / "run", has_gain=False)).words()
    assert "No significant gain" in words
    assert "faster" not in words.split("History")[0]
    assert "Nothing here is shown to be faster" in words


def test_killed_tuning_has_a_report(tmp_path: Path) -> None:
    results = write_results(tmp_path / "run", is_finished=False)
    with (results / "trials.jsonl").open("a") as file:
        file.write('{"trial": 60, "status": "veri')
    words = report(results).words()
    assert "Not finished" in words
    assert "1 line of trials.jsonl is incomplete and left out." in words


@pytest.mark.parametrize("trials", [0, 1, 2])
def test_few_trials_are_enough(tmp_path: Path, trials: int) -> None:
    page = report(write_results(tmp_path / "run", trials=trials))
    assert ("k0-history" in page.figures) == (trials > 0)
    assert "k0-distribution" in page.figures


def test_directory_with_only_options_has_a_report(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"record_database": "x.json"}')
    assert "Nothing verified" in report(tmp_path).words()


def test_several_instances_share_one_file(tmp_path: Path) -> None:
    write_results(tmp_path / "a-1", kernel="first(int)")
    write_results(tmp_path / "b-2", kernel="second(int)", has_gain=False)
    listed = [{"directory": "b-2"}, {"directory": "a-1"}]
    (tmp_path / "all.json").write_text(json.dumps({"instances": listed}))
    (tmp_path / "config.json").write_text('{"all": true}')
    (tmp_path / "trials.jsonl").touch()
    page = report(tmp_path)
    # The order is that of all.json.
    assert page.text.index("second(int)") < page.text.index("first(int)")
    assert {"#k0", "#k1"} <= set(page.places)
    assert {"k0-history", "k1-history"} <= set(page.figures)


def test_wrong_results_say_where(tmp_path: Path) -> None:
    results = write_results(tmp_path / "run", trials=4, none_verified=True, has_gain=False)
    assert "4 wrong result memory differs from what was recorded: out" in report(results).words()


def test_names_are_never_markup(tmp_path: Path) -> None:
    evil = "k<T & U>(</script><script>window.hurt = 1</script><img src=x onerror=hurt()>)"
    results = write_results(tmp_path / "run", kernel=evil)
    lines = (results / "trials.jsonl").read_text().splitlines()
    hurt = json.loads(lines[0])
    hurt["params"]["passes"] = hurt["config"]["passes"] = "<b>&</script><script>x</script>"
    hurt["result"]["error"] = hurt["status"] = "<i>x</i></script><script>y</script>"
    (results / "trials.jsonl").write_text("\n".join([json.dumps(hurt), *lines[1:]]) + "\n")
    for name in ("baseline.ll", "best.ll"):
        path = results / "artifacts" / name
        path.write_text(path.read_text() + f"; {name} </td></script><script>z</script>\n")
    page = report(results)
    assert evil in page.words()
    assert page.scripts == 2  # Plotly's and ours
    assert not [one for one in page.places if not one.startswith(("#", "data:,"))]


def test_file_names_no_other_place_and_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    results = write_results(tmp_path / "run")
    best = json.loads((results / "best.json").read_text())
    best["record"]["record_database"] = str(tmp_path / "rec" / "17.json")
    (results / "best.json").write_text(json.dumps(best))
    text = write_report(results).read_text()
    assert str(tmp_path) not in text
    assert "~/rec/17.json" in text
    assert not re.findall(r"<(?:link|script|img|iframe)[^>]+(?:src|href)=[\"'](?!data:)", text)


def change(results: Path, **values: Any) -> Path:
    path = results / "best.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return results


def test_a_gain_that_only_replays_show_is_told_from_productions(tmp_path: Path) -> None:
    gain = {"ratio": 1.07, "low": 0.9, "high": 1.2, "significant": False, "rounds": 12}
    gain |= {"replayed_low": 1.06, "replayed_high": 1.08}
    words = report(change(write_results(tmp_path / "run"), gain=gain)).words()
    assert f"No significant gain 1.070{TIMES} in replays, 0.900 {DASH} 1.200{TIMES} in" in words
    assert "mneme deploy --measure" in words


def test_who_came_closest_is_shown_beside_a_baseline_that_won(tmp_path: Path) -> None:
    results = write_results(tmp_path / "run", has_gain=False)
    lines = [json.loads(one) for one in (results / "trials.jsonl").read_text().splitlines()]
    third = lines[3]
    gain = {"ratio": 0.996, "low": 0.972, "high": 1.008, "significant": False, "rounds": 12}
    parts = {key: third[key] for key in ("trial", "config", "result", "metric")}
    page = report(change(results, contender={**parts, "gain": gain}, rejected={"9": "it differs"}))
    words = page.words()
    assert f"No significant gain 0.996{TIMES}, 0.972 {DASH} 1.008{TIMES}" in words
    assert "closest (trial 3)" in words
    assert "Trial 9 was left out of the final round: it differs." in words
    boxes = [one for one in page.figures["k0-distribution"]["data"] if one["type"] == "box"]
    assert [one["name"] for one in boxes] == ["baseline", "trial 3"]
    assert "Optimised IR" not in words


def test_launches_tried_and_several_objectives_are_tables(tmp_path: Path) -> None:
    tried = {"grid": "511x1x1", "block": "256x1x1", "rule": "agnostic", "verified": False}
    front = {"trial": 4, "values": {"time": 36000.25, "registers": 32}, "config": {}}
    results = write_results(tmp_path / "run")
    values = {"objectives": ["time", "registers"], "pareto": [front]}
    words = report(change(results, launches_tried=[tried], **values)).words()
    assert "511x1x1 256x1x1 there may be more or fewer threads not verified" in words
    assert "Pareto front" in words
    assert "4 36000.2 32" in words


def test_what_other_objectives_came_to_is_shown(tmp_path: Path) -> None:
    values = {"registers": [40.0, 32.0], "spills": [None, 0.0], "odd": "32"}
    words = report(change(write_results(tmp_path / "run"), values=values)).words()
    assert "registers 40 → 32" in words
    assert "spills unknown → 0" in words
    assert "odd" not in words.split()


def test_configuration_and_resources_show_what_differs(tmp_path: Path) -> None:
    results = write_results(tmp_path / "run")
    best = json.loads((results / "best.json").read_text())
    words = report(results).words()
    block = TIMES.join(str(best["config"]["block"][axis]) for axis in "xyz")
    assert f"block 16{TIMES}16{TIMES}1 {block} ≠" in words
    assert f"registers per thread 40 {best['result']['reg_usage']}" in words


def test_long_texts_get_short_names_in_figures(tmp_path: Path) -> None:
    page = report(write_results(tmp_path / "run"))
    (axis,) = (
        one
        for one in page.figures["k0-slices"]["layout"].values()
        if isinstance(one, dict) and one.get("title", {}).get("text") == "passes"
    )
    assert axis["categoryarray"][-1] == "passes 1"
    assert "default&lt;O3&gt;" in axis["categoryarray"]
    assert "passes 1 function<eager-inv>(sroa" in page.words()


def test_a_slow_trial_does_not_make_all_others_alike(tmp_path: Path) -> None:
    page = report(write_results(tmp_path / "run"))
    lines = [one for one in page.figures["k0-parallel"]["data"] if one.get("mode") == "lines"]
    places = [one["y"][0] for one in lines]
    colours = {one["line"]["color"] for one in lines}
    by_place = dict(zip(places, (one["line"]["color"] for one in lines), strict=True))
    tenth = sorted(places)[int(0.9 * (len(places) - 1))]
    assert tenth < 1
    assert by_place[max(places)] == by_place[tenth]
    assert len(colours) > len(lines) // 4
    (scale,) = (
        one["marker"]
        for one in page.figures["k0-parallel"]["data"]
        if "cmax" in one.get("marker", {})
    )
    whole = max(one.metric_ns or 0 for one in read_results(tmp_path / "run")[0].trials)
    assert scale["cmin"] < scale["cmax"] < whole


def test_how_to_use_a_result_depends_on_the_device(tmp_path: Path) -> None:
    results = write_results(tmp_path / "run")
    line = "PROTEUS_TUNED_KERNELS=tuned.json"
    assert f"{line} ./app" in report(results).words()
    baseline = json.loads((results / "baseline.json").read_text())
    baseline["result"]["device"] = "cpu"
    (results / "baseline.json").write_text(json.dumps(baseline))
    assert f"{line} mneme run --device cpu -- ./app" in report(results).words()


@pytest.mark.parametrize(
    ("llvm", "maker"), [("recorded", "the code that it loads"), ("ptx", "its PTX, by ptxas")]
)
def test_code_that_no_pipeline_made_is_called_so(tmp_path: Path, llvm: str, maker: str) -> None:
    results = write_results(tmp_path / "run", trials=3)
    path = results / "baseline.json"
    baseline = json.loads(path.read_text())
    baseline["config"]["llvm"] = llvm
    path.write_text(json.dumps(baseline))
    (instance,) = read_results(results)
    (row,) = (one for one in settings(instance) if one["label"] == "passes")
    assert row["old"] == maker


def test_difference_folds_what_is_equal() -> None:
    old = [f"line {n}" for n in range(40)]
    new = [*old[:20], "changed", *old[21:]]
    found = compare("\n".join(old), "\n".join(new), "llvm")
    assert (found.removed, found.added) == (1, 1)
    folded, context, change, after = found.blocks[:4]
    assert [len(one.rows) for one in (folded, context, change, after)] == [17, 3, 1, 3]
    assert (folded.is_folded, context.is_folded, change.is_change) == (True, False, True)
    assert change.rows[0].old_number == change.rows[0].new_number == 21
    assert compare("a\nb", "a\nb", "gas").is_equal


def test_difference_of_huge_texts_is_limited_and_says_so() -> None:
    old = "\n".join(f"  %v{n} = add i32 %a, {n}" for n in range(9000))
    new = "\n".join(f"  %w{n} = add i32 %a, {n}" for n in range(9000))
    found = compare(old, new, "llvm")
    assert sum(len(one.rows) for one in found.blocks) <= 1500
    assert "the first 4000 of 9000 lines" in " ".join(found.notes)


def test_report_of_thousands_of_trials_stays_small(tmp_path: Path) -> None:
    written = write_report(write_results(tmp_path / "run", trials=2000))
    assert written.stat().st_size < 8 << 20
    page = Page(written)
    assert len(page.figures["k0-history"]["data"][0]["x"]) > 1700
    assert len(page.figures["k0-parallel"]["data"]) <= 1001
    assert "of 1" in page.words().split("Parallel coordinates and slices show")[1][:20]


@pytest.mark.parametrize(
    ("nanoseconds", "text"), [(12.0, "12 ns"), (51_000.0, "51 µs"), (14e6, "14 ms"), (2e9, "2 s")]
)
def test_times_have_readable_units(nanoseconds: float, text: str) -> None:
    assert TimeUnit(nanoseconds).text(nanoseconds) == text


def test_results_that_are_none_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no results"):
        read_results(tmp_path)
    with pytest.raises(NotFound, match="does not exist"):
        read_results(tmp_path / "gone")
    (tmp_path / "best.json").write_text("[")
    with pytest.raises(ArtifactCorrupt, match="best.json"):
        read_results(tmp_path)


def test_command_writes_where_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = write_results(tmp_path / "run", trials=3)
    target = tmp_path / "out.html"
    assert run(["report", str(results), "-o", str(target)]) == ExitCode.OK
    assert capsys.readouterr().out == f"{target}\n"
    assert target.read_text().startswith("<!DOCTYPE html>")
    assert not list(tmp_path.glob("*.partial"))
    assert run(["report", str(tmp_path / "gone")]) == ExitCode.RECORD_UNREADABLE
    assert "gone" in capsys.readouterr().err


def test_what_a_tolerance_would_give_is_offered(tmp_path: Path) -> None:
    near = {"trial": 3, "speedup": 3.5, "max_ulp": 1, "tolerance": "--tolerance out=f64:ulp:1"}
    words = report(change(write_results(tmp_path / "run"), near=near)).words()
    assert "3.5x if 1 ULP is acceptable: --tolerance out=f64:ulp:1" in words
    odd = report(change(write_results(tmp_path / "odd"), near={"trial": 3})).words()
    assert "acceptable" not in odd
