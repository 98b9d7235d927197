# Settings of MicroPython's rp2 port for tti on a Pico 2; the C ones are in mpconfigboard.h.
set(PICO_BOARD "pico2")
set(PICO_PLATFORM "rp2350")
set(MICROPY_FROZEN_MANIFEST ${MICROPY_BOARD_DIR}/manifest.py)

# The port's own default is -Os.
set(TTI_KERNEL_COPT -O3 -fno-trapping-math)

# Ops are computed by both cores.
set(TTI_PARALLEL rp2)
