"""The networks in torch: text encoder, diffusion transformer, encoder and decoder.

The graphs that run on the board read tensors by the names that these modules give them, so names,
shapes and order of the operations are part of the model file's contract.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ttikit.data.vocabulary import PADDING

HEAD = 32  # width of one attention head


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of text encoder and diffusion transformer; the defaults are the shipped model."""

    dim: int = 192
    hidden: int = 576
    depth: int = 6
    text_dim: int = 96
    text_hidden: int = 288
    text_depth: int = 3
    vocabulary: int = 64
    length: int = 32
    size: int = 16
    channels: int = 4
    patch: int = 2
    guides: int = 0  # guidance strengths 1, 2, … that the network knows; 0: an undistilled model
    paces: int = 0  # numbers of steps 1, 2, 4, … that it knows

    @property
    def side(self) -> int:
        """Tokens along one side of the latent."""
        return self.size // self.patch

    @property
    def features(self) -> int:
        """Numbers in one patch."""
        return self.patch * self.patch * self.channels

    def to_dict(self) -> dict[str, int]:
        """Fields by name, for metadata."""
        return asdict(self)


class Block(nn.Module):
    """Transformer block with modulation: x + gate·attention(LN·), then x + gate·MLP(LN·).

    ``dim`` must be ``heads`` × 32. The six rows of a modulation are shift, scale and gate of the
    attention, then shift, scale and gate of the MLP. LayerNorm has no parameters.
    """

    def __init__(self, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        if dim != heads * HEAD:
            raise ValueError(f"a block of {dim} channels needs {dim // HEAD} heads of {HEAD}")
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)
        self.table = nn.Parameter(torch.zeros(6, dim))

    def forward(self, x: Tensor, mods: Tensor, keys: Tensor | None = None) -> Tensor:
        """x (B, T, dim), mods (B or 1, 6, dim), keys (B, T) bool, true for tokens in sight."""
        shift1, scale1, gate1, shift2, scale2, gate2 = mods.unsqueeze(2).unbind(1)
        x = x + gate1 * self._attend(modulate(x, shift1, scale1), keys)
        return x + gate2 * self.fc2(F.gelu(self.fc1(modulate(x, shift2, scale2))))

    def _attend(self, h: Tensor, keys: Tensor | None) -> Tensor:
        batch, tokens, dim = h.shape
        # One product for q, k and v: a third of the calls, the same parameters.
        weight = torch.cat((self.q.weight, self.k.weight, self.v.weight))
        bias = torch.cat((self.q.bias, self.k.bias, self.v.bias))
        qkv = F.linear(h, weight, bias).view(batch, tokens, 3, self.heads, HEAD)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mask = None if keys is None else keys[:, None, None, :]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # scores / sqrt(32)
        return self.o(out.transpose(1, 2).reshape(batch, tokens, dim))


def modulate(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    """LayerNorm without parameters (eps 1e-6), then scale and shift; all (B, T or 1, dim)."""
    return F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale) + shift


class TextEncoder(nn.Module):
    """Prompt tokens (B, length) → one vector (B, dim): the mean over the words, projected."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        dim = config.text_dim
        self.embed = nn.Embedding(config.vocabulary, dim)
        self.pos = nn.Parameter(torch.empty(config.length, dim))
        self.blocks = nn.ModuleList(
            Block(dim, dim // HEAD, config.text_hidden) for _ in range(config.text_depth)
        )
        self.proj = nn.Linear(dim, config.dim)
        nn.init.normal_(self.embed.weight, std=0.5)
        nn.init.normal_(self.pos, std=0.1)
        for block in self.blocks:
            with torch.no_grad():
                block.table[2::3] = 1.0  # both gates open: there is nothing that could open them

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) integers, T ≤ length, 0 = padding; each row holds at least one word."""
        words = tokens != PADDING
        x = self.embed(tokens) + self.pos[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, block.table[None], words)
        kept = words.unsqueeze(-1).to(x.dtype)
        return self.proj((x * kept).sum(1) / kept.sum(1))


