"""The futex table against one list of waiters per word."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.platform.host import Host
from rsg_server.process.actor import Actor, State
from rsg_server.process.futex import FutexTable, Key
from rsg_server.process.host_state import HostState
from rsg_server.process.process import Process
from rsg_server.protocol import Space, Wake
from rsg_server.waits.futex import FutexWait
from tests.unit.rsg_server.parts import new_parking

ANY = 0xFFFFFFFF
ALL = 1 << 30


HOST = HostState(Host("h", (ip_address("10.0.0.1"),)))


def a_process(number: int) -> Process:
    return Process(number, HOST, None, "/bin/fake", seed=0, nofile=(1024, 1024))


class Futexes:
    """A futex table, and who has been woken, in order."""

    def __init__(self) -> None:
        self.parking = new_parking(Timeline())
        self.futexes = FutexTable(self.parking)

    @property
    def order(self) -> list[int]:
        return [actor.number for actor in self.parking.run_queue]

    def park(self, number: int, space: int, word: int, bitset: int = ANY, process: int = 1) -> Actor:
        actor = Actor(number, a_process(process), None)  # type: ignore[arg-type]
        self.parking.park(actor, FutexWait(self.futexes, space, word, bitset))
        return actor

    def waiting(self) -> dict[Key, list[int]]:
        return {key: [actor.number for actor, *_ in queue] for key, queue in self.futexes.queues().items()}


words = st.tuples(st.integers(0, 1), st.integers(0, 1))
bitsets = st.sampled_from([1, 2, 3, ANY])
most = st.integers(0, 4) | st.just(ALL)
processes = st.integers(1, 2)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("park"), words, bitsets, processes),
        st.tuples(st.just("wake"), words, most, bitsets, processes),
        st.tuples(st.just("requeue"), words, words, most, processes),
        st.tuples(st.just("signal"), st.integers(0, 10)),
        st.tuples(st.just("remove"), st.integers(0, 10)),
    ),
    max_size=30,
)


def key_of(process: int, space: int, word: int) -> Key:
    return (space or -process, word)


class Model:
    """Queues of (actor number, bitset) by key, all of them written out."""

    def __init__(self) -> None:
        self.queues: dict[Key, list[tuple[int, int]]] = {}

    def wake(self, key: Key, count: int, bitset: int) -> list[int]:
        chosen = [number for number, waits_for in self.queues.get(key, []) if waits_for & bitset][:count]
        for number in chosen:
            self.remove(number)
        return chosen

    def requeue(self, source: Key, target: Key, count: int) -> int:
        moved = [] if source == target else self.queues.get(source, [])[:count]
        for entry in moved:
            self.remove(entry[0])
            self.queues.setdefault(target, []).append(entry)
        return len(moved)

    def remove(self, number: int) -> None:
        left = {key: [entry for entry in queue if entry[0] != number] for key, queue in self.queues.items()}
        self.queues = {key: queue for key, queue in left.items() if queue}

    def waiting(self) -> dict[Key, list[int]]:
        return {key: [number for number, _ in queue] for key, queue in self.queues.items()}


@given(steps)
def test_it_wakes_and_moves_whom_the_model_does(what: list[tuple[object, ...]]) -> None:
    kernel, model, actors = Futexes(), Model(), list[Actor]()
    for step in what:
        match step:
            case ("park", (int(space), int(word)), int(bitset), int(process)):
                actors.append(kernel.park(len(actors), space, word, bitset, process))
                model.queues.setdefault(key_of(process, space, word), []).append((len(actors) - 1, bitset))
            case ("wake", (int(space), int(word)), int(count), int(bitset), int(process)):
                key = key_of(process, space, word)
                chosen = model.wake(key, count, bitset)
                assert kernel.futexes.wake(key, count, bitset) == len(chosen)
                assert all(actors[number].reply == (int(Wake.READY), 0) for number in chosen)
            case ("requeue", (int(space), int(word)), (int(to_space), int(to_word)), int(count), int(process)):
                source, target = key_of(process, space, word), key_of(process, to_space, to_word)
                assert kernel.futexes.requeue(source, target, count) == model.requeue(source, target, count)
            case ("signal", int(number)) if number < len(actors):
                kernel.parking.wake(actors[number], Wake.SIGNAL)  # it stays in its queue until it has looked
            case ("remove", int(number)) if number < len(actors):
                kernel.futexes.remove(actors[number])  # a second time: nothing
                model.remove(number)
        assert kernel.waiting() == model.waiting()


def test_waiters_are_woken_in_the_order_in_which_they_came() -> None:
    kernel = Futexes()
    for number in (5, 3, 9, 1):
        kernel.park(number, 7, 64)
    assert kernel.futexes.wake((7, 64), 3, ANY) == 3
    assert kernel.order == [5, 3, 9]
    assert kernel.waiting() == {(7, 64): [1]}


def test_private_words_of_two_processes_are_two_words() -> None:
    kernel = Futexes()
    first, second = kernel.park(1, 0, 64, process=1), kernel.park(2, 0, 64, process=2)
    assert kernel.futexes.wake(FutexTable.key(first, 0, 64), ALL, ANY) == 1
    assert (first.state, second.state) == (State.READY, State.PARKED)


def test_a_word_in_shared_memory_is_the_same_for_all_processes() -> None:
    kernel = Futexes()
    first, second = kernel.park(1, 7, 64, process=1), kernel.park(2, 7, 64, process=2)
    assert FutexTable.key(first, 7, 64) == FutexTable.key(second, 7, 64)
    assert kernel.futexes.wake((7, 64), ALL, ANY) == 2


def test_a_wake_reaches_somebody_whom_a_signal_has_woken_but_who_has_not_looked() -> None:
    """Else the wake-up would be lost: the signal may turn out to be nothing, and the actor waits on."""
    kernel = Futexes()
    actor = kernel.park(1, 0, 64)
    kernel.parking.wake(actor, Wake.SIGNAL)
    assert kernel.futexes.wake(FutexTable.key(actor, 0, 64), 1, ANY) == 1
    assert actor.reply == (int(Wake.READY), 0)
    assert kernel.order == [1], "it is in the run queue once"
    assert kernel.waiting() == {}


def test_a_moved_waiter_is_woken_at_its_new_word_only() -> None:
    kernel = Futexes()
    actor = kernel.park(1, 7, 64)
    assert kernel.futexes.requeue((7, 64), (7, 128), 1) == 1
    assert kernel.futexes.wake((7, 64), ALL, ANY) == 0
    assert kernel.futexes.wake((7, 128), ALL, ANY) == 1
    assert actor.state is State.READY
    assert kernel.waiting() == {}


def test_only_waiters_whose_bitset_meets_are_woken_and_counted() -> None:
    kernel = Futexes()
    for number, bitset in ((1, 0b01), (2, 0b10), (3, 0b11)):
        kernel.park(number, 7, 64, bitset)
    assert kernel.futexes.wake((7, 64), 2, 0b10) == 2
    assert kernel.order == [2, 3]
    assert kernel.waiting() == {(7, 64): [1]}


def test_a_negative_space_names_nothing() -> None:
    """It would be the private words of another process."""
    with pytest.raises(ValueError, match="space -2"):
        FutexTable.key(Futexes().park(1, 0, 64), -2, 64)


def test_a_death_lets_waiters_in_shared_memory_look_and_nobody_else() -> None:
    kernel = Futexes()
    shared = [kernel.park(number, 7, 64 * number, bitset=1) for number in (1, 2)]
    private = kernel.park(3, 0, 64)
    kernel.futexes.wake_shared()
    assert [actor.state for actor in shared] == [State.READY, State.READY]
    assert private.state is State.PARKED


def test_waiters_for_locks_are_counted_wherever_they_are_moved() -> None:
    kernel = Futexes()
    table, locks = kernel.futexes, int(Space.LOCKS)
    first, second = kernel.park(1, locks, 7), kernel.park(2, 1, 7)
    assert table.lock_waiters == 1
    table.requeue((1, 7), (locks, 8), ALL)
    assert table.lock_waiters == 2
    table.requeue((locks, 7), (1, 7), ALL)
    assert table.lock_waiters == 1
    table.wake_space(Space.LOCKS)
    assert (table.lock_waiters, second.state, first.state) == (0, State.READY, State.PARKED)
    table.remove(first)
    table.remove(first)
    assert table.lock_waiters == 0


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(0, 5), st.lists(bitsets, min_size=1, max_size=5), bitsets)
def test_any_waiter_may_be_picked_and_the_others_keep_their_order(
    picks: list[int], most: int, bits: list[int], bitset: int
) -> None:
    kernel, asked = Futexes(), list[list[int]]()
    actors = [kernel.park(number, 7, 64, waits_for) for number, waits_for in enumerate(bits)]

    def pick(waiters: list[Actor]) -> int:
        asked.append([actor.number for actor in waiters])
        return (picks[len(asked) - 1] if len(asked) <= len(picks) else 0) % len(waiters)

    kernel.futexes.pick = pick
    able = [number for number, waits_for in enumerate(bits) if waits_for & bitset]
    assert kernel.futexes.wake((7, 64), most, bitset) == min(most, len(able))
    for waiters in asked:
        assert waiters == [number for number in able if number in waiters], "in the order of their arrival"
    woken = kernel.order
    assert set(woken) <= set(able) and len(asked) == (most if most < len(able) else 0)
    assert kernel.waiting().get((7, 64), []) == [actor.number for actor in actors if actor.number not in woken]


def test_of_a_kernel_object_nobody_is_picked() -> None:
    kernel = Futexes()
    kernel.futexes.pick = lambda waiters: 1
    actors = [kernel.park(number, int(Space.SEMAPHORES), 64) for number in (1, 2, 3)]
    assert kernel.futexes.wake((int(Space.SEMAPHORES), 64), 1, ANY) == 1
    assert kernel.order == [actors[0].number]
