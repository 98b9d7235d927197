# How the PC's firmware is built: MicroPython's unix port with our variant, module and package.

FIRMWARE := $(BUILD)/firmware-unix/tti

include board_configs/common.mk

.PHONY: check-origin
check-origin: check-tree
	$(call start-over,$(BUILD)/firmware-unix,native/micropython.mk board_configs/unix/*.mk,$(CC))

.PHONY: firmware-UNIX
firmware-UNIX: check-origin $(MPY_CROSS)
	@mkdir -p $(dir $(FIRMWARE))
	@test -x $(FIRMWARE) || echo 'Building MicroPython for this PC ...'
	$(call quietly,$(BUILD)/firmware-unix.log,MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) \
		$(MAKE) -C $(MPY_DIR)/ports/unix -j$(JOBS) \
		BUILD=$(BUILD)/firmware-unix VARIANT_DIR=$(CURDIR)/board_configs/unix \
		USER_C_MODULES=$(CURDIR) MPY_LIB_DIR=$(MPY_DIR)/lib MICROPY_MPYCROSS=$(MPY_CROSS) $(if $(V),V=$(V)))

sizes:
	@echo 'A PC has memory enough; ask for a board, as in: make sizes BOARD=PICO2' >&2; exit 2
