"""Boards that do not behave, and several of them at once."""

import os
import pty
import signal
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from ttikit.board import EmulatedBoard, session, write_flash
from ttikit.board.session import Session, SessionError


@contextmanager
def fake_board(work: Callable[[int], None]) -> Iterator[str]:
    """A terminal at whose other end `work` is called again and again; gives its name."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    os.set_blocking(ours, False)
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                work(ours)
            except BlockingIOError:
                time.sleep(0.001)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield os.ttyname(theirs)
    finally:
        ended.set()
        thread.join()
        os.close(theirs)
        os.close(ours)


def prints_all_the_time(fd: int) -> None:
    os.write(fd, b"hello world\r\n" * 20)


def fails_with_blanks(fd: int) -> None:
    got = os.read(fd, 4096)
    if b"\x05" in got:
        os.write(fd, b"R\x00")
    elif b"\x01" in got:
        os.write(fd, b"raw REPL; CTRL-B to exit\r\n>")
    elif b"\x04" in got:
        os.write(fd, b"OK\x04 \r\n\x04>")


def breaks_off_in_the_middle(fd: int) -> None:
    got = os.read(fd, 4096)
    if b"\x05" in got:
        os.write(fd, b"R\x01")
    elif b"\x01" in got:
        os.write(fd, b"raw REPL; CTRL-B to exit\r\n>")


def test_a_board_that_prints_all_the_time_is_given_up(monkeypatch, capfd):
    monkeypatch.setattr(session, "CALLING", 1.0)
    start = time.monotonic()
    with (
        fake_board(prints_all_the_time) as port,
        pytest.raises(SessionError, match="no MicroPython answers there"),
        Session(port),
    ):
        pass
    assert time.monotonic() - start < 10
    assert capfd.readouterr() == ("", "")


def test_an_answer_of_blanks_is_a_sentence():
    with (
        fake_board(fails_with_blanks) as port,
        pytest.raises(SessionError, match="the program there failed"),
        Session(port) as opened,
    ):
        opened.run("1")


def test_half_an_answer_is_a_sentence(monkeypatch):
    monkeypatch.setattr(session, "ANSWER", 0.5)
    with (
        fake_board(breaks_off_in_the_middle) as port,
        pytest.raises(SessionError, match="the conversation broke off"),
        Session(port) as opened,
    ):
        opened.run("1")


def test_a_port_of_an_unknown_kind_is_a_sentence():
    with pytest.raises(SessionError, match="there is no such port"), Session("foo://bar"):
        pass


def test_ctrl_c_stops_all_boards(board, board_firmware, repo, tmp_path):
    flash = tmp_path / "flash.img"
    write_flash(flash, {"faces.tti": (repo / "models" / "faces.tti").read_bytes()})
    with EmulatedBoard(board_firmware, flash) as other:
        ports = ("-p", board.port, "-p", other.port)
        command = [
            sys.executable,
            "-m",
            "ttikit",
            "board",
            "generate",
            "девушка",
            "--steps",
            "100",
        ]
        process = subprocess.Popen([*command, *ports], stderr=subprocess.PIPE)
        time.sleep(6)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=15)
        assert (process.returncode, stderr) == (130, b"ttikit: interrupted\n")
        for port in (board.port, other.port):
            with Session(port) as opened:
                assert opened.run("print(6 * 7)") == ["42"]
