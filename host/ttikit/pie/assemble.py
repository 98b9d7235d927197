"""Turn the ESP32-S3's vector instructions into bytes: `python3 -m ttikit.pie.assemble IN OUT`.

Sources are in GNU syntax, so that Espressif's assembler takes them unchanged, and have been
through the C preprocessor (`clang-22 -E -P` or without `-P`). The output is for llvm-mc:

- `ee.*`, `mv.qr`, and `rur.*`, `wur.*` of the vector unit's registers become `.byte`;
- `.word`, which llvm-mc lacks for Xtensa, becomes `.long`;
- `.align`, which the two take differently, is refused.

Everything else stays as it is, line by line. Registers must be plain: an argument of a `.macro`
has no value yet, so use `#define` with `;` between instructions instead.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ttikit.errors import TtiError
from ttikit.pie.opcodes import PieError, encode, is_pie

MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"')
_STRING = r'"(?:[^"\\]|\\.)*"'
_CODE = re.compile(rf"(?:{_STRING}|(?!//)[^\"#])*")  # all before a comment
_STATEMENT = re.compile(rf"(?:{_STRING}|[^\";])+|;")
_PARTS = re.compile(r"(\s*(?:[\w.$]+:\s*)*)([\w.]+)?\s*(.*?)(\s*)$", re.DOTALL)


def statements(code: str) -> Iterator[tuple[str, str, str]]:
    """Yield (labels, name, operands) of each statement in a line without comment."""
    for text in _STATEMENT.findall(code):
        if text != ";":
            labels, name, operands, _ = _PARTS.match(text).groups()  # type: ignore[union-attr]
            yield labels, name or "", operands


def without_comment(line: str) -> str:
    """Return what is before a comment that begins with # or //."""
    match = _CODE.match(line)
    return match.group() if match else ""


def split_operands(operands: str) -> list[str]:
    """Return the operands of an instruction."""
    return [part.strip() for part in operands.split(",")] if operands.strip() else []


def rewrite_statement(labels: str, name: str, operands: str) -> str:
    """Return one statement as llvm-mc takes it."""
    if is_pie(name):
        if "\\" in operands:
            raise PieError(
                f"{name} {operands}: use #define, an argument of .macro has no value yet"
            )
        code = encode(name, split_operands(operands))
        return f"{labels}.byte {','.join(f'0x{byte:02x}' for byte in code)}"
    if name.lower().startswith("ee."):
        raise PieError(f"{name} is not an instruction of the ESP32-S3")
    if name == ".align":
        raise PieError(".align means bytes or a power of two: write .balign or .p2align")
    if name == ".word":
        name = ".long"
    return f"{labels}{name} {operands}".rstrip()


def rewrite(source: str, name: str) -> str:
    """Return a preprocessed source with bytes for vector instructions.

    Raises:
        PieError: a mistake in the source; the text names file and line.
    """
    out = []
    file, number = name, 0
    for line in source.splitlines():
        number += 1
        marker = MARKER.match(line)
        if marker:
            file, number = marker.group(2), int(marker.group(1)) - 1
            out.append(line)
            continue
        code = without_comment(line)
        try:
            parts = [(s, rewrite_statement(*s)) for s in statements(code)]
        except PieError as error:
            raise PieError(f"{file}:{number}: {error}") from None
        if all(f"{s[0]}{s[1]} {s[2]}".rstrip() == text for s, text in parts):
            out.append(line)  # nothing to change
        else:
            out.append("; ".join(text for _, text in parts) + "  # " + line.strip())
    return "\n".join(out) + "\n"


def main(arguments: list[str]) -> int:
    """Rewrite a file; returns the exit status."""
    if len(arguments) != 2:
        print("usage: python3 -m ttikit.pie.assemble IN OUT", file=sys.stderr)
        return 2
    source, target = map(Path, arguments)
    try:
        target.write_text(rewrite(source.read_text(), str(source)))
    except TtiError as error:
        print(f"assemble: {error}", file=sys.stderr)
        return 2
    except (OSError, UnicodeDecodeError) as error:
        print(f"assemble: {source}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
