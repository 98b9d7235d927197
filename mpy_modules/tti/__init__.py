# tti: text to image on a microcontroller.
#
#   import tti
#   tti.generate("пожилой мужчина")

import os
import sys
import time

from .image import Image
from .line import ask  # noqa: F401
from .pipeline import PICTURE_BYTES, Pipeline
from .weights import load as load_weights
from .weights import open_model

__version__ = "0.1.0"

MODEL_PATHS = ("/rom/faces.tti", "/faces.tti", "faces.tti", "models/faces.tti")

_pipeline = None
_wanted = (None, None)  # what the last load() was asked for


def load(model=None, cache=None):
    """Load a model and return the Pipeline.

    model: the path of a file (default: the first of MODEL_PATHS that exists) or a provider, such
    as your own subclass of tti.weights.Provider; cache: bytes through which a file is read piece
    by piece, by default only if it is neither in a ROMFS nor fits the memory.

    `generate` uses it from then on; without a model, or if there is no such file, an earlier one
    is kept. Raises OSError, MemoryError or ValueError, one sentence each."""
    global _pipeline, _wanted
    if model is not None or cache is not None:
        if model is not None and not hasattr(model, "piece"):
            open_model(model).close()
        _wanted = (_wanted[0] if model is None else model, cache)
        _pipeline = None  # the old model's memory is free while the new one is read
    if _pipeline is None:
        model, cache = _wanted
        if not hasattr(model, "piece"):
            model = load_weights(_find_model() if model is None else model, cache)
        _pipeline = Pipeline(model)
    return _pipeline


def memory():
    """Print how much memory a picture takes and how much is free, and what is short. Nothing is
    loaded for it."""
    from .budget import report

    path = _first_model() if _wanted[0] is None else _wanted[0]
    if not isinstance(path, str):
        path = None  # a provider
    for line in report(path, _pipeline):
        print(line)


def selftest():
    """Check the model file and every stage of a picture against the record in the model file.

    Prints what it finds, naming the first stage that differs; returns True if all is well. Raises
    as `load`, and ValueError if the model file has no record."""
    from . import probe

    return probe.run(load(), sys.stdout.write)


def bench():
    """Print where the time of a picture goes, op by op; returns the estimated seconds of a picture
    of 8 steps. Raises as `load`."""
    from . import stopwatch

    return stopwatch.run(load(), sys.stdout.write)


def _first_model():
    for path in MODEL_PATHS:
        try:
            os.stat(path)
            return path
        except OSError:
            pass
    return None


def _find_model():
    path = _first_model()
    if path is not None:
        return path
    raise OSError(
        "no model found: give its path to tti.load() or --model, or copy faces.tti to the board"
    )


def random_seed():
    """A seed from the system's random source, 0 to 2**32 − 1."""
    return int.from_bytes(os.urandom(4), "little")


def generate(prompt, seed=None, steps=8, guidance=3, show=True, progress=None):
    """Draw a face and return it as an Image.

    prompt: whom to draw, in Russian or English; seed: whole number below 2**32, None for a random
    one; steps: 1 to 100, 4 is fast, 8 is finer; guidance: 1 to 5, how strictly the prompt is
    followed; show: print the picture; progress: print notes and a progress line (default: as
    `show`), or a function of yours that is called with (steps done, steps) from 0 on.

    Raises TypeError or ValueError for a bad argument, OSError or MemoryError if no model can be
    loaded."""
    pipeline = load()
    data = bytearray(PICTURE_BYTES)
    seed = random_seed() if seed is None else seed
    stages = pipeline.stages(prompt, data, seed, steps, guidance)
    notes = pipeline.notes
    try:
        if callable(progress):
            _follow(stages, steps, progress)
        elif show if progress is None else progress:
            for note in notes:
                print("note: " + note)
            _watch(stages, steps)
        else:
            for _ in stages:
                pass
    finally:
        stages.close()  # after Ctrl-C or an error out here, too, the second core is free at once
    text = prompt if isinstance(prompt, str) else str(prompt, "utf-8")
    image = Image(data, text, seed, steps, guidance, notes)
    if show:
        image.show()
    return image


def _follow(stages, steps, progress):
    """Run the stages; calls progress(steps done, steps)."""
    done = 0
    progress(0, steps)
    for stage, _ in stages:
        if stage == "step":
            done += 1
            progress(done, steps)


def _watch(stages, steps):
    """Run the stages with a progress line."""
    start = time.ticks_ms()
    try:
        _follow(stages, steps, _progress)
    except BaseException:
        sys.stdout.write("\n")  # leave the line as it is; the message begins on the next one
        raise
    sys.stdout.write("  %.2f s\n" % (time.ticks_diff(time.ticks_ms(), start) / 1000))


def _progress(done, steps):
    bar = done * 20 // steps
    sys.stdout.write("\r[%s%s] step %d of %d" % ("#" * bar, "." * (20 - bar), done, steps))
