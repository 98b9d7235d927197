# How the firmware of the emulated board with an Xtensa LX7 is built; docs/boards-lx7.md.

FIRMWARE := $(BUILD)/firmware-qemu_lx7/firmware.elf

include board_configs/common.mk

.PHONY: setup-lx7
setup-lx7:
	@board_configs/setup lx7

.PHONY: check-origin
check-origin: check-tree setup-lx7
	$(call start-over,$(BUILD)/firmware-qemu_lx7,native/micropython.mk board_configs/emulated/emulated.mk \
		$(wildcard board_configs/qemu_lx7/*.py) board_configs/qemu_lx7/Makefile \
		board_configs/qemu_lx7/board.mk,clang-22)

.PHONY: firmware-QEMU_LX7
firmware-QEMU_LX7: check-origin $(MPY_CROSS)
	@mkdir -p $(dir $(FIRMWARE))
	@test -f $(FIRMWARE) || echo 'Building MicroPython for the emulated Xtensa LX7 ...'
	$(call quietly,$(BUILD)/firmware-qemu_lx7.log,MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) \
		$(MAKE) -C board_configs/qemu_lx7 -j$(JOBS) BUILD=$(BUILD)/firmware-qemu_lx7 \
		USER_C_MODULES=$(CURDIR) MICROPY_MPYCROSS=$(MPY_CROSS) $(if $(V),V=$(V)))

.PHONY: sizes
sizes: firmware-QEMU_LX7
	@python3 board_configs/emulated/sizes.py xtensa-lx106-elf-nm $(FIRMWARE)
