"""Which boards are there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from serial.tools import list_ports

from ttikit.board.session import SessionError


@dataclass(frozen=True)
class Port:
    """A serial port with a USB device behind it."""

    name: str
    product: str
    serial_number: str


def connected() -> list[Port]:
    """The USB serial ports of this PC, by name; boards are among them."""
    return [
        Port(port.device, port.product or port.description or "", port.serial_number or "")
        for port in sorted(list_ports.comports(), key=lambda port: port.device)
        if port.vid is not None
    ]


def chosen(named: Sequence[str], everyone: bool = False, single: bool = False) -> list[str]:
    """The ports that a command works with: those ``named``, all, or the only one.

    A port that is named twice, if by a link to it, counts once; ``single`` allows but one. Raises
    `SessionError` if that is none, or several where one is wanted.
    """
    if named:
        ports: dict[str, str] = {}
        for port in named:
            ports.setdefault(os.path.realpath(port), port)
        if single and len(ports) > 1:
            raise SessionError("this works with one board at a time; name one --port")
        return list(ports.values())
    found = [port.name for port in connected()]
    if not found:
        raise SessionError("no board is connected; plug one in, or name its port with --port")
    if len(found) > 1 and not everyone:
        raise SessionError(
            f"several boards are connected ({', '.join(found)}); choose with --port, or take all "
            "of them with --all"
        )
    return found
