"""What `mneme compare` writes for people and for other programs."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browser import Browser, find_chromium
from compare_samples import Simulated, compared, make_cases, variant
from mneme.compare import Comparison, texts
from mneme.compare.limits import Limits
from mneme.compare.outputs import junit_xml, lnt_report, markdown_text
from mneme.compare.page import write_page
from mneme.compare.results import CaseResult
from mneme.measure.compile_pool import CompileAnswer
from mneme.mneme_types import ExperimentResult
from mneme.report.differences import compare
from native_parts import needs_native

pytestmark = needs_native
EVIL = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>|`"
WRONG = ExperimentResult(executed=True, error=EVIL, result_class="wrong", image_hash="w")
VARIANTS = (
    variant("base", "default<O1>"),
    variant("slow", "default<O0>"),
    variant("fast <&|`", "default<O2>"),
    variant("wrong", "default<Os>"),
    variant("broken", "nosuch"),
)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    place = tmp_path_factory.mktemp("compare")
    cases = make_cases(place, 4)
    cases[3] = replace(cases[3], recording=EVIL)
    simulated = Simulated(
        factors={"default<O0>": 1.5, "default<O2>": 0.9},
        failures={"default<Os>": WRONG, "nosuch": CompileAnswer(failure="unknown pass name")},
    )
    return compared(cases, VARIANTS, simulated, place / "results")


def test_markdown_lists_regressions_gains_and_failures(comparison: Comparison) -> None:
    text = markdown_text(comparison)
    sections = re.split(r"^####? ", text, flags=re.MULTILINE)
    assert [one.split("\n")[0] for one in sections[2:]] == ["Slower", "Faster", "Wrong or failed"]
    assert re.search(r"^\| `k0` \| `slow` \| 0\.6\d\d \(0\.6", sections[2], re.MULTILINE)
    for line in text.splitlines():
        if line.startswith("|"):
            cells = re.sub(r"\\\|", "", line).count("|")
            assert cells in (4, 5, 6)


def test_junit_has_a_test_for_each_launch_and_variant(comparison: Comparison) -> None:
    root = ET.fromstring(junit_xml(comparison, Limits.parse(["regression=10%"])))
    suites = {one.get("name"): one for one in root}
    counts = {
        name: tuple(int(one.get(key, "")) for key in ("tests", "failures", "errors", "skipped"))
        for name, one in suites.items()
    }
    assert counts == {
        "slow": (4, 4, 0, 0),
        "fast <&|`": (4, 0, 0, 0),
        "wrong": (4, 4, 0, 0),
        "broken": (4, 0, 4, 0),
    }
    test = suites["slow"][0]
    assert test.get("name") == "k0"
    assert re.fullmatch(r"takes [45]\d\.\d % longer", test[0].get("message") or "")


def test_lnt_report_has_samples_of_each_round_in_seconds(comparison: Comparison) -> None:
    report = json.loads(lnt_report(comparison))
    assert report["format_version"] == "2"
    assert report["machine"]["name"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", report["run"]["start_time"])
    assert report["run"]["llvm_project_revision"]
    tests: dict[str, Any] = {one["name"]: one for one in report["tests"]}
    assert len(tests) == 4 * 5
    slow = tests["r0/k0.slow"]
    assert len(slow["execution_time"]) == 16
    assert all(1e-4 < one < 3e-4 for one in slow["execution_time"])
    assert (slow["compile_time"], slow["code_size"]) == ([0.01], 2048)
    assert (slow["compile_status"], slow["execution_status"]) == (0, 0)
    assert (tests["r0/k0.wrong"]["compile_status"], tests["r0/k0.wrong"]["execution_status"]) == (
        0,
        1,
    )
    assert "execution_time" not in tests["r0/k0.wrong"]
    assert tests["r0/k0.broken"]["compile_status"] == 1


# The page.


def with_large_numbers(number: int, one: CaseResult) -> CaseResult:
    """A result with resources as GPUs give them, the first in microseconds, the others in ms."""
    factor = 1000 if number else 1
    outcomes = {
        name: replace(
            outcome,
            registers=32 + 101 * place,
            spill_bytes=1024 * place,
            occupancy=1 / (1 + place),
            code_bytes=100_000 * (1 + place),
            times_ns=[factor * time for time in outcome.times_ns],
        )
        for place, (name, outcome) in enumerate(one.outcomes.items())
    }
    return replace(one, outcomes=outcomes)


CODE = "\n".join(f"  %{n} = add i32 %x, {n} ; <b>" for n in range(900))


@pytest.fixture(scope="module")
def page(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = texts.worth_a_look(comparison)
    difference = compare(CODE, CODE.replace("add", "sub"), "llvm", sides=("a", "b"))
    parts = [("Optimised IR", difference), ("Assembly", compare(CODE, CODE, "gas"))]
    shown = [texts.RowDifference(row=row, parts=parts) for row in rows]
    results = [with_large_numbers(*one) for one in enumerate(comparison.results)]
    file = tmp_path_factory.mktemp("page") / "compare.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mneme.compare.page.differences", lambda _: shown)
        write_page(replace(comparison, results=results), file)
    return file


def test_code_that_is_alike_is_shown_once(comparison: Comparison) -> None:
    # Images are called by pipelines here, whatever the kernel.
    shown = [(row.variant, row.verdict) for row in texts.worth_a_look(comparison)]
    assert shown == [("wrong", "wrong result"), ("slow", "slower"), ("fast <&|`", "faster")]


def test_page_stays_small(page: Path) -> None:
    assert page.stat().st_size < 1_000_000
    assert "more lines that differ" in page.read_text()


def test_numbers_of_the_axis_differ_where_all_code_is_the_same(tmp_path: Path) -> None:
    cases, same = make_cases(tmp_path, 2), Simulated(has_equal_code=True)
    write_page(compared(cases, VARIANTS[:2], same, tmp_path / "results"), tmp_path / "page.html")
    numbers = re.findall(r'text-anchor="\w+">([^<]*)<', (tmp_path / "page.html").read_text())
    assert len(numbers) == len(set(numbers)) == 5


def test_columns_that_no_kernel_fills_are_left_out(
    page: Path, comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = [
        replace(
            one, outcomes={name: replace(it, spill_bytes=None) for name, it in one.outcomes.items()}
        )
        for one in comparison.results
    ]
    monkeypatch.setattr("mneme.compare.page.differences", lambda _: [])
    write_page(replace(comparison, results=unknown), page.with_name("unknown.html"))
    for file, is_shown in ((page, True), (page.with_name("unknown.html"), False)):
        assert ">registers</th>" in file.read_text()
        assert (">spilled bytes</th>" in file.read_text()) is is_shown


PROGRAM = find_chromium()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("there is no Chromium: apt install chromium")
    with Browser(str(PROGRAM), tmp_path_factory.mktemp("profile")) as one:
        yield one


def column(browser: Browser, number: int) -> list[str]:
    script = f"[...document.querySelectorAll('#kernels tbody tr')].map(r => r.cells[{number}].textContent)"
    found: list[str] = browser.evaluate(script)
    return found


@pytest.mark.slow
def test_page_loads_without_errors_and_asks_nobody(page: Path, browser: Browser) -> None:
    browser.open(page)
    assert browser.errors == []
    assert [one for one in browser.requests if not one.startswith(("file:", "data:"))] == []
    assert browser.evaluate("window.hurt") is None
    assert len(column(browser, 0)) == 4 * 4


def show_at(width: int, page: Path, browser: Browser) -> None:
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=width < 500,
    )
    browser.open(page)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_of_the_page(width: int, page: Path, browser: Browser) -> None:
    show_at(width, page, browser)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_kernels_of_a_page_fit_into_its_width(page: Path, browser: Browser) -> None:
    show_at(1280, page, browser)
    place = "document.querySelector('#kernels').parentNode"
    assert browser.evaluate(f"{place}.scrollWidth") <= browser.evaluate(f"{place}.clientWidth")


@pytest.mark.slow
def test_times_sort_by_what_they_are_whatever_their_unit(page: Path, browser: Browser) -> None:
    browser.open(page)
    browser.evaluate("document.querySelectorAll('#kernels th button')[2].click()")
    units = [one.split()[-1] for one in column(browser, 2)]
    assert units == ["µs"] * 4 + ["ms"] * 12


@pytest.mark.slow
def test_a_click_sorts_and_another_shows_the_code(page: Path, browser: Browser) -> None:
    browser.open(page)
    ratio = 3
    before = column(browser, ratio)
    assert before[:4] == ["\N{EN DASH}"] * 4  # wrong results come first
    browser.evaluate(f"document.querySelectorAll('#kernels th button')[{ratio}].click()")
    sorted_ratios = [float(one) for one in column(browser, ratio) if one != "\N{EN DASH}"]
    assert sorted_ratios == sorted(sorted_ratios)
    assert len(sorted_ratios) == 8
    link = "document.querySelector('#kernels a[href=\"#d1\"]')"
    browser.evaluate(f"{link}.click()")
    assert browser.evaluate("document.querySelector('#d1 details').open") is True
    assert browser.evaluate("document.querySelector('#d0 details').open") is False
