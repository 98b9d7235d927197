# The emulated board: a MicroPython port outside its tree, for a CPU that QEMU emulates. What the
# CPU does not matter for is in this folder; a CPU's Makefile sets, before it includes this:
#   CPU_SRC_C, CPU_SRC_S  its sources, CPU_SRC_C relative to the repository's root; cpu.h lists
#                         what they have to define, besides gc_collect()
#   CPU_OBJ               its objects with rules of their own, if any
#   CPU_LIBM_C            MicroPython's source of sqrtf() that fits it
#   CPU_FLAGS, CPU_AFLAGS its compiler's and assembler's flags
#   CPU_LDSCRIPT          memory map; defines _sheap, _eheap, _sstack and _estack
# and is called with BUILD, MPY_DIR, USER_C_MODULES=<the repository's root> and MICROPY_MPYCROSS.

EMULATED_DIR := $(dir $(lastword $(MAKEFILE_LIST)))

include $(MPY_DIR)/py/mkenv.mk

QSTR_DEFS =
MICROPY_ROM_TEXT_COMPRESSION ?= 1
MICROPY_VFS_LFS2 = 1
MICROPY_PY_SSL = 0
MICROPY_PY_BTREE = 0
MPY_LIB_DIR = $(TOP)/lib
FROZEN_MANIFEST ?= $(EMULATED_DIR)manifest.py
TTI_KERNEL_COPT ?= -O2

include $(TOP)/py/py.mk
include $(TOP)/extmod/extmod.mk

INC += -I. -I$(EMULATED_DIR) -I$(TOP) -I$(BUILD)
CFLAGS += $(INC) -std=gnu11 -Wall -Wpointer-arith -Wdouble-promotion -Wfloat-conversion -Werror
CFLAGS += $(CPU_FLAGS) -Os -DNDEBUG -ffunction-sections -fdata-sections $(CFLAGS_EXTRA)
AFLAGS += $(CPU_AFLAGS)
LDFLAGS += -nostdlib -T $(CPU_LDSCRIPT) -Wl,--gc-sections -Wl,--build-id=none -Wl,-Map=$(BUILD)/firmware.map

PORT_C = $(addprefix board_configs/emulated/,clock.c console.c flash.c main.c module.c) $(CPU_SRC_C)
SRC_C += $(PORT_C) $(addprefix shared/,\
	libc/string0.c \
	readline/readline.c \
	runtime/interrupt_char.c \
	runtime/pyexec.c \
	runtime/stdout_helpers.c \
	runtime/sys_stdio_mphal.c \
	timeutils/timeutils.c)
LIB_SRC_C += $(SRC_LIB_LIBM_C) $(CPU_LIBM_C)
SRC_QSTR += $(SRC_C) $(LIB_SRC_C)
OBJ += $(PY_O) $(addprefix $(BUILD)/,$(SRC_C:.c=.o) $(addsuffix .o,$(basename $(CPU_SRC_S))) $(LIB_SRC_C:.c=.o)) \
	$(CPU_OBJ)

.PHONY: all
all: $(BUILD)/firmware.elf

$(BUILD)/firmware.elf: $(OBJ) $(CPU_LDSCRIPT)
	$(ECHO) "LINK $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJ) $(LIBS)
	$(Q)$(SIZE) $@

include $(TOP)/py/mkrules.mk