class DiT(nn.Module):
    """Diffusion transformer: noisy latent, time and text vector → velocity of the flow."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        dim = config.dim
        self.patch = nn.Linear(config.features, dim)
        self.pos = nn.Parameter(positions(config.side, dim))
        self.time1 = nn.Linear(dim, dim)
        self.time2 = nn.Linear(dim, dim)
        self.adaln = nn.Linear(dim, 8 * dim)
        self.blocks = nn.ModuleList(
            Block(dim, dim // HEAD, config.hidden) for _ in range(config.depth)
        )
        self.final = nn.Linear(dim, config.features)

    def forward(self, x: Tensor, t: Tensor, text: Tensor) -> Tensor:
        """x (B, size, size, channels) standardised latent, t (B,) in [0, 1], text (B, dim)."""
        c = self.time2(F.silu(self.time1(time_features(t, self.config.dim)))) + text
        base = self.adaln(F.silu(c)).view(-1, 8, self.config.dim)
        h = self.patch(self._patchify(x)) + self.pos
        for block in self.blocks:
            h = block(h, base[:, :6] + block.table)
        h = modulate(h, base[:, 6:7], base[:, 7:8])
        return self._unpatchify(self.final(h))

    def _patchify(self, x: Tensor) -> Tensor:
        """(B, size, size, c) → (B, tokens, features); feature = (dy·patch + dx)·channels + c."""
        side, p, c = self.config.side, self.config.patch, self.config.channels
        x = x.view(-1, side, p, side, p, c).transpose(2, 3)
        return x.reshape(-1, side * side, self.config.features)

    def _unpatchify(self, x: Tensor) -> Tensor:
        side, p, c = self.config.side, self.config.patch, self.config.channels
        x = x.view(-1, side, side, p, p, c).transpose(2, 3)
        return x.reshape(-1, self.config.size, self.config.size, c)


class TextToLatent(nn.Module):
    """Text encoder, the learned vector of the unconditional branch, and the transformer.

    A distilled model also has the rows ``guide`` and ``pace``, which tell it how strictly to
    follow the prompt and in how many steps it is going to be sampled.
    """

    def __init__(self, config: ModelConfig | None = None) -> None:
        super().__init__()
        self.config = config or ModelConfig()
        self.text = TextEncoder(self.config)
        self.null = nn.Parameter(torch.zeros(self.config.dim))
        self.dit = DiT(self.config)
        if self.config.guides:
            self.guide = nn.Parameter(torch.zeros(self.config.guides, self.config.dim))
            self.pace = nn.Parameter(torch.zeros(self.config.paces, self.config.dim))
        self._initialise()

    def forward(self, x: Tensor, t: Tensor, tokens: Tensor, dropped: Tensor) -> Tensor:
        """Velocity (B, size, size, channels); where ``dropped`` (B,) the prompt is unseen."""
        return self.dit(x, t, self.prompt(tokens, dropped))

    def prompt(self, tokens: Tensor, dropped: Tensor) -> Tensor:
        """Vectors (B, dim) of ``tokens`` (B, T); ``null`` where ``dropped`` (B,)."""
        return torch.where(dropped[:, None], self.null, self.text(tokens))

    def recipe(self, guidance: Tensor, steps: Tensor) -> Tensor:
        """What is added to the prompt's vector (B, dim) for guidance and steps, each (B,) float.

        Rows are interpolated: ``guide`` linearly in the guidance (row k: k + 1), ``pace`` linearly
        in 1/steps (row j: 2^j steps; more steps than the last row's count as these).
        """
        at = (guidance - 1).clamp(0, len(self.guide) - 1)
        known = torch.log2(steps).clamp(0, len(self.pace) - 1)
        lower = 2.0 ** known.floor()
        between = 2 * (1 - lower / steps.clamp(max=2.0 ** (len(self.pace) - 1)))
        return _between(self.guide, at) + _between(self.pace, known.floor() + between)

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        # adaLN-zero (Peebles & Xie 2023): every block starts as the identity, the output as zero.
        for layer in (self.dit.adaln, self.dit.final):
            nn.init.zeros_(layer.weight)


def _between(rows: Tensor, at: Tensor) -> Tensor:
    """Rows (R, dim) at places ``at`` (B,) in [0, R − 1], linearly interpolated."""
    lower = at.floor().long()
    share = (at - lower)[:, None]
    return torch.lerp(rows[lower], rows[(lower + 1).clamp(max=len(rows) - 1)], share)


def time_features(t: Tensor, dim: int) -> Tensor:
    """cos, then sin, of t·f_k with f_k = 1000·10000^(-k/(dim/2)) radians; t (B,) → (B, dim)."""
    half = dim // 2
    k = torch.arange(half, device=t.device, dtype=torch.float32)
    angle = t[:, None].float() * (1000.0 * torch.exp(k * (-math.log(10000.0) / half)))
    return torch.cat((angle.cos(), angle.sin()), dim=1)


def positions(side: int, dim: int) -> Tensor:
    """Start values of the positions, (side², dim): sines and cosines of row and column."""
    quarter = dim // 4
    omega = 10000.0 ** (-torch.arange(quarter, dtype=torch.float64) / quarter)
    place = torch.arange(side, dtype=torch.float64)[:, None] * omega
    wave = torch.cat((place.sin(), place.cos()), dim=1)
    rows = wave[:, None].expand(side, side, -1)
    columns = wave[None].expand(side, side, -1)
    return torch.cat((rows, columns), dim=2).reshape(side * side, dim).float()


class Residual(nn.Module):
    """h + conv2(relu(conv1(relu(h)))), 3×3 with zero padding, (B, channels, H, W)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, h: Tensor) -> Tensor:
        """(B, channels, H, W) → the same shape."""
        return h + self.conv2(F.relu(self.conv1(F.relu(h))))


