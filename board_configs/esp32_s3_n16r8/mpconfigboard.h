// Settings of MicroPython's esp32 port for tti on an ESP32-S3 module N16R8.

#define MICROPY_HW_BOARD_NAME "ESP32-S3 N16R8 with tti"
#define MICROPY_HW_MCU_NAME   "ESP32S3"

// The partition "romfs" is mounted at /rom and used in place; the port can do that from 1.25 on.
#define MICROPY_VFS_ROM (1)

// startup.c sets the arena aside.
#define MICROPY_BOARD_STARTUP tti_board_startup
void tti_board_startup(void);

// The prompt is on the module's UART as well as on USB.
#define MICROPY_HW_ENABLE_UART_REPL (1)

#define MICROPY_HW_I2C0_SCL (9)
#define MICROPY_HW_I2C0_SDA (8)
