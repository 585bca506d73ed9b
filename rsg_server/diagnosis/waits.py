"""Words for what a parked actor waits for: the descriptor with its other end, the futex word, the child, the clock."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server.diagnosis.descriptors import Descriptors, listed
from rsg_server.process.procfs import epoll_targets
from rsg_server.protocol import Space, Wait
from rsg_server.storage.storages import STORAGE_AS_SAID

if TYPE_CHECKING:
    from rsg_server.diagnosis.needs import Kernel
    from rsg_server.process.actor import Actor, Parked
    from rsg_server.process.process import Process


class Waiting:
    """Describes the waits of the actors of a kernel. Made anew for each report, as Descriptors is."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.descriptors = Descriptors(kernel)

    def describe(self, actor: Actor) -> str:
        """What a parked actor waits for, in a few words."""
        parked = actor.parked
        assert parked is not None
        return _WORDS[Wait(parked.wait)](self, actor, parked)

    def _descriptors(self, actor: Actor, parked: Parked) -> str:
        fds = [fd for fd, _ in epoll_targets(actor.epoll_info())] or [parked.a]
        if parked.a in fds:  # the first of a poll's list leads
            fds = [parked.a, *(fd for fd in fds if fd != parked.a)]
        return ("descriptor " if len(fds) == 1 else "descriptors ") + listed([self._with_end(actor, fd) for fd in fds])

    def _with_end(self, actor: Actor, fd: int) -> str:
        return f"{fd} ({self.descriptors.describe(actor.process, fd)})"

    def _futex(self, actor: Actor, parked: Parked) -> str:
        if parked.a == Space.LOCKS:
            return f"a lock of descriptor {self._with_end(actor, parked.c >> 32)}"
        if parked.a == Space.MANY:
            return f"any of {len(actor.words)} futexes: " + listed([f"{word:#x}" for _, word in actor.words])
        if parked.a in _OBJECTS:
            return f"{_OBJECTS[parked.a]} {parked.b & 0xFFFFFFFF}"
        if parked.a:
            return f"futex {parked.b:#x} of shared memory {parked.a:#x}"
        details = [mapping_of(actor.process, parked.b), word_value(actor.process, parked.b)]
        known = ", ".join(detail for detail in details if detail)
        return f"futex {parked.b:#x}" + (f" ({known})" if known else "")

    def _child(self, actor: Actor, parked: Parked) -> str:
        children = [repr(child) for child in actor.process.children if not child.dead]
        return f"a child: {listed(children)}" if children else "a child, although it has none"

    def _vfork(self, actor: Actor, parked: Parked) -> str:
        child = self._kernel.actors.get(parked.a)
        return "the exec or end of its vfork child" + (f" {child.process!r}" if child is not None else "")

    def _lock(self, actor: Actor, parked: Parked) -> str:
        return f"room at descriptor {self._with_end(actor, parked.a)}"

    def _connect(self, actor: Actor, parked: Parked) -> str:
        which = self._kernel.sockets.all.get(parked.a)
        return f"an answer to its connect to {which.remote}" if which is not None else "an answer to its connect"

    def _storage(self, actor: Actor, parked: Parked) -> str:
        storages = self._kernel.storages
        words = storages.disks.words(storages.volume(actor.process.host.host, parked.a))
        return words if parked.c == STORAGE_AS_SAID else f"{words} to {'write' if parked.c else 'read'} {parked.b} bytes"

    def _signal(self, actor: Actor, parked: Parked) -> str:
        wanted = [str(number + 1) for number in range(64) if parked.a >> number & 1]
        return f"signal {listed(wanted)}" if 0 < len(wanted) < 64 else "a signal"


_OBJECTS = {
    int(Space.SEMAPHORES): "the System V semaphore set",
    int(Space.QUEUES): "the System V message queue",
    int(Space.FIFOS): "the other side of the FIFO with inode",
}
_WORDS: dict[Wait, Callable[[Waiting, Actor, Parked], str]] = {
    Wait.TIME: lambda waiting, actor, parked: "the clock",
    Wait.FD: Waiting._descriptors,
    Wait.FUTEX: Waiting._futex,
    Wait.CHILD: Waiting._child,
    Wait.SIGNAL: Waiting._signal,
    Wait.LOCK: Waiting._lock,
    Wait.CONNECT: Waiting._connect,
    Wait.YIELD: lambda waiting, actor, parked: "its next turn",
    Wait.VFORK: Waiting._vfork,
    Wait.TRACED: lambda waiting, actor, parked: "its tracer, which has not let it go on (ptrace)",
    Wait.STORAGE: Waiting._storage,
    Wait.RSG: lambda waiting, actor, parked: waiting._kernel.rsg.words(actor),
    Wait.COMPUTE: lambda waiting, actor, parked: f"the end of its computing, {parked.a} flops",
}


def mapping_of(process: Process, address: int) -> str:
    """What a process has mapped at an address, e.g. `[heap]` or `libpython3.11.so+0x1234`; "" if that has no name."""
    try:
        with open(f"/proc/{process.global_pid}/maps") as lines:
            for line in lines:
                span, _, offset, _, _, *name = line.split(maxsplit=5)
                start, end = (int(part, 16) for part in span.split("-"))
                if start <= address < end:
                    name_text = name[0].strip() if name else ""
                    where = f"+{address - start + int(offset, 16):#x}" if name_text.startswith("/") else ""
                    return os.path.basename(name_text) + where
    except OSError:
        pass
    return ""


def word_value(process: Process, address: int) -> str:
    """The 32-bit word at an address of a process in words, e.g. `value 2`; "" if the memory cannot be read."""
    try:
        with open(f"/proc/{process.global_pid}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return f"value {int.from_bytes(memory.read(4), 'little')}"
    except (OSError, OverflowError):
        return ""
