# ruff: noqa: INP001 - Sphinx imports it by name
"""After a build, follows every link of the pages that were written, the theme's own included.

Sphinx itself warns of references that lead nowhere; this sees what comes out. A file or an anchor
that is not there is a warning, and so is a script, style or image that a page would fetch from the
network.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["broken_links", "setup"]

_log = logging.getLogger(__name__)


class _Page(HTMLParser):
    """What a page links to, what it loads, and the anchors it has."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name == "src" or (name == "href" and tag == "link"):
                self.loads.add(value)
            elif name == "href":
                self.links.add(value)


def broken_links(site: Path) -> list[str]:
    """Return a sentence for each link of a built site that leads nowhere.

    Args:
        site: Directory of the pages.
    """
    site = site.resolve()
    pages = {file: _Page(file) for file in sorted(site.rglob("*.html"))}
    problems: list[str] = []
    for file, page in pages.items():
        name = file.relative_to(site)
        for link in sorted(page.links | page.loads):
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if link in page.loads:
                    problems.append(f"{name} loads '{link}' from the network")
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                problems.append(f"{name} links to '{link}', which does not exist")
            elif parts.fragment and target in pages:
                anchors = pages[target].anchors
                if unquote(parts.fragment) not in anchors and parts.fragment not in anchors:
                    problems.append(f"{name} links to '{link}', where there is no such anchor")
    return problems


def _check(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        for problem in broken_links(Path(app.outdir)):
            _log.warning("%s", problem)


def setup(app: Sphinx) -> dict[str, bool]:
    """Check at the end of each build."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
