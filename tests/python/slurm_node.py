"""A Slurm cluster of this one machine, for tests of batch scripts."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo")

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} CPUs={cores} RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    """Return why no cluster can be started here; empty if it can."""
    path = "/usr/sbin:/sbin:" + os.environ.get("PATH", "")
    missing = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: slurm-wlm, munge)"
    return "" if os.geteuid() == 0 else "a Slurm node of one's own has to be started as root"


@contextmanager
def slurm_node(directory: Path) -> Iterator[dict[str, str]]:
    """Run a cluster; gives the environment in which `sbatch` and `squeue` find it."""
    environment = {
        **os.environ,
        "SLURM_CONF": str(directory / "slurm.conf"),
        "PATH": "/usr/sbin:/sbin:" + os.environ["PATH"],
    }
    for name in ("state", "spool"):
        (directory / name).mkdir()
    key = directory / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    (directory / "slurm.conf").write_text(
        CONFIGURATION.format(
            directory=directory,
            host=socket.gethostname().partition(".")[0],
            cores=os.cpu_count(),
            controller_port=free_port(),
            node_port=free_port(),
        )
    )
    munge = ["munged", "--foreground", "--force", f"--key-file={key}"]
    munge += [
        f"--{name}-file={directory}/munge.{name}"
        if name != "socket"
        else f"--socket={directory}/munge.socket"
        for name in ("socket", "pid", "log", "seed")
    ]
    daemons: list[subprocess.Popen[bytes]] = []
    with (directory / "daemons.log").open("w") as log:
        try:
            for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
                daemons.append(
                    subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
                )
                if command is munge:
                    becomes_true((directory / "munge.socket").exists)
            if not becomes_true(lambda: "idle" in output(["sinfo", "-h", "-o", "%t"], environment)):
                pytest.skip(f"Slurm does not start here: {log_of(directory)}")
            yield environment
        finally:
            for daemon in reversed(daemons):
                daemon.terminate()
                with suppress(subprocess.TimeoutExpired):
                    daemon.wait(10)
                if daemon.poll() is None:
                    daemon.kill()
                    daemon.wait()


def becomes_true(is_there: Callable[[], bool]) -> bool:
    """Wait for a daemon; false if it never comes, as in some containers."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if is_there():
            return True
        time.sleep(0.1)
    return False


def log_of(directory: Path) -> str:
    return " ".join((directory / "daemons.log").read_text().splitlines()[-3:])


def wait_for_jobs(environment: dict[str, str], seconds: float = 120) -> None:
    """Wait until no job is queued or running."""
    wait_for(lambda: output(["squeue", "-h"], environment) == "", "the jobs", seconds)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def output(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else "failed"


def wait_for(is_there: object, what: str, seconds: float = 30) -> None:
    assert callable(is_there)
    deadline = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < deadline, f"{what} not ready after {seconds} s"
        time.sleep(0.1)
