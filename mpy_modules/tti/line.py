# A line of text from whoever sits at the terminal: UTF-8, whatever the firmware's prompt takes.

import sys

import _tti

from .tokenizer import decode

_BACKSPACE = b"\x08\x7f"
_ENTER = b"\r\n"

_after_return = False  # the last line ended with \r, so that a \n may still belong to it


def _editor():
    return dict(_tti.build()).get("readline")


def advice():
    """What to do about letters that got lost on their way to the prompt, "" if none can."""
    editor = _editor()
    if editor == "tti":
        return " (if Russian letters vanish as you type them, set the terminal to UTF-8)"
    if editor:
        return (
            " (the >>> of this firmware drops Russian letters: press Ctrl-E, paste the line and"
            " press Ctrl-D, or type tti.generate(tti.ask()))"
        )
    return ""


def ask(prompt_text="whom to draw: "):
    """Show `prompt_text`, read one line from the terminal and return it as a str.

    Raises KeyboardInterrupt for Ctrl-C, EOFError for Ctrl-D or at the end of the input, ValueError
    for a line that is not UTF-8."""
    if sys.platform in ("linux", "darwin"):
        if _editor() == "tti" and _is_terminal():
            return input(prompt_text)
        line = _from_pc(prompt_text)
    else:
        if _editor() == "tti":
            return input(prompt_text)
        sys.stdout.write(prompt_text)
        line = from_board(_stream(), sys.stdout.write)
    return decode(line)


def _is_terminal():
    try:
        import termios

        termios.tcgetattr(0)
        return True
    except (ImportError, OSError):
        return False


def _from_pc(prompt_text):
    # The system edits the line, and shows it.
    print(prompt_text, end="")
    line = sys.stdin.buffer.readline()
    if not line:
        raise EOFError
    return line.rstrip(_ENTER)


def _stream():
    source = getattr(sys.stdin, "buffer", sys.stdin)
    while True:
        data = source.read(1)
        if not data:
            return
        yield from data if isinstance(data, bytes) else data.encode()


def from_board(stream, echo):
    """Return the next line (bytes) of the bytes that `stream` yields, which are echoed as they
    come. Backspace works; arrow keys are ignored."""
    global _after_return
    line = bytearray()
    escape = False
    for byte in stream:
        in_escape = escape and byte >= 0x20
        escape = byte == 0x1B
        if in_escape:
            # ESC [ 1 ; 5 C: digits and signs, then a letter that ends the sequence
            escape = byte in b"[O" or byte < 0x40
        elif byte == 0x0A and _after_return:
            pass
        elif byte in _ENTER:
            _after_return = byte == 0x0D
            echo("\n")
            return bytes(line)
        elif byte == 3:
            raise KeyboardInterrupt
        elif byte == 4 and not line:
            raise EOFError
        elif byte in _BACKSPACE and line:
            _drop_letter(line)
            echo("\x08 \x08")
        elif byte >= 0x20 and byte != 0x7F:
            line.append(byte)
            echo(_last_letter(line))
        _after_return = False
    raise EOFError


def _start(line):
    """Where the last letter begins."""
    at = len(line) - 1
    while at > 0 and line[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _drop_letter(line):
    line[_start(line) :] = b""


def _last_letter(line):
    """The last letter of the line if all its bytes are there, else ""."""
    try:
        return str(line[_start(line) :], "utf-8")
    except UnicodeError:
        return ""
