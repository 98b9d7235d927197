# The transformer block that the text encoder and the DiT share.
#
# Every matrix product is int8 × int8 with int32 sums; what flows between them is float32.
# Attention and the MLP are cut into chunks of CHUNK columns: only a chunk of Q, K, V or of the
# hidden layer exists at a time, which is why the block needs so little memory. docs/arithmetic.md
# says what each op computes.

import _tti as ops
from micropython import const

HEAD_DIM = const(32)
CHUNK = const(96)  # columns of attention and of the MLP computed at a time
CHUNK_HEADS = const(3)
SCORE_ROWS = const(32)  # query rows whose scores exist at a time


def buffers(rows, tokens, dim, branches):
    """Return [(name, bytes)] of what `block` needs for `rows` = branches * tokens rows of `dim`
    values."""
    return [
        ("x", rows * dim * 4),  # residual stream, float32
        ("h", rows * dim),  # normalised and quantised input of a product, int8 ...
        ("sh", rows * 4),  # ... and its scale per row
        ("wide", rows * CHUNK * 4),  # one chunk, float32
        ("q", rows * CHUNK),
        ("sq", rows * CHUNK_HEADS * 4),
        ("k", rows * CHUNK),
        ("sk", rows * CHUNK_HEADS * 4),
        ("vt", rows * CHUNK),
        ("sv", branches * CHUNK * 4),
        ("scores", SCORE_ROWS * tokens * 4),
        ("p", SCORE_ROWS * tokens),
        ("inv", SCORE_ROWS * 4),
        ("row", dim * 4),
        ("mods", 6 * branches * dim * 4),  # shift, scale, gate of attention, then of the MLP
    ]


def rows_of(buf, index, size):
    """The index-th piece of `size` bytes of a buffer."""
    return buf[index * size : (index + 1) * size]


def block(weights, name, ws, mods, branches, tokens, valid, dim, hidden):
    """Run the block called `name` on ws.x, in place.

    ws.x: float32 [branches * tokens][dim]; mods: float32 [6][branches][dim]; valid: tokens that
    are not padding; hidden: columns of the MLP."""
    rows = branches * tokens
    m = branches * dim * 4
    shift1, scale1, gate1, shift2, scale2, gate2 = [rows_of(mods, i, m) for i in range(6)]

    ops.layernorm_modulate_s8(ws.h, ws.sh, ws.x, shift1, scale1, ws.row, rows, dim, tokens)
    for chunk in range(dim // CHUNK):
        _project(weights, name, ws, chunk, branches, tokens, dim)
        _attend(ws, branches, tokens, valid)
        ops.quantize_rows(ws.q, ws.sq, ws.wide, rows, CHUNK)
        _add_chunk(weights, name + ".o", ws, gate1, chunk, rows, tokens, dim)

    ops.layernorm_modulate_s8(ws.h, ws.sh, ws.x, shift2, scale2, ws.row, rows, dim, tokens)
    gelu = weights.tensor("gelu.table")
    for chunk in range(hidden // CHUNK):
        _columns(weights, name + ".fc1", ws, chunk, rows, dim)
        ops.gelu(ws.wide, ws.wide, gelu, rows * CHUNK)
        ops.quantize_rows(ws.q, ws.sq, ws.wide, rows, CHUNK)
        _add_chunk(weights, name + ".fc2", ws, gate2, chunk, rows, tokens, dim)


def _columns(weights, name, ws, chunk, rows, dim):
    """ws.wide = CHUNK output columns of the linear layer `name` applied to ws.h."""
    weight, scale, bias = weights.linear(name)
    ops.gemm_s8(
        ws.wide,
        ws.h,
        ws.sh,
        rows_of(weight, chunk, CHUNK * dim),
        rows_of(scale, chunk, CHUNK * 4),
        rows_of(bias, chunk, CHUNK * 4),
        rows,
        CHUNK,
        dim,
    )


def _add_chunk(weights, name, ws, gate, chunk, rows, tokens, dim):
    """ws.x += gate * (the chunk ws.q times its columns of the linear layer `name`)."""
    weight, scale, bias = weights.linear(name)
    ops.gemm_s8_add(
        ws.x,
        gate,
        ws.q,
        ws.sq,
        rows_of(weight, chunk, dim * CHUNK),
        rows_of(scale, chunk, dim * 4),
        None if chunk else bias,
        rows,
        dim,
        CHUNK,
        tokens,
    )


def _project(weights, name, ws, chunk, branches, tokens, dim):
    """Fill ws.q, ws.k (int8, a scale per token and head) and ws.vt (int8, transposed, a scale per
    channel)."""
    rows = branches * tokens
    _columns(weights, name + ".q", ws, chunk, rows, dim)
    ops.quantize_rows(ws.q, ws.sq, ws.wide, rows * CHUNK_HEADS, HEAD_DIM)
    _columns(weights, name + ".k", ws, chunk, rows, dim)
    ops.quantize_rows(ws.k, ws.sk, ws.wide, rows * CHUNK_HEADS, HEAD_DIM)
    _columns(weights, name + ".v", ws, chunk, rows, dim)
    for b in range(branches):
        ops.quantize_cols_t(
            rows_of(ws.vt, b, tokens * CHUNK),
            rows_of(ws.sv, b, CHUNK * 4),
            rows_of(ws.wide, b, tokens * CHUNK * 4),
            tokens,
            CHUNK,
        )


def _attend(ws, branches, tokens, valid):
    """ws.wide = softmax(Q Kᵀ) V for the heads of one chunk, branch by branch."""
    for b in range(branches):
        q = rows_of(ws.q, b, tokens * CHUNK)
        k = rows_of(ws.k, b, tokens * CHUNK)
        vt = rows_of(ws.vt, b, tokens * CHUNK)
        sq = rows_of(ws.sq, b, tokens * CHUNK_HEADS * 4)
        sk = rows_of(ws.sk, b, tokens * CHUNK_HEADS * 4)
        sv = rows_of(ws.sv, b, CHUNK * 4)
        out = rows_of(ws.wide, b, tokens * CHUNK * 4)
        for head in range(CHUNK_HEADS):
            for row in range(0, tokens, SCORE_ROWS):
                n = min(SCORE_ROWS, tokens - row)
                ops.attention_scores(
                    ws.scores, q, sq, k, sk, head, row, n, tokens, CHUNK_HEADS, HEAD_DIM
                )
                ops.softmax_s8(ws.p, ws.inv, ws.scores, n, tokens, valid)
                ops.attention_values(
                    out, ws.p, ws.inv, vt, sv, head, row, n, tokens, CHUNK_HEADS, HEAD_DIM
                )
