"""Wrong arguments: `_tti` and numpy refuse them with the same exception in the same words."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import firmware_cases
import numpy as np
import pytest
import sweep
from kernel_library import SIGNATURES
from native_cases import Argument, Buffer, Case, Expression, ReadOnly, Same
from ttikit import simulator

# Name of each argument and its kind: f float32 or int32, b bytes, upper case if written, ? if it
# may be None, i size of at least 1, z other integer.
ATTENTION = "head:z row0:z rows:i tokens:i heads:i head_dim:i"
ARGUMENTS = {
    **dict.fromkeys(("exp", "log", "rsqrt", "sqrt", "silu", "rne"), "out:F x:f n:i"),
    "sincos": "out_sin:F out_cos:F turns:f n:i",
    "gelu": "out:F x:f table:f n:i",
    "quantize_rows": "q:B scale:F x:f rows:i cols:i",
    "quantize_cols_t": "q:B scale:F x:f rows:i cols:i",
    "gemm_s8": "out:F x:b sx:f w:b sw:f bias:f? t:i o:i k:i",
    "gemm_s8_add": "res:F gate:f x:b sx:f w:b sw:f bias:f? t:i o:i k:i",
    "layernorm_modulate_s8": "q:B sq:F x:f shift:f scale:f scratch:F rows:i cols:i",
    "attention_scores": f"s:F q:b sq:f k:b sk:f {ATTENTION}",
    "softmax_s8": "p:B inv:F s:f rows:i cols:i valid:i",
    "attention_values": f"out:F p:b inv:f vt:b sv:f {ATTENTION}",
    "conv3x3_s8": "out:B x:b w:b m:f b:f res:b? r:f? patches:B height:i width:i cin:i cout:i "
    "flags:z y0:z y1:z in_y0:z out_y0:z",
    "noise": "out:F seed:z n:i",
    "timestep_features": "out:F freqs:f i:z steps:i n:i",
    "euler": "x:F v:f steps:i n:i",
    "add": "out:F a:f b:f n:i",
    "lerp": "out:F a:f b:f hundredths:z n:i",
    "mean_rows": "out:F x:f rows:i cols:i",
    "embed": "out:F table:f pos:f? tokens:b n:i dim:i",
    "quantize_latent": "q:B x:f m:f b:f height:i width:i",
}
NUMBER = re.compile(r"-?\d+")
FAR_OUTSIDE = (2**24 + 4, 2**31, -(2**31), 2**32, 2**62, -(2**62), 2**64 - 4, 2**70)


@dataclass(frozen=True)
class Wrong:
    """A call that must be refused with this exception, naming the op and the argument."""

    case: Case
    error: str
    text: str
    same_text: bool = True


@cache
def all_cases() -> tuple[Case, ...]:
    return tuple(sweep.all_cases())


@cache
def valid_case(op: str) -> Case:
    """A small call without None and shared buffers, in buffers of exactly the size needed."""

    def suits(case: Case) -> bool:
        plain = not any(a is None or isinstance(a, Same) for a in case.args)
        names = [spec.split(":")[0] for spec in ARGUMENTS[op].split()]
        args = dict(zip(names, case.args, strict=True))
        return plain and _tight(args)

    return next(c for c in all_cases() if c.op == op and suits(c))


def _tight(args: dict[str, Any]) -> bool:
    """Whether nothing is left over at the end of a convolution's input and patches."""
    if "patches" not in args:
        return True
    row = args["width"] // (2 if args["flags"] & 1 else 1) * args["cin"]
    last = min(args["y1"], args["height"] - 1) // (2 if args["flags"] & 1 else 1)
    rows = last - args["in_y0"] + 1
    return (
        len(args["x"].data) == rows * row
        and len(args["patches"].data) == len(args["w"].data) // args["cout"]
    )


def _wrong_buffers(case: Case, i: int, name: str, kind: str) -> Iterator[Wrong]:
    start = f"{case.op}: {name} "
    buffer = case.args[i]
    assert isinstance(buffer, Buffer)
    short = Buffer(buffer.data[:-1], buffer.role, buffer.align)
    empty = Buffer(b"", buffer.role)
    if name == "x" and case.op == "conv3x3_s8":
        yield Wrong(case.replaced(i, short), "ValueError", "conv3x3_s8: input rows ")
    elif name == "table" and case.op == "embed":
        yield Wrong(case.replaced(i, empty), "ValueError", "embed: token ")
    else:
        needs = rf"needs {len(buffer.data)} bytes, has "
        yield Wrong(case.replaced(i, short), "ValueError", start + needs)
        yield Wrong(case.replaced(i, empty), "ValueError", start + needs)
    for source in ("3", "1.5", "[1, 2]", "object()", *(() if "?" in kind else ("None",))):
        yield Wrong(case.replaced(i, Expression(source)), "TypeError", start + "must be a buffer")
    if kind[0] in "fF":
        for align in (1, 2, 3, 5):
            odd = Buffer(buffer.data, buffer.role, align)
            yield Wrong(case.replaced(i, odd), "ValueError", start + "must begin at an address")
    if kind[0].isupper():
        frozen = ReadOnly(buffer.data)
        yield Wrong(case.replaced(i, frozen), "TypeError", start + "must be a writable buffer")


