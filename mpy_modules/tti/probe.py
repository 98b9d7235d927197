# Does this board compute what every board computes?
#
# The model file holds a record: what each stage of one picture gives, as CRCs. The first stage
# that gives something else is named.

import _tti as ops

from . import kernel_check
from .pipeline import PICTURE_BYTES


def stages(pipeline):
    """Draw the picture of the record; yields (stage, True if it is what the record says).

    Raises ValueError if the model file has no record."""
    probe = pipeline.weights.metadata.get("probe")
    out = bytearray(PICTURE_BYTES)
    try:
        recipe = [probe[name] for name in ("seed", "steps", "guidance")]
        expected = probe["stages"]
        if not isinstance(expected, list):
            raise TypeError
        drawing = pipeline.stages(probe["prompt"], out, *recipe)
    except (KeyError, TypeError, ValueError):
        raise ValueError("the model file has no record to test with; export it with this version")
    i = 0
    for name, buffer in drawing:
        yield name, expected[i : i + 1] == [[name, ops.crc32(0, buffer)]]
        i += 1
    yield "picture", expected[i:] == [["picture", ops.crc32(0, out)]]


def run(pipeline, write):
    """Check the kernels, the model file and every stage; returns True if all is well.

    write: called with pieces of text as the test goes on."""
    write("kernels: %s\n" % ", ".join(["%s %s" % pair for pair in ops.build()]))
    for name, same in kernel_check.compare():
        if not same:
            write("the kernel of %s differs from the portable one; please report it\n" % name)
            return False
    write("model file ... ")
    try:
        pipeline.weights.verify()
    except ValueError as error:
        write("%s\n" % error)
        return False
    write("whole\nstages ")
    count = 0
    for name, same in stages(pipeline):
        if not same:
            write(
                "\n%s differs after %d stages that are right; please report it\n" % (name, count)
            )
            return False
        count += 1
        write(".")
    write(" %d, each equal to the record\n" % count)
    return True
