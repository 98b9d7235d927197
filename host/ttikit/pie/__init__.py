"""Tools for the vector instructions of the ESP32-S3 (PIE), which no assembler in Debian knows.

From `kernel.S` in GNU syntax, as Espressif's assembler takes it, to an object file:

    clang-22 -E -x assembler-with-cpp kernel.S -o kernel.i
    PYTHONPATH=host python3 -m ttikit.pie.assemble kernel.i kernel.s
    llvm-mc-22 -triple=xtensa -mcpu=esp32 -filetype=obj kernel.s -o kernel.o

Registers are written plainly (`#define` instead of `.macro` arguments), alignment as `.balign` or
`.p2align`. `ttikit.pie.opcodes` encodes and decodes single instructions. Building needs nothing
but Python; what needs a package says so.
"""
