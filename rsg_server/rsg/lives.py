"""How actors of Remote SimGrid begin, are suspended and end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rsg_server.rsg.actor import Participant
from rsg_server.rsg.errors import Code, OperationError

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.process.actor import Actor
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.rsg.moments import Timer
    from rsg_server.rsg.room import Rsg

PARTICIPANTS_MAX = 1 << 20
START = "the start of the actors"
"""The words for what an actor waits for that has connected before the actors begin."""


class Lives:
    """Makes and ends the actors of Remote SimGrid."""

    def __init__(self, room: Rsg, deaths: Deaths) -> None:
        self._room = room
        self._deaths = deaths
        self._next_pid = 1
        self._next_helper = 1
        self._helpers: dict[int, Participant] = {}
        self.has_begun = False
        self._begins_when_connected = False
        self._runner: Actor | None = None  # the thread that waits until all actors have ended
        self._run_timer: Timer | None = None

    @property
    def has_actors(self) -> bool:
        """Whether an actor was ever announced."""
        return self._next_pid > 1

    # Beginnings of actors

    def announce(self, name: str, host: Host, parent: Participant | None) -> Participant:
        """Make a new actor, whose thread has not connected yet, and return it."""
        if self._room.places.is_off(host):
            raise OperationError(Code.HOST_FAILURE)
        if self._next_pid > PARTICIPANTS_MAX:
            raise OperationError(Code.MEMORY)
        if not self.has_actors:
            self._room.places.find_links_down()
        who = Participant(self._next_pid, parent.pid if parent is not None else 0, name, host)
        self._next_pid += 1
        self._room.participants[who.pid] = who
        return who

    def begin_when_connected(self) -> None:
        """Let the actors begin as soon as all announced ones have connected."""
        self._begins_when_connected = True

    def kill_at(self, who: Participant, date_s: float) -> None:
        """Kill an actor at a date in the future. As in SimGrid, nothing happens if the actor has ended by then."""
        moments = self._room.moments
        moments.follow()
        if date_s > moments.date_s:
            moments.after(date_s - moments.date_s, partial(self.kill, who))

    def withdraw(self, who: Participant) -> None:
        """End an announced actor that will not connect, so that the others can begin without it."""
        self.end(who)
        self._begin_if_connected()

    def connect(self, thread: Actor, pid: int, name: str) -> Participant:
        """Make a thread an actor, and return it: an announced actor, or a new one with this name on the host of the
        thread's process.
        """
        if thread.number in self._room.by_thread:
            raise OperationError(Code.BAD_VALUE)
        if pid:
            found = self._room.participants.get(pid)
            if found is None or found.thread is not None:
                raise OperationError(Code.NO_ACTOR)
            who = found
        else:
            who = self.announce(name, thread.process.host.host, self._parent_of(thread))
            self._begins_when_connected = True  # the program runs on its own, so no other program will start the actors
        who.thread = thread
        self._room.by_thread[thread.number] = who
        return who

    def _parent_of(self, thread: Actor) -> Participant | None:
        """Return the actor that has made a thread: the first one in its process, or else in the parent process; None if
        there is none.
        """
        for process in (thread.process, thread.process.parent):
            for other in process.actors if process is not None else ():
                found = self._room.by_thread.get(other.number) if other is not thread else None
                if found is not None:
                    return found.helps or found
        return None

    # Threads that wait on behalf of an actor

    def help(self, thread: Actor, who: Participant) -> int:
        """Make a thread wait on behalf of an actor from now on, and return the number of this helper.

        Raises OperationError if the thread is an actor itself.
        """
        before = self._room.by_thread.get(thread.number)
        if before is not None and before.helps is None:
            raise OperationError(Code.BAD_VALUE)
        if before is not None:
            self.end(before)
        helper = Participant(0, who.pid, who.name, who.host)
        helper.helps, helper.thread = who, thread
        number = self._next_helper
        self._next_helper += 1
        self._helpers[number] = who.helpers[number] = helper
        self._room.by_thread[thread.number] = helper
        return number

    def dismiss(self, number: int) -> None:
        """End the service of a helper. Activities that it waits for go on."""
        helper = self._helpers.get(number)
        if helper is None:
            raise OperationError(Code.NO_ACTOR)
        self.end(helper)
        if helper.waits_for:
            self._room.answer(helper, Code.KILLED)

    def _forget_helpers(self, who: Participant) -> None:
        """Remove an actor's helpers, or a helper from its actor, when one of the two ends."""
        if who.helps is not None:
            for number in [number for number, helper in who.helps.helpers.items() if helper is who]:
                del who.helps.helpers[number], self._helpers[number]
        for number in list(who.helpers):
            self.dismiss(number)

    def has_connected(self, who: Participant) -> None:
        """Let a connected actor go on, if the actors have begun; then let the actor go on that has created this one."""
        creator, who.creator = who.creator, None
        if self.has_begun:
            self._room.answer(who, data=who.greeting)
        else:
            self._begin_if_connected()
        if creator is not None:
            self._room.answer(creator)

    def _begin_if_connected(self) -> None:
        """Let the actors begin if all announced ones have connected."""
        if self.has_begun or not self._begins_when_connected:
            return
        if all(who.thread is not None for who in self._room.participants.values()):
            self.begin()

    def begin(self) -> None:
        """Let all actors begin, in the order of their numbers."""
        self.has_begun = True
        for who in list(self._room.participants.values()):
            if who.thread is not None and who.waits_for == START:
                self._room.answer(who, data=who.greeting)

    def run(self, runner: Actor, duration_s: float) -> None:
        """Let the actors begin; answer the calling thread when all actors but daemons have ended, or after so many seconds."""
        self._runner = runner
        if duration_s >= 0:
            self._run_timer = self._room.moments.after(duration_s, self._end_run)
        self._begins_when_connected = True
        self._begin_if_connected()
        self.look_whether_all_ended()

    def is_runner(self, thread: Actor) -> bool:
        """Return whether this is the thread that waits for the end of all actors."""
        return thread is self._runner

    def forget_runner(self, thread: Actor) -> None:
        """If this thread, which has ended, is the one that waits for the end of all actors, forget it."""
        if thread is self._runner:
            self._runner = None

    def daemonize(self, who: Participant) -> None:
        """Make an actor a daemon: the run does not wait for its end."""
        who.is_daemon = True
        self.look_whether_all_ended()

    def _end_run(self) -> None:
        runner, self._runner = self._runner, None
        if self._run_timer is not None:
            self._run_timer.cancel()
            self._run_timer = None
        if runner is not None:
            self._room.tell(runner)

    def look_whether_all_ended(self) -> None:
        """Check whether all actors but daemons have ended.

        If so, kill the daemons, and answer the thread that waits for the end of all.
        """
        if self._runner is None or not self.has_begun:
            return
        if any(not who.is_daemon for who in self._room.participants.values()) or self._room.places.actors_return:
            return
        runner, self._runner = self._runner, None  # set first, so that the end of a daemon is not taken for the end of all
        for who in list(self._room.participants.values()):
            self.kill(who)
        self._runner = runner
        self._end_run()

    # Ends of actors

    def end(self, who: Participant) -> None:
        """End an actor: activities that it has begun are cancelled, and actors that wait for its end go on."""
        if who.is_over:
            return
        who.is_over = True
        self._room.participants.pop(who.pid, None)
        self._forget_helpers(who)
        if who.abandon is not None:
            who.abandon()
            who.abandon = None
        for activity in list(who.activities):
            self._room.comms.cancel(activity)
        self._room.synchro.forget(who)
        for mailbox in who.receives_at:
            if mailbox.receiver is who:
                mailbox.receiver = None
        for joiner in list(who.joiners):
            self._room.answer(joiner, fields=(0,))
        if who.creator is not None:
            self._room.answer(who.creator)
        for number in list(who.handles):
            self._room.drop(number)
        self._room.forget_bytes(who)
        self._room.unstage(who)
        self.look_whether_all_ended()

    def kill(self, who: Participant) -> None:
        """End an actor from outside.

        The killed actor gets an error at its present or next operation; a process that makes no operation is killed.
        """
        if who.is_over:
            return
        self.end(who)
        who.is_suspended, who.is_killed = False, True
        thread = who.thread
        if thread is None:
            return
        if who.waits_for:
            self._room.answer(who, Code.KILLED)
        elif thread is not self._room.caller and self._is_alone(thread) and thread.process.pidfd >= 0:
            self._deaths.kill(thread.process)

    def _is_alone(self, thread: Actor) -> bool:
        """Return whether no other thread of the process is a living actor.

        Threads that wait on behalf of this actor do not count.
        """
        others = (self._room.by_thread.get(other.number) for other in thread.process.actors if other is not thread)
        return all(other is None or other.is_over or other.helps is not None for other in others)

    def lives_in_process_of(self, host: Host) -> bool:
        """Return whether a process of a host has a living actor, or the thread that waits for the end of all."""
        threads = [who.thread for who in self._room.participants.values() if who.thread is not None]
        threads += [self._runner] if self._runner is not None else []
        return any(thread.process.host.host is host for thread in threads)

    def join(self, who: Participant, other: Participant, timeout_s: float) -> None:
        """Wait for the end of another actor. The answer is 1 if the timeout comes first."""
        other.joiners.append(who)
        timer = self._room.moments.after(timeout_s, partial(self._give_up, who, other)) if timeout_s >= 0 else None
        who.abandon = partial(_stop_joining, who, other, timer)

    def _give_up(self, who: Participant, other: Participant) -> None:
        self._room.answer(who, fields=(1,))

    # Suspension and sleep of actors

    def sleep(self, who: Participant, duration_s: float) -> None:
        """Answer an actor's operation after so many seconds."""
        who.abandon = self._room.moments.after(duration_s, partial(self._room.answer, who)).cancel

    def suspend(self, who: Participant) -> None:
        """Suspend an actor, and the activities that it waits for, until it is resumed. A sleep goes on, as in SimGrid."""
        if who.is_suspended:
            return
        who.is_suspended = True
        for activity in who.activities:
            if any(wait.who.acts_for(who) for wait in activity.waits):
                self._room.hold(activity)

    def go_on(self, who: Participant) -> None:
        """Let a suspended actor go on."""
        if not who.is_suspended:
            return
        who.is_suspended = False
        for activity in who.activities:
            if not any(actor.is_suspended for actor in activity.owners()):
                self._room.release(activity)
        if who.held is not None and who.waits_for:
            code, data = who.held
            who.held = None
            self._room.answer(who, code, data)


def _stop_joining(who: Participant, other: Participant, timer: Timer | None) -> None:
    if who in other.joiners:
        other.joiners.remove(who)
    if timer is not None:
        timer.cancel()
