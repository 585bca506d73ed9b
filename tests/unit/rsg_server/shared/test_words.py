"""A shim reads, by the struct of C, the values that the server writes into the shared memory, and the other way round."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rsg_server._native import lib

from rsg_server.protocol import DEVICE_WORDS, PROTOCOL_VERSION, STREAMS
from rsg_server.shared.clock import FOREVER_NS, LATEST_NS
from rsg_server.shared.devices import bit_of
from rsg_server.shared.memory import SharedMemory
from rsg_server.shared.prices import Costs
from tests.unit.rsg_server.shim import Shim

WORDS = st.integers(0, 2**64 - 1)
SIGNED = st.integers(-(2**63), 2**63 - 1)
MOMENTS = st.integers(0, FOREVER_NS)
COUNTS = st.integers(0, 2**32)
NO_COSTS = Costs(0, 0, 0)


@contextmanager
def both(
    epoch_ns: int = 0, uptime_ns: int = 0, costs: Costs = NO_COSTS, begun_ns: int = 0
) -> Iterator[tuple[SharedMemory, Shim]]:
    """A memory, and what a shim sees of it."""
    shared = SharedMemory(epoch_ns, uptime_ns, costs, begun_ns)
    shim = Shim(shared)
    try:
        yield shared, shim
    finally:
        shim.close()
        shared.close()


@given(SIGNED, SIGNED, MOMENTS, COUNTS, COUNTS, COUNTS)
def test_a_new_memory_says_what_holds_for_the_whole_run(
    epoch_ns: int, uptime_ns: int, begun_ns: int, read_ns: int, poll_ns: int, call_ns: int
) -> None:
    with both(epoch_ns, uptime_ns, Costs(read_ns, poll_ns, call_ns), begun_ns) as (_, shim):
        page = shim.page
        assert (page.realtime_ns, page.monotonic_ns, page.begun_ns) == (epoch_ns, uptime_ns, begun_ns)
        assert (page.read_cost_ns, page.poll_cost_ns, page.call_cost_ns) == (read_ns, poll_ns, call_ns)
        assert (page.version, page.nice) == (PROTOCOL_VERSION, os.getpriority(os.PRIO_PROCESS, 0))
        assert (page.now_ns, page.lookahead_ns, page.event_ns, page.due_ns) == (0, 0, FOREVER_NS, FOREVER_NS)


@given(st.lists(WORDS, max_size=8), MOMENTS)
def test_whatever_a_process_writes_the_clock_only_grows(written: list[int], moment_ns: int) -> None:
    with both() as (shared, shim):
        clock, latest = shared.clock, 0
        for now_ns in written:
            shim.page.now_ns = now_ns
            assert (clock.told_ns, clock.known_ns) == (now_ns, latest)
            latest = max(latest, now_ns) if now_ns <= LATEST_NS else latest
            assert clock.now_ns == clock.known_ns == latest
        clock.advance_to(moment_ns)
        assert shim.page.now_ns == clock.now_ns == max(latest, moment_ns)
        shim.page.now_ns = 1
        clock.put_back()
        assert shim.page.now_ns == max(latest, moment_ns)


@given(WORDS, WORDS, WORDS)
def test_what_a_turn_has_left_is_read(woken: int, slot: int, ready: int) -> None:
    with both() as (shared, shim):
        turn, page = shared.turn, shim.page
        page.may_have_woken, page.running, page.siblings_ready = woken, slot, ready
        assert (turn.may_have_woken, turn.runner_slot, turn.was_handed_on, turn.siblings_are_ready) == (
            woken != 0,
            slot,
            slot != 0,
            ready != 0,
        )


def test_each_word_of_the_turn_changes_alone() -> None:
    with both() as (shared, shim):
        turn, page = shared.turn, shim.page
        turn.demand_back()
        assert page.preempt == 1
        turn.demand_no_more()
        assert page.preempt == 0
        turn.charge_computing(9, 2**40)
        assert (page.computing_slot, page.computing_since_ns) == (9, 2**40)


@given(SIGNED)
def test_a_number_waits_in_the_slot_of_a_new_thread(tid: int) -> None:
    with both() as (shared, _):
        shared.slots.answer(5, 3, tid)
        assert shared.slots.tid(5) == tid and shared.slots.tid(6) == 0
        shared.slots.begin(5)
        assert shared.slots.tid(5) == tid  # the slot's word is new, not its value, which the thread's creator writes


@given(st.integers(0, 2**40), st.integers(0, 15))
def test_a_stream_has_the_lower_half_of_its_number(number: int, what: int) -> None:
    with both() as (shared, shim):
        shared.streams.tell(number, what)
        assert shim.streams[number % STREAMS] == (number | what) % 2**32
        shared.streams.forget(number)
        assert shim.streams[number % STREAMS] == 0


@given(st.sets(WORDS, max_size=20), WORDS)
def test_each_device_has_its_bit(inodes: set[int], written: int) -> None:
    with both() as (shared, shim):
        for inode in inodes:
            shared.devices.tell_device(inode)
        for inode in inodes:
            assert 0 <= bit_of(inode) < 64 * DEVICE_WORDS
            assert shim.page.device_inodes[bit_of(inode) // 64] >> bit_of(inode) % 64 & 1
        assert shim.page.devices == len(inodes)
        shim.page.devices = written  # whatever a process writes there, the server goes on
        shared.devices.tell_device(7)
        assert shim.page.devices == len(inodes) + 1
        shared.devices.tell_device_programs(2)
        assert shim.page.device_programs == 2


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_a_sequence_number_that_a_process_writes_stops_nothing(written: list[int]) -> None:
    with both() as (shared, shim):
        for sequence in written:
            shim.page.sequence = sequence
            assert shared.deadlines.next_sequence() == shim.page.sequence == (sequence + 1) % 2**64


@given(WORDS, WORDS)
def test_a_deadline_that_a_process_writes_is_at_the_end_of_time_at_the_latest(due_ns: int, sequence: int) -> None:
    with both() as (shared, shim):
        shim.page.due_ns, shim.page.due_sequence = due_ns, sequence
        assert shared.deadlines.next_ns == min(due_ns, FOREVER_NS)
        assert shared.deadlines.next_order == (due_ns, sequence)


@given(st.integers(0, 10**9), st.integers(2**28, 2**36), st.booleans())
def test_the_least_charge_is_said_in_cycles_as_well(least_ns: int, tsc_ns: int, replays: bool) -> None:
    with both() as (shared, shim):
        shared.prices.tell_charging(least_ns, tsc_ns, replays)
        page = shim.page
        assert (page.charge_least_ns, page.tsc_ns) == (least_ns, tsc_ns)
        assert page.charge_least_cycles * tsc_ns >> 32 <= least_ns <= (page.charge_least_cycles + 1) * tsc_ns >> 32
        assert page.replays_charges == (lib.REPLAY_GOES_ON if replays else lib.REPLAY_NONE)
        shared.prices.tell_departure()
        assert page.replays_charges == lib.REPLAY_HAS_DEPARTED


@pytest.mark.parametrize("word", ["storage_conditions", "queue_notifies", "tracees", "trace_news"])
def test_a_notice_is_a_count(word: str) -> None:
    with both() as (shared, shim):
        for count in (3, 0):
            getattr(shared.notices, f"tell_{word}")(count)
            assert getattr(shim.page, word) == count


def test_what_the_shims_tell() -> None:
    with both() as (shared, shim):
        page = shim.page
        page.traps, page.preloaded, page.clock_reads, page.messages, page.handoffs, page.local_sleeps = 1, 2, 4, 8, 16, 32
        page.from_outside, page.trap_overhead_ns, page.coarse_overhead_ns = 2**63, 5, 6
        assert (shared.counters.system_calls, shared.counters.calls) == (3, 7)
        assert shared.counters.of_record() == {
            "local_sleeps": 32,
            "steps": 16,
            "clock_reads": 4,
            "traps": 1,
            "preloaded_calls": 2,
            "messages": 8,
        }
        assert shared.notices.signals_from_outside == 2**63
        assert list(shared.prices.overheads().values()) == [5, 0, 0, 6]
        shared.notices.tell_exclusive_files()
        assert page.exclusive_files == 1
