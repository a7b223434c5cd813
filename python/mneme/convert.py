"""The name that scripts import; see mneme.deploy.convert."""

from __future__ import annotations

from mneme.deploy.convert import convert_to_json, export_proteus_tuned_kernel, tuned_kernel

__all__ = ["convert_to_json", "export_proteus_tuned_kernel", "tuned_kernel"]
