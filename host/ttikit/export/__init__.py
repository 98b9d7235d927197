"""From a trained float32 checkpoint to the int8 model file that a board runs.

``quantize`` turns layers into int8 tensors, ``decoder`` finds the decoder's static scales,
``tables`` makes the tables that the ops read, and ``build`` puts the file together.
"""
