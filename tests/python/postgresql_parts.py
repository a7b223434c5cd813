"""A PostgreSQL server for tests, which can be killed and started again."""

from __future__ import annotations

import contextlib
import glob
import importlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Server", "postgresql", "postgresql_server"]


class Server:
    """A server in a directory of its own; it wants the password, which its URL does not have."""

    def __init__(self, directory: Path, programs: Path, password: str) -> None:
        self._directory, self._programs, self._password = directory, programs, password
        # The server refuses to run as root.
        user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self._as_user: dict[str, Any] = {"user": user} if os.getuid() == 0 else {}
        if self._as_user:
            shutil.chown(directory, user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"postgresql://tuner@127.0.0.1:{self._port}/postgres"

    def make(self) -> None:
        """Make an empty database."""
        access = ["-A", "trust"]
        if self._password:
            (self._directory / "password").write_text(self._password)
            file = str(self._directory / "password")
            access = ["-A", "scram-sha-256", "--pwfile", file]
        subprocess.run(
            [self._programs / "initdb", "-D", self._data, *access, "-U", "tuner", "--no-sync"],
            check=True,
            capture_output=True,
            cwd=self._directory,
            **self._as_user,
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        quick = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-k", str(self._directory)]
        self._process = subprocess.Popen(
            [self._programs / "postgres", "-D", self._data, "-p", str(self._port), *quick],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._directory,
            start_new_session=True,
            **self._as_user,
        )
        self._wait()

    def kill(self) -> None:
        """Kill it and all its processes, as a machine does that loses its power."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)

    @property
    def _data(self) -> Path:
        return self._directory / "data"

    def _wait(self) -> None:
        psycopg = importlib.import_module("psycopg")
        place = {"host": "127.0.0.1", "port": self._port, "user": "tuner", "dbname": "postgres"}
        end = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(**place, password=self._password).close()
            except psycopg.OperationalError:
                assert time.monotonic() < end
                time.sleep(0.05)
            else:
                return


@contextlib.contextmanager
def postgresql_server(password: str = "") -> Iterator[Server]:
    """Start a server in a temporary directory."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    initdb = programs[-1] if programs else shutil.which("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL is not installed (Debian package postgresql)")
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    directory = Path(tempfile.mkdtemp(prefix="mneme-pg-", dir="/tmp"))
    server = Server(directory, Path(initdb).parent, password)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def postgresql(password: str = "") -> Iterator[str]:
    """Start a server; yield its URL."""
    with postgresql_server(password) as server:
        yield server.url
