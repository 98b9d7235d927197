"""`ttikit export`: a trained float model as the int8 file that boards run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ttikit.errors import TtiError
from ttikit.files import same_file

DIFFUSION, AUTOENCODER = "diffusion.safetensors", "autoencoder.safetensors"  # of --half


def export(
    diffusion: Annotated[Path, typer.Option(help="export.safetensors of the diffusion run.")],
    autoencoder: Annotated[Path, typer.Option(help="export.safetensors of the autoencoder.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The .tti file to write.")],
    percentile: Annotated[
        float,
        typer.Option(min=90, max=100, help="Share of decoder activations not to be clipped."),
    ] = 99.99,
    half: Annotated[
        Path | None,
        typer.Option(help="Folder for float16 copies of both inputs, which are exported then."),
    ] = None,
) -> None:
    """Quantise a trained model into a .tti file; the same input gives the same bytes here."""
    from ttikit.export.build import metadata, model
    from ttikit.export.half import write_half
    from ttikit.export.probe import probe
    from ttikit.export.run import calibrated, check_distilled, describe
    from ttikit.model_file import encode_model, write_model
    from ttikit.training.diffusion import latent_space
    from ttikit.training.latents import check_autoencoder, check_pictures
    from ttikit.training.loop import prepare_cpu

    written = [out, *(half / name for name in (DIFFUSION, AUTOENCODER))] if half else [out]
    for path in written:
        if any(same_file(path, source) for source in (diffusion, autoencoder)):
            raise TtiError(f"{path} is one of the files to export; choose another -o or --half")
    prepare_cpu(1)  # more would add up in another order, and a few weights be rounded otherwise
    check_distilled(diffusion)
    space = latent_space(diffusion)
    check_autoencoder(autoencoder, space.autoencoder)
    check_pictures(autoencoder, space.data)
    if half is not None:
        diffusion = write_half(diffusion, half / DIFFUSION)
        autoencoder = write_half(autoencoder, half / AUTOENCODER)
    parts = calibrated(diffusion, autoencoder, percentile)
    tensors = model(parts.state, parts.decoder, parts.scales, parts.latent, parts.moments)
    known = metadata(parts.state, parts.forms, describe(parts))
    known["probe"] = probe(encode_model(tensors, known), parts.forms)
    size = write_model(out, tensors, known)
    print(f"{out}: {len(tensors)} tensors, {size:,} bytes")
