"""Keeps the actors and activities of Remote SimGrid, connects its parts, and answers operations.

Invariant: an actor whose operation has not been answered has given the turn back, `waits_for` says for what it waits,
and `abandon` removes the actor from the queues that it is in. Every operation that changes something puts its actor
behind all that are ready, as a simcall does in SimGrid. So the actors of one date have turns operation by operation, in
an order that depends on nothing else.
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from rsg_server.network.engine import FlowEngine
from rsg_server.process.actor import STATE_PARKED, Actor
from rsg_server.protocol import NEVER, WAKE_READY
from rsg_server.rsg.activity import DONE, FAILED, Activity, Comm, Execution, Handle, Made, Wait
from rsg_server.rsg.communications import Communications
from rsg_server.rsg.dependencies import Dependencies
from rsg_server.rsg.disks import ProgramDisks
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.lives import Lives
from rsg_server.rsg.moments import Moments
from rsg_server.rsg.places import Places
from rsg_server.rsg.profiles import Profiles
from rsg_server.rsg.synchro import Synchro
from rsg_server.waits.rsg import OperationWait

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.faults.faults import Faults
    from rsg_server.network.network import Network
    from rsg_server.platform.platform import Platform
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.life.threads import Threads
    from rsg_server.process.parking import Parking
    from rsg_server.rsg.actor import Participant
    from rsg_server.shared.clock import Clock
    from rsg_server.storage.disks import Disks

ANSWER_MAX_BYTES = 3500
"""The most bytes of a message that are part of the answer itself. The program asks for further ones piece by piece."""
HANDLES_MAX = 1 << 20
PRCTL = 157
"""The number (x86-64) of the system call by which programs send operations: prctl(2)."""
Answer = tuple[int, Code, bytes]


class Rsg:
    """The actors of Remote SimGrid by number and by thread, and the activities by handle and by flow."""

    def __init__(
        self,
        parking: Parking,
        clock: Clock,
        timeline: Timeline,
        platform: Platform,
        network: Network,
        *,
        cpu: Cpu,
        disks: Disks,
        faults: Faults,
        threads: Threads,
        deaths: Deaths,
    ) -> None:
        self._parking, self._queue = parking, parking.run_queue
        self._clock, self._network = clock, network
        engine = self.engine = FlowEngine(
            lambda source, destination: network.route(platform.host_by_name(source), platform.host_by_name(destination)),
            network.model,
            compatible=True,
            shared=network.sharing.links,
        )
        self.model = network.model
        self.moments = Moments(clock, timeline, engine, self._flows_ended, network.sharing.take)
        self.participants: dict[int, Participant] = {}
        self.by_thread: dict[int, Participant] = {}
        self.flows: dict[int, Activity] = {}
        self.handles: dict[int, Handle] = {}
        self._next_handle = 1
        self._sequence = 0  # the number of operations
        self.is_at_once = False  # whether the present operation keeps the turn, since in SimGrid it is no simcall
        self.caller: Actor | None = None  # the thread that has asked for the present operation
        self.comms = Communications(self, engine)
        self.places = Places(self, clock, timeline, platform, network, cpu, faults)
        self.disks = ProgramDisks(self, platform.hosts, disks, engine)
        self.dependencies = Dependencies(self)
        self.lives = Lives(self, deaths)
        self.synchro = Synchro(self)
        self.profiles = Profiles(self, platform)
        threads.on_end.connect(self._thread_ended)

    @property
    def date_s(self) -> float:
        """The date, in seconds since the start."""
        return self.moments.date_s

    # Answers to operations

    def count(self) -> None:
        """Count an operation that begins and that is more than a question."""
        self._sequence += 1

    def park(self, thread: Actor, blocked: int) -> None:
        """Make a thread wait until its operation is answered; `blocked` are the signals that may not interrupt the wait."""
        wait = OperationWait(self)
        wait.set_terms(PRCTL, NEVER, blocked, self._clock.now_ns, False)
        self._parking.park(thread, wait)

    def tell(self, thread: Actor, code: Code = Code.NONE, data: bytes = b"") -> None:
        """Add a thread to the run queue, behind all that are ready, with the answer to the thread's operation."""
        if thread.state is STATE_PARKED:
            self._parking.wake(thread, WAKE_READY)
        else:
            self._parking.make_ready(thread)
        thread.reply = (WAKE_READY, int(code), data)

    def answer(self, who: Participant, code: Code = Code.NONE, data: bytes = b"", fields: tuple[int, ...] = ()) -> None:
        """Answer an actor's operation, and remove the actor from its queues. `fields` are integers that precede the data."""
        if fields:
            data = pack(f"<{len(fields)}q", *fields) + data
        abandon, who.abandon = who.abandon, None
        if abandon is not None:
            abandon()
        if who.is_suspended:
            who.held = (code, data)
            return
        who.waits_for = ""
        thread = who.thread
        if thread is None:
            return
        if thread.state is STATE_PARKED and isinstance(thread.parked, OperationWait):
            self.tell(thread, code, data)
        else:
            who.held = (code, data)  # the actor runs a signal's handler, and asks for the answer afterwards

    def wait(self, who: Participant, handles: list[Handle], is_any: bool = False, is_get: bool = False) -> Wait:
        """Make an actor wait for activities that are not over.

        SimGrid makes two simcalls of a get. So a getting actor is added to the waiting actors only when all actors that
        are ready now have had a turn.
        """
        place = self._sequence + (len(self._queue) + 0.5 if is_get else 0)
        wait = Wait(who, handles, is_any, place)
        who.abandon = wait.end
        who.waits_for = wait  # turned into words only when a report needs them
        return wait

    def outcome(self, handle: Handle, who: Participant) -> tuple[Code, bytes]:
        """Return the answer for an actor that has waited for an activity which is over.

        Afterwards the actor's handle of the activity cannot be used any more.
        """
        if handle.number:
            self.drop(handle.number)
        activity = handle.activity
        code = activity.outcome
        if code or not isinstance(activity, Comm):
            return code, b""
        if not handle.receives:
            return code, pack("<qd", -1, activity.size_bytes)
        data = self.comms.release(activity)
        if len(data) > ANSWER_MAX_BYTES:
            self.forget_bytes(who)
            self.comms.hold_bytes(len(data))
            who.received = data
        return code, pack("<qd", len(data), activity.size_bytes) + data[:ANSWER_MAX_BYTES]

    def ended(self, activity: Activity) -> None:
        """Answer the actors that wait for an activity, in the order in which they began to wait."""
        waits = activity.waits
        for wait in sorted(waits, key=_place) if len(waits) > 1 else list(waits):
            if wait.is_any:
                place = next(at for at, handle in enumerate(wait.handles) if handle.activity is activity)
                self.dependencies.told(wait.handles[place])
                self.answer(wait.who, fields=(place,))
            else:
                self.answer(wait.who, *self.outcome(wait.handles[0], wait.who))
        self.dependencies.ended(activity)

    @property
    def is_used(self) -> bool:
        """Whether an actor was ever announced."""
        return self.lives.has_actors

    def started(self, activity: Activity, flow: int) -> None:
        """Record the flow of an activity that uses the engine from now on, beside flows of TCP and of files."""
        activity.flow = flow
        self.flows[flow] = activity
        self.moments.is_unsettled = True
        self.meet()

    def meet(self) -> None:
        """Make the network share links among its own flows and those of the engine from now on."""
        sharing = self._network.sharing
        sharing.partner = self
        sharing.meet()

    def share(self) -> list[int]:
        """Compute all rates anew, because flows outside of the engine have changed (rsg_server.network.sharing.Partner)."""
        self.moments.follow()
        self.moments.is_unsettled = True
        self.engine.share()
        return self.engine.others()

    def _flows_ended(self, ends: list[int]) -> None:
        """End the activities of ended flows: executions first, each kind in the order in which they were started."""
        for flow in sorted(ends, key=self._is_communication) if len(ends) > 1 else ends:
            activity = self.flows.pop(flow, None)
            if activity is not None:
                self.comms.end(activity, DONE if self.engine.is_done(flow) else FAILED)

    def _is_communication(self, flow: int) -> bool:
        return not isinstance(self.flows.get(flow), Execution)

    # Handles of activities

    def number(self, who: Participant, handle: Handle) -> int:
        """Give a handle a number, by which its actor may ask for the activity from now on, and return the number."""
        if len(self.handles) >= HANDLES_MAX:
            raise OperationError(Code.MEMORY)
        handle.number = self._next_handle
        handle.owner = who
        self._next_handle += 1
        self.handles[handle.number] = handle
        who.handles[handle.number] = None
        return handle.number

    def find(self, number: int) -> Handle:
        """Return the handle with a number. Raises OperationError if the actor has none with it."""
        found = self.handles.get(number)
        if found is None:
            raise OperationError(Code.WAITED_TWICE if 0 < number < self._next_handle else Code.UNKNOWN_ACTIVITY)
        return found

    def drop(self, number: int) -> None:
        """Delete a handle, because its program will not ask for the activity any more."""
        handle = self.handles.pop(number, None)
        if handle is not None and handle.owner is not None:
            handle.owner.handles.pop(number, None)
            self.dependencies.dropped(handle)

    def forget_bytes(self, who: Participant) -> None:
        """Delete the bytes that an actor has received and not asked for."""
        self.comms.data_bytes -= len(who.received)
        who.received = b""

    def unstage(self, who: Participant) -> None:
        """Delete the bytes that an actor has sent in advance for its next message."""
        self.comms.data_bytes -= len(who.staged)
        who.staged = bytearray()

    def left(self, activity: Activity) -> float:
        """Return how many bytes or flops of an activity are left."""
        if isinstance(activity, Made):
            return activity.left
        if activity.flow < 0:
            return activity.size_bytes if isinstance(activity, Comm) and not activity.is_over else 0.0
        self.engine.advance(self.date_s)
        return self.engine.remaining_bytes(activity.flow)

    # Suspended activities

    def hold(self, activity: Activity) -> None:
        """Suspend an activity: it neither moves bytes nor computes until `release`."""
        if isinstance(activity, Made):
            activity.is_held = True
        elif activity.flow >= 0 and not activity.is_over:
            self.engine.advance(self.date_s)
            self.engine.hold(activity.flow)
            self._stopped_or_going(activity)

    def release(self, activity: Activity) -> None:
        """Let a suspended activity go on."""
        if isinstance(activity, Made):
            activity.is_held = False
        elif activity.flow >= 0 and not activity.is_over:
            self.engine.go_on(activity.flow)
            self._stopped_or_going(activity)

    def _stopped_or_going(self, activity: Activity) -> None:
        self.moments.is_unsettled = True
        if isinstance(activity, Execution):
            self.places.cores.changed(activity)

    # Threads of actors

    def _thread_ended(self, thread: Actor) -> None:
        """End the actor of a thread that has ended, or whose process was killed."""
        self.lives.forget_runner(thread)
        self.places.awaited.pop(thread, None)
        who = self.by_thread.pop(thread.number, None)
        if who is not None:
            self.moments.follow()
            self.lives.end(who)
        elif thread in self.places.returning:
            self.places.returning.discard(thread)
            self.lives.look_whether_all_ended()

    def words(self, thread: Actor) -> str:
        """Return words that say what an actor waits for, for the report of a deadlock."""
        who = self.by_thread.get(thread.number)
        if who is None:
            host = self.places.awaited.get(thread)
            return "the end of all actors" if host is None else f"host {host} to be switched on"
        words = who.waits_for.words() if isinstance(who.waits_for, Wait) else who.waits_for
        return f"{words} (actor {who})"


def _place(wait: Wait) -> float:
    return wait.place
