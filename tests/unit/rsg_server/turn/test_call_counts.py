"""Counts of trapped instructions and of messages: the table in shared memory is read as the shim has written it."""

from __future__ import annotations

import os

import pytest
from rsg_server._native import ffi

from rsg_server.handlers.table import OK, Handler
from rsg_server.processor.costs import CostTable
from rsg_server.protocol import FLAG_COUNT_TRAPS, SHARED_BYTES, TRAP_PLACES, Op, Wait
from rsg_server.shared.tables import trap_places
from rsg_server.turn.call_counts import CallCounts, MessageKind, TrapPlace, call_name
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import this_process

TABLE_BYTES = ffi.sizeof("struct simunix_trap_place") * TRAP_PLACES


@pytest.fixture
def counts(world: Fake) -> CallCounts:
    return CallCounts(world.kernel.shared.fd, world.kernel.hosts)


def test_places_come_with_the_hottest_first(world: Fake, counts: CallCounts) -> None:
    places = trap_places(world.kernel.shared.fd)
    with places.rows() as table:
        table[7].count, table[7].program, table[7].number = 2, b"sleep", 35
        table[9].count, table[9].program, table[9].file, table[9].number = 5, b"cat", b"/lib/libc.so.6", 0
        table[9].inode, table[9].offset = 11, 0x1234
    places.close()
    cat = TrapPlace(program="cat", file="/lib/libc.so.6", inode=11, offset=0x1234, call="read", count=5)
    sleep = TrapPlace(program="sleep", file="", inode=0, offset=0, call="nanosleep", count=2)
    assert list(counts.places()) == [cat, sleep]


def test_processes_are_told_to_count(world: Fake, counts: CallCounts) -> None:
    assert all(host.flags & FLAG_COUNT_TRAPS for host in world.kernel.hosts.values())
    assert os.fstat(world.kernel.shared.fd).st_size == SHARED_BYTES + TABLE_BYTES


def test_the_table_of_costs_that_lies_behind_is_kept(world: Fake) -> None:
    table = CostTable(world.kernel.shared.fd, {})
    size_bytes = os.fstat(world.kernel.shared.fd).st_size
    CallCounts(world.kernel.shared.fd, world.kernel.hosts)
    assert os.fstat(world.kernel.shared.fd).st_size == size_bytes > SHARED_BYTES + TABLE_BYTES
    assert table.measured() == {}


def test_messages_are_counted_and_handled(world: Fake, counts: CallCounts) -> None:
    actor = this_process(world)
    number = int(Op.PARK)
    counted = counts.counting({number: Handler("ii", lambda actor, arguments: OK), int(Op.EPOLL): Handler("", _refused)})
    assert counted[number].run(actor, (int(Wait.FUTEX), 202)) is OK
    with pytest.raises(ValueError, match="refused"):
        counted[int(Op.EPOLL)].run(actor, ())
    program = os.path.basename(actor.process.program)
    assert counts.messages == {
        MessageKind(program=program, message="PARK", wait="FUTEX", call="futex"): 1,
        MessageKind(program=program, message="EPOLL"): 1,
    }


def _refused(*_: object) -> None:
    raise ValueError("refused")


def test_an_unknown_call_keeps_its_number() -> None:
    assert [call_name(0), call_name(9999)] == ["read", "9999"]
