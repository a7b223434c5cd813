"""Serves the study of a results directory with optuna-dashboard."""

from __future__ import annotations

import json
import threading
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from mneme.errors import ArtifactCorrupt, BackendUnavailable, InvalidArgument, IoFailed, NotFound
from mneme.files.redaction import redacted
from mneme.files.regular_file import read_text
from mneme.install.hints import package_hint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["serve_study", "study_place"]

_JOURNAL = "study.journal"


def study_place(directory: Path) -> str:
    """Return the storage of a results directory's study: a URL or the name of a journal file.

    Raises:
        NotFound: If there is no study.
        InvalidArgument: If the directory holds several results, or leads to a storage and is
            somebody else's.
        ArtifactCorrupt: If the directory's options cannot be understood.
    """
    shared = _shared_storage(directory / "config.json")
    if shared:
        from mneme.session.trusted_options import is_own  # noqa: PLC0415 - rare

        if not is_own(directory / "config.json"):
            named = redacted(shared)
            raise InvalidArgument(
                f"'{directory / 'config.json'}' is not your own file, and names the storage "
                f"'{named}'; if you trust it: optuna-dashboard '{named}'"
            )
        return shared
    journal = directory / _JOURNAL
    if journal.is_file():
        return str(journal)
    below = sorted(path.parent for path in directory.glob(f"*/{_JOURNAL}"))
    if len(below) == 1:
        return str(below[0] / _JOURNAL)
    if below:
        raise InvalidArgument(
            f"'{directory}' holds the results of {len(below)} launches; name one, as in "
            f"'mneme dashboard {below[0]}'"
        )
    if not directory.exists():
        raise NotFound(f"'{directory}' does not exist; name the results directory of a tuning")
    raise NotFound(f"'{directory}' holds no study of 'mneme tune' ('{_JOURNAL}')")


def _shared_storage(path: Path) -> str:
    try:
        options = json.loads(read_text(path))
    except FileNotFoundError:
        return ""
    except (ValueError, RecursionError) as error:
        raise ArtifactCorrupt(f"'{path}' is not JSON: {error}") from error
    return str(options.get("optuna_storage") or "") if isinstance(options, dict) else ""


class _Server(ThreadingMixIn, WSGIServer):
    """Answers several requests at once; waits for running ones at the end."""

    daemon_threads = False


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing about requests."""


def serve_study(directory: Path, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve a study until KeyboardInterrupt is raised here.

    Args:
        directory: Results of `mneme tune`.
        host: Host to listen on.
        port: Port to listen on; 0: any free one.
        tell: Receives the address once the server answers.

    Raises:
        NotFound: If there is no study.
        BackendUnavailable: If optuna-dashboard is not installed.
        IoFailed: If the port is not available.
    """
    place = study_place(directory)
    try:
        from optuna_dashboard import (  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
            wsgi,
        )
    except ImportError as error:
        raise BackendUnavailable(
            f"the dashboard needs the package optuna-dashboard: {package_hint('optuna-dashboard')}"
        ) from error
    from mneme.session.storages import open_storage  # noqa: PLC0415 - slow to import

    application = wsgi(open_storage(place))
    try:
        server = make_server(host, port, application, _Server, _Quiet)
    except OSError as error:
        raise IoFailed(
            f"cannot listen on port {port} of '{host}': {error.strerror}; choose another --port"
        ) from error
    # The server has its own thread: a running request would swallow the interrupt.
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    with server:
        thread.start()
        try:
            tell(f"http://{host}:{server.server_port}/")
            thread.join()
        finally:
            server.shutdown()
