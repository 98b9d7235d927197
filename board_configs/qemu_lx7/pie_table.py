"""Write the vector instructions as a table in C: pie_table.py FILE.c."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "host"))

from ttikit.pie.opcodes import Opcode, Operand, opcodes

MAX_OPERANDS = 8  # PIE_MAX_OPERANDS


def operand(o: Operand) -> str:
    """Return the initialiser of a pie_operand_t."""
    kind = int(o.signed) if o.kind == "i" else f"'{o.kind}'"
    places = ", ".join(map(str, o.bits))
    return f"{{{kind}, {o.step}, {len(o.bits)}, {{{places}}}}}"


def opcode(o: Opcode) -> str:
    """Return the initialiser of a pie_opcode_t."""
    assert len(o.operands) <= MAX_OPERANDS
    operands = ", ".join(map(operand, o.operands)) or "{0}"
    function = "pie_" + o.name.replace(".", "_")
    return (
        f"    {{0x{o.word:x}, 0x{o.mask:x}, {function}, {o.size}, {len(o.operands)}, "
        f"{{{operands}}}}},"
    )


def main(target: Path) -> None:
    """Write the table."""
    table = list(opcodes().values())
    lines = [
        '// Made by pie_table.py.\n#include "pie.h"\n',
        "// An instruction that no file defines is not emulated.",
        *(f"pie_function_t pie_{o.name.replace('.', '_')} __attribute__((weak));" for o in table),
        "\nconst pie_opcode_t pie_opcodes[] = {",
        *map(opcode, table),
        "};",
        f"const uint32_t pie_opcode_count = {len(table)};",
    ]
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
