"""Measuring a model: what the pictures show, and how near they come to the renders."""
