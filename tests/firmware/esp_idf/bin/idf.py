#!/usr/bin/env python3
"""A stand-in for ESP-IDF's command: it configures with CMake and leaves images, the real names
and sizes of which MicroPython's makeimg.py and our images.py work on."""

import argparse
import os
import subprocess
from pathlib import Path

from esp_idf_defs.partitions import PartitionTable

parser = argparse.ArgumentParser()
parser.add_argument("-D", dest="defines", action="append")
parser.add_argument("-B", dest="build", type=Path)
parser.add_argument("action", choices=["build"])
args = parser.parse_args()
defines = [f"-D{define}" for define in (*args.defines, "CMAKE_EXPORT_COMPILE_COMMANDS=1")]
subprocess.run(["cmake", "-S", ".", "-B", args.build, *defines], check=True)

lines = (args.build / "sdkconfig.combined").read_text().splitlines()
options = dict(line.split("=", 1) for line in lines if line.startswith("CONFIG_"))
table = Path(options["CONFIG_PARTITION_TABLE_CUSTOM_FILENAME"].strip('"'))
parts = PartitionTable.from_csv(table.read_text())
parts.verify()
target = 'CONFIG_IDF_TARGET="esp32s3"\nCONFIG_BOOTLOADER_OFFSET_IN_FLASH=0x0\n'
(args.build / "sdkconfig").write_text(target + "\n".join(lines))
images = {
    "bootloader/bootloader.bin": b"boot" * 5000,
    "partition_table/partition-table.bin": parts.to_binary(),
    "micropython.bin": b"app!" * (int(os.environ.get("APP_BYTES", "1700000")) // 4),
}
for name, data in images.items():
    (args.build / name).parent.mkdir(exist_ok=True)
    (args.build / name).write_bytes(data)
