# ruff: noqa: INP001 - Sphinx imports it by name
"""Sphinx configuration of the documentation; `scripts/docs` builds it."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_HERE = Path(__file__).resolve().parent
# The Python package as it stands in this checkout; modules load native code only when used.
_PACKAGE = _HERE.parent / "python"
sys.path[:0] = [str(_PACKAGE), str(_HERE / "_ext")]

project = "mneme"
author = "the mneme authors"
copyright = author  # noqa: A001 - Sphinx's name
version = release = re.findall(
    r'^__version__ = "(.*)"', (_PACKAGE / "mneme" / "__init__.py").read_text(), re.MULTILINE
)[0]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinxcontrib.moderncmakedomain",
    "command_line",
    "root_pages",
    "site_links",
]
root_doc = "index"
exclude_patterns = ["_ext"]
language = "en"
smartquotes_action = "qe"
# Every reference has to lead somewhere; of Python, what belongs to us.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(?!(?:mneme|proteus)\b).*"),
    (r"py:.*", r"mneme\.(.*\.)?_.*"),
    # Seen in signatures, but nothing that scripts make.
    (r"py:.*", r"mneme\.(measure\.(?:pool_processes|worker_process)|recording\.record_json)\..*"),
]

# moderncmakedomain knows no references of unstated kind.
suppress_warnings = ["myst.domains"]

# Pages are Markdown that can be read on any code-hosting site; its headings are link targets.
myst_heading_anchors = 4
default_role = "code"
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"mneme {version}"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["mneme.css"]
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

# For `scripts/docs --check-external`.
linkcheck_timeout = 20
linkcheck_retries = 2


def _keep_sentences(
    _app: Sphinx, what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Let napoleon read no type in front of a colon in the first line about a field or constant."""
    if what in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]


def _describe_options(
    _app: Sphinx, what: str, name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Take the description of an option from its declaration, which the command line shows, too."""
    from mneme.option import option_of  # noqa: PLC0415 - Sphinx sets the path before
    from mneme.session.options import TuneOptions  # noqa: PLC0415

    owner, _, field = name.rpartition(".")
    if what == "attribute" and owner.endswith(".TuneOptions"):
        found = next((one for one in fields(TuneOptions) if one.name == field), None)
        if found is not None and (told := option_of(found)):
            lines[:] = [told.help.replace("*", "\\*")]


def _skip_aliases(
    _app: Sphinx, what: str, name: str, obj: object, _skip: object, _options: object
) -> bool | None:
    """Describe a class of a module once, not again where another class has it as an attribute."""
    is_alias = what == "class" and isinstance(obj, type) and obj.__qualname__ == name
    return True if is_alias else None


def setup(app: Sphinx) -> None:
    """Connect what configuration alone cannot say."""
    app.connect("autodoc-skip-member", _skip_aliases)
    app.connect("autodoc-process-docstring", _describe_options, priority=300)
    app.connect("autodoc-process-docstring", _keep_sentences, priority=400)
