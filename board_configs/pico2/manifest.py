# Frozen into the firmware: the port's own modules (the file system is mounted by one) and tti.
freeze("$(PORT_DIR)/modules", ("_boot.py", "_boot_fat.py", "rp2.py"))
include("../../frozen/manifest.py")
