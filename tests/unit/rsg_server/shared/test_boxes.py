"""Boxes: requests of Remote SimGrid in shared memory, which emulated processes may have filled with anything."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct

import msgpack
import pytest

from rsg_server.protocol import SHARED_BYTES, SLOTS, Op
from rsg_server.shared import boxes
from rsg_server.shared.boxes import ANSWER_MAX, BYTES, OFFSET, REQUEST_MAX, Boxes
from rsg_server.shared.memory import SharedMemory
from rsg_server.shared.prices import Costs
from tests.unit.rsg_server.fakes import Fake, fake

HEAD = struct.Struct("<QqQQQ")
CLOCK = 14  # RSG_CLOCK, a question


def asked(fd: int, slot: int, operation: int, request: bytes, length: int | None = None) -> None:
    """Leave a request in a box, as the shim does."""
    with mmap.mmap(fd, BYTES, offset=OFFSET + slot * BYTES) as box:
        box[HEAD.size : HEAD.size + len(request)] = request
        HEAD.pack_into(box, 0, 1, operation, 5, len(request) if length is None else length, 0)


def test_there_are_none_before_a_program_names_the_simulation() -> None:
    shared = SharedMemory(0, 0, Costs())
    assert not shared.boxes.is_asked(1)
    assert os.fstat(shared.fd).st_size == SHARED_BYTES
    with pytest.raises(ValueError, match="not there"):
        shared.boxes.take(1)
    assert shared.boxes.open() and shared.boxes.open()
    assert os.fstat(shared.fd).st_size == OFFSET + SLOTS * BYTES
    assert os.fstat(shared.fd).st_blocks * 512 < 1 << 20
    shared.close()


def test_a_request_is_taken_once_and_answered_in_its_place() -> None:
    shared = SharedMemory(0, 0, Costs())
    shared.boxes.open()
    for slot in (1, 77, SLOTS - 1):
        asked(shared.fd, slot, 34, b"request %d" % slot)
        assert shared.boxes.is_asked(slot) and not shared.boxes.is_asked(slot - 1)
        assert shared.boxes.take(slot) == (34, 5, b"request %d" % slot)
        assert not shared.boxes.is_asked(slot)
        shared.boxes.answer(slot, b"answer" * 1000)
        with mmap.mmap(shared.fd, BYTES, offset=OFFSET + slot * BYTES) as box:
            assert HEAD.unpack_from(box)[4] == ANSWER_MAX
            assert box[HEAD.size : HEAD.size + ANSWER_MAX] == (b"answer" * 1000)[:ANSWER_MAX]
    asked(shared.fd, 2, 34, b"of a thread that has died")
    shared.boxes.clear(2)
    assert not shared.boxes.is_asked(2)
    shared.close()


def test_a_length_that_no_box_has() -> None:
    shared = SharedMemory(0, 0, Costs())
    shared.boxes.open()
    for length in (REQUEST_MAX + 1, 2**63, 2**64 - 1):
        asked(shared.fd, 3, 34, b"", length)
        with pytest.raises(ValueError, match="bytes in a box"):
            shared.boxes.take(3)
        assert not shared.boxes.is_asked(3)
    shared.close()


def test_without_memory_for_them_there_are_none() -> None:
    fd = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, SHARED_BYTES)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)
    none = Boxes(fd)
    assert not none.open() and not none.open() and not none.is_asked(1)
    none.clear(1)
    none.close()
    os.close(fd)


def spoken(world: Fake, operation: int, request: bytes, length: int | None = None) -> bool:
    """Whether a process lives on that has been answered over its channel, and then has asked in its box."""
    actor = world.born()
    world.send(actor, msgpack.packb([int(Op.RSG), CLOCK, 0, b""]))
    asked(world.kernel.shared.fd, actor.slot, operation, request, length)
    reply = world.loop._handle(actor, boxes.IN_BOX)
    if reply is not None:
        world.loop.answers.tell(actor, reply.values)
    return not actor.process.dead


def test_a_question_in_a_box_is_answered_there() -> None:
    with fake() as world:
        assert spoken(world, CLOCK, b"")
        shared = world.kernel.shared
        with mmap.mmap(shared.fd, BYTES, offset=OFFSET + BYTES) as box:
            assert HEAD.unpack_from(box)[4] == 8


def test_garbage_in_a_box_ends_its_owner_alone() -> None:
    with fake() as world:
        assert not spoken(world, CLOCK, b"", 2**40)
        assert spoken(world, -1, b"") and spoken(world, 2**62, b"x" * REQUEST_MAX)
        assert "malformed" in " ".join(world.kernel.warner.counts)


def test_bytes_that_are_equal_to_the_mark_are_no_request_in_a_box() -> None:
    with fake() as world:
        actor = world.born()
        assert world.send(actor, bytes(bytearray(boxes.IN_BOX))) is None
        assert actor.process.dead
