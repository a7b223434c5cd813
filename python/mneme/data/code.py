"""The table of code: a row of features for each IR that was recorded or made."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mneme.data.column import Column, Kind, Table
from mneme.data.comparisons import is_comparison, records_of_comparison
from mneme.data.program import program_facts, program_of_record, program_of_results
from mneme.errors import ArtifactCorrupt, IoFailed, MnemeError, NotFound
from mneme.files.json_object import read_json_object
from mneme.files.regular_file import read_bytes, read_text
from mneme.ir.features import FEATURES, features_of
from mneme.ir.module_text import read_module
from mneme.recording.launch_facts import static_hash_text
from mneme.recording.recorded_execution import RecordedExecution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mneme.ir.embeddings import Embedder

__all__ = ["CODE", "code_rows", "embedder_with", "find_records"]

_RECORDED: Final = "recorded"
_IMAGE: Final = "RecordedCode_"
_UNITS: Final = {name: "bytes" for name in FEATURES if name.endswith("_bytes")}

CODE: Final = Table(
    name="mneme.code",
    version=1,
    groups={
        "which code": (
            Column(name="schema_version", kind=Kind.INTEGER, text="version of this table"),
            Column(
                name="ir_hash",
                kind=Kind.TEXT,
                text="`recorded_ir_hash` or `final_ir_hash` of configurations",
            ),
            Column(
                name="stage",
                kind=Kind.TEXT,
                text="`recorded`: before any optimisation; `as_built`, `winner`: after the "
                "pipeline of these configurations",
            ),
            Column(
                name="target",
                kind=Kind.TEXT,
                text="what it is for: `sm_90`; `cpu`: made into code of the processor",
            ),
            Column(
                name="program",
                kind=Kind.TEXT,
                text="the program, as `optimize`, a corpus or `--program` names it",
            ),
            Column(
                name="split",
                kind=Kind.TEXT,
                text="`train` or `test`, as `mneme corpus` divides programs",
            ),
            Column(name="kernel", kind=Kind.TEXT, text="name of the kernel as in the source"),
            Column(name="kernel_symbol", kind=Kind.TEXT, text="mangled name of the kernel"),
            Column(name="static_hash", kind=Kind.TEXT, text="hash of the kernel's code"),
            Column(name="code_hash", kind=Kind.TEXT, text="hash of it without names of functions"),
        ),
        "features": tuple(
            Column(name=name, kind=Kind.INTEGER, text=text, unit=_UNITS.get(name, ""))
            for name, text in FEATURES.items()
        ),
        "embedding": (
            Column(
                name="ir2vec", kind=Kind.FLOATS, text="IR2Vec embedding; missing without `--ir2vec`"
            ),
        ),
    },
)
"""One row for each IR of each kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Code:
    """IR of a kernel."""

    key: tuple[str, str]
    """Hash of the IR, and mangled name of the kernel."""

    row: dict[str, Any]
    """The first columns."""

    texts: Callable[[], list[str]]
    """Reads the modules."""


def embedder_with(vocabulary: Path | None) -> Embedder | None:
    """Return what makes IR2Vec embeddings with a vocabulary; None without one.

    Raises:
        InvalidArgument: If there is no such file.
        BackendUnavailable: If LLVM's tool is not there.
    """
    if vocabulary is None:
        return None
    from mneme.ir.embeddings import Embedder  # noqa: PLC0415 - few want it

    return Embedder.of(vocabulary)


def find_records(directories: Iterable[Path]) -> list[Path]:
    """Return the record files in and below directories."""
    from mneme import _native  # noqa: PLC0415 - loads native code

    found: dict[Path, None] = {}
    for top in directories:
        for place, folders, files in os.walk(top):
            folders.sort()
            if any(name.endswith(".bc") or name.startswith(_IMAGE) for name in files):
                listed = _native.list_directory(place)["records"]
                found |= dict.fromkeys(Path(place, Path(name).name).resolve() for name in listed)
    return list(found)


