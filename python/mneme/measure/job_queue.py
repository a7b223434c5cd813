"""Dask clusters whose workers are jobs of a batch system: `--on slurm` and `--on flux`.

dask-jobqueue writes the jobs, so that sites keep their options where it looks for them
(`~/.config/dask/jobqueue.yaml`). They are submitted here, once each, so that a refusal is one
sentence. Connections are encrypted, with certificates made for this cluster alone.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.errors import BackendUnavailable, InvalidArgument
from mneme.files.scratch import ScratchDirectory
from mneme.install.hints import package_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["BATCH_SYSTEMS", "check_cluster_options", "job_cluster"]

_POLL_SECONDS: Final = 1.0
# A worker connects this long after its job has ended, at the latest.
_GRACE_SECONDS: Final = 5.0
_FOLDER: Final = "mneme-jobs"
_PLACEHOLDER: Final = "dummy-name"  # of a worker, in what dask-jobqueue shows of a job
_JOBS: Final = "jobs"


@dataclass(frozen=True, slots=True)
class _System:
    """A batch system."""

    name: str
    one_gpu: str
    """The directive that asks for a GPU."""
    listing: str
    """The command that lists the user's jobs that wait or run, an identifier a line."""


BATCH_SYSTEMS: Final = {
    "slurm": _System("Slurm", "--gpus=1", "squeue --me --noheader --format=%A"),
    "flux": _System("Flux", "--gpus-per-slot=1", "flux jobs --no-header --format={id.f58}"),
}
"""By what `--on` calls them."""


def check_cluster_options(given: Sequence[str]) -> dict[str, Any]:
    """Return options of jobs by name, from KEY=VALUE; values are JSON, or texts as they are.

    Raises:
        InvalidArgument: If one has no name, or there are fewer jobs than one.
    """
    options: dict[str, Any] = {}
    for one in given:
        key, mark, text = one.partition("=")
        if not (mark and key.isidentifier()):
            raise InvalidArgument(f"--cluster is '{one}'; it is KEY=VALUE, as in queue=gpu")
        try:
            options[key] = json.loads(text)
        except ValueError:
            options[key] = text
    jobs = options.get(_JOBS, 1)
    if type(jobs) is not int or jobs < 1:
        raise InvalidArgument(f"--cluster {_JOBS} is {jobs!r}; it is a number of jobs, 1 or more")
    return options


@contextlib.contextmanager
def job_cluster(
    on: str,
    given: Sequence[str],
    *,
    device: str | None,
    report: Callable[[str], None],
) -> Iterator[Any]:
    """Submit jobs whose workers are a Dask cluster; cancel them at the end.

    Args:
        on: A key of `BATCH_SYSTEMS`.
        given: KEY=VALUE options of dask-jobqueue's cluster, and `jobs`, how many.
        device: What the workers measure on; a job for "cpu" asks for no GPU.
        report: Receives the job's script before anything is submitted, and that jobs wait.

    Yields:
        Dask's client, once a worker is there.

    Raises:
        InvalidArgument: If an option is invalid.
        BackendUnavailable: If a package or a command is missing, if the batch system refuses a
            job, or if all jobs end before a worker has come.
    """
    system = BATCH_SYSTEMS[on]
    options = check_cluster_options(given)
    count = options.pop(_JOBS, 1)
    with _scheduler(on, system, options, device=device) as cluster:
        script = cluster.job_script()
        folder = _output_folder(on, options)
        jobs = "a job" if count == 1 else f"{count} jobs"
        report(f"submitting {jobs} to {system.name}; output goes to '{folder}':")
        for line in filter(None, script.splitlines()):
            report(f"    {line}")
        submitted: list[str] = []
        try:
            for number in range(count):
                own = script.replace(_PLACEHOLDER, f"mneme-{number}")
                submitted.append(_submit(cluster.job_cls, system, own))
            with cluster.get_client() as client:
                _wait(client, system, submitted, folder, report)
                yield client
        finally:
            if submitted:
                _run([*shlex.split(cluster.job_cls.cancel_command), *submitted])