def _wrong_integers(case: Case, i: int, name: str, kind: str) -> Iterator[Wrong]:
    start = f"{case.op}: {name} "
    for source in ("None", "1.0", "'3'", "b'3'", "[]", "True"):
        changed = case.replaced(i, Expression(source))
        yield Wrong(changed, "TypeError", start + "must be an integer")
    values: tuple[int, ...] = FAR_OUTSIDE
    if name == "seed":
        values = (-1, 2**32, 2**62, 2**70, -(2**70))
    elif kind == "i":
        values = (0, -1, *FAR_OUTSIDE)
    for value in values:
        yield Wrong(case.replaced(i, value), "ValueError", start + "must be ")


def _wrong_sizes(case: Case, specs: list[list[str]]) -> Iterator[Wrong]:
    """All sizes at their largest: the products need up to 2^50 bytes."""
    largest = {("n", op): 2**24 for op in SIGNATURES if op != "embed"}
    args = tuple(
        largest.get((name, case.op), 65532) if kind == "i" else argument
        for (name, kind), argument in zip(specs, case.args, strict=True)
    )
    # Several buffers are too short: numpy and C may name different ones.
    yield Wrong(Case(case.op, args), "ValueError", case.op + ": ", same_text=False)


def wrong_calls(op: str) -> Iterator[Wrong]:
    case = valid_case(op)
    specs = [spec.split(":") for spec in ARGUMENTS[op].split()]
    for i, (name, kind) in enumerate(specs):
        kinds = _wrong_buffers if kind[0] in "fFbB" else _wrong_integers
        yield from kinds(case, i, name, kind)
    yield from _wrong_sizes(case, specs)


def special_calls() -> Iterator[Wrong]:
    """What single ops ask for beyond sizes and types."""

    def wrong(op: str, text: str, **changes: Argument) -> Wrong:
        names = [spec.split(":")[0] for spec in ARGUMENTS[op].split()]
        case = valid_case(op)
        for name, value in changes.items():
            case = case.replaced(names.index(name), value)
        return Wrong(case, "ValueError", f"{op}: {text}")

    yield wrong("noise", "n must be a multiple of 4", n=2)
    yield wrong("layernorm_modulate_s8", "cols must be a multiple of 4", cols=2)
    yield wrong("quantize_latent", "height must be a multiple of 2", height=1)
    yield wrong("quantize_latent", "width must be a multiple of 2", width=1)
    yield wrong("conv3x3_s8", "height must be a multiple of 2", flags=1, height=3)
    yield wrong("conv3x3_s8", "width must be a multiple of 2", flags=1, height=2, width=3)
    yield wrong("conv3x3_s8", "flags must be 0 to 7", flags=8)
    yield wrong("conv3x3_s8", "y0 must be ", y0=-1)
    yield wrong("conv3x3_s8", "y1 must be ", y0=1, y1=1, height=4)
    yield wrong("conv3x3_s8", "y1 must be ", y0=0, y1=5, height=4)
    yield wrong("conv3x3_s8", "in_y0 must be ", in_y0=-1)
    yield wrong("conv3x3_s8", "out_y0 must be ", y0=0, y1=1, out_y0=1)
    yield wrong("conv3x3_s8", "input rows ", height=9, in_y0=8, y0=1, y1=2, out_y0=1)
    yield wrong("softmax_s8", "valid must be 1 to ", valid=4096)
    yield wrong("attention_scores", "head must be 0 to ", heads=1, head=1)
    yield wrong("attention_scores", "head must be 0 to ", head=-1)
    yield wrong("attention_scores", "row0 must be 0 to ", row0=-1)
    yield wrong("attention_values", "row0 must be 0 to ", tokens=2, row0=2)
    yield wrong("attention_values", "rows must be 1 to ", tokens=2, row0=1, rows=2)
    yield wrong("timestep_features", "i must be 0 to ", steps=3, i=3)
    yield wrong("timestep_features", "i must be 0 to ", i=-1)
    yield wrong("lerp", "hundredths must be 0 to 100", hundredths=101)
    yield wrong("lerp", "hundredths must be 0 to 100", hundredths=-1)
    _, table, _, tokens, _, dim = valid_case("embed").args
    assert isinstance(table, Buffer) and isinstance(tokens, Buffer) and isinstance(dim, int)
    beyond = Buffer(b"\xff" * len(tokens.data))
    row = Buffer(table.data[: 4 * dim], align=table.align)
    yield wrong("embed", "token 255 is outside the table of 1 rows", table=row, tokens=beyond)


