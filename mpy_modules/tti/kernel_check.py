# Are the board's fast kernels equal to the portable ones? On sizes that reach every part of them.

import _tti as ops

_ROWS = 5  # odd, so that a row is left over when kernels take two
_COLS = 100  # no multiple of what kernels take at a time
_WIDTH = 9


def _floats(seed, n):
    out = bytearray(4 * n)
    ops.noise(out, seed, n)
    return out


def _codes(seed, rows, cols):
    """int8 [rows][cols] and float32 [rows]."""
    q, scale = bytearray(rows * cols), bytearray(4 * rows)
    ops.quantize_rows(q, scale, _floats(seed, rows * cols), rows, cols)
    return q, scale


def _calls():
    """(op, results, arguments) of one call each; results are buffers that begin as zeros."""
    x = _floats(1, _ROWS * _COLS)
    one = (bytearray(_ROWS * _COLS), bytearray(4 * _ROWS))
    yield "quantize_rows", one, (x, _ROWS, _COLS)
    columns = (bytearray(_ROWS * _COLS), bytearray(4 * _COLS))
    yield "quantize_cols_t", columns, (x, _ROWS, _COLS)
    shift, scale, row = _floats(2, _COLS), _floats(3, _COLS), bytearray(4 * _COLS)
    yield "layernorm_modulate_s8", one, (x, shift, scale, row, _ROWS, _COLS)
    out = (bytearray(4 * _ROWS * _COLS),)
    yield "gelu", out, (x, _floats(4, 2048), _ROWS * _COLS)
    a, sa = _codes(5, _ROWS, _COLS)
    w, sw = _codes(6, 36, _COLS)
    product = (bytearray(4 * _ROWS * 36),)
    yield "gemm_s8", product, (a, sa, w, sw, _floats(7, 36), _ROWS, 36, _COLS)
    yield "gemm_s8_add", product, (_floats(8, 36), a, sa, w, sw, None, _ROWS, 36, _COLS)
    q, sq = _codes(9, 16, 32)
    k, sk = _codes(10, 16, 32)
    scores, p, inv = bytearray(4 * 64), bytearray(64), bytearray(16)
    yield "attention_scores", (scores,), (q, sq, k, sk, 0, 3, 4, 16, 1, 32)
    yield "softmax_s8", (p, inv), (scores, 4, 16, 15)
    v, sv = _codes(11, 32, 16)
    values = (bytearray(4 * 16 * 32),)
    yield "attention_values", values, (p, inv, v, sv, 0, 3, 4, 16, 1, 32)
    image, _ = _codes(12, 3 * _WIDTH, 16)
    weights, _ = _codes(13, 7, 144)
    m, b = _floats(14, 8), _floats(15, 8)
    for i in range(0, 32, 4):
        m[i : i + 4] = b"\x6f\x12\x83\x3a"  # 0.001: sums become numbers of int8
    rest = (None, None, bytearray(2560), 3, _WIDTH, 16, 7, 2, 0, 3, 0, 0)
    pixels = (bytearray(3 * _WIDTH * 7),)
    yield "conv3x3_s8", pixels, (image, weights, m, b) + rest


def compare():
    """Yields (op, True if its kernel gives the bytes of the portable one)."""
    for name, results, arguments in _calls():
        answers = []
        before = ops.portable(False)
        try:
            for portable in (False, True):
                for buffer in results:
                    buffer[:] = bytes(len(buffer))
                ops.portable(portable)
                getattr(ops, name)(*(results + arguments))
                answers.append([bytes(buffer) for buffer in results])
        finally:
            ops.portable(before)
        yield name, answers[0] == answers[1]
