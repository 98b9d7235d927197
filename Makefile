# tti: text-to-image on a microcontroller, from MicroPython. `make help` tells what there is.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
SHELL := /bin/sh

BUILD := $(CURDIR)/build
VENV := $(CURDIR)/.venv
BOARD ?= UNIX
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
MODEL ?= models/faces.tti

# A prompt may hold anything: quotes, $, line breaks. It goes through the environment, never
# through a command line that make or the shell would expand. `value` gives it unexpanded, and
# the emptied MAKEOVERRIDES keeps it out of the flags of the makes below this one.
PROMPT ?= улыбающаяся девушка со светлыми волосами
override PROMPT := $(value PROMPT)
override SEED := $(value SEED)
override STEPS := $(value STEPS)
override GUIDANCE := $(value GUIDANCE)
override OUT := $(value OUT)
override MODEL := $(value MODEL)
override DATA := $(value DATA)
export PROMPT SEED STEPS GUIDANCE OUT MODEL DATA
MAKEOVERRIDES =

MPY_VERSION := 1.25.0
ifeq ($(origin MPY_DIR),undefined)
MPY_FETCHED := $(BUILD)/micropython-$(MPY_VERSION)
MPY_DIR := $(MPY_FETCHED)
endif
override MPY_DIR := $(abspath $(MPY_DIR))
export MPY_DIR

