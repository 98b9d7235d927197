"""Cortex-M33 on this PC: functions out of any ELF file, called one by one and counted."""

from ttikit.emulator.arguments import c_arguments
from ttikit.emulator.image import Image, read_image
from ttikit.emulator.machine import CortexM33, EmulatorError

__all__ = ["CortexM33", "EmulatorError", "Image", "c_arguments", "read_image"]
