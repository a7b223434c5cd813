"""The documentation as a site: built without a warning, whole, and followed link by link."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

import proteus
from browser import Browser, find_chromium
from mneme.cli.app import make_app

pytest.importorskip("sphinx", reason="Sphinx is not installed")

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md"))
GROUP: Any = get_command(make_app())
CONTEXT = typer.Context(GROUP, info_name="mneme")


def build(docs: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", docs, site]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "html"
    done = build(DOCS, out)
    assert done.stderr == ""
    assert done.returncode == 0
    return out


def test_every_page_is_in_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text()
    navigation = index[index.index('class="sidebar-tree"') : index.index('class="main"')]
    links = set(re.findall(r'href="([^"#]*)\.html"', navigation))
    assert links == set(PAGES) - {"index"}


def cmake_functions() -> dict[str, tuple[str, str]]:
    """Return parameters and body of the functions that the CMake package offers."""
    found = {}
    for module in ("AddMneme.cmake", "ProteusFunctions.cmake"):
        text = (ROOT / "cmake" / module).read_text()
        pattern = r"^function\(([a-z]\w*)([^)]*)\)\n(.*?)^endfunction"
        for name, parameters, body in re.findall(pattern, text, re.MULTILINE | re.DOTALL):
            found[name] = (parameters, body)
    return found


def described(html: str, name: str) -> str:
    """Return the part of the CMake reference about one name."""
    start = html.index(f'id="command:{name}"')
    end = html.find('id="command:', start + 1)
    return html[start:end]


@pytest.mark.parametrize("name", sorted(cmake_functions()))
def test_the_cmake_reference_has_the_arguments_that_functions_parse(site: Path, name: str) -> None:
    part = described((site / "reference/cmake.html").read_text(), name)
    parameters, body = cmake_functions()[name]
    signature = text_of(re.findall(r"<pre>(.*?)</pre>", part, re.DOTALL)[0])
    assert signature.startswith(f"{name}(")
    assert [p for p in parameters.split() if f"<{p}>" not in signature] == []
    parsed = re.findall(r'cmake_parse_arguments\([^"]*"(.*?)"\s*"(.*?)"\s*"(.*?)"\s*\)', body)
    keywords = {word for kinds in parsed for kind in kinds for word in kind.split(";") if word}
    if parsed:
        assert set(re.findall(r"\b[A-Z][A-Z_]+\b", signature)) == keywords
    terms = " ".join(text_of(term) for term in re.findall(r"<dt>(.*?)</dt>", part, re.DOTALL))
    assert [word for word in keywords if word not in terms] == []


def test_the_cmake_reference_has_the_names_that_the_package_defines(site: Path) -> None:
    text = text_of((site / "reference/cmake.html").read_text())
    package = (ROOT / "cmake/mnemeConfig.cmake.in").read_text()
    names = set(re.findall(r"^set\((MNEME_\w+)", package, re.MULTILINE))
    names |= {
        f"Mneme::{name}"
        for name in re.findall(r'^_mneme_import\("?\w*"? (\w+)', package, re.MULTILINE)
    }
    assert len(names) >= 7
    assert [name for name in names if name not in text] == []


@pytest.mark.parametrize("verb", ["", *GROUP.list_commands(CONTEXT)])
def test_the_command_reference_has_every_option(site: Path, verb: str) -> None:
    html = (site / "reference/cli.html").read_text()
    title = f"mneme-{verb}".rstrip("-")
    start = html.index(f'<section id="{title}">')
    part = html[start : html.index("</section>", start)]
    command = GROUP.get_command(CONTEXT, verb) if verb else GROUP
    parameters = [p for p in command.params if not getattr(p, "hidden", False)]
    names = [n for p in parameters for n in (*p.opts, *p.secondary_opts) if n.startswith("-")]
    shown = {text_of(name) for name in re.findall(r'descname">(.*?)</span></span>', part)}
    assert [name for name in names if name not in shown] == []


def test_the_python_reference_describes_what_modules_offer(site: Path) -> None:
    html = (site / "reference/python.html").read_text()
    names = ("load", "recording.Recording", "measure.replay_executor.BaseExecutor.evaluate")
    names += ("mneme_types.ExperimentResult.verified", "session.options.TuneOptions.sampler")
    assert [name for name in names if f'id="mneme.{name}"' not in html] == []


def test_the_python_reference_has_the_package_for_scripts(site: Path) -> None:
    html = (site / "reference/python.html").read_text()
    described = set(re.findall(r'id="proteus\.(?:types\.)?(\w+)"', html))
    assert set(proteus.__all__) - described == {"__version__"}
    assert 'id="mneme.jit.compile"' in html
    assert "read-only" in text_of(html[html.index('id="mneme.jit.compile"') :])


def test_the_python_reference_has_the_modules_that_guides_import(site: Path) -> None:
    guides = "".join(page.read_text() for page in DOCS.glob("*.md"))
    modules = set(re.findall(r"^from (mneme\.[\w.]+) import", guides, re.MULTILINE))
    assert len(modules) > 8
    html = (site / "reference/python.html").read_text()
    assert [name for name in modules if f'id="module-{name}"' not in html] == []


def test_what_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    for name in ("docs", "cmake"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("python", "benchmarks", "examples", "runtime", "passes", "rooms.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "docs/reference/python.md").write_text("# Python reference\n")  # takes long
    (tmp_path / "README.md").write_text(
        "# mneme\n[a](docs/none.md) [b](none.txt) [c](benchmarks/)\n"
    )
    with (tmp_path / "docs/recording.md").open("a") as page:
        page.write("\n[d](cli.md#nothing) [e](missing.md) {py:class}`mneme.Missing`\n")
    (tmp_path / "docs/lost.md").write_text("# On no list\n")
    with (tmp_path / "cmake/AddMneme.cmake").open("a") as module:
        module.write("\n#[=[.rst:\n:cmake:command:`add_nothing`\n#]=]\n")
    done = build(tmp_path / "docs", tmp_path / "site")
    assert done.returncode != 0
    warnings = done.stderr.splitlines()
    broken = ("none.md'", "to 'none.txt'", "nothing'", "missing.md'", "mneme.Missing", "lost.md:")
    broken += ("reference target not found: add_nothing",)
    assert [words for words in broken if words not in done.stderr] == []
    assert [line for line in warnings if not any(words in line for words in broken)] == []


def test_links_of_built_pages_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    from site_links import broken_links  # noqa: PLC0415 - it lies beside the pages

    (tmp_path / "b.html").write_text('<p id="here"></p>')
    links = ("b.html#here", "b.html#gone", "c.html", "https://example.org", "#top", "")
    body = "".join(f'<a href="{link}">x</a>' for link in links)
    body += '<script src="https://example.org/x.js"></script><img src="data:image/png;base64,">'
    (tmp_path / "a.html").write_text(f'<h1 id="top">{body}</h1>')
    assert broken_links(tmp_path) == [
        "a.html links to 'b.html#gone', where there is no such anchor",
        "a.html links to 'c.html', which does not exist",
        "a.html loads 'https://example.org/x.js' from the network",
    ]


@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [1400, 390])
def test_pages_fit_the_screen_and_ask_nothing_of_the_network(
    site: Path, tmp_path: Path, width: int
) -> None:
    chromium = find_chromium()
    assert chromium is not None
    with Browser(chromium, tmp_path / "profile", width=width) as browser:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        for page in PAGES:
            browser.open(site / f"{page}.html")
            needed = browser.evaluate("document.documentElement.scrollWidth")
            assert needed <= width, (page, needed)
        assert browser.errors == []
        assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
        # The sidebar is there on a wide screen, behind a button on a narrow one.
        right = browser.evaluate(
            "document.querySelector('.sidebar-drawer').getBoundingClientRect().right"
        )
        assert (right > 0) == (width > 1000)