# Each board is one folder with the rules that build its firmware: firmware-<BOARD> and FIRMWARE.
upper = $(shell echo '$(1)' | tr 'a-z' 'A-Z')
override BOARD := $(call upper,$(BOARD))
BOARD_DIR := board_configs/$(shell echo '$(BOARD)' | tr 'A-Z' 'a-z')
ifeq ($(wildcard $(BOARD_DIR)/board.mk),)
$(error BOARD=$(BOARD) is not known; there is $(call upper,$(patsubst board_configs/%/board.mk,%,$(wildcard board_configs/*/board.mk))))
endif

# quietly LOG COMMAND: runs the command with its output in LOG; shows the end of it on failure.
# V=1 shows all of it as it comes.
ifdef V
quietly = $(2)
else
quietly = @$(2) >$(1) 2>&1 || { tail -n 40 $(1); echo "The whole output is in $(1)." >&2; exit 1; }
endif

.PHONY: help
help: ## show this list
	@echo 'make TARGET [NAME=VALUE ...]'
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='|' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done
	@echo
	@echo 'make run draws a face and takes PROMPT="…" SEED=7 STEPS=8 GUIDANCE=3 OUT=face.png MODEL=$(MODEL).'
	@echo 'MPY_DIR=<checkout of MicroPython 1.25 to 1.29> builds with it instead of the fetched $(MPY_VERSION).'
	@echo 'V=1 shows every command of a build.'

include $(BOARD_DIR)/board.mk

.PHONY: firmware
firmware: firmware-$(BOARD) ## build MicroPython with tti in it (BOARD=UNIX)

.PHONY: sizes
sizes: ## show what a board's firmware takes (BOARD=PICO2)

.PHONY: on-this-pc
on-this-pc:
	@test '$(BOARD)' = UNIX || { echo 'This runs on the PC only: leave BOARD out, or see docs/boards.md.' >&2; exit 2; }

# Options that are not given are not passed, so that the package's own defaults hold.
.PHONY: run
run: on-this-pc firmware ## draw the face that PROMPT describes; OUT names a PNG to write
	@test $${#PROMPT} -le 60000 || { echo 'The prompt is longer than 60,000 bytes; shorten it.' >&2; exit 2; }
	@plain=--ascii; test ! -t 1 || plain=; \
	$(FIRMWARE) -m tti --model "$$MODEL" $${SEED:+--seed "$$SEED"} $${STEPS:+--steps "$$STEPS"} \
		$${GUIDANCE:+--guidance "$$GUIDANCE"} $${OUT:+--out "$$OUT"} \
		$$plain -- "$$PROMPT"

.PHONY: repl
repl: on-this-pc firmware ## start MicroPython with tti in it; Ctrl-D leaves
	@$(FIRMWARE)

# The boards that QEMU emulates have firmware of their own, built by their own rules. MODEL becomes
# their /rom/faces.tti; their files are kept in BUILD.
EMULATED_FIRMWARE := $(BUILD)/firmware-qemu_m33/firmware.elf
LX7_FIRMWARE := $(BUILD)/firmware-qemu_lx7/firmware.elf

# Builds the firmware of another board, $(1).
firmware-of = @$(if $(MPY_FETCHED),unset MPY_DIR;) $(MAKE) --no-print-directory firmware BOARD=$(1) \
	BUILD='$(BUILD)' JOBS=$(JOBS) $(if $(V),V=$(V))

.PHONY: emulated-firmware
emulated-firmware:
	$(call firmware-of,QEMU_M33)

.PHONY: lx7-firmware
lx7-firmware:
	$(call firmware-of,QEMU_LX7)

# The tests look into it; there is no board to run it on.
.PHONY: pico2-firmware
pico2-firmware:
	$(call firmware-of,PICO2)

.PHONY: is-emulated
is-emulated:
ifeq ($(filter UNIX QEMU_%,$(BOARD)),)
	@echo 'BOARD=$(BOARD) is not emulated: take QEMU_M33 or QEMU_LX7.' >&2; exit 1
endif

# The one with a Cortex-M33 unless BOARD=QEMU_LX7.
.PHONY: board
board: is-emulated $(VENV)/installed $(if $(filter QEMU_LX7,$(BOARD)),lx7,emulated)-firmware ## start an emulated board for mpremote; Ctrl-C ends it (BOARD=QEMU_M33, 520 KB, or QEMU_LX7)
	@$(VENV)/bin/ttikit board emulate --model "$$MODEL" --flash $(BUILD)/board-flash.img \
		--firmware $(if $(filter QEMU_LX7,$(BOARD)),$(LX7_FIRMWARE),$(EMULATED_FIRMWARE))

.PHONY: venv
venv: $(VENV)/installed ## install ttikit with everything it can do into .venv

$(VENV)/installed: pyproject.toml
	@board_configs/setup test
	@test -x $(VENV)/bin/pip || python3 -m venv $(VENV)
	@echo 'Installing ttikit and its tools into .venv ...'
	@$(VENV)/bin/python -m pip install --quiet --editable '.[data,train,test]'
	@touch $@

C_FILES = $(shell find native tests board_configs -name '*.[ch]' | sort)
PYTHON_SCRIPTS := board_configs/fetch

.PHONY: lint
lint: $(VENV)/installed ## check style, types and spelling
	$(VENV)/bin/ruff check . $(PYTHON_SCRIPTS)
	$(VENV)/bin/ruff format --check . $(PYTHON_SCRIPTS)
	$(VENV)/bin/mypy
	$(VENV)/bin/clang-format --dry-run -Werror $(C_FILES)
	$(VENV)/bin/codespell

.PHONY: format
format: $(VENV)/installed ## rewrite sources in the project's style
	$(VENV)/bin/ruff check --fix-only . $(PYTHON_SCRIPTS)
	$(VENV)/bin/ruff format . $(PYTHON_SCRIPTS)
	$(VENV)/bin/clang-format -i $(C_FILES)

# One thread each: results are repeatable, and tests do not fight over the cores.
PYTEST = OMP_NUM_THREADS=1 TTI_FIRMWARE=$(FIRMWARE) TTI_BOARD_FIRMWARE=$(EMULATED_FIRMWARE) \
	TTI_LX7_FIRMWARE=$(LX7_FIRMWARE) TTI_PICO2=$(BUILD)/firmware-pico2 $(VENV)/bin/python -m pytest

.PHONY: test
test: $(VENV)/installed firmware emulated-firmware lx7-firmware pico2-firmware lint ## lint, then all tests but the long ones
	$(PYTEST) -m 'not long' $(TESTS)

.PHONY: test-long
test-long: $(VENV)/installed firmware emulated-firmware lx7-firmware pico2-firmware ## the tests that take minutes
	$(PYTEST) -m long $(TESTS)

.PHONY: bench
bench: $(VENV)/installed firmware ## measure time and memory of a picture on this PC
	@OMP_NUM_THREADS=1 $(VENV)/bin/ttikit bench --firmware $(FIRMWARE) --model "$$MODEL"

CHIP ?= m33
.PHONY: is-counted
is-counted:
ifeq ($(filter m33 lx7,$(CHIP)),)
	@echo 'CHIP=$(CHIP) is not known; there is m33 and lx7.' >&2; exit 1
endif

.PHONY: kernels
kernels: is-counted $(VENV)/installed ## count instructions of a picture on an emulated Cortex-M33 (CHIP=lx7: Xtensa LX7)
	@$(MAKE) -s -C native $(CHIP) BUILD=$(BUILD)/native
	@$(VENV)/bin/ttikit kernels --elf $(BUILD)/native/tti_$(CHIP).elf --model "$$MODEL" \
		$${STEPS:+--steps "$$STEPS"}

# DATA is a folder of `ttikit data render`; a run that is stopped goes on where it was.
.PHONY: quality
quality: $(VENV)/installed firmware ## measure the model's pictures and write docs/quality (DATA=renders)
	@OMP_NUM_THREADS=1 $(VENV)/bin/ttikit evaluate --firmware $(FIRMWARE) --model "$$MODEL" \
		--jobs $(JOBS) $${DATA:+--data "$$DATA"}

.PHONY: golden
golden: $(VENV)/installed firmware ## renew the golden hashes after the weights or the arithmetic changed
	OMP_NUM_THREADS=1 $(VENV)/bin/python tests/golden/renew.py "$$MODEL" $(FIRMWARE)

.PHONY: pictures
pictures: $(VENV)/installed firmware ## draw the pictures of the README
	$(VENV)/bin/python docs/pictures.py $(FIRMWARE) "$$MODEL"

.PHONY: clean
clean: ## remove what was built, but neither .venv nor the download cache
	rm -rf $(BUILD)
