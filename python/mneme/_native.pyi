"""The runtime of mneme: recordings, devices, compiler and replay.

Every function raises the classes of `mneme.errors` with the runtime's own sentence. Long work runs
without the interpreter lock; one object is used by one thread at a time.
"""

from os import PathLike
from types import TracebackType
from typing import TypedDict

_Path = str | PathLike[str]
_Dims = tuple[int, int, int] | list[int]

class _Device(TypedDict):
    id: str
    """As in `--device`: "cpu", "cuda:0"."""
    is_available: bool
    name: str
    why_unavailable: str
    """A sentence a user can act on; empty when available."""

class _DeviceFacts(TypedDict):
    id: str
    name: str
    target: str
    """What code is compiled for: "sm_90", "cpu"."""
    total_memory_bytes: int
    multiprocessors: int
    warp_size: int
    max_threads_per_block: int
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    max_shared_per_block_bytes: int
    """Without asking for more."""
    max_shared_per_block_optin_bytes: int
    """Dynamic shared memory a kernel can ask for."""
    l2_cache_bytes: int
    """0: not known."""
    max_registers_per_block: int
    """0: no such limit."""
    max_cluster_blocks: int
    """1: no thread block clusters."""
    driver: str
    """Empty for the CPU."""

class _Annotation(TypedDict):
    data_type: str
    """ "f32", "u8", ..."""
    threshold: float
    threshold_kind: int
    """0 absolute, 1 relative, 2 units in the last place."""
    norm: int
    """0 none, 1 L1, 2 L2, 3 Linf."""
    tag: str

class _Part(TypedDict):
    offset: int
    """In the region."""
    size: int
    """In bytes."""
    annotation: _Annotation | None

class _Region(TypedDict):
    address: int
    """Recorded device address."""
    size: int
    """In bytes."""
    kind: str
    """ "allocation", "managed", "host_pinned" or "global"."""
    is_constant: bool
    name: str
    """Device name of a global, else empty."""
    annotation: _Annotation | None
    parts: list[_Part]
    """With annotations of their own; ascending, without overlaps."""

class _SnapshotSizes(TypedDict):
    raw: int
    """Sum of the region sizes, in bytes."""
    unique: int
    """Bytes whose content is stored in this file, before compression."""
    stored: int
    """Size of the file."""
    tables: int
    """How many files were opened with it, itself included: those its regions are based on."""
    table_bytes: int
    """What was read of them."""

class _Listing(TypedDict):
    records: list[str]
    strangers: list[str]
    """Records by their names, which nothing else says to be any."""

    unfinished: list[str]
    notes: list[str]

class _Compiled(TypedDict):
    image: bytes
    ir: str
    """Final IR, if asked for."""
    assembly: str
    """Final assembly, if asked for."""
    statistics: str
    """JSON: kernel, target, preprocess_ir_time, opt_time, codegen_time (seconds), obj_size, reg_usage,
    local_mem_usage, const_mem_usage, shared_mem_usage (bytes), ir_hash, image_hash, passes,
    target_cpu; for GPUs also spill_store_bytes, spill_load_bytes, stack_bytes, ptx_version,
    assembler, assemble_time (seconds)."""
    is_from_cache: bool

class _Argument(TypedDict):
    name: str
    type: str
    """The IR type: "ptr", "i32", ..."""
    kind: str
    """ "pointer", "integer", "float", "aggregate"; empty if unknown."""
    size: int
    """In bytes."""
    is_specializable: bool
    fields: list[_Member] | None
    """Members of a structure that the kernel reads; None: unknown."""

class _Member(TypedDict):
    name: str
    """ "s.n"; empty if unknown."""
    type: str
    kind: str
    offset: int
    size: int
    """Both in bytes."""
    is_specializable: bool

class _BinaryKernel(TypedDict):
    kernel: str
    """Mangled name."""
    demangled: str
    static_hash: int
    arch: str
    args: list[_Argument]
    metadata: str
    """JSON, as embedded by the compiler plugin."""
    bitcode: bytes
    linked: list[tuple[bytes, str]]
    """Bitcode and metadata of other units, if it is linked with them."""

