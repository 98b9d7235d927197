"""The C kernels in a shared library, called through ctypes with the arguments of the ops."""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

from native_cases import Case
from ttikit.emulator.arguments import Number, c_arguments

# Kinds of the C parameters: p pointer, i int, n size_t, u uint32_t.
SIGNATURES = {
    "exp": "ppn",
    "log": "ppn",
    "rsqrt": "ppn",
    "sqrt": "ppn",
    "silu": "ppn",
    "rne": "ppn",
    "sincos": "pppn",
    "gelu": "pppn",
    "quantize_rows": "pppii",
    "quantize_cols_t": "pppii",
    "gemm_s8": "ppppppiii",
    "gemm_s8_add": "pppppppiii",
    "layernorm_modulate_s8": "ppppppii",
    "attention_scores": "pppppp",
    "softmax_s8": "pppiii",
    "attention_values": "pppppp",
    "conv3x3_s8": "ppppppppip",
    "noise": "pun",
    "timestep_features": "ppiin",
    "euler": "ppin",
    "add": "pppn",
    "lerp": "pppin",
    "mean_rows": "ppii",
    "embed": "ppppii",
    "quantize_latent": "ppppii",
}
CTYPES = {"p": ctypes.c_void_p, "i": ctypes.c_int, "n": ctypes.c_size_t, "u": ctypes.c_uint32}


class Kernels:
    """Calls `tti_<op>`; buffers are given as addresses. With `split` those ops that have one go by
    way of the layer for two cores, `tti_split_<op>`."""

    def __init__(self, path: Path, *, split: bool = False):
        self.name = "this PC"
        library = ctypes.CDLL(str(path))
        self.library = library
        self.functions: dict[str, Callable[..., None]] = {}
        for op, signature in SIGNATURES.items():
            function = getattr(library, f"tti_{op}")
            if split:
                function = getattr(library, f"tti_split_{op}", function)
            function.argtypes = [CTYPES[kind] for kind in signature]
            function.restype = None
            self.functions[op] = function

    def call(self, case: Case, args: Sequence[Number], sizes: Sequence[int]) -> None:
        """Run one case; `sizes` are the lengths of its buffers, 0 for the other arguments."""
        self.functions[case.op](*c_arguments(case.op, args, sizes))

    def philox(self, counter: Sequence[int], key: Sequence[int]) -> list[int]:
        """Four words of the generator."""
        out = (ctypes.c_uint32 * 4)()
        self.library.tti_philox(out, (ctypes.c_uint32 * 4)(*counter), (ctypes.c_uint32 * 2)(*key))
        return list(out)
