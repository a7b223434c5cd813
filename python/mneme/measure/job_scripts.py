"""What dask-jobqueue knows of batch systems, and Flux, which it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask
import dask_jobqueue.core

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PAGES_ADDRESS", "cluster_class", "set_defaults"]

PAGES_ADDRESS = "127.0.0.1:0"
"""Where Dask's processes serve their pages."""


_jobqueue: Any = dask_jobqueue  # has no types


class _FluxJob(_jobqueue.core.Job):  # type: ignore[misc]
    """A job for Flux (https://flux-framework.readthedocs.io, flux-batch(1))."""

    submit_command = "flux batch"
    cancel_command = "flux cancel"
    config_name = "flux"
    job_id_regexp = r"(?P<job_id>\S+)"

    def __init__(
        self,
        scheduler: Any = None,  # noqa: ANN401 - an address
        name: str | None = None,
        *,
        queue: str | None = None,
        account: str | None = None,
        walltime: str | None = None,
        **others: Any,  # noqa: ANN401 - of every kind of job
    ) -> None:
        super().__init__(scheduler=scheduler, name=name, **others)
        given = {"queue": queue, "bank": account, "time-limit": walltime}
        lines = [f"--job-name={self.job_name}", "--nslots=1"]
        lines += [f"--cores-per-slot={self.worker_cores}"]
        lines += [f"--{key}={value}" for key, value in given.items() if value is not None]
        if self.log_directory is not None:
            lines += [f"--output={self.log_directory}/{self.job_name}-{{{{id}}}}.out"]
        lines += self.job_extra_directives
        skipped = self.job_directives_skip
        kept = [one for one in lines if not any(skip in one for skip in skipped)]
        self.job_header = "\n".join(f"#flux: {one}" for one in kept)


class _FluxCluster(_jobqueue.JobQueueCluster):  # type: ignore[misc]
    job_cls = _FluxJob


def cluster_class(on: str) -> Any:  # noqa: ANN401 - a class without types
    """Return dask-jobqueue's class for a batch system, which is "slurm" or "flux"."""
    return _jobqueue.SLURMCluster if on == "slurm" else _FluxCluster


def set_defaults(on: str, folder: Path, keys: str, *, one_gpu: str | None) -> None:
    """Set what a site's own configuration of dask-jobqueue leaves open.

    Args:
        on: The batch system.
        folder: For the output of jobs.
        keys: The directory for certificates.
        one_gpu: The directive that asks for a GPU; None: the CPU device measures.
    """
    if on == "flux":  # begins with what every kind of job looks for
        every = dict.fromkeys(dask.config.get("jobqueue.slurm"))
        every |= {"shebang": "#!/bin/bash", "worker-command": "distributed.cli.dask_worker"}
        every |= {"job-extra-directives": [], "job-directives-skip": [], "scheduler-options": {}}
        every |= {"worker-extra-args": [], "job-script-prologue": [], "death-timeout": 60}
        dask.config.update_defaults({"jobqueue": {on: every}})
    own = {
        "name": "mneme",
        "cores": 8 if one_gpu else 1,
        "memory": "16GB",
        "processes": 1,
        "job-extra-directives": [one_gpu] if one_gpu else [],
        "worker-extra-args": ["--no-dashboard", "--dashboard-address", PAGES_ADDRESS],
        "log-directory": str(folder),
        "shared-temp-directory": keys,
    }
    dask.config.update_defaults({"jobqueue": {on: own}})
