"""Storages of Optuna studies: memory, a journal file, a database."""

from __future__ import annotations

import contextlib
import copy
import heapq
import os
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mneme.errors import BackendUnavailable, InvalidArgument, IoFailed
from mneme.files.redaction import has_secret, redacted, redacted_text
from mneme.install.hints import package_hint
from mneme.session.owners import BEAT_SECONDS, DEAD_AFTER_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage
    from optuna.storages.journal import JournalFileBackend
    from optuna.study import Study
    from optuna.trial import FrozenTrial, TrialState

__all__ = [
    "STORAGE_VARIABLE",
    "bounded_memory",
    "journal_file",
    "open_storage",
    "open_study",
    "storage_errors",
]

STORAGE_VARIABLE = "MNEME_STUDY_STORAGE"
"""The variable that names a storage, whose address may hold a password."""

_SQLITE_WAIT_SECONDS = 60
# A lock on a journal file is held for milliseconds; an owner that holds it longer is dead.
_LOCK_SECONDS = 5
_SIGNS_OF_RACE = ("already exists", "duplicate key", "unique constraint", "is locked")
_ATTEMPTS = 8
_SEEN_LATEST = 200
_SEEN_BEST = 50
_PAUSE_SECONDS = 0.1

Storage = TypeVar("Storage")


