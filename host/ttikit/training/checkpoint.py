"""Checkpoints that survive a power cut at any moment.

A checkpoint is one safetensors file: weights ``model.*``, running average ``average.*``, optimiser
state ``optim.I.P.KEY`` (optimiser, parameter, name), and the counters as JSON in the metadata with
a CRC32 over all tensors. It is written beside the old one and renamed; the one before it is kept.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from ttikit.errors import TtiError
from ttikit.files import write_atomically
from ttikit.training.optim import Average

NAME = "checkpoint.safetensors"
PREVIOUS = "checkpoint.previous.safetensors"


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> None:
    """Write ``tensors`` and JSON ``metadata`` as safetensors, atomically and with a checksum;
    raises `TtiError` if that cannot be done."""
    kept = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = {"tti": json.dumps({**metadata, "crc32": _checksum(kept)}, ensure_ascii=False)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, save(kept, header))
    except OSError as error:
        raise TtiError(
            f"{path} cannot be written ({error.strerror}); check the folder and the free space"
        ) from None


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote; raises `TtiError` if the file is missing or damaged."""
    with _opened(path) as file:
        metadata = _metadata(file)
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if _checksum(tensors) != metadata.pop("crc32", None):
        raise TtiError(f"{path} is damaged: its checksum is wrong; use another copy of it")
    return tensors, metadata


def read_metadata(path: Path) -> dict[str, Any]:
    """Only the metadata of such a file; its tensors are not checked. Raises `TtiError` alike."""
    with _opened(path) as file:
        return _metadata(file)


def _metadata(file: Any) -> dict[str, Any]:
    metadata = json.loads((file.metadata() or {})["tti"])
    if not isinstance(metadata, dict):
        raise ValueError("its metadata is no object")
    if not isinstance(metadata.get("data") or {}, dict):
        raise ValueError("its data set is no object")
    return metadata


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError:
        raise TtiError(f"{path} does not exist; train it first or name another file") from None
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise TtiError(f"{path} is damaged or no file of this program ({error})") from None


def load_weights(path: Path, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Give ``model`` the weights that were read from ``path``; `TtiError` if they do not fit."""
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise TtiError(f"{path} does not fit the sizes that it names: {_first(error)}") from None


def _first(error: Exception) -> str:
    """What torch says first: after a title, a line for every tensor that does not fit."""
    lines = str(error).splitlines()
    return lines[min(1, len(lines) - 1)].strip()[:300] if lines else repr(error)


def file_checksum(path: Path) -> int:
    """CRC-32 of a file, by which a run knows again what it was made from."""
    try:
        return zlib.crc32(path.read_bytes())
    except OSError as error:
        raise TtiError(f"{path} cannot be read ({error.strerror}); check the path") from None


def save_checkpoint(
    folder: Path,
    model: nn.Module,
    average: Average | None,
    optimisers: Sequence[torch.optim.Optimizer],
    counters: Mapping[str, Any],
) -> None:
    """Write the state of a run into ``folder`` and keep the checkpoint before it."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    if average is not None:
        tensors |= {f"average.{name}": value for name, value in average.values.items()}
    for i, optimiser in enumerate(optimisers):
        for p, parameter in enumerate(_parameters(optimiser)):
            for key, value in optimiser.state.get(parameter, {}).items():
                tensors[f"optim.{i}.{p}.{key}"] = value
    path = folder / NAME
    fresh = folder / f"{NAME}.new"
    save_tensors(fresh, tensors, counters)
    if path.exists():
        path.replace(folder / PREVIOUS)
    fresh.replace(path)


def load_checkpoint(
    folder: Path,
    model: nn.Module,
    average: Average | None,
    optimisers: Sequence[torch.optim.Optimizer],
    accept: Callable[[dict[str, Any]], None] = lambda counters: None,
) -> dict[str, Any] | None:
    """Restore the newest sound checkpoint of ``folder``; its counters, or None if none exists.

    ``accept`` is given the counters before anything is restored, and may raise.
    Raises `TtiError` if checkpoints exist but none can be used.
    """
    # ".new" is complete, and only its renaming was cut short, if it passes its checksum.
    paths = [folder / name for name in (f"{NAME}.new", NAME, PREVIOUS)]
    found = [path for path in paths if path.exists()]
    problems = []
    for path in found:
        try:
            tensors, counters = load_tensors(path)
        except TtiError as error:
            problems.append(str(error))
            continue
        accept(counters)
        _restore(path, tensors, model, average, optimisers)
        return counters
    if problems:
        raise TtiError(f"no usable checkpoint in {folder}: {'; '.join(problems)}")
    return None


def _restore(
    path: Path,
    tensors: dict[str, Tensor],
    model: nn.Module,
    average: Average | None,
    optimisers: Sequence[torch.optim.Optimizer],
) -> None:
    try:
        model.load_state_dict(_under(tensors, "model."))
        if average is not None:
            for name, value in average.values.items():
                value.copy_(tensors[f"average.{name}"])
    except (RuntimeError, KeyError) as error:
        raise TtiError(
            f"{path} belongs to a model of another shape; choose another --out ({_first(error)})"
        ) from None
    for i, optimiser in enumerate(optimisers):
        for p, parameter in enumerate(_parameters(optimiser)):
            state = _under(tensors, f"optim.{i}.{p}.")
            if state:
                optimiser.state[parameter] = {k: _beside(v, parameter) for k, v in state.items()}


def _beside(value: Tensor, parameter: Tensor) -> Tensor:
    """``value`` on the device and, if it has an entry per weight, in the order of ``parameter``:
    a fused optimiser pairs them by their places in memory."""
    if value.shape != parameter.shape:
        return value.to(parameter.device)
    return torch.empty_like(parameter, dtype=value.dtype).copy_(value)


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k[len(prefix) :]: v for k, v in tensors.items() if k.startswith(prefix)}


def _parameters(optimiser: torch.optim.Optimizer) -> list[Tensor]:
    return [parameter for group in optimiser.param_groups for parameter in group["params"]]


def _checksum(tensors: Mapping[str, Tensor]) -> int:
    crc = 0
    for name in sorted(tensors):
        crc = zlib.crc32(name.encode(), crc)
        crc = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy(), crc)
    return crc
