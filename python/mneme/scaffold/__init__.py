"""Generates ready-to-run files for a recorded kernel."""

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
