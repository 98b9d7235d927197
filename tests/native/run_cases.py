# Runs on MicroPython: calls ops of `_tti` with arguments from a file and writes what came of it.
# argv: input file, output file, 1 to forbid allocation during the calls. The other end is
# tests/native/firmware_cases.py.
import gc
import json
import sys

import _tti
import micropython


def read_buffer(file, size, align):
    block = bytearray(size + align)
    view = memoryview(block)[align : align + size]
    while size > 0:
        got = file.readinto(view[len(view) - size :])
        if not got:
            raise ValueError("the file of cases ends too early")
        size -= got
    return view


def read_arguments(file, kinds):
    args = []
    written = []
    for kind in kinds:
        if kind[0] == "buffer":
            args.append(read_buffer(file, kind[1], kind[2]))
            if kind[3] == "write":
                written.append(args[-1])
        elif kind[0] == "same":
            args.append(args[kind[1]])
        elif kind[0] == "readonly":
            args.append(bytes(read_buffer(file, kind[1], 0)))
        else:
            args.append(eval(kind[1]))
    return args, written


def call(op, args, locked):
    if not locked:
        return op(*args)
    # Written out, because MicroPython may allocate to pass *args.
    names = ", ".join(f"args[{i}]" for i in range(len(args)))
    written_out = eval("lambda op, args: op(" + names + ")")
    micropython.heap_lock()
    try:
        return written_out(op, args)
    finally:
        micropython.heap_unlock()


def main(source, target, locked):
    while True:
        line = source.readline()
        if not line:
            return
        case = json.loads(line)
        args, written = read_arguments(source, case["args"])
        try:
            result = call(getattr(_tti, case["op"]), args, locked)
        except Exception as error:
            answer = {"error": [type(error).__name__, str(error)]}
            target.write(json.dumps(answer).encode() + b"\n")
            continue
        answer = {"result": repr(result), "sizes": [len(b) for b in written]}
        target.write(json.dumps(answer).encode() + b"\n")
        for buffer in written:
            target.write(buffer)
        gc.collect()


with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:  # noqa: PTH123
    main(source, target, sys.argv[3] == "1")
