"""The steps of compiling one by one: what each changes, and what is refused."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest
from mneme.llvm.module import ModuleRef, parse_assembly

from mneme import device, llvm
from mneme.device import DeviceModule, get_device_count, set_device
from mneme.errors import CompileFailed, InvalidArgument, NotFound, OutOfRange
from mneme.mneme_types import dim3
from mneme.page_manager import PageManagerRef
from mneme.proteus import jit
from mneme.recording.recorded_execution import RecordedExecution
from mneme.transforms.transform import remove_auto_initialize
from native_parts import needs_native

RECORD = Path(__file__).resolve().parents[1] / "golden" / "v2" / "16372073875777044691.json"
KERNEL = "_Z4linkP4Nodeii"
INITIALISED = """
define void @f(ptr %p) {
  store i32 0, ptr %p, align 4, !annotation !0
  store i32 7, ptr %p, align 4
  store i32 8, ptr %p, align 4, !annotation !1
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 false), !annotation !0
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
!0 = !{!"auto-init"}
!1 = !{!"other"}
"""

pytestmark = [pytest.mark.compile, needs_native]


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEME_DEVICE", "cpu")


@pytest.fixture
def record() -> RecordedExecution:
    return RecordedExecution.from_json(RECORD)


@pytest.fixture
def module(record: RecordedExecution) -> ModuleRef:
    return record.link_llvm_modules()


def body(module: ModuleRef) -> str:
    text = str(module)
    return text[text.index("define dso_local") : text.index("\n}", text.index("define dso_local"))]


@pytest.mark.parametrize(
    "name", ["module", "value", "initfini", "linker", "newpassmanagers", "targets", "context"]
)
def test_modules_of_the_binding_are_there(name: str) -> None:
    found = import_module(f"mneme.llvm.{name}")
    assert getattr(llvm, name) is found


def test_llvm_can_be_initialised_as_often_as_one_likes() -> None:
    llvm.initialize()
    llvm.initfini.initialize()
    assert llvm.parse_assembly("define void @f() { ret void }").get_function("f").name == "f"


def test_automatic_initialisation_is_removed() -> None:
    module = parse_assembly(INITIALISED)
    assert remove_auto_initialize(module) is module
    text = str(module)
    assert "i32 0" not in text
    assert "call void @llvm.memset" not in text
    assert "i32 7" in text
    assert "i32 8" in text
    again = str(remove_auto_initialize(module))
    assert again == text


def test_arguments_become_constants(record: RecordedExecution, module: ModuleRef) -> None:
    (launch,) = record.values()
    before = body(module)
    changed = jit.specialize_args(module, 1, KERNEL, launch.prologue.args, 3, [1])
    assert changed is module
    assert "i32 40" not in before
    jit.optimize(module, opt_level=2)
    assert "39" in body(module)
    with pytest.raises(InvalidArgument, match="3 arguments"):
        jit.specialize_args(module, 1, KERNEL, launch.prologue.args, None, [3])


@pytest.mark.parametrize("function", [jit.specialize_dims, jit.specialize_dims_assume])
def test_extents_become_constants(function: object, module: ModuleRef) -> None:
    jit.optimize(module, opt_level=1)
    assert "sreg.ntid" in body(module)
    assert callable(function)
    function(module, 0, KERNEL, dim3(1), dim3(64))
    jit.optimize(module, opt_level=1)
    assert "sreg.ntid" not in body(module)


def test_launch_bounds_are_set(module: ModuleRef) -> None:
    jit.set_launch_bounds(module, 0, KERNEL, 128, 3)
    assert '"nvvm.maxntid"="128"' in str(module) or "maxntid" in str(module)
    for bounds in ((0, 1), (64, -1)):
        with pytest.raises(InvalidArgument, match="launch bounds need"):
            jit.set_launch_bounds(module, 0, KERNEL, *bounds)


@pytest.mark.parametrize("level", [0, 1, 2, 3, "s", "z", "default<O1>", "function(sroa)"])
@pytest.mark.parametrize("arch", ["", "cpu", "sm_90"])
def test_a_module_is_optimised_for_what_it_is_made_for(
    level: int | str, arch: str, module: ModuleRef
) -> None:
    jit.optimize(module, arch, level, 3)
    assert "nvptx64" in module.triple
    assert ("alloca" in body(module)) == (level == 0)


def test_what_cannot_be_compiled_is_told(module: ModuleRef) -> None:
    with pytest.raises((InvalidArgument, CompileFailed), match="no-such-pass"):
        jit.optimize(module, opt_level="no-such-pass")
    with pytest.raises(InvalidArgument, match="goes from 0 to 3"):
        jit.codegen_object(module, "cpu", 4)
    with pytest.raises(NotFound, match="no kernel 'nobody'"):
        jit.internalize(module, "nobody")
    with pytest.raises(InvalidArgument, match="no module"):
        jit.link_llvm_modules([], KERNEL)
    with pytest.raises(InvalidArgument, match="which GPU"):
        jit.optimize(parse_assembly("define void @f() { ret void }"))


def test_pruning_keeps_what_kernels_reach() -> None:
    module = parse_assembly(
        "define ptx_kernel void @k() { call void @a() ret void }\n"
        "define void @a() { ret void }\n"
        "define void @b() { ret void }\n"
        "declare void @c()\n"
    )
    jit.pruneIR(module)
    assert sorted(one.name for one in module.functions) == ["a", "k"]
    assert module.get_function("a").linkage.name == "external"


def test_an_image_for_the_cpu_has_one_kernel() -> None:
    text = "define ptx_kernel void @{}() #0 {{ ret void }}\n"
    module = parse_assembly(
        'target triple = "nvptx64-nvidia-cuda"\n'
        + text.format("k")
        + text.format("l")
        + 'attributes #0 = { "target-cpu"="sm_90" }\n'
    )
    with pytest.raises(InvalidArgument, match="kernels k, l"):
        jit.codegen_object(module, "cpu")
    jit.link_llvm_modules([module], "l")
    assert jit.codegen_object(module, "cpu").kernel == "l"


def test_images_are_for_their_device(module: ModuleRef) -> None:
    assert jit.codegen_object(module, "sm_90")
    image = jit.codegen_object(module, "cpu")
    with pytest.raises(InvalidArgument, match="empty"):
        DeviceModule.from_MemBuffer(b"")
    with pytest.raises(CompileFailed):
        DeviceModule.from_MemBuffer(b"no image").get_function(KERNEL)
    with pytest.raises(CompileFailed):
        DeviceModule.from_MemBuffer(image).get_function("nobody")
    assert image.kernel == KERNEL
    function = DeviceModule.from_MemBuffer(image).get_function(KERNEL)
    assert function.argument_sizes == [8, 4, 4]
    for args in ([], [b""] * 3, [bytes(8), bytes(4), bytes(8)]):
        with pytest.raises(InvalidArgument, match="argument"):
            function.launch(dim3(1), dim3(1), args)
    with pytest.raises(InvalidArgument, match="impossible"):
        function.launch(dim3(1), dim3(4096), [bytes(8), bytes(4), bytes(4)])
    with pytest.raises(InvalidArgument, match="iterations"):
        function.profile(dim3(1), dim3(1), [bytes(8), bytes(4), bytes(4)], iterations=-1)


def test_devices_have_numbers() -> None:
    assert get_device_count() == 1
    set_device(0)
    for number in (-1, 1):
        with pytest.raises(InvalidArgument, match="no device number"):
            set_device(number)
    assert device.get_device_arch() == "cpu"


def test_a_window_keeps_to_itself() -> None:
    with PageManagerRef(0, 0, 1) as pages:
        pages.write(pages.address + 5, b"abc")
        assert pages.read(pages.address + 4, 5) == b"\0abc\0"
        for address, size in ((pages.address - 1, 1), (pages.address + pages.size, 1)):
            with pytest.raises(OutOfRange, match="not in the window"):
                pages.read(address, size)
    with pytest.raises(OutOfRange):
        pages.read(pages.address, 1)
    pages.close()
    for address, size in (("nowhere", 1), (0, 0), (-1, 1)):
        with pytest.raises(InvalidArgument):
            PageManagerRef(0, address, size)


def test_a_window_may_be_taken_again() -> None:
    recorded = json.loads(RECORD.read_text())
    for _ in range(3):
        with PageManagerRef(0, recorded["VAddr"], recorded["VASize"]) as pages:
            assert pages.address == int(recorded["VAddr"], 16)


def test_steps_take_arguments_by_their_documented_names(module: ModuleRef) -> None:
    values = [bytes(8), bytes(4), bytes(4)]
    jit.link_llvm_modules(modules=[module], kernel_name=KERNEL, prune=True, internalize=True)
    jit.internalize(mod=module, kernel_name=KERNEL)
    jit.specialize_args(mod=module, hash=1, kernel=KERNEL, args=values, num_args=3, idxs=[1])
    jit.specialize_dims(mod=module, hash=1, kernel=KERNEL, grid=dim3(1), block=dim3(32))
    jit.set_launch_bounds(mod=module, hash=1, kernel=KERNEL, max_threads=32, min_blocks=1)
    jit.optimize(mod=module, device_arch="cpu", opt_level="3", codegen_opt_level=3)
    assert jit.codegen_object(mod=module, device_arch="cpu", codegen_opt_level=3).kernel == KERNEL


def test_a_window_that_nobody_knows_is_given_back() -> None:
    recorded = json.loads(RECORD.read_text())
    for _ in range(2):
        window = PageManagerRef(0, recorded["VAddr"], recorded["VASize"])
        launch = next(iter(RecordedExecution.from_json(RECORD).values()))
        with launch.prologue:
            assert window.address == int(recorded["VAddr"], 16)
        del window


def test_states_that_are_opened_are_what_the_window_holds() -> None:
    record = RecordedExecution.from_json(RECORD)
    launch = next(iter(record.values()))
    module = record.link_llvm_modules()
    image = jit.codegen_object(jit.optimize(module), "cpu")
    function = DeviceModule.from_MemBuffer(image).get_function(record.kernel_name)
    with (
        PageManagerRef(0, record.va_addr, record.va_size),
        launch.prologue as before,
        launch.epilogue as after,
    ):
        assert before != after
        for _ in range(2):
            function.launch(launch.grid_dim, launch.block_dim, before.args, launch.shared_mem)
            assert before == after
            assert after == before
            before.reset()
            assert before != after
    with launch.prologue as before:
        assert before != launch.epilogue