class _DeviceKernel(TypedDict):
    name: str
    """Mangled."""
    demangled: str
    parameters: list[tuple[int, int]] | None
    """Offset and size of each; None: the code does not tell."""
    registers: int | None
    shared_bytes: int | None
    local_bytes: int | None
    """Stack of a thread."""
    barriers: int | None
    """Hardware barriers of a block: the highest number, plus 1."""
    constant_bytes: dict[int, int]
    """By the number of the bank."""
    register_limit: int
    """That it was assembled with; 0: none but the architecture's."""
    code_bytes: int
    max_threads: int
    """By its launch bounds; 0: it has none."""
    exact_threads: int
    """That every block has, which is the bound then; 0: any number up to that."""

class _DeviceCode(TypedDict):
    members: list[str]
    """What a fat binary holds."""
    form: str
    architecture: str
    kernels: list[_DeviceKernel]
    variables: list[tuple[str, int, bool]]
    """Name, size, and whether it is constant."""
    problem: str
    """Why there is no code; empty if there is."""

def version() -> str:
    """Return the version of the runtime."""

def check_regex(text: str) -> None:
    """Check a regular expression as the recorder takes it (ECMAScript).

    Raises:
        InvalidArgument: Saying what is wrong.
    """

def check_tuned_kernels(text: str, path: _Path) -> None:
    """Check the text of a tuned-kernels file with the reader of production runs.

    Args:
        text: The text.
        path: What messages call the file.

    Raises:
        ArtifactCorrupt: If a production run would leave some of it out, or all.
        Unsupported: If that is because a newer mneme wrote it.
    """

def compiler_version() -> str:
    """Return JSON with "llvm", "targets", "host_cpu" and "cache_key"; loads the compiler."""

def devices() -> list[_Device]:
    """Return every device mneme knows, with the reason where one is absent."""

def describe_device(id: str) -> _DeviceFacts:
    """Open a device and return its facts; an empty id means the default device.

    Raises:
        BackendUnavailable: With the reason.
        InvalidArgument: If there is no such device.
    """

def llvm_passes() -> str:
    """Return JSON of the passes the LLVM in use can name in a pipeline; loads the compiler.

    Keys say what passes run on: "module", "cgscc", "function", "loopnest", "loop" with lists of
    names, and each with "_with_params" behind it for lists of [name, description of the parameters];
    a key is missing where LLVM has no such passes.
    """

def other_compiler(path: str) -> str:
    """Return what configurations call a kernel compiler: the path of its library, "@" and a hash.

    Raises:
        InvalidArgument: If there is no such file.
    """

def check_passes(
    passes: str, pass_plugins: str = "", llvm_options: str = "", llvm: str = ""
) -> None:
    """Check a pass pipeline, and options of LLVM.

    Args:
        passes: The pipeline.
        pass_plugins: As of `compile_ir`; they are loaded in a process of their own.
        llvm_options: As of `compile_ir`.
        llvm: As of `compile_ir`.

    Raises:
        InvalidArgument: Naming the pass, or the option, that neither LLVM nor a plugin knows.
        BackendUnavailable: If a plugin cannot be loaded.
    """

def ir_to_text(ir: bytes) -> str:
    """Return bitcode (or text) as textual IR."""

def ir_to_bitcode(ir: bytes) -> bytes:
    """Return textual IR (or bitcode) as bitcode."""

def cache_directory() -> str:
    """Return where compiled images are kept, made if it was missing; empty if there is none."""

def processor_hash() -> str:
    """Return what code for the CPU device depends on, 16 hexadecimal digits."""

def content_hash(content: bytes) -> str:
    """Return the hash of stored content, 32 hexadecimal digits."""

_CodeTarget = tuple[str, list[tuple[str, int]]]
"""What code is made for: "sm_90"; names and addresses of the globals that are compiled in."""

