# Settings of MicroPython's unix port for tti; the C ones are in mpconfigvariant.h.

PROG = tti
FROZEN_MANIFEST ?= $(VARIANT_DIR)/../../frozen/manifest.py

# The port's own default is -Os.
COPT = -O2 -DNDEBUG
# The portable kernels gain from the vectoriser; results do not change with it, nor when the
# compiler may ignore floating-point exceptions, which lets it turn branches into selects.
TTI_KERNEL_COPT ?= -O3 -fno-trapping-math
TTI_PARALLEL ?= unix

# mpconfigvariant_common.h of the port is included relative to its standard variant.
CFLAGS_EXTRA += -I$(TOP)/ports/unix/variants/standard

# The build ID is a hash over debug information too, which names the folder of the build.
LDFLAGS_EXTRA += -Wl,--build-id=none

MICROPY_FORCE_32BIT = 0
MICROPY_USE_READLINE = 1
MICROPY_PY_TERMIOS = 1
MICROPY_PY_SOCKET = 1
MICROPY_PY_THREAD = 1
# Left out: they need submodules or libraries, and a board lacks them too.
MICROPY_PY_BTREE = 0
MICROPY_PY_FFI = 0
MICROPY_PY_JNI = 0
MICROPY_PY_SSL = 0
MICROPY_STANDALONE = 0
MICROPY_ROM_TEXT_COMPRESSION = 1
MICROPY_VFS_FAT = 1
MICROPY_VFS_LFS1 = 0
MICROPY_VFS_LFS2 = 0
