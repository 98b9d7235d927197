"""Rendered portraits with exact labels, and Russian captions for them."""
