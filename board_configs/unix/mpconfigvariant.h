// MicroPython for the PC, set up like a board: single-precision floats, so that
// everything Python computes has the width it has on a microcontroller.

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)

#define MICROPY_FLOAT_IMPL (MICROPY_FLOAT_IMPL_FLOAT)

#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "Floats must be computed in their own width here: on 32-bit x86 add -msse2 -mfpmath=sse."
#endif

// Command-line arguments become interned strings: prompts may be longer than 255 bytes.
#define MICROPY_QSTR_BYTES_IN_LEN (2)

// Tests show with these that a sampling step allocates next to nothing.
#define MICROPY_PY_MICROPYTHON_MEM_INFO    (1)
#define MICROPY_PY_MICROPYTHON_HEAP_LOCKED (1)

// A ROMFS image can be mounted from a buffer, as a board has it in its flash.
#define MICROPY_VFS_ROM (1)

#include "../mpconfigvariant_common.h"

// Ctrl-C comes between two bytecodes, as on a board; it does not jump out of an op that another
// thread computes a part of.
#undef MICROPY_ASYNC_KBD_INTR
#define MICROPY_ASYNC_KBD_INTR (0)
