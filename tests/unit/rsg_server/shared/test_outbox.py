"""The outbox and the inbox: what one actor says in shared memory, and what it is answered there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rsg_server._native import ffi, lib

from rsg_server.options import Costs
from rsg_server.protocol import HANDOFF_MAX, MESSAGE_MAX
from rsg_server.shared.memory import SharedMemory
from rsg_server.shared.outbox import TO_PARK
from tests.unit.rsg_server.shim import Shim

WORD = st.integers(0, 2**64 - 1)
SMALL = st.integers(-(2**31), 2**31 - 1)


@pytest.fixture(scope="module")
def shared() -> SharedMemory:
    return SharedMemory(0, 0, Costs())


@pytest.fixture(scope="module")
def shim(shared: SharedMemory) -> Shim:
    return Shim(shared)


@given(st.binary(min_size=1, max_size=MESSAGE_MAX), st.integers(0, 2**32 - 1))
def test_a_message_is_taken_once(shared: SharedMemory, shim: Shim, message: bytes, slot: int) -> None:
    outbox = shared.outbox
    shim.leave(message, slot)
    outbox.take()
    assert shim.outbox.is_asked == lib.ASKED_NOTHING
    assert (outbox.message(), outbox.slot, outbox.core.tells_handoffs) == (message, slot, 0)
    assert outbox.asked != TO_PARK


@given(SMALL, SMALL, st.integers(-(2**63), 2**63 - 1), st.tuples(WORD, WORD, WORD, WORD), st.booleans())
def test_a_park_comes_as_its_struct(
    shared: SharedMemory, shim: Shim, wait: int, syscall: int, deadline_ns: int, words: tuple[int, ...], by_handoff: bool
) -> None:
    park = shim.outbox.park
    park.wait, park.syscall, park.deadline, park.by_handoff = wait, syscall, deadline_ns, by_handoff
    park.blocked, park.a, park.b, park.c = words
    shim.outbox.is_asked = lib.ASKED_TO_PARK
    shared.outbox.take()
    assert shared.outbox.asked == TO_PARK
    assert shared.outbox.park() == (wait, syscall, deadline_ns, *words, by_handoff)


@given(st.integers(0, HANDOFF_MAX), WORD)
def test_news_are_announced(shared: SharedMemory, shim: Shim, count: int, digest: int) -> None:
    shim.leave_news(digest, b"".join(_entry(slot) for slot in range(1, count + 1)))
    shared.outbox.take()
    core = shared.outbox.core
    assert (core.news_count, core.digest, core.tells_handoffs) == (count, digest, 1)


def _entry(slot: int) -> bytes:
    return bytes(ffi.buffer(ffi.new("struct simunix_handoff *", {"slot": slot})))


def test_lengths_beyond_the_memory_are_refused(shared: SharedMemory, shim: Shim) -> None:
    shim.leave(b"", 1)
    shim.outbox.length, shim.outbox.news_count = MESSAGE_MAX + 1, HANDOFF_MAX + 1
    shared.outbox.take()
    with pytest.raises(ValueError, match="bytes in the outbox"):
        shared.outbox.message()


@given(st.binary(max_size=MESSAGE_MAX))
def test_an_answer_lies_in_the_inbox(shared: SharedMemory, shim: Shim, data: bytes) -> None:
    assert shared.slots.answer_message(7, data)
    assert bytes(ffi.buffer(shim.inbox.message, shim.inbox.length)) == data


def test_an_answer_that_is_too_long_does_not_fit(shared: SharedMemory) -> None:
    assert not shared.slots.answer_message(7, bytes(MESSAGE_MAX + 1))
