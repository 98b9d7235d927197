# User C module `_tti`, for MicroPython ports built by make: USER_C_MODULES=<the repository's root>.

TTI_NATIVE_DIR := $(USERMOD_DIR)
comma := ,

# The binding is scanned for MP_QSTR_ names; the kernels know nothing of MicroPython.
SRC_USERMOD_C += $(sort $(wildcard $(TTI_NATIVE_DIR)/binding/*.c))
SRC_USERMOD_LIB_C += $(sort $(wildcard $(TTI_NATIVE_DIR)/core/*.c))
SRC_USERMOD_LIB_ASM += $(sort $(wildcard $(TTI_NATIVE_DIR)/core/*.S))

# Which file gives ops a second core: none, unix.
TTI_PARALLEL ?= none
SRC_USERMOD_LIB_C += $(addprefix $(TTI_NATIVE_DIR)/parallel/,split.c parallel_$(TTI_PARALLEL).c)

# Memory that a board may set aside at boot.
SRC_USERMOD_LIB_C += $(TTI_NATIVE_DIR)/reserve/reserve.c
CFLAGS_USERMOD += -I$(TTI_NATIVE_DIR)/reserve

CFLAGS_USERMOD += -I$(TTI_NATIVE_DIR)/core -I$(TTI_NATIVE_DIR)/parallel -DTTI_PARALLEL_$(TTI_PARALLEL)
CFLAGS_USERMOD += $(if $(TTI_SPLIT_WORTH),-DTTI_SPLIT_WORTH=$(TTI_SPLIT_WORTH))
# Every chip gives the same bytes only if no multiply and add is fused behind our back.
CFLAGS_USERMOD += -ffp-contract=off

# The line editor takes the place of shared/readline in the link; TTI_READLINE=0 leaves the stock one.
# A port's makefile must add to LDFLAGS, not set it, after it has included py.mk.
TTI_READLINE ?= 1
SRC_USERMOD_LIB_C += $(sort $(wildcard $(TTI_NATIVE_DIR)/readline/*.c))
CFLAGS_USERMOD += -I$(TTI_NATIVE_DIR)/readline -DTTI_READLINE=$(TTI_READLINE)
ifeq ($(TTI_READLINE),1)
LDFLAGS_USERMOD += $(patsubst %,-Wl$(comma)--wrap=%,readline readline_init0 readline_init \
	readline_note_newline readline_process_char readline_push_history)
endif

# A variant may ask for more optimisation of the kernels alone.
$(BUILD)/native/core/%.o: CFLAGS += $(TTI_KERNEL_COPT)
