"""Births are numbered in the order of their announcement; a death frees everything and tells all relatives."""

from __future__ import annotations

import os
import select
import signal
import socket

import pytest

from rsg_server.errors import SimunixError
from rsg_server.process.actor import FIRST_TURN, Actor, State
from rsg_server.process.host_state import Command
from rsg_server.process.life import endings as module
from rsg_server.process.life.births import seed_of_image
from rsg_server.process.process import Process, Timer
from rsg_server.protocol import Wait, Wake
from tests.unit.rsg_server.fakes import Fake, NoLauncher, fake
from tests.unit.rsg_server.real_process import kill, real_process, this_process

COMMAND = Command(argv=("/bin/fake", "word"), environment={}, directory="/", stdin=0, stdout=1, stderr=2, label="name")


class Launcher(NoLauncher):
    """Says that every program has started, and keeps a copy of its channel."""

    def __init__(self, status: int = -1) -> None:
        self.channels: list[socket.socket] = []
        self.status = status

    def spawn(self, host_name: str, command: Command, channel_fd: int) -> int:
        self.channels.append(socket.socket(fileno=os.dup(channel_fd)))
        return 7

    def wait_status(self, host_name: str, pid: int) -> int:
        return self.status


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def is_closed(channel: socket.socket) -> bool:
    """Whether the server has closed its end."""
    return bool(select.select([channel], [], [], 0)[0]) and channel.recv(1) == b""


def born_of(world: Fake, parent: Actor) -> Process:
    return world.kernel.births.new_process(parent.process.host, parent.process, "/bin/child")


# Birth


@pytest.mark.parametrize(
    ("status", "noted"),
    [
        (signal.SIGUSR2, ["fake[7]@h0 was killed by SIGUSR2 from outside the emulation"]),
        (signal.SIGSEGV, []),
        (127 << 8, []),
    ],
    ids=["killed", "a mistake of its own", "no library"],
)
def test_a_program_that_dies_before_its_first_message(status: int, noted: list[str]) -> None:
    launcher = Launcher(status)
    with fake(launcher=launcher) as world:
        process = world.kernel.programs.spawn("h0", COMMAND)
        world.kernel.deaths.met_dead(process, in_turn=True)
        launcher.channels[0].close()
        assert (process.exit_status, world.kernel.disturbances.reasons) == (status, noted)


def test_numbers_are_given_in_the_order_of_announcement(world: Fake) -> None:
    actors = [world.born(host) for host in ("h1", "h0", "h1")]
    assert [actor.process.number for actor in actors] == [1, 2, 3]
    assert [actor.number for actor in actors] == [1, 2, 3]
    assert list(world.kernel.actors.values()) == actors


def test_a_child_inherits_limit_label_and_host(world: Fake) -> None:
    parent = world.born("h1")
    parent.process.nofile, parent.process.label = (64, 128), "daemon"
    child = born_of(world, parent)
    assert (child.nofile, child.label, child.host) == ((64, 128), "daemon", parent.process.host)
    assert parent.process.children == [child]


def test_signals_of_the_kernel_are_looked_for_in_children_as_well(world: Fake) -> None:
    parent = world.born()
    world.kernel.signals.listen_to_kernel(parent.process, is_at_terminal=False)
    child = born_of(world, parent)
    assert list(world.kernel.signals.listeners.values()) == [parent.process, child]


def test_seeds_differ_within_a_run_and_not_between_runs() -> None:
    runs = []
    for _ in range(2):
        with fake() as world:
            processes = [world.born().process for _ in range(3)]
            seeds = [seed_of_image(process) for process in processes]
            seeds += [world.kernel.births.seed_of_host(name) for name in ("h0", "h1")]
            processes[0].images += 1
            seeds.append(seed_of_image(processes[0]))
            runs.append(seeds)
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 6 and all(0 <= seed < 1 << 62 for seed in runs[0])


def test_a_program_is_started_and_has_the_next_turn() -> None:
    launcher = Launcher()
    with fake(launcher=launcher) as world:
        process = world.kernel.programs.spawn("h1", COMMAND)
        (actor,) = process.actors
        assert (process.program, process.label, process.started) == ("/bin/fake", "name", True)
        assert list(world.kernel.run_queue) == [actor] and actor.owes_message
        assert world.kernel.log.counts == {"process_start": 1}
        actor.channel.send(b"x")
        assert launcher.channels[0].recv(1) == b"x"
        launcher.channels[0].close()


