"""What scripts may hand over as a pointer, and what `mneme.jit` says of what they may not."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tensors import CPU, CUDA, CUDA_HOST, Copying, Exported, OldExported, Tensor, cuda_array

import proteus
from mneme import jit

HERE = Path(__file__).parent
pytestmark = pytest.mark.compile

SOURCE = """
extern "C" double sum(const double* x, long n) {
  double result = 0;
  for (long i = 0; i < n; ++i)
    result += x[i];
  return result;
}
"""
TYPES = (proteus.f64, [proteus.ptr, proteus.i64])
GAPS = (
    "pointer argument is not contiguous, the last index first; pass a contiguous copy, or its "
    "address if the code knows its strides"
)
READ_ONLY = "pointer argument is read-only; pass a copy, or its address if the code only reads it"
ON_GPU = "pointer argument is in memory of a GPU, and a function takes memory of the host"
ON_HOST = "pointer argument is in memory of the host, and a kernel takes memory of a GPU"
NO_MEMORY = (
    "pointer argument must be an int, None, data_ptr() object, __array_interface__ object, or "
    "ctypes object"
)
NO_GPU_MEMORY = (
    "pointer argument must be an int, None, data_ptr() object, or __cuda_array_interface__ object"
)


@pytest.fixture(autouse=True, scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The cache is where the process is when it first compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("memory"))
        yield


@pytest.fixture(scope="module")
def lax() -> proteus.Function:
    return proteus.compile(SOURCE, "cpp").get_function("sum", *TYPES)


@pytest.fixture(scope="module")
def strict() -> proteus.Function:
    return jit.compile(SOURCE, "cpp").get_function("sum", *TYPES)


def forms(array: np.ndarray) -> list[object]:
    """One array of the host in every form."""
    return [
        *(array, array.ctypes.data, array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))),
        *(Tensor(array.ctypes.data, CPU), Tensor(array.ctypes.data, CUDA_HOST)),
        *(Exported(array, CPU), OldExported(array, CUDA_HOST), Copying(array, CPU)),
    ]


def test_memory_of_the_host_in_every_form(lax: proteus.Function, strict: proteus.Function) -> None:
    array = np.arange(6.0)
    for function in (lax, strict):
        assert [function(form, 6) for form in forms(array)] == [15] * 8
        assert [function(form, 3) for form in forms(array[3:])] == [12] * 8
        assert function(np.zeros((0, 3)), 0) == function(np.zeros((3, 0)), 0) == 0
        assert function(np.array(7.0), 1) == 7
        assert function(np.arange(6.0).reshape(1, 6, 1)[:, :, ::-1], 6) == 15


READ_ONLY_ARRAY = np.arange(6.0)
READ_ONLY_ARRAY.setflags(write=False)
ARRAY = np.arange(12.0)
MISUSED = [
    (READ_ONLY_ARRAY, READ_ONLY),
    (Exported(READ_ONLY_ARRAY, CPU), READ_ONLY),
    (ARRAY[::2], GAPS),
    (ARRAY.reshape(3, 4).T, GAPS),
    (ARRAY[::-1], GAPS),
    (Exported(ARRAY[::2], CPU), GAPS),
    (Tensor(ARRAY.ctypes.data, CPU, contiguous=False), GAPS),
]


@pytest.mark.parametrize(("given", "sentence"), MISUSED)
def test_what_could_be_misread_is_refused_by_mneme_alone(
    lax: proteus.Function, strict: proteus.Function, given: object, sentence: str
) -> None:
    assert lax(given, 1) >= 0
    with pytest.raises(TypeError, match=f"^argument 1 of 'sum': {re.escape(sentence)}$"):
        strict(given, 1)


@pytest.mark.parametrize(
    ("given", "sentence", "own"),
    [
        (Tensor(8, CUDA), ON_GPU, ON_GPU),
        (cuda_array(8), NO_MEMORY, ON_GPU),
        (Exported(ARRAY, CUDA), NO_MEMORY, ON_GPU),
        ("text", NO_MEMORY, NO_MEMORY),
        (bytearray(8), NO_MEMORY, NO_MEMORY),
    ],
)
def test_what_is_no_memory_of_the_host_is_refused(
    lax: proteus.Function, strict: proteus.Function, given: object, sentence: str, own: str
) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        lax(given, 1)
    with pytest.raises(TypeError, match=f"^argument 1 of 'sum': {re.escape(own)}$"):
        strict(given, 1)


@pytest.mark.parametrize("address", [-1, 2**64])
def test_numbers_that_are_no_address_are_refused(lax: proteus.Function, address: int) -> None:
    with pytest.raises(OverflowError, match=f"^proteus.ptr cannot hold {address}$"):
        lax(address, 0)


def test_words_of_an_object_that_gives_no_tensor(lax: proteus.Function) -> None:
    class Closed(Exported):
        def __dlpack__(self, **named: object) -> object:
            raise BufferError("it is closed")

    with pytest.raises(TypeError, match=r"^pointer argument gives no tensor by .*: it is closed$"):
        lax(Closed(ARRAY, CPU), 1)

    class Odd(Exported):
        def __dlpack__(self, **named: object) -> object:
            return 7

    with pytest.raises(TypeError, match=r"^pointer argument gives no tensor by __dlpack__\(\)$"):
        lax(Odd(ARRAY, CPU), 1)


def test_mneme_says_which_argument_is_wrong(strict: proteus.Function) -> None:
    for args, sentence in (
        ((), "function 'sum' takes 2 arguments, not 0"),
        ((ARRAY, 1, 2), "function 'sum' takes 2 arguments, not 3"),
        ((ARRAY, "1"), "argument 2 of 'sum': 'str' object cannot be interpreted as an integer"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
            strict(*args)
    with pytest.raises(OverflowError, match=r"^argument 2 of 'sum': proteus.i64 cannot hold 9"):
        strict(ARRAY, 2**63)


def test_memory_of_kernels(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mneme", "run", "--device", "cpu", "--", sys.executable),
            HERE / "python_memory.py",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("PROTEUS_")},
    )
    assert done.returncode == 0, done.stderr
    refused = {
        "numpy": (NO_GPU_MEMORY, ON_HOST),
        "tensor of the host": (ON_HOST, ON_HOST),
        "tensor with gaps": ("taken", GAPS),
        "array with gaps": ("taken", GAPS),
        "rows": ("taken", GAPS),
        "read-only": ("taken", READ_ONLY),
        "DLPack of the host": (NO_GPU_MEMORY, ON_HOST),
        "DLPack with gaps": ("taken", GAPS),
        "ctypes": (NO_GPU_MEMORY, NO_GPU_MEMORY),
        "text": (NO_GPU_MEMORY, NO_GPU_MEMORY),
    }
    said = []
    for what, (lax, strict) in refused.items():
        said += [f"{what}, lax: {lax}", f"{what}, strict: argument 1 of 'scale': {strict}"]
    assert done.stdout.splitlines() == [
        "cuda",
        "16384.0 True [None, None]",
        "{'stream': 2, 'max_version': (1, 1)}",
        *said,
        "TypeError: kernel 'scale' takes 3 arguments, not 2",
        "TypeError: argument 2 of 'scale': must be real number, not str",
        "TypeError: argument 3 of 'scale': 'float' object cannot be interpreted as an integer",
        "OverflowError: argument 3 of 'scale': proteus.i32 cannot hold 2147483648",
    ]
