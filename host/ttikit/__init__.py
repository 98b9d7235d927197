"""ttikit: the workshop on the PC for tti, text-to-image on a microcontroller."""

__version__ = "0.1.0"
