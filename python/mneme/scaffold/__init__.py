"""Files that are ready to run, fitted to a recorded kernel."""

from __future__ import annotations

from mneme.scaffold.rendering import (
    Additions,
    Parameter,
    RenderedFile,
    Scaffold,
    ScaffoldRequest,
    Template,
    list_templates,
    load_template,
    render,
    write,
)

__all__ = [
    "Additions",
    "Parameter",
    "RenderedFile",
    "Scaffold",
    "ScaffoldRequest",
    "Template",
    "list_templates",
    "load_template",
    "render",
    "write",
]
