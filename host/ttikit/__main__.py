"""Lets `python -m ttikit` do what the console script `ttikit` does."""

from ttikit.cli import main

main()
