# Settings of MicroPython's esp32 port for tti on an ESP32-S3 module N16R8; the C ones are in
# mpconfigboard.h, ESP-IDF's in sdkconfig.board.
set(IDF_TARGET esp32s3)
set(MICROPY_FROZEN_MANIFEST ${MICROPY_BOARD_DIR}/manifest.py)

# Later files overrule earlier ones. Not every version of the port has all of its own.
set(SDKCONFIG_DEFAULTS boards/sdkconfig.base)
foreach(part usb ble spiram_sx)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/boards/sdkconfig.${part})
        list(APPEND SDKCONFIG_DEFAULTS boards/sdkconfig.${part})
    endif()
endforeach()
# ESP-IDF looks for a relative name in the port's folder, hence the whole path.
file(WRITE ${CMAKE_BINARY_DIR}/sdkconfig.partitions
    "CONFIG_PARTITION_TABLE_CUSTOM_FILENAME=\"${MICROPY_BOARD_DIR}/partitions.csv\"\n")
list(APPEND SDKCONFIG_DEFAULTS
    ${MICROPY_BOARD_DIR}/sdkconfig.board
    ${CMAKE_BINARY_DIR}/sdkconfig.partitions
)

list(APPEND MICROPY_SOURCE_BOARD ${MICROPY_BOARD_DIR}/startup.c)

# The vector kernels; the port's search for interned strings sees what is defined here, not what
# ESP-IDF defines. Their inner loops run from RAM: ESP-IDF puts sections of these names there.
list(APPEND MICROPY_DEF_BOARD TTI_PIE=1 TTI_HOT_SECTION=.iram1.tti)

# The port's own default is -O2.
set(TTI_KERNEL_COPT -O3 -fno-trapping-math)

# Ops are computed by both cores.
set(TTI_PARALLEL freertos)