def refusal(case: Case) -> tuple[str, str]:
    """Type and text of the exception that the simulator raises."""
    arrays: list[Any] = []
    for argument in case.args:
        match argument:
            case Buffer(data, _, align):
                block = np.frombuffer(b"\0" * align + data, np.uint8).copy()
                assert block.ctypes.data % 16 == 0
                arrays.append(memoryview(block)[align:])
            case ReadOnly(data):
                arrays.append(data)
            case Expression(source):
                arrays.append(eval(source))
            case _:
                arrays.append(argument)
    with pytest.raises((TypeError, ValueError)) as caught:
        getattr(simulator, case.op)(*arrays)
    return caught.type.__name__, str(caught.value)


def normalised(text: str) -> str:
    """The text without its numbers: a few ranges are stated more narrowly by one side."""
    return NUMBER.sub("N", text).replace(", not N", "")


def _check(wrongs: list[Wrong], folder: Path, run_mpy: Callable[..., Any]) -> None:
    answers = firmware_cases.run([w.case for w in wrongs], folder, run_mpy)
    for wrong, answer in zip(wrongs, answers, strict=True):
        assert answer.error is not None, f"{wrong.case} was accepted"
        kind, text = answer.error
        assert kind == wrong.error, f"{wrong.case}: {kind}: {text}"
        assert text.startswith(wrong.text), f"{wrong.case}: {text}"
        other = refusal(wrong.case)
        assert other[0] == kind, f"{wrong.case}: numpy raises {other}"
        if wrong.same_text:
            assert normalised(other[1]) == normalised(text), f"{wrong.case}: numpy: {other[1]}"


@pytest.mark.parametrize("op", list(SIGNATURES))
def test_wrong_arguments(op: str, tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    wrongs = list(wrong_calls(op))
    assert len(wrongs) >= 30
    _check(wrongs, tmp_path, run_mpy)


def test_special_arguments(tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    _check(list(special_calls()), tmp_path, run_mpy)


def test_wrong_number_of_arguments(tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    cases = []
    for op in SIGNATURES:
        case = valid_case(op)
        cases += [Case(op, case.args[:-1]), Case(op, (*case.args, 1)), Case(op, ())]
    for case, answer in zip(cases, firmware_cases.run(cases, tmp_path, run_mpy), strict=True):
        assert answer.error is not None and answer.error[0] == "TypeError", case


def test_optional_arguments_may_be_none(tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    cases = []
    for op, specs in ARGUMENTS.items():
        case = valid_case(op)
        for i, spec in enumerate(specs.split()):
            if spec.endswith("?") and not spec.startswith("r:"):  # r may not be None beside res
                cases.append(case.replaced(i, None))
    assert len(cases) == 4
    for case, answer in zip(cases, firmware_cases.run(cases, tmp_path, run_mpy), strict=True):
        assert answer.error is None, f"{case}: {answer.error}"


def test_ops_allocate_nothing(repo: Path, tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    golden = Buffer((repo / "tests" / "golden" / "tiny.tti").read_bytes())
    cases = [valid_case(op) for op in SIGNATURES]
    cases.append(Case("model_check", (golden,)))  # makes a tuple: the lock is real
    *answers, allocates = firmware_cases.run(cases, tmp_path, run_mpy, locked=True)
    for case, answer in zip(cases, answers, strict=False):
        assert answer.error is None, f"{case}: {answer.error}"
    assert allocates.error is not None and allocates.error[0] == "MemoryError"


def test_longer_buffers_are_fine(tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    cases = []
    for op in SIGNATURES:
        case = valid_case(op)
        for i, argument in enumerate(case.args):
            if isinstance(argument, Buffer):
                longer = Buffer(argument.data + b"\x11" * 9, argument.role, argument.align)
                case = case.replaced(i, longer)
        cases.append(case)
    for case, answer in zip(cases, firmware_cases.run(cases, tmp_path, run_mpy), strict=True):
        assert answer.error is None, f"{case}: {answer.error}"
        written = [a for a in case.args if isinstance(a, Buffer) and a.role == "write"]
        for argument, data in zip(written, answer.buffers, strict=True):
            # Only the patches may use what lies behind the size asked for.
            assert data[-9:] == argument.data[-9:] or case.op == "conv3x3_s8", case
