# ruff: noqa: INP001 - Sphinx imports it by name
"""Pages of the repository's root as pages of the site: README, CONTRIBUTING, CHANGELOG.

A page in `project/` only says which file it stands for; here that file's text takes its place, with
links and pictures that lead to the site. What the site does not have loses its link; what is not in
the repository at all is a warning.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup"]

_PAGES = {
    "README.md": "project/overview",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
}
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
_log = logging.getLogger(__name__)


def _replace(app: Sphinx, docname: str, source: list[str]) -> None:
    names = [name for name, page in _PAGES.items() if page == docname]
    if not names:
        return
    root = Path(app.srcdir).parent
    file = root / names[0]
    app.env.note_dependency(str(file))

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], os.path.normpath(found[2]), found[3] or ""
        if target in _PAGES:
            page = f"{_PAGES[target]}.md"
        elif target.startswith("docs/"):
            page = target.removeprefix("docs/")
        elif (root / target).exists():
            return f"`{text}`" if text.rstrip("/") == target else text
        else:
            _log.warning("%s links to '%s', which does not exist", names[0], target)
            return text
        return f"[{text}]({os.path.relpath(page, Path(docname).parent)}{anchor})"

    source[0] = _LINK.sub(link, file.read_text())


def setup(app: Sphinx) -> dict[str, bool]:
    """Replace what the pages hold when they are read."""
    app.connect("source-read", _replace)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
