"""Processors on this PC: functions out of an ELF file, called one by one and counted."""

from ttikit.emulator.arguments import c_arguments, c_call
from ttikit.emulator.cortex_m33 import CortexM33
from ttikit.emulator.cpu import EmulatedCpu, EmulatorError
from ttikit.emulator.image import Image, read_image
from ttikit.emulator.xtensa_lx7 import XtensaLX7

__all__ = [
    "CortexM33",
    "EmulatedCpu",
    "EmulatorError",
    "Image",
    "XtensaLX7",
    "c_arguments",
    "c_call",
    "read_image",
]
