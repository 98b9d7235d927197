# What every firmware carries frozen into it: the package `tti` and what it stands on.
include("$(MPY_DIR)/extmod/asyncio")
package("tti", base_path="../mpy_modules")
