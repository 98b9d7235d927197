"""The C kernels in a shared library, called through ctypes with the arguments of the ops."""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from native_cases import Case

Number = int | None


class Attention(ctypes.Structure):
    """tti_attention_t; its fields are the op's last arguments."""

    _fields_ = tuple(
        (name, ctypes.c_int) for name in ("head", "row0", "rows", "tokens", "heads", "head_dim")
    )


class Conv(ctypes.Structure):
    """tti_conv_t; its fields are the op's last arguments."""

    _fields_ = tuple(
        (name, ctypes.c_int)
        for name in ("height", "width", "cin", "cout", "flags", "y0", "y1", "in_y0", "out_y0")
    )


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
    """Calls `tti_<op>`; buffers are given as addresses."""

    def __init__(self, path: Path):
        library = ctypes.CDLL(str(path))
        self.library = library
        self.functions: dict[str, Callable[..., None]] = {}
        for op, signature in SIGNATURES.items():
            function = getattr(library, f"tti_{op}")
            function.argtypes = [CTYPES[kind] for kind in signature]
            function.restype = None
            self.functions[op] = function

    def call(self, case: Case, args: Sequence[Number], sizes: Sequence[int]) -> None:
        """Run one case; `sizes` are the lengths of its buffers, 0 for the other arguments."""
        arguments = converted(case.op, args, sizes)
        self.functions[case.op](
            *(ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in arguments)
        )

    def philox(self, counter: Sequence[int], key: Sequence[int]) -> list[int]:
        """Four words of the generator."""
        out = (ctypes.c_uint32 * 4)()
        self.library.tti_philox(out, (ctypes.c_uint32 * 4)(*counter), (ctypes.c_uint32 * 2)(*key))
        return list(out)


def converted(op: str, args: Sequence[Number], sizes: Sequence[int]) -> list[Any]:
    """The arguments in C's form, a structure for its address: the binding does the same."""
    if op in ("attention_scores", "attention_values"):
        return [*args[:5], Attention(*args[5:])]
    if op == "conv3x3_s8":
        width, cin = args[9:11]
        kpad = -(-9 * (cin or 0) // 16) * 16
        pixels = min(sizes[7] // kpad, width or 0)
        return [*args[:8], pixels, Conv(*args[8:])]
    return list(args)
