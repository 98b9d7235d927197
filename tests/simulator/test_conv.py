"""Convolution against torch and against itself in stripes."""

import numpy as np
import pytest
import torch
import ttikit.simulator as ops
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

F = np.float32
UPSAMPLE, RELU, BYTES = 1, 2, 4


class Layer:
    """One random layer; sizes are those of the output."""

    def __init__(self, height, width, cin, cout, flags=0, residual=False, seed=0):
        rng = np.random.default_rng(seed)
        self.height, self.width, self.cin, self.cout, self.flags = height, width, cin, cout, flags
        self.factor = 2 if flags & UPSAMPLE else 1
        size = height // self.factor, width // self.factor
        self.x = rng.integers(-127, 128, (*size, cin), dtype=np.int8)
        depth = -(-9 * cin // 16) * 16
        self.w = np.zeros((cout, depth), np.int8)
        self.w[:, : 9 * cin] = rng.integers(-127, 128, (cout, 9 * cin))
        self.m = (rng.uniform(0.5, 2, cout) * 60 / (5000 * np.sqrt(9 * cin))).astype(F)
        self.b = (rng.standard_normal(cout) * 20 + (100 if flags & BYTES else 0)).astype(F)
        shape = (height, width, cout)
        self.res = rng.integers(-127, 128, shape, dtype=np.int8) if residual else None
        self.r = np.array([0.37], F) if residual else None
        self.scratch = bytearray(depth)

    def into(self, out, x, res, y0, y1, in_y0, out_y0):
        ops.conv3x3_s8(
            out, x, self.w, self.m, self.b, res, self.r, self.scratch, self.height, self.width,
            self.cin, self.cout, self.flags, y0, y1, in_y0, out_y0,
        )  # fmt: skip

    def run(self):
        dtype = np.uint8 if self.flags & BYTES else np.int8
        out = np.full((self.height, self.width, self.cout), 99, dtype)
        self.into(out, self.x, self.res, 0, self.height, 0, 0)
        return out

    def stripe(self, y0, y1):
        """Rows y0 … y1−1, from a window of x with just the rows needed, into a window."""
        first, last = max(y0 - 1, 0) // self.factor, min(y1, self.height - 1) // self.factor
        x = self.x[first : last + 1].copy()
        out = np.empty((y1 - y0, self.width, self.cout), np.uint8)
        res = None if self.res is None else self.res[y0:y1].copy()
        self.into(out, x, res, y0, y1, first, y0)
        return out

    def torch_result(self):
        x = torch.from_numpy(self.x).double().permute(2, 0, 1)[None]
        if self.flags & RELU:
            x = x.relu()
        if self.flags & UPSAMPLE:
            x = functional.interpolate(x, scale_factor=2, mode="nearest")
        w = torch.from_numpy(self.w[:, : 9 * self.cin]).double()
        w = w.reshape(self.cout, 3, 3, self.cin).permute(0, 3, 1, 2)
        acc = functional.conv2d(x, w, padding=1)[0].permute(1, 2, 0).numpy()
        v = acc * self.m.astype(np.float64) + self.b
        if self.res is not None:
            v = v + self.res * self.r.astype(np.float64)
        low, high = (0, 255) if self.flags & BYTES else (-127, 127)
        return np.clip(v, low, high)


LAYERS = {
    "plain": Layer(8, 8, 4, 6),
    "odd sizes": Layer(5, 7, 3, 2, seed=1),
    "one pixel": Layer(1, 1, 1, 1, seed=2),
    "one row": Layer(1, 9, 2, 3, RELU, seed=3),
    "relu": Layer(16, 16, 64, 64, RELU, seed=4),
    "residual": Layer(8, 8, 16, 16, RELU, residual=True, seed=5),
    "up": Layer(16, 12, 5, 4, UPSAMPLE, seed=6),
    "up relu": Layer(32, 32, 64, 48, UPSAMPLE | RELU, seed=7),
    "picture": Layer(32, 32, 32, 3, RELU | BYTES, seed=8),
    "everything": Layer(6, 10, 7, 5, 7, residual=True, seed=9),
    "long rows": Layer(3, 3, 130, 2, seed=10),
}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS.keys())
def test_convolution_follows_torch(layer):
    got, true = layer.run(), layer.torch_result()
    assert np.abs(got - true).max() <= 0.5 + 1e-4
    assert got.size == 1 or got.std() > 10  # a range wide enough to see mistakes


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.integers(0, 7), st.data())
def test_stripes_equal_the_whole(height, width, cin, flags, data):
    factor = 2 if flags & UPSAMPLE else 1
    layer = Layer(height * factor, width * factor, cin, 3, flags, residual=True, seed=height)
    y0 = data.draw(st.integers(0, layer.height - 1))
    y1 = data.draw(st.integers(y0 + 1, layer.height))
    assert layer.stripe(y0, y1).tobytes() == layer.run()[y0:y1].tobytes()


def test_residual_may_be_the_output():
    layer = LAYERS["residual"]
    expected = layer.run()
    out = layer.res.copy()
    layer.into(out, layer.x, out, 0, 3, 0, 0)
    layer.into(out, layer.x, out, 3, 8, 0, 0)
    assert out.tobytes() == expected.tobytes()


def test_rows_outside_the_stripe_stay():
    layer = LAYERS["plain"]
    out = np.full((8, 8, 6), 99, np.int8)
    layer.into(out, layer.x, None, 3, 5, 0, 0)
    assert (out[:3] == 99).all()
    assert (out[5:] == 99).all()
    assert out[3:5].tobytes() == layer.run()[3:5].tobytes()


def test_clamping():
    layer = Layer(2, 2, 1, 2, seed=11)
    layer.m[:] = 0
    layer.b[:] = [1000, -1000]
    assert layer.run()[0, 0].tolist() == [127, -127]
    layer.flags = BYTES
    assert layer.run()[0, 0].tolist() == [255, 0]
    layer.b[:] = [254.5, 0.5]
    assert layer.run()[0, 0].tolist() == [254, 0]
    layer.b[:] = [np.nan, np.inf]
    assert layer.run()[0, 0].tolist() == [0, 255]


def test_missing_input_rows_are_named():
    layer = LAYERS["plain"]
    out = np.empty((8, 8, 6), np.int8)
    with pytest.raises(
        ValueError, match="input rows 1 to 4 are needed, x begins with row 2 and holds 3"
    ):
        layer.into(out, layer.x[2:5].copy(), None, 2, 4, 2, 0)
    with pytest.raises(
        ValueError, match="input rows 3 to 7 are needed, x begins with row 2 and holds 5"
    ):
        layer.into(out, layer.x[2:7].copy(), None, 4, 8, 2, 0)
