# ruff: noqa: ANN001, ANN201 - types of the library's own
# mypy: ignore-errors
"""JAX: a softmax as a kernel of Pallas (by Triton), jitted functions, and XLA's own choice of kernels."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from told import tell


def softmax_kernel(x_ref, o_ref) -> None:
    """Handle one row."""
    x = x_ref[...]
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    o_ref[...] = e / jnp.sum(e, axis=-1, keepdims=True)


def by_triton() -> dict:
    """Return how this release is told to use Triton, where it would choose another way."""
    try:
        from jax.experimental.pallas import triton as plgpu  # noqa: PLC0415 - not in each release

        return {"compiler_params": plgpu.CompilerParams(num_warps=4, num_stages=1)}
    except (ImportError, AttributeError):
        return {}


@jax.jit
def softmax(x):
    """Return the softmax of each row."""
    row = pl.BlockSpec((1, x.shape[1]), lambda i: (i, 0))
    make = functools.partial(pl.pallas_call, softmax_kernel, grid=(x.shape[0],), **by_triton())
    return make(in_specs=[row], out_specs=row, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


x = jax.random.normal(jax.random.key(0), (256, 1024), dtype=jnp.float32)
mine = softmax(x)
theirs = jax.jit(lambda v: jax.nn.softmax(v * 1.5) @ v.T)(x)
tell("Pallas", np.asarray(mine))
print(bool(jnp.allclose(mine, jax.nn.softmax(x), atol=1e-6)), bool(jnp.isfinite(theirs).all()))
