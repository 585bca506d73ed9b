"""The user's side of a session on an emulated host: the terminal here is made raw, and bytes go to and fro.

Keys reach the host's terminal without the server, which the host's terminal makes signals, lines and echoes of. Whatever ends
the session, the terminal here is again as it was, and what was typed but not read is forgotten: a line that was meant for the
host must not reach the shell that simunix was started from.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from rsg_server.errors import SimunixError
from simunix.app.join import PIECE_BYTES, answer_of, chosen_host, connect, exit_code

KEYS_BYTES = 1 << 16
FROM_CALLER = ("TERM", "COLORTERM", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES")
"""Variables that a session has from its caller, since they say what the caller's terminal can show."""
SIZE_UNKNOWN = (24, 80)
"""Rows and columns of the host's terminal where there is no terminal here."""
END_OF_INPUT = b"\x04"
ESCAPE, LEAVE, SUSPEND = b"~", b".", b"\x1a"
"""At the start of a line, `~` and then one of these are for this side, as ssh has it: leave, or suspend this process."""
LAST_S = 0.2
"""How long the last output is waited for once the session has ended, real time."""
AS_BEFORE = "\x1b[0m\x1b[?25h\x1b[?1l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b>"
"""Undoes what a full-screen program has asked of the terminal: colours, a hidden cursor, keys, paste and mouse modes."""
OTHER_SCREEN, OWN_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class _EndedBySignal(BaseException):
    """A signal from outside ends the client."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def is_terminal() -> bool:
    """Whether a session could be led from here: somebody types, and sees what comes."""
    return os.isatty(0) and os.isatty(1)


def size_here() -> tuple[int, int]:
    """Rows and columns of the terminal of this process."""
    for fd in (1, 0, 2):
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(fd)
            if size.lines and size.columns:
                return size.lines, size.columns
    return SIZE_UNKNOWN


def lead_session(directory: Path, host: str | None, argv: Sequence[str]) -> int:
    """Run a program, or the host's shell, on a terminal of a host of a running emulation; return its exit code.

    Raises SimunixError if it cannot be started, or the emulation ends before it.
    """
    host = chosen_host(directory, host)
    rows, columns = size_here()
    request = {
        "op": "terminal",
        "host": host,
        "argv": list(argv),
        "environment": {name: os.environ[name] for name in FROM_CALLER if name in os.environ},
        "rows": rows,
        "columns": columns,
    }
    with connect(directory) as control:
        control.sendall(json.dumps(request).encode())
        master = _opened(control, directory)
        try:
            answer = _led(_Relay(master, control), directory, host)
        finally:
            os.close(master)
    return _code(answer, host, argv)


def _opened(control: socket.socket, directory: Path) -> int:
    """The descriptor of the host's terminal. Raises SimunixError if the session could not be started."""
    message, fds, _, _ = socket.recv_fds(control, PIECE_BYTES, 1)
    if not fds:
        answer_of(message, directory)
        raise SimunixError(f"{directory}: the emulation opened no terminal")
    return fds[0]


def _led(relay: _Relay, directory: Path, host: str) -> dict[str, Any]:
    """Relay until the end; the answer of the emulation, empty if the user has left."""
    if is_terminal():
        _say(f"a shell on {host}; exit ends it, Enter ~ . leaves it, Enter ~ Ctrl-Z suspends it")
    try:
        with _signals_handled(relay), _raw(relay):
            relay.run()
    except _EndedBySignal as end:
        os.close(relay.control.detach())
        raise _interrupt(end.number) from None
    if relay.has_left:
        _say(f"left the shell on {host}, which is hung up")
        return {}
    if not relay.answer:
        raise SimunixError(f"{directory}: the emulation has ended, and the session on {host} with it")
    return answer_of(relay.answer, directory)


def _interrupt(number: int) -> KeyboardInterrupt:
    interrupt = KeyboardInterrupt()
    interrupt.exit_code = 128 + number  # type: ignore[attr-defined]
    return interrupt


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        print(f"simunix: {text}", file=sys.stderr, flush=True)


def _code(answer: dict[str, Any], host: str, argv: Sequence[str]) -> int:
    if not answer:
        return 0
    if answer["is_off"]:
        raise SimunixError(f"host {host} was switched off, and the session with it")
    if answer["status"] is None or answer["status"] < 0:
        raise SimunixError(f"{argv[0] if argv else 'the shell'}: the emulation ended before it did")
    return exit_code(answer["status"])


