# Sent to a board by `ttikit board deploy`: writes into flash what comes block by block.
#
# Whatever the moment at which the power goes, the board has the old model, or none, or the new
# one whole. In a ROMFS the first page makes the rest a file system: it is erased first and
# written last. A file is written beside the old one, which it replaces in one step.

import binascii
import os

MARK = "tti>"
PATH = "/faces.tti"
PART = "/faces.part"
PAGE = 256  # bytes that flash programs at a time

store = None


class Rom:
    """A segment of flash for a ROMFS: a block device."""

    def __init__(self, flash):
        self.flash = flash
        self.block = flash.ioctl(5, 0)
        self.size = flash.ioctl(4, 0) * self.block
        self.buf = bytearray(self.block)

    def crc(self, n):
        self.flash.readblocks(n, self.buf)
        return binascii.crc32(self.buf)

    def begin(self):
        for i in range(self.block):
            self.buf[i] = 0xFF
        self.flash.writeblocks(0, self.buf)

    def write(self, n, data):
        if n:
            self.flash.writeblocks(n, data)
        else:  # the block is erased
            self.flash.writeblocks(0, memoryview(data)[PAGE:], PAGE)
            self.flash.writeblocks(0, memoryview(data)[:PAGE], 0)

    def commit(self):
        self.flash.ioctl(3, 0)


class File:
    """A file in the board's own file system; blocks come in order."""

    block = 4096

    def __init__(self):
        try:
            os.remove(PART)
        except OSError:
            pass
        info = os.statvfs("/")
        # littlefs keeps pointers in the blocks of a file, and blocks for the folder.
        self.size = info[0] * max(0, info[3] - info[3] // 256 - 2)
        self.file = None

    def begin(self):
        self.file = open(PART, "wb")

    def write(self, n, data):
        self.file.write(data)

    def crc(self, n):
        """Of the first n blocks' bytes."""
        self.file.close()
        crc, buf = 0, bytearray(self.block)
        with open(PART, "rb") as file:
            while True:
                got = file.readinto(buf)
                if not got:
                    return crc
                crc = binascii.crc32(memoryview(buf)[:got], crc)

    def commit(self):
        os.rename(PART, PATH)

    def drop(self):
        """Give the room of what was written back."""
        self.file.close()
        os.remove(PART)


def segment():
    """The flash of the ROMFS, or None."""
    try:
        import vfs

        if vfs.rom_ioctl(1) > 0:
            flash = vfs.rom_ioctl(2, 0)
            return flash if hasattr(flash, "writeblocks") else None
    except (ImportError, AttributeError, OSError):
        pass
    return None


def exists(path):
    try:
        os.stat(path)
        return True
    except OSError:
        return False


def choose(kind):
    """Take the store "rom" or "file", "" for the first that there is, and describe it."""
    global store
    if kind == "file" and exists("/rom/faces.tti"):
        raise OSError("/rom/faces.tti would be used before the file; replace it with --to rom")
    flash = segment() if kind != "file" else None
    if flash is None and kind == "rom":
        raise OSError("this firmware has no flash for a ROMFS; deploy with --to file")
    store = File() if flash is None else Rom(flash)
    print(MARK, "store", "file" if flash is None else "rom", store.size, store.block)


def crcs(first, end):
    for n in range(first, end):
        print(MARK, "crc", store.crc(n))


def put(n, data):
    store.write(n, binascii.a2b_base64(data))
