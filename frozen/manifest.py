# What every firmware carries frozen into it: the package `tti` and what it stands on.
from pathlib import Path

include("$(MPY_DIR)/extmod/asyncio")
# Without names the order would be that of the file system, and the firmware another on each PC.
names = sorted(path.name for path in Path("../mpy_modules/tti").glob("*.py"))
package("tti", names, base_path="../mpy_modules")
