"""One world of hostile processes: a server without real processes, and a few hundred random steps."""

from __future__ import annotations

import contextlib
import random
import struct
import time
from collections.abc import Callable

import msgpack
from rsg_server._native import ffi, lib

from rsg_server.errors import SimunixError
from rsg_server.process.actor import State
from rsg_server.protocol import SHARED_BYTES, Wait
from tests.unit.rsg_server.fakes import HANDLERS, Fake, fake

STEPS, EVENTS = 300, 6
BUDGET_S, BUDGET_NS = 0.002, 2_000_000
EDGES = (1, 2, 8, 64, 256, 4096, 65536, 1 << 31, 1 << 32, 1 << 62, 1 << 63, 1 << 64)
NUMBERS = (0, *(number % (1 << 64) for edge in EDGES for number in (edge - 1, edge, edge + 1)))
REGIONS = (
    (0, ffi.sizeof("struct simunix_clock_page")),
    (lib.SIMUNIX_SLOTS_OFFSET, 16 * ffi.sizeof("struct simunix_slot")),
    (lib.SIMUNIX_TIMER_QUEUE_OFFSET, 512),
    (lib.SIMUNIX_TIMER_QUEUE_OFFSET + ffi.sizeof("struct simunix_alarm") * lib.SIMUNIX_SLOTS, 512),
    (lib.SIMUNIX_STREAMS_OFFSET, 4096),
    (lib.SIMUNIX_OUTBOX_OFFSET, ffi.sizeof("struct simunix_outbox")),
    (0, SHARED_BYTES),
)
"""Where a value is written: begin and length, in bytes of the shared memory. What the server reads often comes often."""


