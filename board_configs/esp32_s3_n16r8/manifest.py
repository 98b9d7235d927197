# Frozen into the firmware: what the port itself freezes, and tti.
include("$(PORT_DIR)/boards/manifest.py")
include("../../frozen/manifest.py")
