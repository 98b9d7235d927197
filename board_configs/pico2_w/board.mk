# A Pico 2 W has no firmware of its own; this says why.

FIRMWARE := $(BUILD)/firmware-pico2/tti-pico2.uf2

.PHONY: firmware-PICO2_W
firmware-PICO2_W:
	@echo 'A Pico 2 W takes the firmware of BOARD=PICO2, with everything but the radio and the LED:' \
		'the driver of its radio (cyw43-driver) is not in the Debian archive, and the 232 KB that' \
		'the radio itself runs do not fit into the flash beside the model.' >&2; exit 1
