"""Receives the first message of an actor, whose credentials say to which real process the actor belongs.

A forked child sends HELLO before its parent goes on. So each signal that is sent after the fork finds the child. A
thread that waits at its slot sends nothing before its first turn (rsg_server.handlers.process: fork).
"""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import TYPE_CHECKING

from rsg_server.process import native_signal
from rsg_server.process.actor import STATE_RUNNING, Actor, State
from rsg_server.protocol import MESSAGE_MAX

if TYPE_CHECKING:
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.shared.slots import AnswerSlots

HELLO_LOOKS = 20
"""How often the server looks for the HELLO of a forked child, for a tenth of a second each time (SO_RCVTIMEO of the
channel). A child that was stopped meanwhile sends HELLO in its first turn.
"""
_CREDENTIALS = struct.Struct("=iII")
"""The layout of struct ucred (unix(7)): pid, uid, gid."""


class FirstMessages:
    """Receives the first messages of actors."""

    def __init__(self, deaths: Deaths, slots: AnswerSlots) -> None:
        self._deaths, self._slots = deaths, slots

    def receive(self, actor: Actor) -> bytes:
        """Return an actor's first message, and open a pidfd of its process.

        The pid comes from SCM_CREDENTIALS, as numbered in the server's namespace. The result is b"" if the process has
        died. Raises BlockingIOError if nothing has come yet.
        """
        message, ancillary, _, _ = actor.channel.recvmsg(MESSAGE_MAX, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not message:
            return message
        actor.owes_message = False
        process = actor.process
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS and process.pidfd < 0:
                try:
                    process.open_pidfd(_CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0])
                except ProcessLookupError:  # the process was killed before its first turn, and its parent has waited for it
                    self._deaths.met_dead(process)
                    return b""
        return message

    def await_of(self, child: Actor) -> bytes | None:
        """Return the first message of a child, when it comes; None if the child is dead or silent, or the kernel has
        refused the vfork.
        """
        for _ in range(HELLO_LOOKS):
            try:
                message = self.receive(child)
            except BlockingIOError:
                if self.holder_of_vfork(child) is not child:
                    return None
                continue
            except ConnectionResetError:
                message = b""
            if message:
                return message
            self.find_dead(child)
            self._deaths.met_dead(child.process)
            return None
        return None

    def find_dead(self, actor: Actor) -> bool:
        """Find the pid of a process that has died before its first message, and open its pidfd. Return whether the
        pidfd is open now. The first message would have brought the pid; without the message, the pid is looked up among
        the children of the parent. The child of a vfork has left its pid, as its own PID namespace has it, in its slot.
        """
        process = actor.process
        if process.is_quiet and actor.slot and process.pidfd < 0:
            process.pid = self._slots.tid(actor.slot)
        if process.parent is not None and process.pidfd < 0:
            with contextlib.suppress(ProcessLookupError):
                process.open_pidfd(native_signal.global_child(process.parent.global_pid, process.pid, process.host.level))
        return process.pidfd >= 0

    def holder_of_vfork(self, child: Actor) -> Actor:
        """Return the actor that has the turn after a vfork: the child, or the parent if the kernel has refused the vfork.

        The parent of a vfork sends nothing until the child has called exec or died. So a message of the parent before
        the first one of the child says that there is no child; the announced child is then removed.
        """
        parent = child.process.vfork_parent
        if not child.owes_message or parent is None or parent.state is not State.VFORK:
            return child
        try:
            parent.channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return child
        child.process.vfork_parent = None
        self._deaths.reap(child.process)
        parent.state = STATE_RUNNING
        return parent
