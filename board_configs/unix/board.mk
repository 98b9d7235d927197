# How the PC's firmware is built: MicroPython's unix port with our variant, module and package.

FIRMWARE := $(BUILD)/firmware-unix/tti
MPY_CROSS := $(BUILD)/mpy-cross/mpy-cross

# Firmware made from the same sources is the same byte for byte: no clock and no git in it. The
# date, MicroPython 1.25's release, is what the banner shows.
SOURCE_DATE_EPOCH ?= 1744675200
export SOURCE_DATE_EPOCH
export MICROPY_GIT_HASH := release

.PHONY: setup-run
setup-run:
	@board_configs/setup run

ifdef MPY_FETCHED
$(MPY_FETCHED): | setup-run
	@board_configs/fetch_micropython $@
endif

# Objects that another MicroPython tree, other flags or another compiler made must not be mixed
# with today's: when one of these changes, the build starts over.
.PHONY: check-origin
check-origin: setup-run $(MPY_FETCHED)
	@version=$$(board_configs/mpy_version '$(MPY_DIR)') || exit 1; \
	mkdir -p $(BUILD); \
	{ echo "$$version $(MPY_DIR)"; cksum native/micropython.mk board_configs/unix/*.mk; $(CC) --version; } \
		>$(BUILD)/origin.new; \
	cmp -s $(BUILD)/origin.new $(BUILD)/origin || rm -rf $(BUILD)/firmware-unix $(BUILD)/mpy-cross; \
	mv $(BUILD)/origin.new $(BUILD)/origin

# The tree's own compiler fits its bytecode version for certain, and needs nothing fetched.
$(MPY_CROSS): | check-origin
	@mkdir -p $(dir $@)
	@echo 'Building mpy-cross ...'
	$(call quietly,$(BUILD)/mpy-cross.log,$(MAKE) -C $(MPY_DIR)/mpy-cross -j$(JOBS) BUILD=$(dir $@) \
		MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) USER_C_MODULES=)

.PHONY: firmware-UNIX
firmware-UNIX: check-origin $(MPY_CROSS)
	@mkdir -p $(dir $(FIRMWARE))
	@test -x $(FIRMWARE) || echo 'Building MicroPython for this PC ...'
	$(call quietly,$(BUILD)/firmware-unix.log,MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) \
		$(MAKE) -C $(MPY_DIR)/ports/unix -j$(JOBS) \
		BUILD=$(BUILD)/firmware-unix VARIANT_DIR=$(CURDIR)/board_configs/unix \
		USER_C_MODULES=$(CURDIR) MPY_LIB_DIR=$(MPY_DIR)/lib MICROPY_MPYCROSS=$(MPY_CROSS) $(if $(V),V=$(V)))
