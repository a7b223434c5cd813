"""A program of the CUDA driver API by ctypes, as cuda-python's are: in contexts of its own.

context_program.py one|two|again|current|mapped|green
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
from ctypes import byref, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

COUNT = 4096
BYTES = COUNT * 4
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 bias = 5;
.visible .entry mix(.param .u64 numbers, .param .u32 step)
{
  .reg .u32 %r<8>;
  .reg .u64 %rd<8>;
  ld.param.u64 %rd1, [numbers];
  ld.param.u32 %r1, [step];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd2, %rd3;
  ld.global.u32 %r5, [%rd4];
  ld.global.u32 %r6, [bias];
  mad.lo.u32 %r5, %r5, 3, %r1;
  add.u32 %r5, %r5, %r2;
  add.u32 %r5, %r5, %r6;
  st.global.u32 [%rd4], %r5;
  ret;
}
"""
driver = ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver, which must succeed."""
    status = getattr(driver, name)(*arguments)
    assert status == 0, (name, status)


class Kernel:
    """The kernel and its memory, in the context that is current."""

    def __init__(self, bias: int, *, is_of_library: bool = False) -> None:
        """Load the kernel, as a module or as a library, and set its variable."""
        code, place, self.kernel, self.numbers = (c_void_p() for _ in range(4))
        if is_of_library:
            call("cuLibraryLoadData", byref(code), PTX, None, None, 0, None, None, 0)
            call("cuLibraryGetKernel", byref(self.kernel), code, b"mix")
            call("cuLibraryGetGlobal", byref(place), None, code, b"bias")
        else:
            call("cuModuleLoadData", byref(code), PTX)
            call("cuModuleGetFunction", byref(self.kernel), code, b"mix")
            call("cuModuleGetGlobal_v2", byref(place), None, code, b"bias")
        call("cuMemsetD32_v2", place, bias, c_size_t(1))
        call("cuMemAlloc_v2", byref(self.numbers), c_size_t(BYTES))
        call("cuMemsetD32_v2", self.numbers, 7, c_size_t(COUNT))

    def launch(self, step: int, stream: c_void_p | None = None) -> None:
        """Launch it on its memory and print a digest of what that holds then."""
        arguments = [self.numbers, c_int(step)]
        pointers = (c_void_p * 2)(*(ctypes.addressof(one) for one in arguments))
        call("cuLaunchKernel", self.kernel, 16, 1, 1, 256, 1, 1, 0, stream, pointers, None)
        call("cuStreamSynchronize", stream)
        held = ctypes.create_string_buffer(BYTES)
        call("cuMemcpyDtoH_v2", held, self.numbers, c_size_t(BYTES))
        print(step, hashlib.sha256(held.raw).hexdigest()[:16])


def make_context() -> c_void_p:
    """Make a context of the program's own, which is current then."""
    context = c_void_p()
    call("cuCtxCreate_v2", byref(context), 0, 0)
    return context


def retain_primary() -> c_void_p:
    """Make the primary context the current one."""
    context = c_void_p()
    call("cuDevicePrimaryCtxRetain", byref(context), 0)
    call("cuCtxSetCurrent", context)
    return context


def one() -> None:
    """Work in one context."""
    context = make_context()
    kernel = Kernel(11)
    kernel.launch(1)
    stream = c_void_p()
    call("cuStreamCreate", byref(stream), 1)
    kernel.launch(2, stream)
    call("cuCtxDestroy_v2", context)


def two() -> None:
    """Work in two contexts of one device in turns."""
    contexts = [make_context(), make_context()]
    kernels = []
    for index, context in enumerate(contexts):
        call("cuCtxSetCurrent", context)
        kernels.append(Kernel(20 + index))
    for step in range(4):
        call("cuCtxSetCurrent", contexts[step % 2])
        kernels[step % 2].launch(step)
    for context in contexts:
        call("cuCtxDestroy_v2", context)


def again() -> None:
    """Make a context anew, which gets handles and addresses of the one before."""
    for step in range(4):
        context = make_context()
        Kernel(step).launch(step)
        call("cuCtxDestroy_v2", context)


def current() -> None:
    """Work in the primary context, in another one pushed on it, and in the primary one again."""
    retain_primary()
    kernel = Kernel(31)
    kernel.launch(1)
    context = make_context()
    Kernel(32).launch(2)
    popped = c_void_p()
    call("cuCtxPopCurrent_v2", byref(popped))
    kernel.launch(3)
    call("cuCtxDestroy_v2", context)
    kernel.launch(4)


class Location(ctypes.Structure):
    """CUmemLocation."""

    _fields_ = (("type", c_int), ("id", c_int))


class Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", c_int),
        ("handles", c_int),
        ("location", Location),
        ("more", ctypes.c_char * 64),
    )


class Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", Location), ("flags", c_int))


def mapped() -> None:
    """Use memory that the program maps itself in two contexts, one of which is made later."""
    size = c_size_t(2 << 20)
    first = make_context()
    kernel = Kernel(41)
    place, memory = c_ulonglong(), c_ulonglong()
    properties = Properties(type=1, location=Location(1, 0))
    access = Access(location=Location(1, 0), flags=3)
    call("cuMemAddressReserve", byref(place), size, c_size_t(0), c_ulonglong(0), c_ulonglong(0))
    call("cuMemCreate", byref(memory), size, byref(properties), c_ulonglong(0))
    call("cuMemMap", place, size, c_size_t(0), memory, c_ulonglong(0))
    call("cuMemSetAccess", place, size, byref(access), c_size_t(1))
    kernel.numbers = c_void_p(place.value)
    call("cuMemsetD32_v2", kernel.numbers, 9, c_size_t(COUNT))
    kernel.launch(1)
    second = make_context()
    other = Kernel(42)
    other.numbers = kernel.numbers
    other.launch(2)
    call("cuCtxDestroy_v2", second)
    call("cuCtxSetCurrent", first)
    kernel.launch(3)


def green() -> None:
    """Work in half of the multiprocessors: in a stream of theirs, and where they are current."""
    retain_primary()
    whole, half, rest = (ctypes.create_string_buffer(4096) for _ in range(3))
    description, context, ordinary, stream = (c_void_p() for _ in range(4))
    count = c_uint(1)
    all_of_them = c_int()
    call("cuDeviceGetAttribute", byref(all_of_them), 16, 0)
    call("cuDeviceGetDevResource", 0, whole, 1)
    split = (half, byref(count), whole, rest, 0, all_of_them.value // 2)
    call("cuDevSmResourceSplitByCount", *split)
    call("cuDevResourceGenerateDesc", byref(description), half, 1)
    call("cuGreenCtxCreate", byref(context), description, 0, 1)
    call("cuGreenCtxStreamCreate", byref(stream), context, 1, 0)
    kernel = Kernel(51, is_of_library=True)
    kernel.launch(1, stream)
    kernel.launch(2)
    call("cuCtxFromGreenCtx", byref(ordinary), context)
    call("cuCtxPushCurrent_v2", ordinary)
    kernel.launch(3)
    popped = c_void_p()
    call("cuCtxPopCurrent_v2", byref(popped))
    kernel.launch(4)


if __name__ == "__main__":
    call("cuInit", 0)
    {one.__name__: one for one in (one, two, again, current, mapped, green)}[sys.argv[1]]()