@dataclass(slots=True)
class _Relay:
    """Bytes from the user's terminal to the host's, and back, until the emulation answers or the user leaves."""

    master: int
    control: socket.socket
    answer: bytes = b""
    has_left: bool = False
    is_on_other_screen: bool = False
    _poller: select.poll = field(default_factory=select.poll)
    _is_line_start: bool = True
    _is_escaped: bool = False
    _tail: bytes = b""

    def run(self) -> None:
        """Relay to the end."""
        for fd in (0, self.master, self.control.fileno()):
            self._poller.register(fd, select.POLLIN)
        while not self.has_left:
            ready = dict(self._poller.poll())
            if self.master in ready and not self._show():
                self._poller.unregister(self.master)
            if self.control.fileno() in ready and self._hear():
                self._show_last()
                return
            if 0 in ready:
                self._type()

    def take_size(self) -> None:
        """Give the host's terminal the size of the user's: the kernel tells the programs on it (SIGWINCH)."""
        self._set_size(*size_here())

    def have_redrawn(self) -> None:
        """Have the programs on the host's terminal draw their screens anew, as they do at a change of its size."""
        rows, columns = size_here()
        self._set_size(rows, columns + 1)
        self._set_size(rows, columns)

    def _set_size(self, rows: int, columns: int) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, array.array("H", [rows, columns, 0, 0]))

    def _hear(self) -> bool:
        """Take in a piece of the answer; whether that was the end."""
        try:
            piece = self.control.recv(PIECE_BYTES)
        except OSError:
            piece = b""
        self.answer += piece
        return not piece

    def _show(self) -> bool:
        """Show what the host's terminal has; whether more may come."""
        try:
            shown = os.read(self.master, KEYS_BYTES)
        except OSError:  # EIO: nobody on the host has the terminal open any more
            return False
        recent = self._tail + shown
        last_on, last_off = recent.rfind(OTHER_SCREEN), recent.rfind(OWN_SCREEN)
        if last_on != last_off:
            self.is_on_other_screen = last_on > last_off
        self._tail = recent[-len(OTHER_SCREEN) + 1 :]
        _write_all(1, shown)
        return bool(shown)

    def _show_last(self) -> None:
        poller = select.poll()
        poller.register(self.master, select.POLLIN)
        while poller.poll(int(LAST_S * 1000)) and self._show():
            pass

    def _type(self) -> None:
        try:
            keys = os.read(0, KEYS_BYTES)
        except OSError:  # the user's terminal has been closed
            keys = b""
        if not keys:
            self._poller.unregister(0)
        _write_all(self.master, self._of_host(keys) if keys else END_OF_INPUT)

    def _of_host(self, keys: bytes) -> bytes:
        """The keys that are the host's, after having done what those ask for that are not; they may come one by one."""
        typed = b""
        for key in (keys[at : at + 1] for at in range(len(keys))):
            if self._is_escaped:
                self._is_escaped = False
                if key == LEAVE:
                    self.has_left = True
                    return typed
                if key == SUSPEND:
                    os.kill(os.getpid(), signal.SIGTSTP)
                    continue
                typed += ESCAPE if key != ESCAPE else b""  # two of them are one of the host's
            elif self._is_line_start and key == ESCAPE:
                self._is_escaped = True
                continue
            self._is_line_start = key in (b"\r", b"\n")
            typed += key
        return typed


def _write_all(fd: int, data: bytes) -> None:
    with contextlib.suppress(OSError):  # the other side is gone, which shows elsewhere
        while data:
            data = data[os.write(fd, data) :]


@contextlib.contextmanager
def _raw(relay: _Relay) -> Iterator[None]:
    """The terminal here as the host's needs it, and as it was afterwards, whatever happens; stopped, it is as it was too."""
    if not os.isatty(0):
        yield
        return
    before = termios.tcgetattr(0)

    def stop(number: int, frame: FrameType | None) -> None:
        if relay.is_on_other_screen:
            _write_all(1, OWN_SCREEN)
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        os.kill(os.getpid(), signal.SIGSTOP)
        tty.setraw(0)
        if relay.is_on_other_screen:
            _write_all(1, OTHER_SCREEN)
        relay.have_redrawn()

    stopping = signal.signal(signal.SIGTSTP, stop)
    tty.setraw(0)
    try:
        yield
    finally:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # in the background, a change of the terminal would stop this process
        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(0, termios.TCSAFLUSH, before)
        if (relay.is_on_other_screen or not relay.answer) and os.isatty(1):
            _write_all(1, (OWN_SCREEN if relay.is_on_other_screen else b"") + AS_BEFORE.encode() + b"\r\n")
        signal.signal(signal.SIGTSTP, stopping)


@contextlib.contextmanager
def _signals_handled(relay: _Relay) -> Iterator[None]:
    """A change of the terminal's size is passed on; a signal that ends this process lets it restore the terminal first."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _EndedBySignal(number)

    before = {number: signal.signal(number, end) for number in ENDING}
    before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda number, frame: relay.take_size())
    relay.take_size()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
