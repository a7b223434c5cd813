"""Replays one recorded launch in this process."""

from __future__ import annotations

import json
import operator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mneme.devices import choose_device, device_by_number
from mneme.errors import InvalidArgument, IoFailed, NotFound
from mneme.files.regular_file import read_bytes
from mneme.measure.measuring import Measuring
from mneme.mneme_types import ExperimentConfiguration, ExperimentResult
from mneme.recording.recorded_execution import KernelInstance, RecordedExecution
from mneme.recording.records import find_instance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from llvmlite.binding import ModuleRef
    from typing_extensions import Self

    from mneme._native import ReplaySession
    from mneme.measure.tolerance import Tolerance

__all__ = ["BaseExecutor", "ReplayOutput", "ir_bytes", "options_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOutput:
    """The complete output of a replay."""

    result: ExperimentResult
    """Times, statistics and the verdict."""

    ir: str
    """Final IR as text, if requested."""

    assembly: str
    """Final assembly, if requested."""


def ir_bytes(ir: object) -> bytes:
    """Return IR in any form as bytes.

    Args:
        ir: Bitcode or text as bytes, textual IR, a path to either, an llvmlite module, or None.

    Raises:
        NotFound: If it is the name of a file that does not exist.
        IoFailed: If the file cannot be read.
    """
    if ir is None:
        return b""
    if isinstance(ir, bytes):
        return ir
    if hasattr(ir, "as_bitcode"):
        return bytes(ir.as_bitcode())
    if isinstance(ir, str) and "\n" in ir:
        return ir.encode()
    path = Path(str(ir))
    try:
        content = read_bytes(path)
    except FileNotFoundError as error:
        raise NotFound(f"cannot open the IR file '{path}': {error.strerror}") from error
    except OSError as error:
        raise IoFailed(f"cannot read the IR file '{path}': {error.strerror}") from error
    if not content:
        raise InvalidArgument(f"the IR file '{path}' is empty")
    return content


def options_text(
    *,
    tolerances: Sequence[Tolerance],
    measuring: Measuring,
    **options: Any,  # noqa: ANN401 - of the runtime
) -> str:
    """Return options of the runtime as JSON."""
    options["tolerances"] = [rule.to_text() for rule in tolerances]
    # Accept NumPy's whole numbers.
    return json.dumps({**options, **measuring.to_options()}, default=operator.index)


class BaseExecutor:
    """A recorded launch, opened on a device. A context manager; one thread at a time.

    On entry the recorded addresses are reserved and memory is uploaded once; each replay restores,
    runs, verifies and measures one binary.
    """

    def __init__(  # noqa: PLR0913 - documented signature
        self,
        record_db: str | Path = "",
        record_id: str | None = None,
        iterations: int = 3,
        device_id: int = 0,
        warmup: int = 2,
        *,
        device: str | None = None,
        tolerances: Sequence[Tolerance] = (),
        timeout: float | None = None,
        measuring: Measuring | None = None,
    ) -> None:
        """Name a recorded launch; nothing is opened yet.

        Args:
            record_db: A `<static hash>.json` file, or a directory of them.
            record_id: Dynamic hash of the launch; None if there is only one.
            iterations: Measured launches per replay. At least 0.
            device_id: Number of the GPU if `device` is None.
            warmup: Launches before the measured ones. At least 0.
            device: "cpu" or a GPU by name; None takes `device_id`.
            tolerances: Allowed differences from the recorded memory; empty: none.
            timeout: Time limit of one launch in seconds; None or 0: 1000 times the recorded time,
                at least 60 s.
            measuring: How launches are measured; None: `iterations`, caches as they are.

        Raises:
            InvalidArgument: If a number is out of its range.
        """
        if iterations < 0 or warmup < 0:
            raise InvalidArgument(f"need iterations, warmup >= 0; got {iterations} and {warmup}")
        self.record_db = Path(record_db)
        self.record_id = record_id
        self.iterations = iterations
        self.device_id = device_id
        self.warmup = warmup
        self.device = device
        self.tolerances = tuple(tolerances)
        self.timeout = timeout
        self.measuring = measuring or Measuring()
        self._session: ReplaySession | None = None
        self._record: RecordedExecution | None = None

    def open(self) -> None:
        """Open the recording on the device; does nothing if it is open.

        Raises:
            NotFound: If file or instance do not exist.
            ArtifactCorrupt: If a file is damaged.
            AddressUnavailable: If the recorded address is taken; try again in a new process.
            BackendUnavailable: If the device does not exist.
        """
        if self._session is not None:
            return
        self.record_db, self.record_id = find_instance(self.record_db, self.record_id)
        self.device = (
            choose_device(self.device) if self.device else device_by_number(self.device_id)
        )
        from mneme import _native  # noqa: PLC0415 - loads native code

        self._session = _native.ReplaySession(str(self.record_db), self.record_id, self.device)

    def close(self) -> None:
        """Release memory and addresses; does nothing if it is closed."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def record(self) -> RecordedExecution:
        """The recorded kernel."""
        if self._record is None:
            path, self.record_id = find_instance(self.record_db, self.record_id)
            self._record = RecordedExecution.from_json(path)
        return self._record

    @property
    def instance(self) -> KernelInstance:
        """The recorded launch."""
        return self.record.get(str(self.record_id))

    def recorded_configuration(self) -> ExperimentConfiguration:
        """Return the configuration of the recorded launch."""
        return ExperimentConfiguration.from_dict(json.loads(self._opened().recorded()))

    def link_ir(self, *, prune: bool = True, internalize: bool = True) -> ModuleRef:
        """Return the kernel's code as one llvmlite module, to look at or to edit."""
        return self.record.link_llvm_modules(prune, internalize)

    def replay(
        self,
        config: ExperimentConfiguration,
        ir: object = None,
        *,
        want_ir: bool = False,
        want_assembly: bool = False,
    ) -> ReplayOutput:
        """Build, verify and measure one configuration.

        Failures of the configuration, the compiler or the kernel are in the result (`failed`,
        `error`), not raised.

        Args:
            config: How to compile and launch.
            ir: IR to use instead of the recorded one: see `ir_bytes`.
            want_ir: Return the final IR too.
            want_assembly: Return the final assembly too.
        """
        options = options_text(
            iterations=self.iterations,
            warmup=self.warmup,
            tolerances=self.tolerances,
            measuring=self.measuring,
            timeout=self.timeout or 0.0,
            want_ir=want_ir,
            want_assembly=want_assembly,
        )
        text, final_ir, assembly = self._opened().run(config.launch_text(), options, ir_bytes(ir))
        result = ExperimentResult.from_dict(json.loads(text))
        return ReplayOutput(result=result, ir=final_ir, assembly=assembly)

    def evaluate(self, config: ExperimentConfiguration, ir: object = None) -> ExperimentResult:
        """Build, verify and measure one configuration; see `replay`."""
        return self.replay(config, ir).result

    def _execute(self, ir: object, config: ExperimentConfiguration) -> ExperimentResult:
        return self.evaluate(config, ir)

    def _opened(self) -> ReplaySession:
        self.open()
        if self._session is None:  # pragma: no cover - open() raises instead
            raise AssertionError
        return self._session