@contextlib.contextmanager
def _scheduler(
    on: str, system: _System, options: Mapping[str, Any], *, device: str | None
) -> Iterator[Any]:
    """Start a scheduler in this process, which has no workers yet."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        import cryptography  # noqa: F401, PLC0415 - optional, and used by Dask only

        from mneme.measure import job_scripts  # noqa: PLC0415 - large, and optional
    except ImportError as error:
        hint = package_hint("dask-jobqueue", "'mneme-gpu[dask]'")
        raise BackendUnavailable(f"--on {on} needs dask-jobqueue: {hint} ({error})") from error
    finally:  # dask-jobqueue lets an interrupt end the process with 0
        signal.signal(signal.SIGINT, handler)
    kind = job_scripts.cluster_class(on)
    command = shlex.split(kind.job_cls.submit_command)[0]
    if shutil.which(command) is None:
        raise BackendUnavailable(
            f"--on {on} submits jobs to {system.name}, and there is no command '{command}' here"
        )
    folder = Path.cwd() / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    # Without a dashboard Dask still serves pages: for this machine only.
    pages = {"dashboard": False, "dashboard_address": job_scripts.PAGES_ADDRESS}
    own = {"security": True, "scheduler_options": pages}
    one_gpu = None if device == "cpu" else system.one_gpu
    with ScratchDirectory("keys", folder) as keys:
        job_scripts.set_defaults(on, folder, keys, one_gpu=one_gpu)
        try:
            cluster = kind(**{**own, **options})
        except (TypeError, ValueError) as error:
            traceback.clear_frames(error.__traceback__)  # which removes certificates
            raise InvalidArgument(f"--cluster: {error}") from error
        with cluster:
            try:
                yield cluster
            finally:
                _remove_certificates(cluster)


def _remove_certificates(cluster: Any) -> None:  # noqa: ANN401 - of Dask
    """Remove what dask-jobqueue removes when it throws a cluster away, which is later."""
    for name, file in vars(cluster).items():
        if name.startswith("_job_") and hasattr(file, "close"):
            file.close()


def _output_folder(on: str, options: Mapping[str, Any]) -> str:
    """Return where jobs write to."""
    import dask  # noqa: PLC0415 - large, and optional

    return str(options.get("log_directory") or dask.config.get(f"jobqueue.{on}.log-directory"))


def _submit(job: Any, system: _System, script: str) -> str:  # noqa: ANN401 - a class
    """Submit a job; return its identifier."""
    with tempfile.NamedTemporaryFile("w", prefix="mneme-", suffix=".sh") as file:
        file.write(script)
        file.flush()
        done = _run([*shlex.split(job.submit_command), file.name])
    found = re.search(job.job_id_regexp, done.stdout)
    if done.returncode or found is None:
        words = " ".join((done.stderr or done.stdout).split())
        raise BackendUnavailable(f"{system.name} refuses the job: {words}")
    return found["job_id"]


def _wait(
    client: Any,  # noqa: ANN401 - of Dask
    system: _System,
    submitted: Sequence[str],
    folder: str,
    report: Callable[[str], None],
) -> None:
    """Wait for a worker, for as long as a job waits or runs."""
    report(f"waiting for a job to start ({', '.join(submitted)})")
    ended = 0.0
    while not client.nthreads():
        listed = _run(shlex.split(system.listing))
        is_there = listed.returncode != 0 or set(submitted) & set(listed.stdout.split())
        ended = 0.0 if is_there else ended or time.monotonic()
        if ended and time.monotonic() - ended > _GRACE_SECONDS:
            raise BackendUnavailable(
                f"all jobs of {system.name} have ended, and none of them could measure; what they "
                f"wrote is in '{folder}'"
            )
        time.sleep(_POLL_SECONDS)


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)