def test_a_program_that_cannot_be_started_leaves_nothing(world: Fake) -> None:
    before = descriptors()
    with pytest.raises(SimunixError, match="nothing can be started here"):
        world.kernel.programs.spawn("h0", COMMAND)
    assert (world.kernel.processes, world.kernel.actors, descriptors()) == ({}, {}, before)
    assert world.kernel.log.counts == {}


def test_no_program_starts_on_a_host_that_is_unknown_or_off(world: Fake) -> None:
    with pytest.raises(SimunixError, match=r"^host 'h9': no such host; known: h0, h1$"):
        world.kernel.programs.spawn("h9", COMMAND)
    world.kernel.faults.power.cut("h1")
    with pytest.raises(SimunixError, match=r"^host h1: switched off; switch it on before a program is started there$"):
        world.kernel.programs.spawn("h1", COMMAND)


def test_the_parent_of_a_vfork_waits_for_its_child(world: Fake) -> None:
    parent, child, other = world.born(), world.born(), world.born()
    world.kernel.parking.make_ready(other)
    child.process.vfork_parent = parent
    world.kernel.vforks.begin(parent, child)
    assert parent.state is State.VFORK and list(world.kernel.run_queue) == [child, other]
    world.kernel.vforks.release(child.process)
    assert list(world.kernel.run_queue) == [child, other, parent]
    assert parent.answer_at_slot and parent.reply == (FIRST_TURN, 0) and not parent.owes_message
    assert child.process.has_let_go


# Death


def test_a_thread_that_ends_gives_everything_back(world: Fake) -> None:
    actor = world.born()
    channel, slot = world.channels[actor.number], actor.slot
    world.park(actor, Wait.FUTEX, b=64, c=1)
    world.kernel.parking.wake(actor, Wake.SIGNAL)  # it is in the run queue and in that of the futex
    world.kernel.threads.end(actor)
    world.kernel.threads.end(actor)  # a second time: nothing
    assert actor.state is State.DEAD and not world.kernel.run_queue and not world.kernel.actors
    assert world.kernel.slots.get(slot) is None
    assert world.kernel.futexes.wake((-actor.process.number, 64), 1, 1) == 0
    assert is_closed(channel)


def test_a_death_tells_every_relative(world: Fake) -> None:
    parent, dying, child = world.born(), world.born(), world.born()
    dying.process.parent, child.process.parent = parent.process, dying.process
    parent.process.children, dying.process.children = [dying.process], [child.process]
    dying.process.pid = 0  # no real process: the kernel has nothing to end
    for actor, wait in ((parent, Wait.CHILD), (child, Wait.TIME)):
        world.park(actor, wait)
    heard: list[Process] = []
    dying.process.on_exit.connect(heard.append)
    world.kernel.deaths.reap(dying.process)
    world.kernel.deaths.reap(dying.process)  # a second time: nothing
    assert list(world.kernel.run_queue) == [parent, child]
    assert parent.process.children == [] and child.process.parent is None
    assert heard == [dying.process]


def test_a_dead_process_has_no_timers_and_is_in_no_table(world: Fake) -> None:
    with real_process(world) as actor:
        parent, process = this_process(world), actor.process
        process.timers[0] = Timer(event=world.kernel.timeline.add(1000, lambda: None))
        world.kernel.signals.listen_to_kernel(process, is_at_terminal=False)
        kill(actor)
        world.kernel.deaths.await_death(process)
        assert process.dead and process.pidfd == -1
        assert world.kernel.timeline.next_ns is None
        assert process.number not in world.kernel.processes and not world.kernel.signals.listeners
        assert list(process.host.processes.values()) == [parent.process]
        assert world.kernel.log.counts == {"process_exit": 1}


def test_a_process_that_does_not_die_is_killed(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DEATH_TIMEOUT_MS", 20)
    with real_process(world) as actor:
        this_process(world)
        world.kernel.deaths.await_death(actor.process)
        assert actor.process.dead
        assert list(world.kernel.warner.counts) == [f"fake[{actor.process.pid}]@h0 was to die and has not; it is killed"]


def test_a_death_wakes_those_that_wait_in_shared_memory(world: Fake) -> None:
    owner, shared, private = world.born(), world.born(), world.born()
    world.park(shared, Wait.FUTEX, a=7, b=64, c=1)
    world.park(private, Wait.FUTEX, b=64, c=1)
    owner.process.pid = 0
    world.kernel.deaths.reap(owner.process)
    assert (shared.state, private.state) == (State.READY, State.PARKED)
