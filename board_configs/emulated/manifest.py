# Frozen into the firmware: what mounts the file system, and what every firmware carries.
freeze("modules")
include("../../frozen/manifest.py")
