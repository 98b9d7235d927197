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
SCORE_ROWS = const(64)  # query rows whose scores exist at a time; fewer take less memory


def buffers(tokens, dim):
    """Return [(name, bytes)] of what `block` needs for `tokens` rows of `dim` values."""
    scores = min(SCORE_ROWS, tokens)
    return [
        ("x", tokens * dim * 4),  # residual stream, float32
        ("h", tokens * dim),  # normalised and quantised input of a product, int8 ...
        ("sh", tokens * 4),  # ... and its scale per row
        ("wide", tokens * CHUNK * 4),  # one chunk, float32
        ("q", tokens * CHUNK),
        ("sq", tokens * CHUNK_HEADS * 4),
        ("k", tokens * CHUNK),
        ("sk", tokens * CHUNK_HEADS * 4),
        ("vt", tokens * CHUNK),
        ("sv", CHUNK * 4),
        ("scores", scores * tokens * 4),
        ("p", scores * tokens),
        ("inv", scores * 4),
        ("row", dim * 4),
    ]


def rows_of(buf, index, size):
    """The index-th piece of `size` bytes of a buffer."""
    return buf[index * size : (index + 1) * size]


def block(weights, name, ws, mods, tokens, valid, dim, hidden):
    """Run the block called `name` on ws.x, in place.

    ws.x: float32 [tokens][dim]; mods: float32 [6][dim], shift, scale and gate of attention, then
    of the MLP; valid: tokens that are not padding; hidden: columns of the MLP."""
    shift1, scale1, gate1, shift2, scale2, gate2 = [rows_of(mods, i, dim * 4) for i in range(6)]

    ops.layernorm_modulate_s8(ws.h, ws.sh, ws.x, shift1, scale1, ws.row, tokens, dim)
    for chunk in range(dim // CHUNK):
        _project(weights, name, ws, chunk, tokens, dim)
        _attend(ws, tokens, valid)
        ops.quantize_rows(ws.q, ws.sq, ws.wide, tokens, CHUNK)
        _add_chunk(weights, name + ".o", ws, gate1, chunk, tokens, dim)

    ops.layernorm_modulate_s8(ws.h, ws.sh, ws.x, shift2, scale2, ws.row, tokens, dim)
    for chunk in range(hidden // CHUNK):
        _columns(weights, name + ".fc1", ws, chunk, tokens, dim)
        ops.gelu(ws.wide, ws.wide, weights.tensor("gelu.table"), tokens * CHUNK)
        ops.quantize_rows(ws.q, ws.sq, ws.wide, tokens, CHUNK)
        _add_chunk(weights, name + ".fc2", ws, gate2, chunk, tokens, dim)


def _columns(weights, name, ws, chunk, rows, dim):
    """ws.wide = CHUNK output columns of the linear layer `name` applied to ws.h."""
    ops.gemm_s8(
        ws.wide,
        ws.h,
        ws.sh,
        weights.piece(name + ".weight", chunk, CHUNK * dim),
        weights.piece(name + ".scale", chunk, CHUNK * 4),
        weights.piece(name + ".bias", chunk, CHUNK * 4),
        rows,
        CHUNK,
        dim,
    )


def _add_chunk(weights, name, ws, gate, chunk, rows, dim):
    """ws.x += gate * (the chunk ws.q times its columns of the linear layer `name`)."""
    ops.gemm_s8_add(
        ws.x,
        gate,
        ws.q,
        ws.sq,
        weights.piece(name + ".weight", chunk, dim * CHUNK),
        weights.piece(name + ".scale", chunk, dim * 4),
        None if chunk else weights.tensor(name + ".bias"),
        rows,
        dim,
        CHUNK,
    )


def _project(weights, name, ws, chunk, tokens, dim):
    """Fill ws.q, ws.k (int8, a scale per token and head) and ws.vt (int8, transposed, a scale per
    channel)."""
    _columns(weights, name + ".q", ws, chunk, tokens, dim)
    ops.quantize_rows(ws.q, ws.sq, ws.wide, tokens * CHUNK_HEADS, HEAD_DIM)
    _columns(weights, name + ".k", ws, chunk, tokens, dim)
    ops.quantize_rows(ws.k, ws.sk, ws.wide, tokens * CHUNK_HEADS, HEAD_DIM)
    _columns(weights, name + ".v", ws, chunk, tokens, dim)
    ops.quantize_cols_t(ws.vt, ws.sv, ws.wide, tokens, CHUNK)


def _attend(ws, tokens, valid):
    """ws.wide = softmax(Q Kᵀ) V for the heads of one chunk."""
    q, sq, k, sk, vt, sv = ws.q, ws.sq, ws.k, ws.sk, ws.vt, ws.sv
    for head in range(CHUNK_HEADS):
        for row in range(0, tokens, SCORE_ROWS):
            n = min(SCORE_ROWS, tokens - row)
            ops.attention_scores(
                ws.scores, q, sq, k, sk, head, row, n, tokens, CHUNK_HEADS, HEAD_DIM
            )
            ops.softmax_s8(ws.p, ws.inv, ws.scores, n, tokens, valid)
            ops.attention_values(
                ws.wide, ws.p, ws.inv, vt, sv, head, row, n, tokens, CHUNK_HEADS, HEAD_DIM
            )
