// MicroPython's settings that every emulated board has, like those of its rp2 port. The CPU's
// mpconfigport.h adds its native code, its memory map and its name.
#include <alloca.h>
#include <stdint.h>

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)
#define MICROPY_PY_SYS_PLATFORM  "qemu"

// BOARD_FLASH_BASE is the CPU's. The host's ttikit.board.flash knows these sizes too.
#define BOARD_FLASH_BYTES (16 * 1024 * 1024)
#define BOARD_ROMFS_BYTES (12 * 1024 * 1024)

#define MICROPY_ENABLE_GC                      (1)
#define MICROPY_GC_STACK_ENTRY_TYPE            uint16_t
#define MICROPY_STACK_CHECK_MARGIN             (1024) // to raise, to collect, for an interrupt
#define MICROPY_ENABLE_EMERGENCY_EXCEPTION_BUF (1)
#define MICROPY_ALLOC_PATH_MAX                 (128)
#define MICROPY_QSTR_BYTES_IN_HASH             (1)
#define MICROPY_PERSISTENT_CODE_LOAD           (1)
#define MICROPY_READER_VFS                     (1)
#define MICROPY_LONGINT_IMPL                   (MICROPY_LONGINT_IMPL_MPZ)
#define MICROPY_FLOAT_IMPL                     (MICROPY_FLOAT_IMPL_FLOAT)
#define MICROPY_SCHEDULER_DEPTH                (8)
#define MICROPY_SCHEDULER_STATIC_NODES         (1)
#define MICROPY_USE_INTERNAL_ERRNO             (1)
#define MICROPY_USE_INTERNAL_PRINTF            (1)
#define MICROPY_EPOCH_IS_1970                  (1)

// Tests show with these that a sampling step allocates next to nothing.
#define MICROPY_PY_MICROPYTHON_MEM_INFO    (1)
#define MICROPY_PY_MICROPYTHON_HEAP_LOCKED (1)

#define MICROPY_PY_RE_MATCH_GROUPS                (1)
#define MICROPY_PY_RE_MATCH_SPAN_START_END        (1)
#define MICROPY_PY_OS_INCLUDEFILE                 "os_port.h"
#define MICROPY_PY_OS_UNAME                       (1)
#define MICROPY_PY_OS_SYNC                        (1)
#define MICROPY_PY_OS_URANDOM                     (1)
#define MICROPY_PY_TIME_INCLUDEFILE               "time_port.h"
#define MICROPY_PY_TIME_GMTIME_LOCALTIME_MKTIME   (1)
#define MICROPY_PY_TIME_TIME_TIME_NS              (1)
#define MICROPY_PY_MACHINE                        (1)
#define MICROPY_PY_MACHINE_INCLUDEFILE            "machine_port.h"
#define MICROPY_PY_MACHINE_RESET                  (1)
#define MICROPY_PY_MACHINE_BARE_METAL_FUNCS       (0)
#define MICROPY_PY_MACHINE_DISABLE_IRQ_ENABLE_IRQ (0)

#define MICROPY_VFS           (1)
#define MICROPY_VFS_FAT       (0)
#define MICROPY_VFS_ROM       (1)
#define MICROPY_VFS_ROM_IOCTL (1)

uint32_t board_random_u32(void);
#define MICROPY_PY_RANDOM_SEED_INIT_FUNC (board_random_u32())

typedef intptr_t mp_int_t;
typedef uintptr_t mp_uint_t;
typedef intptr_t mp_off_t;
#define MP_SSIZE_MAX  (0x7FFFFFFF)
#define MP_NEED_LOG2  (1)
#define MP_STATE_PORT MP_STATE_VM
