"""Labelled pictures (rendered heads, CelebA, one's own) and captions for them."""
