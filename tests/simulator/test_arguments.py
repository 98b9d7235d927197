"""What every op says to arguments that it cannot use."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import ttikit.simulator as ops

F, S8, U8, I32 = np.float32, np.int8, np.uint8, np.int32
HUGE = 2**63


@dataclass(frozen=True)
class Buffer:
    """An argument of `count` elements; it is written if `out`, and may be None if `optional`."""

    dtype: Any
    count: int
    out: bool = False
    optional: bool = False

    @property
    def bytes(self):
        return self.count * np.dtype(self.dtype).itemsize

    def good(self):
        return bytearray(self.bytes)


@dataclass(frozen=True)
class Number:
    """An integer argument and values outside its range."""

    value: int
    bad: tuple[int, ...] = (0, -1, HUGE)

    def good(self):
        return self.value


def out(dtype, count):
    return Buffer(dtype, count, out=True)


def maybe(dtype, count):
    return Buffer(dtype, count, optional=True)


MAP = [out(F, 8), Buffer(F, 8), Number(8)]
ATTENTION = [
    Number(1, (-1, 2, HUGE)),  # head
    Number(1, (-1, 4, HUGE)),  # row0
    Number(2, (0, -1, 4, HUGE)),  # rows
    Number(4),  # tokens
    Number(2),  # heads
    Number(8),  # head_dim
]
# Output 4 rows of 6 pixels; the input is half as large.
CONV = [
    out(S8, 4 * 6 * 5), Buffer(S8, 2 * 3 * 2), Buffer(S8, 5 * 32), Buffer(F, 5), Buffer(F, 5),
    maybe(S8, 4 * 6 * 5), Buffer(F, 1), out(S8, 32), Number(4, (0, -1, 5, HUGE)),
    Number(6, (0, -1, 5, HUGE)), Number(2, (0, -1, 8000, HUGE)), Number(5),
    Number(3, (-1, 8, HUGE)),
    Number(0, (-1, 4, HUGE)), Number(4, (0, -1, 5, HUGE)), Number(0, (-1, 1, HUGE)),
    Number(0, (-1, 1, HUGE)),
]  # fmt: skip

ARGUMENTS = {
    "exp": MAP,
    "log": MAP,
    "rsqrt": MAP,
    "sqrt": MAP,
    "silu": MAP,
    "sincos": [out(F, 8), out(F, 8), Buffer(F, 8), Number(8)],
    "rne": [out(I32, 8), Buffer(F, 8), Number(8)],
    "gelu": [out(F, 8), Buffer(F, 8), Buffer(F, 2048), Number(8)],
    "quantize_rows": [out(S8, 12), out(F, 3), Buffer(F, 12), Number(3), Number(4)],
    "quantize_cols_t": [out(S8, 12), out(F, 4), Buffer(F, 12), Number(3), Number(4)],
    "gemm_s8": [
        out(F, 6), Buffer(S8, 10), Buffer(F, 2), Buffer(S8, 15), Buffer(F, 3), maybe(F, 3),
        Number(2), Number(3), Number(5, (0, -1, 65537, HUGE)),
    ],
    "gemm_s8_add": [
        out(F, 6), Buffer(F, 3), Buffer(S8, 10), Buffer(F, 2), Buffer(S8, 15), Buffer(F, 3),
        maybe(F, 3), Number(2), Number(3), Number(5, (0, -1, 65537, HUGE)),
    ],
    "layernorm_modulate_s8": [
        out(S8, 16), out(F, 2), Buffer(F, 16), Buffer(F, 8), Buffer(F, 8), out(F, 8),
        Number(2), Number(8, (0, -1, 6, HUGE)),
    ],
    "attention_scores": [
        out(F, 8), Buffer(S8, 64), Buffer(F, 8), Buffer(S8, 64), Buffer(F, 8), *ATTENTION,
    ],
    "softmax_s8": [
        out(S8, 10), out(F, 2), Buffer(F, 10), Number(2), Number(5), Number(3, (0, -1, 6, HUGE)),
    ],
    "attention_values": [
        out(F, 64), Buffer(S8, 8), Buffer(F, 2), Buffer(S8, 64), Buffer(F, 16), *ATTENTION,
    ],
    "embed": [out(F, 8), Buffer(F, 4), maybe(F, 8), Buffer(U8, 2), Number(2), Number(4)],
    "add": [out(F, 8), Buffer(F, 8), Buffer(F, 8), Number(8)],
    "lerp": [out(F, 8), Buffer(F, 8), Buffer(F, 8), Number(33, (-1, 101, HUGE)), Number(8)],
    "mean_rows": [out(F, 4), Buffer(F, 12), Number(3), Number(4)],
    "timestep_features": [
        out(F, 16), Buffer(F, 8), Number(0, (-1, 3, HUGE)), Number(3, (0, -1, 65536, HUGE)),
        Number(8),
    ],
    "euler": [out(F, 8), Buffer(F, 8), Number(3, (0, -1, 65536, HUGE)), Number(8)],
    "noise": [out(F, 8), Number(0, (-1, 2**32)), Number(8, (0, -1, 6, HUGE))],
    "quantize_latent": [
        out(S8, 32), Buffer(F, 32), Buffer(F, 4), Buffer(F, 4), Number(2, (0, 1, -2, HUGE)),
        Number(4, (0, 3, -2, HUGE)),
    ],
    "conv3x3_s8": CONV,
}  # fmt: skip

NO_OPS = {
    "build", "cores", "crc32", "install", "model_check", "model_check_head", "model_find",
    "model_head_bytes", "model_verify", "portable", "reserved",
}  # fmt: skip


def cases(*kinds):
    """One case for each argument of these kinds, of all ops."""
    return [
        pytest.param(name, position, id=f"{name}-{position}")
        for name, arguments in ARGUMENTS.items()
        for position, argument in enumerate(arguments)
        if any(kind(argument) for kind in kinds)
    ]


def is_buffer(argument):
    return isinstance(argument, Buffer)


def is_output(argument):
    return isinstance(argument, Buffer) and argument.out


def is_wide(argument):
    return isinstance(argument, Buffer) and np.dtype(argument.dtype).itemsize == 4


def is_number(argument):
    return isinstance(argument, Number)


def call(name, position=None, value=None):
    """Call an op with good arguments, except for the one at `position`."""
    arguments = [argument.good() for argument in ARGUMENTS[name]]
    if position is not None:
        arguments[position] = value
    getattr(ops, name)(*arguments)


def test_every_op_is_covered():
    assert set(ARGUMENTS) | NO_OPS == set(ops.__all__)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_good_arguments_pass(name):
    call(name)


@pytest.mark.parametrize(("name", "position"), cases(is_buffer))
def test_short_buffer(name, position):
    buffer = ARGUMENTS[name][position]
    if (name, position) == ("conv3x3_s8", 1):
        text = "conv3x3_s8: input rows 0 to 1 are needed, x begins with row 0 and holds 1"
    elif (name, position) == ("embed", 1):
        text = "embed: token 0 is outside the table of 0 rows"
    else:
        text = rf"{name}: \w+ needs {buffer.bytes} bytes, has {buffer.bytes - 1}$"
    with pytest.raises(ValueError, match=text):
        call(name, position, bytearray(buffer.bytes - 1))


@pytest.mark.parametrize(("name", "position"), cases(is_buffer))
def test_longer_buffer_passes(name, position):
    buffer = ARGUMENTS[name][position]
    call(name, position, bytearray(buffer.bytes + 5))


@pytest.mark.parametrize("wrong", [3, "text", [1.0]], ids=["int", "str", "list"])
@pytest.mark.parametrize(("name", "position"), cases(is_buffer))
def test_no_buffer(name, position, wrong):
    with pytest.raises(TypeError, match=rf"{name}: \w+ must be a buffer, not "):
        call(name, position, wrong)


@pytest.mark.parametrize(("name", "position"), cases(is_buffer))
def test_none(name, position):
    if ARGUMENTS[name][position].optional:
        call(name, position, None)
    else:
        with pytest.raises(TypeError, match=rf"{name}: \w+ must be a buffer, not "):
            call(name, position, None)


@pytest.mark.parametrize(("name", "position"), cases(is_output))
def test_read_only_output(name, position):
    with pytest.raises(TypeError, match=rf"{name}: \w+ must be a writable buffer"):
        call(name, position, bytes(ARGUMENTS[name][position].bytes))


@pytest.mark.parametrize(("name", "position"), cases(is_wide))
def test_unaligned_floats(name, position):
    view = memoryview(bytearray(ARGUMENTS[name][position].bytes + 1))[1:]
    with pytest.raises(ValueError, match=rf"{name}: \w+ must begin at an address divisible by 4"):
        call(name, position, view)


@pytest.mark.parametrize(("name", "position"), cases(is_number))
def test_numbers_out_of_range(name, position):
    for value in ARGUMENTS[name][position].bad:
        with pytest.raises(ValueError, match=rf"^{name}: \w+ .*\d"):
            call(name, position, value)


@pytest.mark.parametrize("wrong", [1.0, "1", None, True], ids=["float", "str", "None", "bool"])
@pytest.mark.parametrize(("name", "position"), cases(is_number))
def test_no_integer(name, position, wrong):
    with pytest.raises(TypeError, match=rf"{name}: \w+ must be an integer, not "):
        call(name, position, wrong)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_refused_call_writes_nothing(name):
    arguments = [argument.good() for argument in ARGUMENTS[name]]
    outputs = [i for i, argument in enumerate(ARGUMENTS[name]) if is_output(argument)]
    for i in outputs:
        arguments[i][:] = b"\x2a" * len(arguments[i])
    last = max(i for i, argument in enumerate(ARGUMENTS[name]) if is_buffer(argument))
    arguments[last] = None if not ARGUMENTS[name][last].optional else 3
    with pytest.raises(TypeError):
        getattr(ops, name)(*arguments)
    for i in outputs:
        assert i == last or set(arguments[i]) == {0x2A}


@pytest.mark.parametrize("kind", [bytearray, memoryview, np.ndarray])
def test_kinds_of_buffers(kind):
    values = np.arange(6, dtype=F)
    target = np.zeros(6, F)
    buffer = {bytearray: bytearray(24), memoryview: memoryview(target), np.ndarray: target}[kind]
    ops.add(buffer, values.tobytes(), values.reshape(2, 3), 6)
    assert np.frombuffer(buffer, F).tolist() == (2 * values).tolist()


def test_strided_buffer_is_refused():
    with pytest.raises(TypeError, match="add: a must be a buffer, not ndarray"):
        ops.add(bytearray(16), np.zeros((4, 2), F)[:, 0], bytearray(16), 4)