class Decoder(nn.Module):
    """Latent (B, 4, H, W) → picture (B, 3, 4H, 4W) on the scale pixel / 127.5 − 1, not clamped."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_in = nn.Conv2d(4, 64, 3, padding=1)
        self.res1 = Residual(64)
        self.up1 = nn.Conv2d(64, 48, 3, padding=1)
        self.res2 = Residual(48)
        self.up2 = nn.Conv2d(48, 32, 3, padding=1)
        self.res3 = Residual(32)
        self.conv_out = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, z: Tensor) -> Tensor:
        """Latent → picture, shapes as above."""
        h = self.res1(self.conv_in(z))
        h = self.res2(self.up1(_double(F.relu(h))))
        h = self.res3(self.up2(_double(F.relu(h))))
        return self.conv_out(F.relu(h))


def _double(h: Tensor) -> Tensor:
    return F.interpolate(h, scale_factor=2, mode="nearest")


class Encoder(nn.Module):
    """Picture (B, 3, 4H, 4W) → mean and log-variance of the latent, each (B, 4, H, W).

    It stays on the PC. The strided convolutions come first, because they make the rest cheap.
    """

    def __init__(self, narrow: int = 48, wide: int = 96) -> None:
        super().__init__()
        self.down1 = nn.Conv2d(3, narrow, 4, stride=2, padding=1)
        self.down2 = nn.Conv2d(narrow, wide, 4, stride=2, padding=1)
        self.res = Residual(wide)
        self.conv_out = nn.Conv2d(wide, 8, 3, padding=1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Picture → mean and log-variance, shapes as above."""
        h = self.res(self.down2(F.relu(self.down1(x))))
        mean, logvar = self.conv_out(F.relu(h)).chunk(2, dim=1)
        return mean, logvar.clamp(-12.0, 4.0)


class Autoencoder(nn.Module):
    """Encoder and decoder of the 64×64 pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.decoder = Decoder()


def count(module: nn.Module) -> int:
    """Number of parameters."""
    return sum(parameter.numel() for parameter in module.parameters())
