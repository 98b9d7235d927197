# What every board's firmware is made from: MicroPython's sources and the tree's own mpy-cross.

MPY_CROSS := $(BUILD)/mpy-cross/mpy-cross

# Firmware made from the same sources is the same byte for byte: no clock and no git in it. The
# date, MicroPython 1.25's release, is what the banner shows.
SOURCE_DATE_EPOCH ?= 1744675200
export SOURCE_DATE_EPOCH
export MICROPY_GIT_HASH := release
# The port of the RP2350 writes names of pins in the order of a set.
export PYTHONHASHSEED := 0

.PHONY: setup-run
setup-run:
	@board_configs/setup run

ifdef MPY_FETCHED
$(MPY_FETCHED): | setup-run
	@board_configs/fetch micropython $@
endif

# Objects that another MicroPython tree, other flags or another compiler made must not be mixed
# with today's. start-over FOLDER RULES COMPILER: empties FOLDER when one of these has changed.
define start-over
	@version=$$(board_configs/mpy_version '$(MPY_DIR)') || exit 1; \
	mkdir -p $(dir $(1)); \
	{ echo "$$version $(MPY_DIR) $(TTI_READLINE) $(TTI_PARALLEL)"; cksum $(2) </dev/null; $(3) --version; } >$(1).origin.new; \
	cmp -s $(1).origin.new $(1).origin || rm -rf $(1); \
	mv $(1).origin.new $(1).origin
endef

.PHONY: check-tree
check-tree: setup-run $(MPY_FETCHED)
	$(call start-over,$(BUILD)/mpy-cross,,$(CC))

# The tree's own compiler fits its bytecode version for certain, and needs nothing fetched.
$(MPY_CROSS): | check-tree
	@mkdir -p $(dir $@)
	@echo 'Building mpy-cross ...'
	$(call quietly,$(BUILD)/mpy-cross.log,$(MAKE) -C $(MPY_DIR)/mpy-cross -j$(JOBS) BUILD=$(dir $@) \
		MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) USER_C_MODULES=)