def code_rows(
    records: Iterable[Path],
    results: Iterable[Path],
    *,
    program: str = "",
    embedder: Embedder | None = None,
    tell: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """Yield a row for each IR: as recorded, as built and of the winner.

    Args:
        records: Record files.
        results: Results directories; the records they name are added where they are.
        program: What rows call the program, whatever it is.
        embedder: Makes embeddings; None: there are none.
        tell: Receives a sentence about code that cannot be read, which is left out.
    """
    seen: set[tuple[str, str]] = set()
    for one in _all_code(records, results, tell):
        if one.key in seen:
            continue
        seen.add(one.key)
        symbol = str(one.row["kernel_symbol"])
        try:
            texts = one.texts()
            reached = read_module(texts).reached_from(symbol)
            row = {**dict.fromkeys(CODE.names()), **one.row, **features_of(reached, symbol)}
            row["schema_version"] = CODE.version
            row |= program_facts(program or row["program"])
            if embedder is not None:
                vectors = [embedder.embed(text, reached.functions) for text in texts]
                row["ir2vec"] = [sum(column) for column in zip(*filter(None, vectors), strict=True)]
        except (MnemeError, OSError) as error:
            tell(f"the {one.row['stage']} code of {one.row['kernel']} is left out: {error}")
            continue
        yield row


def _all_code(
    records: Iterable[Path], results: Iterable[Path], tell: Callable[[str], None]
) -> Iterator[_Code]:
    known = dict.fromkeys(Path(one).resolve() for one in records)
    directories = list(results)
    for directory in directories:
        if is_comparison(directory):
            known |= dict.fromkeys(records_of_comparison(directory))
            continue
        named = _json(directory / "baseline.json").get("record") or {}
        path = Path(str(named.get("record_database") or ""))
        if path.is_file():
            known.setdefault(path.resolve())
        elif not _is_there(named, known):
            tell(f"the recording of '{directory}' is not at '{path}': its code is left out")
    for path in known:
        try:
            yield _recorded(RecordedExecution.from_json(path))
        except (MnemeError, OSError) as error:
            tell(f"'{path}' is left out: {error}")
    for directory in directories:
        yield from _made(directory)


def _is_there(named: dict[str, Any], known: Iterable[Path]) -> bool:
    """Whether a record that results name was found elsewhere: its file is named by its hash."""
    text = str(named.get("static_hash") or "")
    return any(text and static_hash_text(one.stem) == text for one in known if one.stem.isdecimal())


def _recorded(record: RecordedExecution) -> _Code:
    from mneme import _native  # noqa: PLC0415 - loads the compiler

    record.require_ir("a row of features")
    files = [Path(name) for name in record.llvm_files]
    hashes = record.module_hashes or [_native.content_hash(read_bytes(one)) for one in files]
    row = {
        "program": program_of_record(record.path),
        "ir_hash": "+".join(hashes),
        "stage": _RECORDED,
        "target": record.arch or None,
        "kernel": record.demangled_name,
        "kernel_symbol": record.kernel_name,
        "static_hash": static_hash_text(record.static_hash),
        "code_hash": record.code_hash or None,
    }
    return _Code(
        key=(row["ir_hash"] or "", record.kernel_name),
        row=row,
        texts=lambda: [_native.ir_to_text(read_bytes(one)) for one in files],
    )


def _made(directory: Path) -> Iterator[_Code]:
    """Yield the final IR that a search kept."""
    baseline, best = _json(directory / "baseline.json"), _json(directory / "best.json")
    record = {**(baseline.get("record") or {}), **(best.get("facts") or {})}
    device = best.get("device") or {}
    kept = (
        ("as_built", "baseline.ll", baseline.get("as_built") or baseline),
        ("winner", "best.ll", best),
    )
    for stage, name, measured in kept:
        path = directory / "artifacts" / name
        ir_hash = (measured.get("result") or {}).get("ir_hash")
        if not ir_hash or not path.is_file():
            continue
        symbol = str(record.get("kernel_name") or "")
        row = {
            "program": program_of_results(directory)
            or program_of_record(str(record.get("record_database") or "")),
            "ir_hash": ir_hash,
            "stage": stage,
            "target": device.get("arch"),
            "kernel": record.get("demangled_name") or symbol,
            "kernel_symbol": symbol,
            "static_hash": record.get("static_hash"),
            "code_hash": record.get("code_hash") or None,
        }
        yield _Code(key=(ir_hash, symbol), row=row, texts=partial(_texts, path))


def _texts(path: Path) -> list[str]:
    return [read_text(path)]


def _json(path: Path) -> dict[str, Any]:
    try:
        return read_json_object(path)
    except (NotFound, ArtifactCorrupt, IoFailed):
        return {}
