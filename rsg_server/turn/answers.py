"""Sends answers to actors: to the slot at which an actor waits, into the inbox in shared memory, or over the actor's
channel.
"""

from __future__ import annotations

import array
import os
import socket
from typing import TYPE_CHECKING, Final

import msgpack

from rsg_server.process.actor import Actor

if TYPE_CHECKING:
    from rsg_server.handlers.table import Reply
    from rsg_server.turn.parts import Parts

UNREAD: Final = "does not read its answers"
"""The reason for killing a process whose channel is full, because a shim reads each reply before it sends another message."""
OPERATION_VALUES: Final = 3
"""The number of values that answer an operation of Remote SimGrid. A slot has room for two; the third is put into the box."""


class Answers:
    """Sends replies to actors, and ends the processes of actors whose channel is closed."""

    def __init__(self, parts: Parts) -> None:
        self._core, self._slots = parts.core, parts.shared.slots
        self._failures, self._deaths, self._warner = parts.failures, parts.deaths, parts.warner
        self._first_messages = parts.first_messages
        self.packer = msgpack.Packer(autoreset=True, unicode_errors="surrogateescape")

    def tell(self, actor: Actor, values: tuple[object, ...]) -> None:
        """Send the values of a reply to the place where the actor waits: its slot, or its channel."""
        if actor.answer_at_slot:
            actor.answer_at_slot = False
            if len(values) == OPERATION_VALUES:
                self._slots.answer_operation(actor.slot, values[0], values[1], values[2])  # type: ignore[arg-type]
            else:
                self._slots.answer(actor.slot, values[0], values[1])  # type: ignore[arg-type]
        elif not actor.reply_at_slot:
            self._send(actor, self.packer.pack(values))
        elif len(values) == 1 and type(values[0]) is int:
            self._slots.answer_status(actor.slot, values[0])
        elif not self._slots.answer_message(actor.slot, self.packer.pack(values)):
            self._send(actor, self.packer.pack(values))
            self._slots.answer_at_channel(actor.slot)

    def _send(self, actor: Actor, message: bytes) -> None:
        try:
            actor.channel.send(message, socket.MSG_DONTWAIT)
        except (BrokenPipeError, ConnectionResetError):
            self._lost(actor)
        except BlockingIOError:
            self._failures.kill(actor, UNREAD)

    def send_with_descriptors(self, actor: Actor, reply: Reply) -> None:
        """Send a reply together with its descriptors over the actor's channel."""
        message = self.packer.pack(reply.values)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", reply.fds))]
        try:
            actor.channel.sendmsg([message], rights, socket.MSG_DONTWAIT)
            if actor.reply_at_slot:
                self._slots.answer_at_channel(actor.slot)
        except (BrokenPipeError, ConnectionResetError):
            self._lost(actor)
        except BlockingIOError:
            self._failures.kill(actor, UNREAD)
        finally:
            for fd in reply.fds if reply.close else ():
                os.close(fd)

    def lost_runner(self, runner: Actor) -> None:
        """End the process of the actor that had the turn, because the actor has ended. If threads have given the turn
        to each other without the server, the journal in shared memory lists these hand-offs, and the server first
        records the state of all actors that follows from the journal.
        """
        if runner is not self._core.holder:
            self._core.catch_up(runner)
            self._core.holder = None
        self._lost(runner, in_turn=True)

    def _lost(self, actor: Actor, in_turn: bool = False) -> None:
        """End the process of an actor whose channel is closed: the process has died, or is about to."""
        if self._core.holder is actor:
            self._core.holder = None
        if actor.process.pidfd < 0 and not actor.process.dead and not self._first_messages.find_dead(actor):
            self._warner.warn(f"{actor.process!r} ended before it had begun")
        self._deaths.met_dead(actor.process, in_turn)
