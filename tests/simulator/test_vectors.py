"""Noise, sampler and vectors."""

import numpy as np
import pytest
import ttikit.simulator as ops
from ttikit.simulator.vectors import philox4x32

F = np.float32


def noise(seed, n):
    out = np.empty(n, F)
    ops.noise(out, seed, n)
    return out


# Known answers published with the generator (Random123, kat_vectors).
@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_known_answers(counter, key, words):
    got = philox4x32(np.array([counter], np.uint64), (key[0], key[1]))[0]
    assert " ".join(f"{word:08x}" for word in got) == words


def test_noise_is_normal():
    x = noise(12345, 1 << 20).astype(np.float64)
    assert abs(x.mean()) < 4 / 1024
    assert abs(x.var() - 1) < 0.006
    assert abs((x**3).mean()) < 0.011
    assert abs((x**4).mean() - 3) < 0.04
    assert 4.5 < np.abs(x).max() < 5.77  # √(48 ln 2) is the largest radius
    assert abs(np.corrcoef(x[::2], x[1::2])[0, 1]) < 0.006


def test_noise_follows_box_and_muller():
    blocks = np.zeros((256, 4), np.uint64)
    blocks[:, 0] = range(256)
    words = philox4x32(blocks, (7, 0)).astype(np.int64).reshape(512, 2)
    u, v = ((words[:, 0] >> 8) + 1) / 2**24, (words[:, 1] >> 8) / 2**24
    radius = np.sqrt(-2 * np.log(u))
    true = radius[:, None] * np.stack([np.cos(2 * np.pi * v), np.sin(2 * np.pi * v)], axis=1)
    assert np.abs(noise(7, 1024) - true.reshape(1024)).max() < 2e-6


def test_noise_takes_the_functions_of_the_contract():
    words = philox4x32(np.zeros((1, 4), np.uint64), (7, 0)).astype(np.int64).reshape(2, 2)
    radius = np.array(((words[:, 0] >> 8) + 1) / 2**24, F)
    ops.log(radius, radius, 2)
    ops.sqrt(radius, F(-2) * radius, 2)
    sine, cosine = np.empty((2, 2), F)
    ops.sincos(sine, cosine, np.array((words[:, 1] >> 8) / 2**24, F), 2)
    expected = np.stack([radius * cosine, radius * sine], axis=1)
    assert noise(7, 4).tobytes() == expected.tobytes()


def test_noise_depends_on_the_seed_and_is_prefix_stable():
    assert noise(0, 64).tobytes() == noise(0, 4096)[:64].tobytes()
    assert noise(0, 64).tobytes() != noise(1, 64).tobytes()
    assert noise(2**32 - 1, 4).tobytes() != noise(2**31 - 1, 4).tobytes()


@pytest.mark.parametrize(("i", "steps"), [(0, 8), (3, 8), (7, 8), (0, 1), (65534, 65535)])
def test_timestep_features(i, steps):
    n = 96
    freqs = (1000 / (2 * np.pi) * 10000 ** (-np.arange(n) / n)).astype(F)
    out = np.empty(2 * n, F)
    ops.timestep_features(out, freqs, i, steps, n)
    turns = (F(steps - i) / F(steps)) * freqs
    angle = turns.astype(np.float64) % 1 * 2 * np.pi
    assert np.abs(out[:n] - np.cos(angle)).max() < 2e-7
    assert np.abs(out[n:] - np.sin(angle)).max() < 2e-7


def test_lerp():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 100)).astype(F)
    for hundredths in (0, 1, 33, 50, 99, 100):
        got = np.empty_like(a)
        ops.lerp(got, a, b, hundredths, 100)
        assert got.tobytes() == (a + F(hundredths) / F(100) * (b - a)).tobytes()
        assert np.abs(got - (a + hundredths / 100 * (b.astype(np.float64) - a))).max() < 5e-7


def test_euler():
    rng = np.random.default_rng(1)
    x, v = rng.standard_normal((2, 100)).astype(F)
    got = x.copy()
    ops.euler(got, v, 7, 100)
    assert got.tobytes() == (x - (F(1) / F(7)) * v).tobytes()
    assert np.abs(got - (x - v.astype(np.float64) / 7)).max() < 3e-7


def test_euler_steps_reach_the_end_of_a_straight_flow():
    rng = np.random.default_rng(2)
    target, start = rng.standard_normal((2, 64)).astype(F)
    x = start.copy()
    for _ in range(8):
        ops.euler(x, start - target, 8, 64)
    assert np.abs(x - target).max() < 2e-6


def test_embedding():
    rng = np.random.default_rng(3)
    table, pos = rng.standard_normal((10, 6)).astype(F), rng.standard_normal((4, 6)).astype(F)
    tokens = bytes([9, 0, 3, 3])
    out = np.empty((4, 6), F)
    ops.embed(out, table, pos, tokens, 4, 6)
    assert out.tobytes() == (table[list(tokens)] + pos).tobytes()
    ops.embed(out, table, None, tokens, 4, 6)
    assert out.tobytes() == table[list(tokens)].tobytes()


def test_embedding_refuses_a_token_outside_the_table():
    out = np.empty((2, 6), F)
    with pytest.raises(ValueError, match="token 10 is outside the table of 10 rows"):
        ops.embed(out, np.zeros((10, 6), F), None, bytes([9, 10]), 2, 6)


def test_mean_of_rows_sums_in_order():
    x = np.array([[2**24, 1], [1, 2], [1, 3], [-(2**24), 4]], F)
    out = np.empty(2, F)
    ops.mean_rows(out, x, 4, 2)
    assert out.tolist() == [0, 2.5]  # in this order the ones vanish beside 2^24


def test_mean_of_rows_follows_float64():
    x = np.random.default_rng(4).standard_normal((32, 96)).astype(F)
    out = np.empty(96, F)
    ops.mean_rows(out, x, 32, 96)
    assert np.abs(out - x.astype(np.float64).mean(axis=0)).max() < 1e-6


def test_latent_moves_from_patches_to_pixels():
    height, width = 6, 4
    pixels = np.arange(height * width * 4).reshape(height, width, 4) - 40
    tokens = np.zeros((height // 2 * width // 2, 16), F)
    for y in range(height):
        for x in range(width):
            at = (y % 2 * 2 + x % 2) * 4
            tokens[y // 2 * (width // 2) + x // 2, at : at + 4] = pixels[y, x]
    q = np.empty((height, width, 4), np.int8)
    m, b = np.array([1, 2, 0.5, 1], F), np.array([0, 0, 0, 100], F)
    ops.quantize_latent(q, tokens, m, b, height, width)
    assert q.tolist() == np.clip(np.rint(pixels * m + b), -127, 127).tolist()


def test_add():
    a, b = np.random.default_rng(5).standard_normal((2, 9)).astype(F)
    expected = a + b
    ops.add(a, a, b, 9)
    assert a.tobytes() == expected.tobytes()
