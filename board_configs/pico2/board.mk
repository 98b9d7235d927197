# How the Pico 2's firmware is built: MicroPython's rp2 port with our board, module and package.

PICO2_DIR := $(BUILD)/firmware-pico2
PICO2 := $(CURDIR)/board_configs/pico2
# Drag these onto the board: the firmware, the model, or both in one file.
FIRMWARE := $(PICO2_DIR)/tti-pico2.uf2
PICO2_MODEL := $(PICO2_DIR)/tti-pico2-model.uf2
PICO2_FULL := $(PICO2_DIR)/tti-pico2-full.uf2

include board_configs/common.mk

# The port finds TinyUSB and mbedtls in its own tree; an archive's MicroPython comes without.
PICO2_PARTS := $(MPY_DIR)/lib/tinyusb/src $(MPY_DIR)/lib/mbedtls/include
ifeq ($(origin PICO_SDK_PATH),undefined)
PICO_SDK_PATH := $(MPY_DIR)/lib/pico-sdk
endif
override PICO_SDK_PATH := $(abspath $(PICO_SDK_PATH))
PICO2_PARTS += $(PICO_SDK_PATH)/pico_sdk_init.cmake

.PHONY: setup-pico2
setup-pico2:
	@board_configs/setup pico2

ifdef MPY_FETCHED
$(MPY_DIR)/lib/tinyusb/src: | check-tree
	@board_configs/fetch tinyusb $(MPY_DIR)/lib/tinyusb

$(MPY_DIR)/lib/mbedtls/include: | check-tree
	@board_configs/fetch mbedtls $(MPY_DIR)/lib/mbedtls

$(MPY_DIR)/lib/pico-sdk/pico_sdk_init.cmake: | check-tree
	@board_configs/fetch pico-sdk $(MPY_DIR)/lib/pico-sdk
endif

# Where there is no rule to fetch a part, it has to be there.
$(filter-out $(or $(MPY_FETCHED),none)/%,$(PICO2_PARTS)): | check-tree
	@echo '$@ is missing: run `make -C $(MPY_DIR)/ports/rp2 BOARD=RPI_PICO2 submodules`,' \
		'or pass PICO_SDK_PATH=<a checkout of the Pico SDK>' >&2; exit 1

# picotool turns images into UF2 files. Without optimisation it is built in half the time.
PICOTOOL_DIR ?= $(BUILD)/picotool/installed/picotool
PICOTOOL := $(PICOTOOL_DIR)/picotool

$(BUILD)/picotool/installed/picotool/picotool: | setup-pico2 $(PICO2_PARTS)
	@board_configs/fetch picotool $(BUILD)/picotool/sources
	@echo 'Building picotool ...'
	$(call quietly,$(BUILD)/picotool.log,{ cmake -S $(BUILD)/picotool/sources -B $(BUILD)/picotool/objects \
		-DPICO_SDK_PATH=$(PICO_SDK_PATH) -DPICOTOOL_NO_LIBUSB=1 -DPICOTOOL_FLAT_INSTALL=1 \
		-DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
		-DCMAKE_INSTALL_PREFIX=$(BUILD)/picotool/installed && \
		$(MAKE) -C $(BUILD)/picotool/objects -j$(JOBS) install; })

# The SDK names a C++ library in the link, of which nothing is used: an empty one saves 300 MB.
PICO2_LIBRARIES := $(BUILD)/pico2-libraries
$(PICO2_LIBRARIES)/libstdc++.a: | setup-pico2
	@mkdir -p $(PICO2_LIBRARIES)
	@arm-none-eabi-ar rc $@

# Paths would get into the debug information, so that it differed from folder to folder. The last
# map that fits holds. Assembler sources know only -fdebug-prefix-map, which C sources do not need.
PICO2_PATHS := $(CURDIR)=tti $(PICO2_DIR)=build $(MPY_DIR)=micropython $(PICO_SDK_PATH)=pico-sdk
PICO2_FLAGS := $(addprefix -ffile-prefix-map=,$(PICO2_PATHS))
PICO2_ASMFLAGS := $(addprefix -fdebug-prefix-map=,$(PICO2_PATHS))
PICO2_CMAKE := -DMICROPY_BOARD=TTI_PICO2 -DMICROPY_BOARD_DIR=$(PICO2) \
	-DUSER_C_MODULES=$(CURDIR)/native/micropython.cmake -DMICROPY_LIB_DIR=$(MPY_DIR)/lib \
	-DTTI_READLINE=$(or $(TTI_READLINE),1) -DPICO_SDK_PATH_OVERRIDE=$(PICO_SDK_PATH) -DPICO_BUILD_DOCS=0 -Dpicotool_DIR=$(PICOTOOL_DIR) \
	-DCMAKE_EXE_LINKER_FLAGS=-L$(PICO2_LIBRARIES)

.PHONY: check-origin
check-origin: check-tree setup-pico2 $(PICO2_PARTS)
	$(call start-over,$(BUILD)/firmware-pico2,board_configs/pico2/board.mk \
		board_configs/pico2/mpconfigboard.cmake native/micropython.cmake \
		$(PICO_SDK_PATH)/pico_sdk_version.cmake,arm-none-eabi-gcc)

.PHONY: build-pico2
build-pico2: check-origin $(MPY_CROSS) $(PICOTOOL) $(PICO2_LIBRARIES)/libstdc++.a
	@mkdir -p $(PICO2_DIR)
	@test -f $(PICO2_DIR)/firmware.elf || echo 'Building MicroPython for the Pico 2 ...'
	$(call quietly,$(BUILD)/firmware-pico2.log,{ \
		export MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) MICROPY_MPYCROSS=$(MPY_CROSS) \
		CFLAGS='$(PICO2_FLAGS)' CXXFLAGS='$(PICO2_FLAGS)' ASMFLAGS='$(PICO2_ASMFLAGS)'; \
		{ test -f $(PICO2_DIR)/Makefile || \
		cmake -S $(MPY_DIR)/ports/rp2 -B $(PICO2_DIR) $(PICO2_CMAKE); } && \
		$(MAKE) -C $(PICO2_DIR) -j$(JOBS) $(if $(V),VERBOSE=1); })

# The UF2 files are there only if everything fits. The model's blocks have the family "absolute":
# they go to their addresses whatever partitions the board has.
.PHONY: firmware-PICO2
firmware-PICO2: build-pico2
	@rm -f $(FIRMWARE) $(PICO2_MODEL) $(PICO2_FULL)
	@python3 $(PICO2)/images.py $(PICO2_DIR)/firmware.bin "$$MODEL" $(PICO2_DIR)
	@python3 $(PICO2)/sizes.py $(PICO2_DIR)/firmware.elf $$(stat -c %s $(PICO2_DIR)/romfs.bin)
	@$(PICOTOOL) uf2 convert --quiet $(PICO2_DIR)/romfs.bin $(PICO2_MODEL) \
		-o $$(python3 $(PICO2)/layout.py) --family absolute
	@$(PICOTOOL) uf2 convert --quiet $(PICO2_DIR)/full.bin $(PICO2_FULL) -o 0x10000000 \
		--family rp2350-arm-s --abs-block
	@cp $(PICO2_DIR)/firmware.uf2 $(FIRMWARE)

# The build has printed them.
sizes: firmware-PICO2
