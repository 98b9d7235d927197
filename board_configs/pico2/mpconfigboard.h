// Settings of MicroPython's rp2 port for tti on a Pico 2.

#define MICROPY_HW_BOARD_NAME "Raspberry Pi Pico 2 with tti"

// The 4 MB of flash: firmware, then the model's ROMFS, then the user's files. The port puts the
// two file systems at the end; sizes.py checks that the firmware stays below them. ROMFS is as
// small as a model of 3.2 MB allows, so that the firmware has room to grow.
#define MICROPY_HW_ROMFS_BYTES         (3328 * 1024)
#define MICROPY_HW_FLASH_STORAGE_BYTES (192 * 1024)
