"""Copies in half precision are small, near, and known as copies."""

import pytest

torch = pytest.importorskip("torch")

from ttikit.errors import TtiError  # noqa: E402
from ttikit.export.half import write_half  # noqa: E402
from ttikit.training.autoencoder import load_autoencoder  # noqa: E402
from ttikit.training.checkpoint import load_tensors, read_metadata, save_tensors  # noqa: E402
from ttikit.training.latents import check_autoencoder, fingerprint  # noqa: E402
from ttikit.training.models import Autoencoder  # noqa: E402


def test_a_copy_of_an_autoencoder_says_what_it_is_a_copy_of(tmp_path):
    torch.manual_seed(0)
    whole, half, again = (tmp_path / name for name in ("whole", "half", "again"))
    save_tensors(whole, Autoencoder().state_dict(), {"kind": "autoencoder"})
    known = fingerprint(load_autoencoder(whole))
    write_half(whole, half)
    write_half(half, again)
    assert half.stat().st_size < 0.55 * whole.stat().st_size
    assert half.read_bytes() == again.read_bytes()
    for name, value in load_tensors(half)[0].items():
        torch.testing.assert_close(
            value.float(), load_tensors(whole)[0][name], rtol=1e-3, atol=1e-6
        )
    assert fingerprint(load_autoencoder(half)) != known == read_metadata(half)["fingerprint"]
    check_autoencoder(half, fingerprint(load_autoencoder(half)))  # latents of the copy itself
    for path in (whole, half):
        check_autoencoder(path, known)
        with pytest.raises(TtiError, match="another autoencoder than the one whose latents"):
            check_autoencoder(path, "other")


def test_the_shipped_autoencoder_is_that_of_the_shipped_model(repo):
    folder = repo / "models" / "float16"
    wanted = read_metadata(folder / "diffusion.safetensors")["autoencoder"]
    check_autoencoder(folder / "autoencoder.safetensors", wanted)


def test_scales_stay_whole(tmp_path):
    mean = torch.tensor([0.1, 0.2, 0.3, 0.4])
    tensors = {"latent.mean": mean, "latent.std": mean.clone(), "null": 2 * mean}
    save_tensors(tmp_path / "whole", tensors, {"kind": "diffusion"})
    copy, about = load_tensors(write_half(tmp_path / "whole", tmp_path / "half"))
    assert copy["latent.mean"].dtype == torch.float32 and copy["null"].dtype == torch.float16
    torch.testing.assert_close(copy["latent.std"], mean, rtol=0, atol=0)
    assert about == {"kind": "diffusion"}
