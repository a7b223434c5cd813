"""Reports as a browser without network shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser, find_chromium
from mneme.optimize.result import KernelResult, OptimizeResult, Ratio
from mneme.report import write_report
from mneme.report.optimized import write_optimized_page
from report_samples import write_results

pytest.importorskip("plotly", reason="Plotly is not installed")
PROGRAM = find_chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: apt install chromium"),
]
DRAWN = "mnemeReport.drawAll().then(() => 1)"
EVIL = "k<T & U>(</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(str(PROGRAM), tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """An open report of one launch with a hostile name."""
    results = write_results(tmp_path_factory.mktemp("results") / "run", kernel=EVIL)
    browser.open(write_report(results))
    browser.evaluate(DRAWN)
    return browser


def texts(page: Browser, selector: str) -> list[str]:
    script = f"[...document.querySelectorAll({json.dumps(selector)})].map(one => one.textContent)"
    found: list[str] = page.evaluate(script)
    return found


def test_page_loads_without_errors_and_asks_nobody(page: Browser) -> None:
    assert page.errors == []
    assert [one for one in page.requests if not one.startswith(("file:", "data:", "blob:"))] == []
    assert len([one for one in page.requests if one.startswith("file:")]) == 1


def test_every_figure_is_drawn_with_its_data(page: Browser) -> None:
    figures = texts(page, "script[data-figure]")
    assert len(figures) == 6
    assert page.evaluate("document.querySelectorAll('.figure svg.main-svg').length") >= 6
    history, failures = (json.loads(figures[place]) for place in (0, -1))
    points = "document.querySelectorAll('#k0-history .scatterlayer .points path').length"
    assert page.evaluate(points) == sum(
        len(one["x"]) for one in history["data"] if one["mode"] == "markers"
    )
    assert (
        page.evaluate("document.querySelectorAll('#k0-distribution .boxes path.box').length") == 2
    )
    assert page.evaluate(
        "document.querySelectorAll('#k0-failures .barlayer .point').length"
    ) == len(failures["data"][0]["y"])
    assert "default<O3>" in texts(page, "#k0-slices .xtick text, #k0-slices .x4tick text")


def test_no_button_sends_the_figure_away(page: Browser) -> None:
    titles = "[...document.querySelectorAll('.modebar-btn')].map(one => one.dataset.title)"
    assert {one for one in page.evaluate(titles) if one} <= {
        "Download plot as a PNG",
        "Zoom",
        "Pan",
        "Reset axes",
    }


def test_names_run_nothing(page: Browser) -> None:
    assert page.evaluate("window.hurt === undefined")
    assert EVIL in texts(page, "h2 code")


def test_columns_sort_as_numbers_both_ways(page: Browser) -> None:
    column = "table.best-trials tbody tr td:first-child"
    click = "document.querySelector('table.best-trials th button').click()"
    times = [float(one) for one in texts(page, "table.best-trials tbody tr td:nth-child(2)")]
    assert times == sorted(times)
    page.evaluate(click)
    numbers = [int(one) for one in texts(page, column)]
    assert numbers == sorted(numbers)
    assert len(numbers) > 10
    page.evaluate(click)
    assert [int(one) for one in texts(page, column)] == numbers[::-1]
    assert texts(page, "table.best-trials th[aria-sort='descending']") == ["trial"]


def test_equal_lines_unfold(page: Browser) -> None:
    hidden = "document.querySelectorAll('.diff tbody[hidden]').length"
    before = page.evaluate(hidden)
    assert before > 0
    page.evaluate("document.querySelector('.fold button').click()")
    assert page.evaluate(hidden) == before - 1


def test_colours_follow_the_reader(page: Browser) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    ink = "document.querySelector('#k0-history .xtick text').style.fill"
    light, light_ink = page.evaluate(paper), page.evaluate(ink)
    feature = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", features=feature)
    changed = f"() => {ink} !== {json.dumps(light_ink)} ? done(1) : requestAnimationFrame(look)"
    assert page.evaluate(f"new Promise(done => {{ const look = {changed}; look(); }})") == 1
    assert page.evaluate(paper) != light


def test_print_is_on_white_paper(page: Browser) -> None:
    feature = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", features=feature)
    ink = "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()"
    width = "document.querySelector('#k0-slices svg.main-svg').getBoundingClientRect().width"
    dark = page.evaluate(ink)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ink) != dark
    assert page.evaluate(width) < 1000
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(ink) == dark
    assert page.evaluate(width) > 1200
    assert page.errors == []


@pytest.mark.parametrize("trials", [0, 1, 20])
def test_tuning_without_success_is_drawn_too(browser: Browser, tmp_path: Path, trials: int) -> None:
    browser.errors.clear()
    results = write_results(tmp_path / "run", trials=trials, none_verified=True, has_gain=False)
    browser.open(write_report(results))
    browser.evaluate(DRAWN)
    assert browser.errors == []


def test_thousands_of_trials_are_drawn(browser: Browser, tmp_path: Path) -> None:
    browser.errors.clear()
    browser.open(write_report(write_results(tmp_path / "run", trials=3000)))
    browser.evaluate(DRAWN)
    points = "document.querySelectorAll('#k0-history .scatterlayer .points path').length"
    assert browser.evaluate(points) == 3000
    assert browser.errors == []


def test_long_names_of_an_optimized_program_stay_on_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    result = OptimizeResult(
        command=["./app", "x" * 900],
        directory=tmp_path,
        status="completed",
        verdict=f"'{'y' * 900}' fails",
        notes=["z" * 900],
        tuned_file=tmp_path / "tuned.json",
    )
    browser.open(write_optimized_page(result.to_dict(), tmp_path / "report.html"))
    assert browser.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert "x" * 900 in "".join(texts(browser, "pre"))


def test_kernels_of_an_optimized_program_fit_into_a_narrow_window(
    browser: Browser, tmp_path: Path
) -> None:
    gain = Ratio(ratio=10.123, low=8.456, high=12.789, rounds=12, is_interval=True)
    kernel = KernelResult(
        name="k",
        demangled_name="smooth(float const*, float*, int, int, int)",
        share=1.0,
        launches=12345,
        built_ns=123.45e6,
        tuned_ns=987.65e3,
        replay=gain,
        production=gain,
        is_kept=True,
    )
    result = OptimizeResult(command=["./app"], directory=tmp_path, kernels=[kernel])
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=800,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    try:
        browser.open(write_optimized_page(result.to_dict(), tmp_path / "report.html"))
        place = "document.querySelector('.scroll')"
        assert browser.evaluate(f"{place}.scrollWidth - {place}.clientWidth") == 0
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
