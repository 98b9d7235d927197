# How the firmware of the emulated board with a Cortex-M33 is built; docs/boards.md describes it.

FIRMWARE := $(BUILD)/firmware-qemu_m33/firmware.elf

include board_configs/common.mk

.PHONY: setup-board
setup-board:
	@board_configs/setup board

.PHONY: check-origin
check-origin: check-tree setup-board
	$(call start-over,$(BUILD)/firmware-qemu_m33,native/micropython.mk board_configs/emulated/emulated.mk \
		board_configs/qemu_m33/Makefile board_configs/qemu_m33/board.mk,arm-none-eabi-gcc)

.PHONY: firmware-QEMU_M33
firmware-QEMU_M33: check-origin $(MPY_CROSS)
	@mkdir -p $(dir $(FIRMWARE))
	@test -f $(FIRMWARE) || echo 'Building MicroPython for the emulated Cortex-M33 ...'
	$(call quietly,$(BUILD)/firmware-qemu_m33.log,MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) \
		$(MAKE) -C board_configs/qemu_m33 -j$(JOBS) BUILD=$(BUILD)/firmware-qemu_m33 \
		USER_C_MODULES=$(CURDIR) MICROPY_MPYCROSS=$(MPY_CROSS) $(if $(V),V=$(V)))

sizes: firmware-QEMU_M33
	@python3 board_configs/emulated/sizes.py arm-none-eabi-nm $(FIRMWARE)
