"""`mneme devices`: which devices exist, and why others are unavailable."""

from __future__ import annotations

from mneme.cli import _console
from mneme.cli._options import JsonOption

__all__ = ["devices"]


def devices(json: JsonOption = False) -> None:
    """List the devices and why some are not available."""
    from mneme.devices import choose_device, list_devices  # noqa: PLC0415

    found = list_devices()
    if json:
        _console.print_json([entry.to_dict() for entry in found])
        return
    content = _console.table("Devices", ("id", "available", "name", "~what is missing"))
    for entry in found:
        availability = "yes" if entry.is_available else "no"
        missing = "" if entry.is_available else entry.why_unavailable
        content.add_row(entry.id, availability, entry.name if entry.is_available else "", missing)
    _console.print_table(content)
    _console.print_line(f"used by default: {choose_device()}")
