# User C module `_tti`, for MicroPython ports built by make: USER_C_MODULES=<the repository's root>.

TTI_NATIVE_DIR := $(USERMOD_DIR)

# The binding is scanned for MP_QSTR_ names; the kernels know nothing of MicroPython.
SRC_USERMOD_C += $(sort $(wildcard $(TTI_NATIVE_DIR)/binding/*.c))
SRC_USERMOD_LIB_C += $(sort $(wildcard $(TTI_NATIVE_DIR)/core/*.c))
SRC_USERMOD_LIB_ASM += $(sort $(wildcard $(TTI_NATIVE_DIR)/core/*.S))

CFLAGS_USERMOD += -I$(TTI_NATIVE_DIR)/core
# Every chip gives the same bytes only if no multiply and add is fused behind our back.
CFLAGS_USERMOD += -ffp-contract=off

# A variant may ask for more optimisation of the kernels alone.
$(BUILD)/native/core/%.o: CFLAGS += $(TTI_KERNEL_COPT)