class RecordedCode:
    """A recorded kernel as replays compile it, without a device. Reads the IR once."""

    def __init__(self, record: _Path, record_id: str = "") -> None:
        """Open a record file.

        Args:
            record: Path of `<static hash>.json`.
            record_id: The launch whose values can be fixed and whose globals have places; may be
                empty.

        Raises:
            NotFound, ArtifactCorrupt
        """

    @property
    def has_ir(self) -> bool:
        """Whether there is IR to compile; else the code is an image that runs as it is."""

    def recorded_target(self, name: str) -> _CodeTarget:
        """Return the code target of a device that has every global where it was recorded.

        Raises:
            NotFound, ArtifactCorrupt
        """

    def assembled(self, target: str, configuration_json: str) -> bytes:
        """Return the machine code that a replay on such a GPU ("sm_90") runs of recorded PTX.

        Raises:
            Unsupported: If there is no PTX, or the configuration changes other code.
            BackendUnavailable: If there is no ptxas.
        """

    def described(self, target: str, configuration_json: str, assembles: bool = True) -> _Compiled:
        """Return code that no LLVM compiles, as people read it.

        Args:
            target: The GPU's architecture: "sm_90".
            configuration_json: As for `ReplaySession.run`.
            assembles: Whether PTX is made into machine code, too, where there is a tool.

        Returns:
            "image": what the driver would load, or what was assembled; "assembly": the PTX that it is
            made of, or that stands beside it; "statistics": what the assembler says.

        Raises:
            Unsupported: If the configuration asks for other code, or the code is for other GPUs.
            ArtifactCorrupt: If a fat binary is damaged.
            CompileFailed: If the assembler refuses the PTX.
            BackendUnavailable: If there is no assembler for options of one.
        """

    def compile(
        self,
        configuration_json: str,
        target: _CodeTarget,
        options_json: str = "{}",
        ir: bytes = b"",
        *,
        assembler_options: str = "",
        code_object_version: int = 0,
        want_reasons: bool = False,
    ) -> _Compiled:
        """Compile a configuration as `ReplaySession.run` does on a device with this code target.

        Args:
            configuration_json: As for `ReplaySession.run`.
            target: `ReplaySession.code_target()`, or `recorded_target()`.
            options_json: "want_ir", "want_assembly", "use_cache".
            ir: Replaces the recorded IR (text or bitcode) unless empty.
            assembler_options: Further options for ptxas. GPU targets only.
            code_object_version: For AMD GPUs, 4 to 6; 0: the program's.
            want_reasons: Tell in the statistics what passes say and take, and how loops run
                (runtime/compiler/reasons/reasons.h).

        Raises:
            CompileFailed, Unsupported, InvalidArgument, NotFound, BackendUnavailable
        """

def pass_plugin(path: str) -> str:
    """Return the absolute path of a pass plugin, '@' and the hash of its content.

    Raises:
        InvalidArgument: If there is no such file, or its path has a ':'.
    """

def pinned_file(path: str, what: str) -> str:
    """Return the absolute path of a file, '@' and the hash of its content.

    Args:
        path: The file.
        what: What it is, for messages.

    Raises:
        InvalidArgument: If there is no such file.
    """

def compile_ir(
    modules: list[bytes],
    kernel: str,
    *,
    target: str = "cpu",
    passes: str = "default<O3>",
    codegen_opt: int = 3,
    prune: bool = True,
    internalize: bool = True,
    set_launch_bounds: bool = False,
    max_threads: int = 0,
    min_blocks_per_sm: int = 0,
    specialize_dims: bool = False,
    grid: _Dims = (1, 1, 1),
    block: _Dims = (1, 1, 1),
    specialized_args: dict[int, bytes] = {},
    specialized_members: dict[tuple[int, int], bytes] = {},
    specialized_contents: dict[int, tuple[int, bytes]] = {},
    options_json: str = "",
    placed_globals: dict[str, int] = {},
    code_numbers: dict[str, int] = {},
    code_texts: dict[str, str] = {},
    want_ir: bool = False,
    want_assembly: bool = False,
    want_shape: bool = False,
    use_cache: bool = True,
    apart_seconds: float = 0,
) -> _Compiled:
    """Link, specialise, optimise and generate code for one kernel.

    Args:
        modules: LLVM bitcode or textual IR, linked in order.
        kernel: Mangled name.
        target: "cpu" (this host), "sm_90", ...
        passes: LLVM pass pipeline.
        codegen_opt: 0 to 3.
        prune: Drop what the kernel does not reach.
        internalize: Make everything but the kernel internal.
        set_launch_bounds: Apply max_threads (0: threads of the block) and min_blocks_per_sm.
        max_threads: Largest block that will be launched.
        min_blocks_per_sm: Blocks to be resident at once.
        specialize_dims: Turn grid and block into constants.
        grid: Blocks.
        block: Threads of a block.
        specialized_args: Values of arguments to turn into constants, by index.
        specialized_members: Values of members of structures, by index and offset in bytes.
        specialized_contents: What pointers lead to and structs passed by value hold, by index: type of
            the elements (runtime/core/abi/jit_mark.h) and bytes.
        options_json: Ahead-of-time options to honour, as recorded.
        placed_globals: Addresses of device variables, by name; GPU targets only. 0: the code reads the
            address from the constant `__mneme_place_<name>`, which the loader fills in.
        code_numbers: Values of the knobs in `mneme.knobs.CODE_NUMBERS`, by their keys.
        code_texts: Values of the knobs in `mneme.knobs.CODE_TEXTS`, by their keys, as in configurations.
        want_ir: Return the final IR.
        want_assembly: Return the final assembly.
        want_shape: Tell in the statistics how the code is built (runtime/compiler/module/code_shape.h).
        use_cache: Look for a stored image and store the new one.
        apart_seconds: Not 0: compile in a process that may crash, and that is ended after so long,
            as a production run does; nothing is stored.

    Raises:
        CompileFailed, Unsupported, InvalidArgument, NotFound, BackendUnavailable
    """

