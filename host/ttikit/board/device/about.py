# Sent to a board by `ttikit board info`: prints what it is, as one line of JSON.

import gc
import json
import os
import sys

MARK = "tti>"


def _free(free, size):
    return "{:,} bytes free of {:,}".format(free, size)


def about():
    found = {"firmware": sys.version, "machine": getattr(sys.implementation, "_machine", "")}
    gc.collect()
    found["memory"] = _free(gc.mem_free(), gc.mem_free() + gc.mem_alloc())
    try:
        info = os.statvfs("/")
        found["files"] = _free(info[0] * info[3], info[0] * info[2])
    except OSError:
        found["files"] = "no file system"
    try:
        import _tti
        import tti

        found["tti"] = tti.__version__
        found["kernels"] = ", ".join(["%s %s" % pair for pair in _tti.build()])
    except ImportError:
        found["tti"] = "not in this firmware; flash one that `make firmware` built"
    else:
        try:
            weights = tti.load().weights
            told = weights.metadata.get("about")
            name = told.get("name", "") if isinstance(told, dict) else ""
            found["model"] = "%s, %08x, %s" % (name, weights.fingerprint, weights.where)
        except (OSError, ValueError, MemoryError) as error:
            found["model"] = str(error)
    print(MARK, "about", json.dumps(found))
