# Frozen into the firmware: the port's own modules (the file system is mounted by one) and tti.
freeze("$(PORT_DIR)/modules")
include("../../frozen/manifest.py")
