"""What an ELF file puts into memory, and where its functions are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ttikit.errors import TtiError

MACHINES = {"EM_ARM": "Arm", "EM_XTENSA": "Xtensa"}


@dataclass(frozen=True)
class Image:
    """Contents of an ELF file: blocks of memory and the addresses of its symbols."""

    path: Path
    machine: str  # "Arm", "Xtensa", or the name that ELF has for another
    blocks: list[tuple[int, bytes]]
    symbols: dict[str, int]

    def address(self, name: str) -> int:
        """Return the address of a symbol.

        Raises:
            TtiError: the file does not define it.
        """
        try:
            return self.symbols[name]
        except KeyError:
            raise TtiError(f"{self.path} has no symbol {name}") from None


def read_image(path: Path) -> Image:
    """Read an ELF file.

    A block that runs elsewhere than it is stored (initialised data, code that is copied to RAM at
    start) is put where it runs.

    Raises:
        TtiError: the file is missing, or is not an ELF file with symbols.
    """
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            machine = MACHINES.get(elf["e_machine"], str(elf["e_machine"]))
            table = elf.get_section_by_name(".symtab")
            if table is None:
                raise TtiError(f"{path} has no symbols; use the file before it was stripped")
            blocks = [
                (segment["p_vaddr"], segment.data().ljust(segment["p_memsz"], b"\0"))
                for segment in elf.iter_segments("PT_LOAD")
                if segment["p_memsz"]
            ]
            symbols = {
                symbol.name: symbol["st_value"]
                for symbol in table.iter_symbols()
                if symbol.name and symbol["st_shndx"] != "SHN_UNDEF" and symbol.name[0] != "$"
            }
    except OSError as error:
        raise TtiError(f"{path} cannot be read: {error.strerror}") from None
    except ELFError as error:
        raise TtiError(f"{path} is not an ELF file: {error}") from None
    return Image(path, machine, blocks, symbols)
