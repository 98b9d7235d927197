"""Under the name that MicroPython's makeimg.py asks for: ESP-IDF's own code, from PyPI."""

from esp_idf_defs.partitions import APP_TYPE, PartitionTable  # noqa: F401
