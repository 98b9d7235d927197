"""The ops of the module `_tti` in numpy: the executable form of docs/arithmetic.md.

Every function has the name, the positional arguments, the checks and, bit for bit, the results of
its namesake on a board. Buffers are bytearrays, memoryviews, arrays or numpy arrays; results are
written into them in place. `install()` puts these ops under the device package `tti`, so that the
very graphs of the boards run on a PC.
"""

from ttikit.simulator.conv import conv3x3_s8
from ttikit.simulator.cores import cores
from ttikit.simulator.elementary import exp, gelu, log, rne, rsqrt, silu, sincos, sqrt
from ttikit.simulator.installer import install
from ttikit.simulator.model import (
    build,
    crc32,
    model_check,
    model_check_head,
    model_find,
    model_head_bytes,
    model_verify,
    portable,
)
from ttikit.simulator.products import (
    attention_scores,
    attention_values,
    gemm_s8,
    gemm_s8_add,
    softmax_s8,
)
from ttikit.simulator.quantize import layernorm_modulate_s8, quantize_cols_t, quantize_rows
from ttikit.simulator.reserved import reserved
from ttikit.simulator.vectors import (
    add,
    embed,
    euler,
    lerp,
    mean_rows,
    noise,
    quantize_latent,
    timestep_features,
)

__all__ = [
    "add",
    "attention_scores",
    "attention_values",
    "build",
    "conv3x3_s8",
    "cores",
    "crc32",
    "embed",
    "euler",
    "exp",
    "gelu",
    "gemm_s8",
    "gemm_s8_add",
    "install",
    "layernorm_modulate_s8",
    "lerp",
    "log",
    "mean_rows",
    "model_check",
    "model_check_head",
    "model_find",
    "model_head_bytes",
    "model_verify",
    "noise",
    "portable",
    "quantize_cols_t",
    "quantize_latent",
    "quantize_rows",
    "reserved",
    "rne",
    "rsqrt",
    "silu",
    "sincos",
    "softmax_s8",
    "sqrt",
    "timestep_features",
]