class Hostile:
    """The processes of a world, and what they do."""

    def __init__(self, world: Fake, chance: random.Random) -> None:
        self._world, self._chance = world, chance
        self._words = ffi.cast("char *", world.shim.address)
        self._actors = [world.born(host) for host in ("h0", "h1")]

    def _number(self) -> int:
        """A number of 64 bits, most of them at an edge of something."""
        chance = self._chance
        return chance.choice(NUMBERS) if chance.random() < 0.6 else chance.getrandbits(chance.choice((3, 8, 17, 33, 64)))

    def _slot(self) -> int:
        """The slot of one of the actors, or any number of 32 bits."""
        slot = self._chance.choice(self._actors).slot if self._chance.random() < 0.8 else self._number()
        return int(slot) & 0xFFFFFFFF

    def _signed(self, bits: int) -> int:
        value = self._number() & ((1 << bits) - 1)
        return value - (1 << bits) if value >> (bits - 1) else value

    def _deadline(self) -> int:
        return self._world.kernel.now_ns + self._chance.randrange(50) if self._chance.random() < 0.7 else self._signed(64)

    # What happens

    def process(self) -> None:
        """A process is born."""
        if len(self._actors) < 12:
            self._actors.append(self._world.born(self._chance.choice(("h0", "h1"))))

    def thread(self) -> None:
        """A thread of a process is born, and runs at once."""
        process = self._chance.choice(self._actors).process
        if len(self._actors) < 24 and not process.dead:
            actor, fds = self._world.kernel.threads.new_sibling(process)
            self._world.descriptors.extend(fds)
            actor.owes_message, actor.state = False, State.RUNNING
            self._actors.append(actor)

    def kill(self) -> None:
        """A process is killed."""
        self._world.kernel.deaths.kill(self._chance.choice(self._actors).process)

    def write(self) -> None:
        """Somebody writes anywhere into the shared memory."""
        for _ in range(self._chance.randrange(1, 20)):
            begin, length = self._chance.choice(REGIONS)
            size, form = self._chance.choice(((4, "=I"), (8, "=Q")))
            at = begin + self._chance.randrange(max(1, (length - size) // size)) * size
            ffi.memmove(self._words + at, struct.pack(form, self._number() & ((1 << 8 * size) - 1)), size)

    def park(self) -> None:
        """The holder of the turn, or who says so, leaves a park in the outbox."""
        box, chance = self._world.shim.outbox, self._chance
        park = box.park
        park.wait = int(chance.choice(list(Wait))) if chance.random() < 0.9 else self._signed(32)
        park.syscall, park.deadline, park.blocked = self._signed(32), self._deadline(), self._number()
        park.a, park.b, park.c, park.by_handoff = self._number(), self._number(), self._number(), self._signed(64)
        box.slot, box.tells_handoffs = self._slot() if chance.random() < 0.5 else 0, chance.random() < 0.2
        box.is_asked = lib.ASKED_TO_PARK

    def message(self) -> None:
        """A message of any operation lies in the outbox."""
        chance, box = self._chance, self._world.shim.outbox
        data = self._message()
        ffi.memmove(box.message, data, len(data))
        box.length = len(data) if chance.random() < 0.9 else self._number() & 0xFFFFFFFF
        box.slot, box.tells_handoffs, box.is_asked = self._slot(), chance.random() < 0.1, lib.ASKED_MESSAGE

    def handoffs(self) -> None:
        """Hand-offs of the process's own threads, in the outbox; those of others in the journal."""
        box, queue = self._world.shim.outbox, self._world.shim.timer_queue
        box.tells_handoffs, box.digest = 1, self._number()
        box.news_count = self._chance.randrange(6) if self._chance.random() < 0.9 else self._number()
        for place in range(6):
            self._tell(box.news[place])
        if self._chance.random() < 0.5:
            queue.journal_count = self._chance.randrange(6)
            for place in range(6):
                self._tell(queue.journal[place])

    def _tell(self, entry: object) -> None:
        chance = self._chance
        entry.slot, entry.is_ready = self._slot(), chance.randrange(2)  # type: ignore[attr-defined]
        entry.wait = int(chance.choice((Wait.TIME, Wait.FUTEX))) if chance.random() < 0.9 else self._signed(16)  # type: ignore[attr-defined]
        entry.wake, entry.syscall = self._signed(32), self._signed(32)  # type: ignore[attr-defined]
        entry.deadline, entry.blocked = self._deadline(), self._number()  # type: ignore[attr-defined]
        entry.word, entry.bitset = chance.randrange(3), self._number()  # type: ignore[attr-defined]

    def turn(self) -> None:
        """The server goes on for a moment, with somebody's ring at the doorbell."""
        page = self._world.shim.page
        page.doorbell = (page.doorbell + 1) % (1 << 64)
        alive = [actor for actor in self._actors if actor.state is State.RUNNING]
        if self._world.loop.holder is None and alive:
            self._world.loop.holder = self._chance.choice(alive)
        if self._chance.random() < 0.02:
            self._world.loop.run(BUDGET_S)  # with all the patience that it has with a silent holder
        else:
            self._events()

    def _events(self) -> None:
        """The core goes on, and Python with it, until the holder of the turn is silent."""
        loop = self._world.loop
        for _ in range(EVENTS):
            event = lib.turn_run(loop.core.struct, loop._flags(), time.monotonic_ns() + BUDGET_NS, loop._clock.known_ns)
            loop._clock.saw(loop.core.struct.known_ns)
            if event in (lib.TURN_LISTEN, lib.TURN_BUDGET):
                return
            loop._act(event)

    def send(self) -> None:
        """A message of one who runs is handled by itself."""
        actor = self._chance.choice(self._actors)
        if actor.state is State.RUNNING and not actor.process.dead:
            self._world.send(actor, self._message())

    def alarm(self) -> None:
        """The timer queue is changed, as shims do."""
        address, slot = self._world.shim.address, self._slot()
        self._chance.choice(
            (
                lambda: lib.timer_queue_add(address, slot, self._deadline()),
                lambda: lib.timer_queue_remove(address, slot),
                lambda: lib.timer_queue_pop(address),
            )
        )()

    def _message(self) -> bytes:
        chance = self._chance
        operation = chance.choice(list(HANDLERS))
        arguments = [self._argument(kind) for kind in HANDLERS[operation].shape]
        return bytes(msgpack.packb([operation, *arguments]))[: lib.SIMUNIX_MESSAGE_MAX]

    def _argument(self, kind: str) -> object:
        if kind == "i":
            return self._chance.choice((self._slot(), self._deadline(), self._number()))
        return bytes(self._chance.randrange(20)) if kind == "b" else self._chance.choice(("", "x", "/bin/sh", "h0"))


WEIGHTS: tuple[tuple[Callable[[Hostile], None], int], ...] = (
    (Hostile.turn, 30),
    (Hostile.park, 20),
    (Hostile.write, 6),
    (Hostile.message, 10),
    (Hostile.handoffs, 12),
    (Hostile.send, 6),
    (Hostile.alarm, 6),
    (Hostile.thread, 4),
    (Hostile.process, 3),
    (Hostile.kill, 1),
)


def play(seed: int, number: int) -> None:
    """One world, which a seed and its number decide. Raises what the server has raised, which it should not have."""
    chance = random.Random(f"{seed} {number}")
    steps, weights = zip(*WEIGHTS, strict=True)
    with fake() as world:
        hostile = Hostile(world, chance)
        for step in chance.choices(steps, weights, k=STEPS):
            with contextlib.suppress(SimunixError):
                step(hostile)