def driving_tool() -> str:
    """Return the profiler, sanitizer or debugger that drives this process; "" without one."""

class _KernelAttributes(TypedDict):
    static_shared_bytes: int
    local_bytes: int
    """Per thread; 0 where the device has no such notion, as below."""
    constant_bytes: int
    registers: int
    max_threads_per_block: int
    argument_sizes: list[int] | None

class LoadedKernel:
    """An image on a device."""

    def attributes(self) -> _KernelAttributes:
        """Return what the kernel uses."""

    def launch(
        self,
        grid: _Dims,
        block: _Dims,
        args: list[bytes],
        shared_mem: int = 0,
        is_cooperative: bool = False,
        timeout: float = 0.0,
    ) -> int:
        """Run the kernel to its end and return its time in nanoseconds.

        Args:
            grid: Blocks.
            block: Threads of a block.
            args: The value of each argument, of the size the kernel reads.
            shared_mem: Bytes of dynamic shared memory.
            is_cooperative: Blocks may wait for one another.
            timeout: Seconds; 0: no limit.

        Raises:
            InvalidArgument: For an impossible shape or wrong arguments; nothing ran.
            DeviceFailed: With what happened.
        """

class Device:
    """An open device: addresses, memory, images. Addresses are not checked."""

    def __init__(self, id: str = "") -> None:
        """Open a device; an empty id means the default device.

        Raises:
            BackendUnavailable, InvalidArgument
        """

    def target(self) -> str:
        """Return what code is compiled for."""

    def granularity(self) -> int:
        """Return what sizes are rounded up to, in bytes."""

    def memory_left(self) -> int | None:
        """Return how many bytes of memory are free now; None: the device cannot tell."""

    def reserve(self, address: int, size: int) -> int:
        """Reserve addresses, any with 0; return the first.

        Raises:
            AddressUnavailable
        """

    def release(self, address: int, size: int) -> None:
        """Give reserved addresses back."""

    def map(self, address: int, size: int) -> None:
        """Put zeroed memory behind reserved addresses.

        Raises:
            OutOfMemory
        """

    def unmap(self, address: int, size: int) -> None:
        """Take the memory away."""

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of mapped memory."""

    def write(self, address: int, content: bytes) -> None:
        """Write to mapped memory."""

    def load(
        self, image: bytes, kernel: str, placements: dict[str, tuple[int, int]] = {}
    ) -> LoadedKernel:
        """Load an image made for this device.

        Args:
            image: As `compile_ir` returns.
            kernel: Mangled name.
            placements: Address and size of globals, by name, on the CPU device.

        Raises:
            CompileFailed: If it is not an image for this device.
            AddressUnavailable: Naming a global.
        """

def replay_graph(steps: list[tuple[str, str, str]], device: str, options_json: str = "{}") -> str:
    """Replay the kernels of a graph on one memory image; returns the result as JSON.

    Args:
        steps: Record, record id and configuration (JSON) of each kernel.
        device: As for `ReplaySession`.
        options_json: As for `ReplaySession.run`.
    """

class ReplaySession:
    """A recorded launch, opened on a device: memory at its recorded addresses, content uploaded."""

    def __init__(self, record: str, record_id: str = "", device: str = "") -> None:
        """Open an instance of a record.

        Args:
            record: Path of `<static hash>.json`.
            record_id: Dynamic hash; may be empty if the record has one instance.
            device: "cpu", "cuda:0", ...; empty: MNEME_DEVICE, else the first GPU, else the CPU.

        Raises:
            NotFound, ArtifactCorrupt, AddressUnavailable, BackendUnavailable, OutOfMemory,
            InvalidArgument
        """

    def recorded(self) -> str:
        """Return the configuration of the recorded launch as JSON."""

    def code_target(self) -> _CodeTarget:
        """Return what `run` has code made for; stays the same."""

    def build(self, configuration_json: str, options_json: str = "{}", ir: bytes = b"") -> str:
        """Build what a `run` with the same arguments soon after needs.

        Returns:
            The compiler's statistics, as `RecordedCode.compile` gives them.

        Raises:
            CompileFailed, InvalidArgument, Unsupported
        """

    def run(
        self, configuration_json: str, options_json: str = "{}", ir: bytes = b""
    ) -> tuple[str, str, str]:
        """Build, restore, run, verify and measure one configuration.

        Args:
            configuration_json: The fields of ExperimentConfiguration.
            options_json: "iterations", "warmup", "timeout" (seconds per launch), "tolerances" (list
                of texts or objects), "want_ir", "want_assembly", "use_cache", "cold_cache",
                "confidence" (relative half width of the median's 95 % interval at which measuring
                ends; 0: fixed iterations), "min_iterations", "max_iterations", "time_budget"
                (seconds), "stop_above_ns", "classify_wrong" (false: launch what disagrees no
                further to tell wrong from nondeterministic).
            ir: Replaces the recorded IR (text or bitcode) unless empty.

        What the kernel prints appears on standard error: while this runs, the standard output of the
        process is redirected there.

        Returns:
            The result as JSON, final IR and final assembly (empty unless asked for). What the
            configuration, the compiler or the kernel did wrong is in the result ("failed", "error").

        Raises:
            InvalidArgument: If one of the JSON texts is malformed.
        """

    def close(self) -> None:
        """Give the device memory back; does nothing if it is closed."""

    def __enter__(self) -> ReplaySession: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

class _TrimReference(TypedDict):
    refusal: str
    """Why no trial can be compared with this launch; empty if they can."""
    changed_bytes: int
    """What the launch changed, in whole chunks."""

class _TrimTrial(TypedDict):
    difference: str
    """Where the result differs, or how the launch failed; empty if it is the same."""
    is_device_usable: bool
    """Whether this process can go on."""

class Trim:
    """Trials with a session, which can do nothing else afterwards: what does the launch read?"""

    def __init__(self, session: ReplaySession, configuration_json: str, timeout: float) -> None:
        """Build the code and hash the recorded memory.

        Args:
            session: Stays open as long as this object.
            configuration_json: The recorded configuration.
            timeout: Seconds for a launch; 0: no limit.

        Raises:
            CompileFailed, InvalidArgument, Unsupported, DeviceFailed, OutOfMemory
        """

    def take_reference(self, grid: _Dims) -> _TrimReference:
        """Launch this grid on recorded memory; what it leaves is what trials must leave.

        Raises:
            DeviceFailed: If the kernel fails with the recorded grid.
        """

    def trial(self, fills: list[tuple[int, int, int]], noted: int | None = None) -> _TrimTrial:
        """Launch once with other content in memory.

        Args:
            fills: Recorded address, size and pattern: 0 zeros, 1 small numbers, 2 large ones;
                ascending, without overlaps.
            noted: 1 or 2, to note what is written where that is the pattern.
        """

    def notes_agree(self) -> bool:
        """Return whether the last trials noted for 1 and for 2 wrote the same bytes.

        Bytes of which they did not depend on what was there.
        """

    def untouched(self) -> list[tuple[int, int]]:
        """Return whole chunks, as address and size, that no noted trial wrote."""

    def untouched_bytes(self) -> int:
        """Return how many bytes no noted trial wrote."""

    def write(
        self,
        directory: str,
        unread: list[tuple[int, int]],
        unallocated: list[tuple[int, int]],
    ) -> None:
        """Write a recording of the reference launch without bytes that are not read.

        Args:
            directory: Made if it is missing.
            unread: Address and size; noted trials of them went before.
            unallocated: Parts of it, in whole chunks, that are not even allocated.

        Raises:
            DeviceFailed: If the noted trials disagree.
            IoFailed, OutOfMemory
        """

def demangle(name: str) -> str:
    """Return a C++ name as people write it; any other as it is."""

class Snapshot:
    """An open `DeviceState.*.mneme` file."""

    def __init__(self, path: _Path) -> None:
        """Open a snapshot.

        Raises:
            NotFound, ArtifactCorrupt
        """

    def regions(self) -> list[_Region]:
        """Return the memory ranges the kernel could see."""

    def args(self) -> list[bytes]:
        """Return the values of the kernel's arguments; empty in epilogues."""

    def read(self, region: int, offset: int, size: int) -> bytes:
        """Return bytes of a region, checked against their checksums.

        Raises:
            OutOfRange, ArtifactCorrupt
        """

    def sizes(self) -> _SnapshotSizes:
        """Return how much there is and how much of it this file stores."""

    def references(self) -> list[str]:
        """Return the files beside it that this file names: for content, or to be based on."""

    def needed_files(self) -> list[str]:
        """Return all files that this snapshot needs, itself included, sorted."""

    def needed_ranges(self) -> dict[str, list[tuple[int, int]]]:
        """Return which bytes of these files it needs, as offsets and sizes, ascending.

        Files of the same sizes that have these bytes are read alike.

        Raises:
            NotFound, IoFailed, ArtifactCorrupt
        """

    def changed_bytes(self, before: Snapshot) -> int:
        """Return how much of this epilogue is other than in its prologue, in whole chunks.

        Raises:
            ArtifactCorrupt
        """

    def verify(self) -> None:
        """Read and check everything.

        Raises:
            ArtifactCorrupt
        """

