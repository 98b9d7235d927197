# Mounts the file system before boot.py; a flash without one gets a fresh one.
import emulated
import vfs

flash = emulated.Flash()
try:
    files = vfs.VfsLfs2(flash, progsize=256)
except OSError:
    vfs.VfsLfs2.mkfs(flash, progsize=256)
    files = vfs.VfsLfs2(flash, progsize=256)
vfs.mount(files, "/")
