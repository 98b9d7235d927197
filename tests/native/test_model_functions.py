"""The functions of `_tti` that read model files answer as their namesakes on a PC do."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import firmware_cases
import pytest
from native_cases import Buffer, Case, Expression
from ttikit import simulator

HEADER, ENTRY = 64, 64
NAMES = ("", "b", "ы" * 20, "a" * 31, "a" * 32, "a" * 400)


@pytest.fixture(scope="module")
def golden(repo: Path) -> bytes:
    return (repo / "tests" / "golden" / "tiny.tti").read_bytes()


def _names(model: bytes) -> list[str]:
    count = struct.unpack_from("<I", model, 12)[0]
    starts = range(HEADER, HEADER + count * ENTRY, ENTRY)
    return [model[at : at + 32].rstrip(b"\0").decode() for at in starts]


def _flipped(model: bytes, at: int) -> bytes:
    return model[:at] + bytes([model[at] ^ 0x10]) + model[at + 1 :]


def _outcome(case: Case) -> tuple[tuple[str, str] | None, str]:
    """Error and result of the simulator."""
    args = [
        a.data if isinstance(a, Buffer) else eval(a.source) if isinstance(a, Expression) else a
        for a in case.args
    ]
    try:
        return None, repr(getattr(simulator, case.op)(*args))
    except (TypeError, ValueError) as error:
        return (type(error).__name__, str(error)), ""


def _compare(cases: list[Case], folder: Path, run_mpy: Callable[..., Any]) -> None:
    for case, answer in zip(cases, firmware_cases.run(cases, folder, run_mpy), strict=True):
        error, result = _outcome(case)
        assert answer.error == error, str(case)
        # A look-up in a damaged directory may find the tensor or not, but nothing else.
        anything = case.op == "model_find" and _is_damaged(case)
        assert anything or answer.result == result, str(case)


def _is_damaged(case: Case) -> bool:
    return _outcome(Case("model_check", case.args[:1]))[0] is not None


def _calls(model: bytes, align: int, name: str) -> list[Case]:
    file = Buffer(model, align=align)
    find = Case("model_find", (file, Expression(repr(name))))
    head = [Case(op, (file, len(model))) for op in ("model_head_bytes", "model_check_head")]
    return [Case("model_check", (file,)), Case("model_verify", (file,)), *head, find]


def test_good_file(golden: bytes, tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    cases = []
    for i, name in enumerate([*_names(golden), *NAMES]):
        cases += _calls(golden, i % 16, name)
    assert _outcome(cases[0])[0] is None
    _compare(cases, tmp_path, run_mpy)


def test_damaged_files(golden: bytes, tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    name = _names(golden)[-1]
    files = [_flipped(golden, at) for at in range(0, len(golden), 7)]
    files += [golden[:size] for size in range(0, len(golden), 13)]
    files += [golden + b"\0", golden + golden]
    cases = [case for file in files for case in _calls(file, len(file) % 16, name)]
    assert len(cases) >= 300
    _compare(cases, tmp_path, run_mpy)


def test_the_head_of_a_file_that_stays_outside(
    golden: bytes, tmp_path: Path, run_mpy: Callable[..., Any]
) -> None:
    size = len(golden)
    cases = [Case("model_head_bytes", (Buffer(golden[:64]), size))]
    head = eval(_outcome(cases[0])[1])
    assert 64 < head < size
    for n in (head, head - 1, 65, 64, 63, 0):
        for file_bytes in (size, size - 1, size + 1, 0):
            cases.append(Case("model_check_head", (Buffer(golden[:n]), file_bytes)))
    assert sum(_outcome(case)[0] is None for case in cases) == 2
    _compare(cases, tmp_path, run_mpy)


def test_look_up_survives_a_hostile_directory(
    golden: bytes, tmp_path: Path, run_mpy: Callable[..., Any]
) -> None:
    """Nobody has checked these: the header is right, the directory behind it is not."""
    name = _names(golden)[0]
    cases = []
    for at in range(HEADER + 32, HEADER + ENTRY):
        for value in (0, 0xFF):
            file = golden[:at] + bytes([value]) + golden[at + 1 :]
            cases.append(Case("model_find", (Buffer(file), Expression(repr(name)))))
    header = bytearray(golden[:HEADER])
    struct.pack_into("<I", header, 12, 1024)  # more tensors than there are
    struct.pack_into("<I", header, 60, zlib.crc32(header[:60]))
    cases += _calls(bytes(header) + golden[HEADER:], 0, name)
    answers = firmware_cases.run(cases, tmp_path, run_mpy)
    assert all(a.error is None or a.error[0] == "ValueError" for a in answers)
    assert [a.error for a in answers[-5:]] == [_outcome(case)[0] for case in cases[-5:]]
    # The head's size is what the header says; that the head is not that long is found later.
    assert [a.error is None for a in answers[-5:]] == [False, False, True, False, False]


def test_wrong_types(golden: bytes, tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    cases = [Case(op, (Expression("3"),)) for op in ("model_check", "model_verify")]
    cases += [Case("model_find", (Buffer(golden), Expression(s))) for s in ("3", "None", "b'a'")]
    cases += [Case("model_find", (Expression("None"), Expression("'a'")))]
    cases += [Case("crc32", (Expression(s), Buffer(b"abc"))) for s in ("1.5", "None", "-1")]
    cases += [Case("crc32", (0, Expression("7")))]
    for op in ("model_head_bytes", "model_check_head"):
        cases += [Case(op, (Buffer(golden), Expression(s))) for s in ("1.5", "None", "-1")]
    answers = firmware_cases.run(cases, tmp_path, run_mpy)
    for case, answer in zip(cases, answers, strict=True):
        wanted = _outcome(case)[0]
        assert wanted is not None and answer.error is not None, str(case)
        assert answer.error[0] == wanted[0], str(case)
        assert answer.error[1].split(", not ")[0] == wanted[1].split(", not ")[0], str(case)


def test_crc32(tmp_path: Path, run_mpy: Callable[..., Any]) -> None:
    data = bytes(range(256)) * 5
    starts = (0, 1, 2**30, 2**31, 2**32 - 1)
    cases = [
        Case("crc32", (start, Buffer(data[:size], align=size % 16)))
        for start in starts
        for size in (0, 1, 9, 255, 1280)
    ]
    _compare(cases, tmp_path, run_mpy)


def test_build_names_an_implementation_per_part(run_mpy: Callable[..., Any]) -> None:
    done = run_mpy("import _tti; print(sorted(dict(_tti.build()).items()))")
    assert done.stdout.strip() == str(
        [
            ("attention", "ref"),
            ("conv3x3_s8", "ref"),
            ("gelu", "ref"),
            ("gemm_s8", "ref"),
            ("layernorm", "ref"),
            ("quantize", "ref"),
            ("readline", "tti"),
        ]
    )
