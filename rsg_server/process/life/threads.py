"""Makes and ends actors (threads). A thread is announced before it exists; the announcement gives the thread its number.

At its end a thread gives back its slot, its channel and its epoll.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from rsg_server.observers import Observers
from rsg_server.process.actor import Actor, State
from rsg_server.process.channel_pool import PooledChannel, new_channel

if TYPE_CHECKING:
    from rsg_server.fd_store.store import FdStore
    from rsg_server.process.actor import WaitViews
    from rsg_server.process.channel_pool import ChannelPool
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process
    from rsg_server.process.slots import Slots
    from rsg_server.shared.memory import SharedMemory


class Threads:
    """Makes and ends actors. `all` contains the living actors by number."""

    def __init__(
        self, shared: SharedMemory, slots: Slots, parking: Parking, channel_pool: ChannelPool, fd_store: FdStore
    ) -> None:
        self._clock, self._shared_slots, self._boxes = shared.clock, shared.slots, shared.boxes
        self._slots, self._parking, self._channel_pool, self._fd_store = slots, parking, channel_pool, fd_store
        self.waits: WaitViews | None = None  # makes Python objects for the waits that the core (csrc/turn/) has begun
        self._next = 1
        self.all: dict[int, Actor] = {}
        # observers get an actor that ends, after its wait has been ended
        self.on_end: Observers[Actor] = Observers()

    def new(self, process: Process, channel: tuple[socket.socket, socket.socket] | None = None) -> tuple[Actor, int]:
        """Announce a thread that is about to be created. Return its actor, and the descriptor of the actor's end of the
        channel.

        The caller passes this descriptor on, and closes it.
        """
        ours, theirs = channel or new_channel()
        actor = self._admit(process, ours)
        self._fd_store.check(ours.fileno())
        return actor, theirs.detach()

    def new_sibling(self, process: Process) -> tuple[Actor, tuple[int, ...]]:
        """Announce another thread of a process. Return its actor, and the descriptor of the actor's end of a new channel.

        The tuple of descriptors is empty if the actor gets a channel of the pool, whose descriptor the process already has.
        """
        pooled = self._channel_pool.take(process)
        if pooled is None:
            actor, channel = self.new(process)
            return actor, (channel,)
        return self.new_at(process, pooled), ()

    def new_at(self, process: Process, pooled: PooledChannel) -> Actor:
        """Announce a thread that gets the channel of an ended thread of its process, and return its actor."""
        actor = self._admit(process, pooled.channel)
        self._channel_pool.hand_over(pooled, actor)
        return actor

    def _admit(self, process: Process, channel: socket.socket) -> Actor:
        actor = Actor(self._next, process, channel, self._clock.now_ns)
        self._next += 1
        actor.fd_store, actor.waits = self._fd_store, self.waits
        self._slots.take(actor)
        self._shared_slots.begin(actor.slot)
        if process.has_boxes:
            self._boxes.clear(actor.slot)
        self.all[actor.number] = actor
        process.actors.append(actor)
        return actor

    def end(self, actor: Actor, leaves_channel: bool = False) -> None:
        """End an actor whose thread has ended or is certain to end.

        With `leaves_channel`, the process lives on, and its next thread may get the channel.
        """
        if actor.state is State.DEAD:
            return
        self._parking.leave(actor)
        self.on_end.tell(actor)
        self._parking.run_queue.withdraw(actor)
        self._parking.end_deadline(actor)
        actor.state = State.DEAD
        self.all.pop(actor.number, None)
        self._slots.release(actor)
        actor.process.actors.remove(actor)
        self._channel_pool.give_back(actor, leaves_channel)
        actor.let_go()