@contextlib.contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn errors of storages into one message, without the password of the address."""
    import optuna  # noqa: PLC0415 - slow to import

    try:
        yield
    except (optuna.exceptions.StorageInternalError, OSError) as error:
        raise _failed(what, error) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("sqlalchemy", "psycopg", "psycopg2"):
            raise _failed(what, error) from error
        raise


def _failed(what: str, error: Exception) -> IoFailed:
    said = redacted_text(_first_line(error), what, _with_password(what))
    return IoFailed(f"the study storage '{redacted(what)}' failed: {said}")


def open_storage(place: str | None) -> BaseStorage:
    """Return a storage.

    Args:
        place: URL of a database, or the name of a journal file ("journal:NAME" too); None: memory.
            A URL that was kept without its password gets it from `STORAGE_VARIABLE`, if that leads
            to the same place.

    Raises:
        InvalidArgument: If the URL is malformed.
        BackendUnavailable: If the driver of the database is not installed.
        IoFailed: If the storage cannot be opened.
    """
    import optuna  # noqa: PLC0415 - slow to import

    if place is None:
        return optuna.storages.InMemoryStorage()
    if "://" not in place or place.startswith("journal:"):
        path = Path(place.removeprefix("journal:").removeprefix("//"))
        return _journal(path)
    url = _with_driver(_with_password(place))
    engine: dict[str, Any] = {"pool_pre_ping": True}
    if url.startswith("sqlite"):
        engine = {"connect_args": {"timeout": _SQLITE_WAIT_SECONDS}}
    with storage_errors(place):
        try:
            return _patiently(lambda: _database(url, engine))
        except Exception as error:
            is_malformed = type(error).__name__ in ("NoSuchModuleError", "ArgumentError")
            if not isinstance(error, ImportError | ValueError) and not is_malformed:
                raise
            # An error about an unreadable address may quote any part of it, its password included.
            is_hidden = has_secret(url) and not isinstance(error, ImportError)
            said = "its URL cannot be read" if is_hidden else _first_line(error)
            raise InvalidArgument(
                f"cannot use the study storage '{redacted(place)}': {said}"
            ) from (None if is_hidden else error)


def _database(url: str, engine: dict[str, Any]) -> BaseStorage:
    import optuna  # noqa: PLC0415

    with warnings.catch_warnings():
        # We use heartbeats on purpose, although they are experimental.
        warnings.simplefilter("ignore", category=optuna.exceptions.ExperimentalWarning)
        return optuna.storages.RDBStorage(
            url,
            engine_kwargs=engine,
            heartbeat_interval=BEAT_SECONDS,
            grace_period=DEAD_AFTER_SECONDS,
        )


def _patiently(make: Callable[[], Storage]) -> Storage:
    """Try again while other processes make the same tables."""
    for attempt in range(_ATTEMPTS):
        try:
            return make()
        except Exception as error:
            text = str(error).lower()
            is_race = any(word in text for word in _SIGNS_OF_RACE)
            if not is_race or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_PAUSE_SECONDS * (attempt + 1))
    raise AssertionError


def bounded_memory() -> BaseStorage:
    """Return a storage in memory that shows the sampler at most a few hundred trials.

    TPE models the best 25 trials, once there are 250, against all others, and takes time in
    proportion to their number. The best and the latest of a long search give the same model of
    what is good.
    """
    import optuna  # noqa: PLC0415 - slow to import

    class Bounded(optuna.storages.InMemoryStorage):
        def get_all_trials(
            self,
            study_id: int,
            deepcopy: bool = True,  # noqa: FBT001, FBT002 - as in the base class
            states: Container[TrialState] | None = None,
        ) -> list[FrozenTrial]:
            found = super().get_all_trials(study_id, deepcopy=False, states=states)
            if len(found) > _SEEN_LATEST + _SEEN_BEST:
                found = _best_and_latest(found, self.get_study_directions(study_id)[0].name)
            return copy.deepcopy(found) if deepcopy else found

    return Bounded()


def _best_and_latest(trials: list[FrozenTrial], direction: str) -> list[FrozenTrial]:
    sign = -1.0 if direction == "MAXIMIZE" else 1.0
    older = trials[:-_SEEN_LATEST]
    valued = [one for one in older if one.state.name == "COMPLETE"]
    running = [one for one in older if not one.state.is_finished()]
    best = heapq.nsmallest(_SEEN_BEST, valued, key=lambda one: sign * (one.value or 0.0))
    kept = {one.number: one for one in (*best, *running, *trials[-_SEEN_LATEST:])}
    return [kept[number] for number in sorted(kept)]


def _journal(path: Path) -> BaseStorage:
    import optuna  # noqa: PLC0415

    with storage_errors(str(path)):
        if not path.parent.is_dir():
            raise IoFailed(f"the directory of the journal file '{path}' does not exist")
        return optuna.storages.JournalStorage(journal_file(path))


def journal_file(path: Path) -> JournalFileBackend:
    """Return the backend of a journal file that is compatible with other users of Optuna."""
    import optuna  # noqa: PLC0415
    from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=optuna.exceptions.ExperimentalWarning)
        lock = JournalFileSymlinkLock(str(path), grace_period=_LOCK_SECONDS)
        return JournalFileBackend(str(path), lock_obj=lock)


def _with_password(place: str) -> str:
    given = os.environ.get(STORAGE_VARIABLE, "")
    return given if given and redacted(given) == place else place


def _with_driver(url: str) -> str:
    """Add the installed driver to a URL that names none."""
    scheme, _, rest = url.partition("://")
    if scheme not in ("postgresql", "postgres"):
        return url
    for package in ("psycopg2", "psycopg"):
        if find_spec(package) is not None:
            return f"postgresql+{package}://{rest}"
    hint = package_hint("psycopg2", "'psycopg[binary]'")
    raise BackendUnavailable(f"PostgreSQL needs the package psycopg: {hint}")


def open_study(
    storage: BaseStorage, name: str, directions: Sequence[str], sampler: BaseSampler, record: str
) -> Study:
    """Return the study with this name; makes it if there is none.

    Raises:
        InvalidArgument: If the existing study has other objectives or tunes another launch.
    """
    import optuna  # noqa: PLC0415

    study = optuna.create_study(
        storage=storage,
        study_name=name,
        directions=[optuna.study.StudyDirection[one.upper()] for one in directions],
        sampler=sampler,
        load_if_exists=True,
    )
    if [one.name.lower() for one in study.directions] != list(directions):
        raise InvalidArgument(
            f"study '{name}' has other objectives; choose another --study-name or storage"
        )
    owner = study.user_attrs.get("mneme.record")
    if owner not in (None, record):
        raise InvalidArgument(
            f"study '{name}' tunes another launch ({owner}); choose another --study-name"
        )
    if owner is None:
        study.set_user_attr("mneme.record", record)
    return study


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
