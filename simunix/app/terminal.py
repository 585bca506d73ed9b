"""The client of an interactive session on an emulated host: make the user's terminal raw, and copy bytes between it and
the host's terminal.

Keystrokes go to the host's terminal directly, without the server. The host's terminal makes signals, lines and echoes
of them. At the end of the session, for whatever reason, the user's terminal is restored. Keystrokes that the host has
not read are dropped then, because a line typed for the host must not reach the shell in which simunix was started.
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
"""The environment variables that a session inherits from its caller, because they say what the caller's terminal can
show.
"""
SIZE_UNKNOWN = (24, 80)
"""The rows and columns of the host's terminal if the caller has no terminal."""
END_OF_INPUT = b"\x04"
ESCAPE, LEAVE, SUSPEND = b"~", b".", b"\x1a"
"""The key `~` at the start of a line, and the two keys that may follow: `.` leaves the session, Ctrl-Z suspends the
client, as in ssh.
"""
LAST_S = 0.2
"""How long, in real seconds, the client waits for the last output after the session has ended."""
AS_BEFORE = "\x1b[0m\x1b[?25h\x1b[?1l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b>"
"""The escape sequence that undoes the modes which a full-screen program has set: colours, a hidden cursor, keys, paste
and mouse modes.
"""
OTHER_SCREEN, OWN_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class _EndedBySignal(BaseException):
    """A signal to this process ends the client of the session."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def is_terminal() -> bool:
    """Return whether an interactive session is possible: standard input and output are a terminal."""
    return os.isatty(0) and os.isatty(1)


def size_here() -> tuple[int, int]:
    """Return the rows and columns of the terminal of this process."""
    for fd in (1, 0, 2):
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(fd)
            if size.lines and size.columns:
                return size.lines, size.columns
    return SIZE_UNKNOWN


def lead_session(directory: Path, host: str | None, argv: Sequence[str]) -> int:
    """Run a program (without `argv`, the user's shell) on a terminal of a host of a running emulation; return the
    program's exit code.

    Raises SimunixError if the program cannot be started, or if the emulation ends before the program.
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
    """Return the descriptor of the host's terminal, which the emulation sends. Raises SimunixError if the session could
    not be started.
    """
    message, fds, _, _ = socket.recv_fds(control, PIECE_BYTES, 1)
    if not fds:
        answer_of(message, directory)
        raise SimunixError(f"{directory}: the emulation opened no terminal")
    return fds[0]


def _led(relay: _Relay, directory: Path, host: str) -> dict[str, Any]:
    """Copy bytes between the two terminals until the session ends. Return the answer of the emulation; the answer is
    empty if the user has left the session.
    """
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
        raise SimunixError(f"{argv[0] if argv else 'the shell'}: the emulation ended before this program did")
    return exit_code(answer["status"])


@dataclass(slots=True)
class _Relay:
    """Copy bytes between the user's terminal and the host's terminal until the emulation answers or the user leaves."""

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
        """Copy bytes until the emulation has answered or the user has left."""
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
        """Give the host's terminal the size of the user's terminal. The kernel tells the programs on the host's
        terminal by SIGWINCH.
        """
        self._set_size(*size_here())

    def have_redrawn(self) -> None:
        """Make the programs on the host's terminal redraw their screens, as programs do when the size of a terminal
        changes.
        """
        rows, columns = size_here()
        self._set_size(rows, columns + 1)
        self._set_size(rows, columns)

    def _set_size(self, rows: int, columns: int) -> None:
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, array.array("H", [rows, columns, 0, 0]))

    def _hear(self) -> bool:
        """Read a piece of the emulation's answer; return whether the answer is complete."""
        try:
            piece = self.control.recv(PIECE_BYTES)
        except OSError:
            piece = b""
        self.answer += piece
        return not piece

    def _show(self) -> bool:
        """Show the output of the host's terminal to the user; return whether more output may come."""
        try:
            shown = os.read(self.master, KEYS_BYTES)
        except OSError:  # EIO: no process on the host has the terminal open any more
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
        except OSError:  # the user has closed the terminal
            keys = b""
        if not keys:
            self._poller.unregister(0)
        _write_all(self.master, self._of_host(keys) if keys else END_OF_INPUT)

    def _of_host(self, keys: bytes) -> bytes:
        """Return the keystrokes that are meant for the host. The client first acts on its own escape keys (`~.` and
        `~^Z`), whose characters may arrive one by one.
        """
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
                typed += ESCAPE if key != ESCAPE else b""  # two `~` in a row mean one `~` for the host
            elif self._is_line_start and key == ESCAPE:
                self._is_escaped = True
                continue
            self._is_line_start = key in (b"\r", b"\n")
            typed += key
        return typed


def _write_all(fd: int, data: bytes) -> None:
    with contextlib.suppress(OSError):  # the emulation is gone, which the client notices when it reads
        while data:
            data = data[os.write(fd, data) :]


@contextlib.contextmanager
def _raw(relay: _Relay) -> Iterator[None]:
    """Make the user's terminal raw for the `with` block, and restore it afterwards, whatever happens. While the client
    is suspended, the terminal is restored too.
    """
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
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a background process that changes the terminal would be stopped
        with contextlib.suppress(termios.error):  # the user has closed the terminal
            termios.tcsetattr(0, termios.TCSAFLUSH, before)
        if (relay.is_on_other_screen or not relay.answer) and os.isatty(1):
            _write_all(1, (OWN_SCREEN if relay.is_on_other_screen else b"") + AS_BEFORE.encode() + b"\r\n")
        signal.signal(signal.SIGTSTP, stopping)


@contextlib.contextmanager
def _signals_handled(relay: _Relay) -> Iterator[None]:
    """For the `with` block, pass changes of the terminal's size on to the host, and restore the terminal before a
    signal ends this process.
    """

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
