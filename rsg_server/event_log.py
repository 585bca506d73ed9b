"""The event log of a run: a JSON line for each event, and a digest over all events and all turns.

Two deterministic runs of one scenario with one seed write the same bytes and have the same digest.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from rsg_server._native import ffi, lib
from rsg_server.errors import ServerError, mend_of

_FLUSH_BYTES: Final = 1 << 16
_TURN_BYTES: Final = 13
_CORE_BYTES: Final = ffi.sizeof("struct turn_log") - ffi.offsetof("struct turn_log", "bytes") - 64
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class EventLog:
    """Writes events in the order in which they happen in virtual time. `counts` is the number of events of each kind."""

    def __init__(self, path: Path | None, every_turn: bool = False) -> None:
        self._path = path
        self._file: IO[str] | None = path.open("w", encoding="utf-8") if path else None
        self._tell_turn: Callable[[int, int, int], None] | None = self._write_turn if every_turn else None
        self._hash: Any = None  # the SHA-256 so far; the first _drain makes it
        self._buffer = bytearray()
        self.core: Any = ffi.new("struct turn_log *")  # the turns since the last event; the core (csrc/turn/) adds turns to it
        self.counts: dict[str, int] = {}

    @property
    def turns(self) -> int:
        """The number of turns that the server has given."""
        turns: int = self.core.turns
        return turns

    def turn(self, now_ns: int, actor_number: int, wake: int) -> None:
        """Count a turn that the server gives, add it to the digest, and tell the observers of turns about it."""
        if self.core.used + _TURN_BYTES > _CORE_BYTES:
            self.take_turns()
        lib.turn_log_turn(self.core, now_ns, actor_number, wake)
        self.tell_turn(now_ns, actor_number, wake)

    @property
    def tells_turns(self) -> bool:
        """Whether any function observes the turns; see `watch_turns`."""
        return self._tell_turn is not None

    def tell_turn(self, now_ns: int, actor_number: int, wake: int) -> None:
        """Call the functions that observe turns, for a turn that the core (csrc/turn/) has counted already."""
        if self._tell_turn is not None:
            self._tell_turn(now_ns, actor_number, wake)

    def take_turns(self) -> None:
        """Move the turns that the core (csrc/turn/) has recorded into the data for the digest."""
        used = self.core.used
        if used:
            self._buffer += ffi.buffer(self.core.bytes, used)
            self.core.used = 0
            if len(self._buffer) >= _FLUSH_BYTES:
                self._drain()

    def watch_turns(self, watch: Callable[[int, int, int], None]) -> None:
        """Have `watch` called at the beginning of each turn that the server gives, with the arguments of `turn`."""
        before = self._tell_turn

        def tell(now_ns: int, actor_number: int, wake: int) -> None:
            if before is not None:
                before(now_ns, actor_number, wake)
            watch(now_ns, actor_number, wake)

        self._tell_turn = tell

    def _write_turn(self, now_ns: int, actor_number: int, wake: int) -> None:
        self._write({"t": now_ns, "event": "turn", "actor": actor_number, "wake": wake})

    def handoffs(self, digest: int) -> None:
        """Add the threads' digest of turns that were given without the server to the event log's digest, if it has changed."""
        lib.turn_log_handoffs(self.core, digest)

    def event(self, now_ns: int, kind: str, **fields: object) -> None:
        """Append one event. `fields` must be the same in every run of a scenario with one seed."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.take_turns()
        line = self._write({"t": now_ns, "event": kind, **fields})
        self._buffer += line.encode()

    def _write(self, record: dict[str, object]) -> str:
        line = _ENCODER.encode(record)
        if self._file is not None:
            try:  # a context manager would take as long as the write itself
                self._file.write(line + "\n")
            except OSError as error:
                self._give_up(error)
        return line

    def _give_up(self, error: OSError) -> NoReturn:
        """Raise the ServerError that ends the run, since the event log cannot be written.

        The event log is closed first: to close the file later would raise a second error.
        """
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
        reason = f"{self._path}: {error.strerror}; {mend_of(error, 'choose another folder with --out')}"
        raise ServerError(f"the event log cannot be written: {reason}") from error

    def _drain(self) -> None:
        if self._hash is None:
            # imported late: hashlib loads OpenSSL, for which a short command without an event log need not wait
            from hashlib import sha256

            self._hash = sha256()
        self._hash.update(self._buffer)
        self._buffer.clear()

    def digest(self) -> str:
        """Return the SHA-256 of all turns and events so far, in hexadecimal."""
        self.take_turns()
        self._drain()
        digest: str = self._hash.hexdigest()
        return digest

    def flush(self) -> None:
        """Write what is still buffered to the file of the event log."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError as error:
                self._give_up(error)

    def close(self) -> None:
        """Flush and close the file of the event log."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._give_up(error)
            self._file = None
