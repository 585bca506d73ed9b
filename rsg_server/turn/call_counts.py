"""Counts which instructions trap (csrc/shim/entry/trap_places.c) and which messages the server gets, for a whole run.

Nothing is counted unless a CallCounts is made before the first process starts. Counting does not change the event log.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rsg_server._native import ffi, lib
from rsg_server.handlers.table import Handler
from rsg_server.protocol import FLAG_COUNT_TRAPS, Op, Wait
from rsg_server.shared.tables import trap_places

if TYPE_CHECKING:
    from rsg_server.handlers.table import Answer
    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import HostState


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapPlace:
    """An instruction that trapped `count` times, given by its file and its offset there; "" for memory that maps no file."""

    program: str
    file: str
    inode: int
    offset: int
    call: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageKind:
    """A kind of message, and the program that has sent it. For a PARK, also the kind of wait and the system call that waits."""

    program: str
    message: str
    wait: str = ""
    call: str = ""


def call_name(number: int) -> str:
    """Return the name of a system call; its number as text if csrc/tables/syscalls.def does not have it."""
    name = ffi.string(lib.syscall_name(number)).decode()
    return name if name != "unknown" else str(number)


class CallCounts:
    """The counts of one run, from before its first process until `close`."""

    def __init__(self, shared_fd: int, hosts: Mapping[str, HostState]) -> None:
        """Add the table of trapped instructions to the shared memory, and set the flag that makes processes count their
        traps.
        """
        self._table = trap_places(shared_fd)
        self.messages: Counter[MessageKind] = Counter()
        for host in hosts.values():
            host.flags |= FLAG_COUNT_TRAPS

    def counting(self, handlers: Mapping[int, Handler]) -> dict[int, Handler]:
        """Return the given handlers, each wrapped in a function that counts the messages it gets."""
        return {number: replace(handler, run=self._counted(number, handler)) for number, handler in handlers.items()}

    def _counted(self, number: int, handler: Handler) -> Callable[[Actor, Sequence[Any]], Answer]:
        messages, name, run = self.messages, Op(number).name, handler.run

        def counted(actor: Actor, arguments: Sequence[Any]) -> Answer:
            if number == Op.PARK:
                self.count_park(actor, arguments)
            else:
                messages[MessageKind(program=os.path.basename(actor.process.program), message=name)] += 1
            return run(actor, arguments)

        return counted

    def count_park(self, actor: Actor, arguments: Sequence[int]) -> None:
        """Count a message by which an actor gives the turn back.

        The first arguments of such a message are the kind of wait and the system call.
        """
        program = os.path.basename(actor.process.program)
        wait, call = Wait(arguments[0]).name, call_name(arguments[1])
        self.messages[MessageKind(program=program, message=Op.PARK.name, wait=wait, call=call)] += 1

    def places(self) -> Iterator[TrapPlace]:
        """Yield all instructions that trapped, the most frequent first."""
        with self._table.rows() as rows:
            found = [
                TrapPlace(
                    program=_text(place.program),
                    file=_text(place.file),
                    inode=int(place.inode),
                    offset=int(place.offset),
                    call=call_name(place.number),
                    count=int(place.count),
                )
                for place in rows
                if place.count
            ]
        yield from sorted(found, key=lambda place: (-place.count, place.program, place.file, place.offset, place.call))

    def close(self) -> None:
        """Release the mapping of the table."""
        self._table.close()


def _text(characters: Any) -> str:
    return str(ffi.string(characters).decode(errors="replace"))
