"""Tuned kernels for production runs: choosing, writing, reading and checking their files."""

from __future__ import annotations

from mneme.deploy.tuned_kernels import (
    DEFAULT_GUARDS,
    GUARD_CHOICES,
    Deployed,
    Deployment,
    DeployOptions,
    LeftOut,
    make_variant,
    plan_deployment,
)
from mneme.deploy.write import check_output, write_deployment

__all__ = [
    "DEFAULT_GUARDS",
    "GUARD_CHOICES",
    "DeployOptions",
    "Deployed",
    "Deployment",
    "LeftOut",
    "check_output",
    "make_variant",
    "plan_deployment",
    "write_deployment",
]
