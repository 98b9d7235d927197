# One block of memory for everything that a picture needs.
#
# The graphs never run together, so their buffers lie in the same bytes. On a chip free memory
# comes in pieces: the arena is a few parts, and every buffer lies inside one of them. A board may
# have set its fast memory aside at boot, before others broke it up; then the arena lies there.

import gc

from _tti import reserved

ALIGN = 16  # vector loads of the ESP32-S3
# Bytes, at most, of the parts. The first choice is the largest free blocks of an ESP32-S3 under
# MicroPython; the others are for a heap that is in pieces already.
CHOICES = (
    (229376, 49152, 49152, 49152),
    (106496, 73728, 49152),
    (61440, 57344, 57344, 57344),
)


class Buffers:
    """The buffers of one graph: attributes that are memoryviews of the arena."""


def _place(graph, buffers, used, limits):
    """First fit, largest first: [(name, part, offset, bytes)]; `used` (bytes taken of each part)
    grows."""
    placed = []
    for size, name in sorted([(size, name) for name, size in buffers], reverse=True):
        for part in range(len(limits)):
            if used[part] + size <= limits[part]:
                break
        else:
            raise MemoryError("no room for %s.%s (%d bytes) in the arena" % (graph, name, size))
        placed.append((name, part, used[part], size))
        used[part] += (size + ALIGN - 1) // ALIGN * ALIGN
    return placed


def plan(graphs, limits=CHOICES[0]):
    """Place the buffers of each graph.

    graphs: {graph: [(name, bytes), ...]}; those of the graph "shared" keep their bytes while the
    others take turns. Returns (part sizes, {graph: [(name, part, offset, bytes), ...]}). Raises
    MemoryError, naming the buffer, if one fits nowhere."""
    shared = [0] * len(limits)
    placed = {"shared": _place("shared", graphs.get("shared", ()), shared, limits)}
    sizes = shared[:]
    for graph in graphs:
        if graph != "shared":
            used = shared[:]
            placed[graph] = _place(graph, graphs[graph], used, limits)
            sizes = [max(a, b) for a, b in zip(sizes, used)]
    return [size for size in sizes if size], placed


def borrow(graphs):
    """Return (what has borrowed the memory set aside at boot, its parts, {graph: places}), or None
    if nothing is set aside, it is too little, or another arena has it."""
    gc.collect()  # perhaps one that nobody draws with any more
    lent = reserved()
    parts = lent.parts()
    try:
        return lent, parts, plan(graphs, [len(part) for part in parts])[1]
    except MemoryError:
        lent.end()
        return None


class Arena:
    """Memory for the graphs {graph: [(name, bytes), ...]}; `arena.views[graph]` has the buffers as
    attributes.

    limits: the most bytes of each part, or None to take what is set aside at boot, else to try
    CHOICES. `arena.where` tells where it is. Raises MemoryError."""

    where = "allocated"

    def __init__(self, graphs, limits=None):
        lent = borrow(graphs) if limits is None else None
        if lent:
            self.lent, self.parts, self.placed = lent
            self.where = "set aside at boot"
        else:
            self._take(graphs, CHOICES if limits is None else (limits,))
        self.views = {}
        for graph in self.placed:
            views = self.views[graph] = Buffers()
            for name, part, offset, size in self.placed[graph]:
                setattr(views, name, memoryview(self.parts[part])[offset : offset + size])

    def _take(self, graphs, choices):
        for choice in choices:
            sizes, self.placed = plan(graphs, choice)
            self.parts = _allocate(sizes)
            if self.parts:
                return
        raise MemoryError(
            "not enough memory for a picture: %d bytes are needed, tti.memory() tells more"
            % sum(plan(graphs)[0])
        )

    def size(self):
        """Bytes in all parts together."""
        return sum([len(part) for part in self.parts])


def _allocate(sizes):
    try:
        return [bytearray(size) for size in sizes]
    except MemoryError:
        return None
