"""The memory that a board sets aside at boot, of which a PC has no need."""


class Reserved:
    """What `reserved` returns."""

    def parts(self) -> tuple[memoryview, ...]:
        """Return the parts of the memory."""
        return ()

    def end(self) -> None:
        """Give the memory back; may be called again."""


def reserved() -> Reserved:
    """Borrow the memory that is set aside for pictures, until `end()`: here there is none."""
    return Reserved()