def write_partial_snapshot(target: _Path, whole: _Path, zero: set[int]) -> Snapshot:
    """Write a snapshot that differs from another one by regions of zeros; return it.

    Args:
        target: The new file; it refers to a file beside it that is called as the other one.
        whole: The other one.
        zero: Numbers of regions.

    Raises:
        InvalidArgument, NotFound, OutOfRange, ArtifactCorrupt, IoFailed
    """

def list_directory(directory: _Path) -> _Listing:
    """Return records, unfinished files and notes about losses of a recording directory."""

def files_of(record: _Path) -> list[str]:
    """Return every file a record needs, itself first, as absolute paths."""

def copy_records(records: list[_Path], destination: _Path) -> None:
    """Copy records with everything they refer to; all or nothing."""

def move_records(records: list[_Path], destination: _Path) -> None:
    """Move records with everything they refer to; sources go last."""

def clean_records(records: list[_Path]) -> list[str]:
    """Delete records with the files only they refer to; return what was deleted."""

def load_record(path: _Path) -> str:
    """Return a record as normalised JSON, whichever tool wrote it.

    Raises:
        NotFound, ArtifactCorrupt
    """

def record_arguments(path: _Path) -> list[_Argument]:
    """Return what a record says of the kernel's arguments; 0 and empty is what it does not say.

    Raises:
        NotFound, ArtifactCorrupt
    """

def describe_binary(path: _Path) -> list[_BinaryKernel]:
    """Return the kernels an executable or library carries; empty if it was not instrumented."""

def describe_device_code(path: _Path, architecture: str = "") -> list[_DeviceCode]:
    """Return the device code of an executable, library, fat binary, cubin or PTX.

    Args:
        path: The file.
        architecture: The GPU's, "sm_90" say; empty: the newest in it.

    Raises:
        NotFound, IoFailed
    """

def describe_device_image(image: bytes, architecture: str = "") -> _DeviceCode:
    """Return the same of a fat binary, cubin or PTX in memory; damaged ones have a problem."""

def describe_host_functions(path: _Path) -> list[_BinaryKernel]:
    """Return the marked host functions that an executable or library carries.

    Raises:
        NotFound, ArtifactCorrupt
    """
