"""The second core of a chip, which numpy does without."""

from ttikit.simulator.arguments import Arguments


class Cores:
    """What `cores` returns."""

    def count(self) -> int:
        """Return how many cores the ops use."""
        return 1

    def end(self) -> None:
        """Give the second core back; may be called again."""


def cores(n: int) -> Cores:
    """Let the ops use up to `n` cores, 1 or 2, until `end()`; 0 is what is best here.

    Raises:
        TypeError: `n` is no integer.
        ValueError: `n` is neither 0, 1 nor 2.
    """
    Arguments("cores").integer("n", n, 0, 2)
    return Cores()
