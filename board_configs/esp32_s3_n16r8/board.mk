# How the firmware of an ESP32-S3 N16R8 is built: MicroPython's esp32 port, by ESP-IDF, with our
# board, module and package. docs/boards-esp32s3.md tells what that needs.

ESP32_S3_DIR := $(BUILD)/firmware-esp32_s3_n16r8
ESP32_S3 := $(CURDIR)/board_configs/esp32_s3_n16r8
# Written from address 0 on; images.py writes two more, with the model and with both.
FIRMWARE := $(ESP32_S3_DIR)/tti-esp32s3.bin

include board_configs/common.mk

# Before anything is fetched or built.
.PHONY: check-idf
check-idf:
	@$(ESP32_S3)/check_idf '$(if $(MPY_FETCHED),,$(MPY_DIR))'

.PHONY: check-origin
check-origin: check-idf check-tree
	$(call start-over,$(ESP32_S3_DIR),board_configs/esp32_s3_n16r8/board.mk \
		board_configs/esp32_s3_n16r8/mpconfigboard.cmake board_configs/esp32_s3_n16r8/sdkconfig.board \
		board_configs/esp32_s3_n16r8/partitions.csv native/micropython.cmake \
		$(IDF_PATH)/tools/cmake/version.cmake,xtensa-esp32s3-elf-gcc)

.PHONY: build-esp32-s3
build-esp32-s3: check-origin $(MPY_CROSS)
	@rm -f $(ESP32_S3_DIR)/tti-*.bin
	@test -f $(ESP32_S3_DIR)/firmware.bin || echo 'Building MicroPython for the ESP32-S3 ...'
	$(call quietly,$(BUILD)/firmware-esp32_s3_n16r8.log,{ \
		export MICROPY_GIT_TAG=v$$(board_configs/mpy_version $(MPY_DIR)) MICROPY_MPYCROSS=$(MPY_CROSS) \
		IDFPY_FLAGS='-D TTI_READLINE=$(or $(TTI_READLINE),1)'; \
		$(MAKE) -C $(MPY_DIR)/ports/esp32 BOARD=TTI_ESP32_S3_N16R8 BOARD_DIR=$(ESP32_S3) \
		BUILD=$(ESP32_S3_DIR) USER_C_MODULES=$(CURDIR)/native/micropython.cmake $(if $(V),V=$(V)); })

# The images are there only if everything fits.
.PHONY: firmware-ESP32_S3_N16R8
firmware-ESP32_S3_N16R8: build-esp32-s3
	@python3 $(ESP32_S3)/images.py $(ESP32_S3_DIR) "$$MODEL"

# The build has printed them.
sizes: firmware-ESP32_S3_N16R8
