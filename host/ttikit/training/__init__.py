"""Training of the picture model in torch: autoencoder, latent cache, diffusion, sampling.

Import the modules of this package directly (``ttikit.training.models`` and so on); importing the
package itself does not import torch, so that the command line starts quickly.
"""
