"""The tasks of the service."""

from __future__ import annotations

import os
import signal
import socket
import time
from types import FrameType

import pytest

from rsg_server.edge.task_socket import TaskSocket
from rsg_server.edge.tasks import Event, Tasks, Until, checkpoint, sleep

LONG_S = 60.0


def test_those_who_wait_for_an_event_go_on_in_their_order() -> None:
    tasks, event, order = Tasks(), Event(), list[str]()

    async def waits(name: str) -> None:
        await event.wait()
        order.append(name)

    async def main() -> None:
        tasks.start(waits("a"))
        tasks.start(waits("b"))
        event.set()
        assert order == []
        await checkpoint()
        assert order == ["a", "b"]
        await event.wait()  # it has come: this does not wait

    tasks.run(main())


def test_whichever_comes_first_ends_a_wait_and_nothing_of_it_is_left() -> None:
    tasks, event = Tasks(), Event()
    reader, writer = os.pipe()

    async def main() -> None:
        await Until(event, fd=reader, seconds=0.001)
        assert not event.has_come
        assert event.waits == {}
        os.write(writer, b"x")
        await Until(event, fd=reader, seconds=LONG_S)
        tasks.call_soon(event.set)
        os.read(reader, 1)
        await Until(event, fd=reader, seconds=LONG_S)
        assert event.has_come

    tasks.run(main())
    os.close(reader)
    os.close(writer)


def test_a_descriptor_that_is_closed_counts_as_ready() -> None:
    tasks = Tasks()
    reader, writer = os.pipe()
    os.close(writer)

    async def main() -> None:
        tasks.start(closes())
        await Until(fd=reader, seconds=LONG_S)

    async def closes() -> None:
        await checkpoint()
        os.close(reader)

    tasks.run(main())


def test_the_end_of_the_first_task_closes_those_that_wait() -> None:
    tasks, ends = Tasks(), list[str]()

    async def waits() -> None:
        try:
            await sleep(LONG_S)
        finally:
            ends.append("closed")

    async def main() -> None:
        tasks.start(waits())
        await checkpoint()
        ends.append("main")

    tasks.run(main())
    assert ends == ["main", "closed"]


def test_what_was_due_goes_on_to_its_next_wait_and_what_is_shielded_to_its_end() -> None:
    tasks, event, ends = Tasks(), Event(), list[str]()

    async def waits(is_shielded: bool) -> None:
        await event.wait()
        ends.append("due")
        if is_shielded:
            tasks.shield()
        await sleep(0.001)
        ends.append("shielded")

    async def main() -> None:
        tasks.start(waits(False))
        tasks.start(waits(True))
        event.set()

    tasks.run(main())
    assert ends == ["due", "due", "shielded"]


@pytest.mark.parametrize("is_main", [False, True])
def test_an_error_of_any_task_ends_all(is_main: bool) -> None:
    tasks, ends = Tasks(), list[str]()

    async def fails() -> None:
        await checkpoint()
        raise ValueError("of a task")

    async def waits() -> None:
        try:
            await sleep(LONG_S)
        finally:
            ends.append("closed")

    async def main() -> None:
        tasks.start(waits())
        if is_main:
            await fails()
        tasks.start(fails())
        await sleep(LONG_S)

    with pytest.raises(ValueError, match="of a task"):
        tasks.run(main())
    assert ends == ["closed"]


def test_a_signal_wakes_tasks_that_wait() -> None:
    tasks, event = Tasks(), Event()

    def heard(number: int, frame: FrameType | None) -> None:
        tasks.call_soon(event.set)

    async def main() -> None:
        await Until(event, seconds=LONG_S)

    before = signal.signal(signal.SIGALRM, heard)
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        tasks.run(main())
    finally:
        signal.signal(signal.SIGALRM, before)
    assert event.has_come
    assert time.monotonic() - started < LONG_S
    tasks.call_soon(event.set)  # after the end nobody listens


def test_sockets_wait_without_keeping_others_waiting() -> None:
    tasks = Tasks()
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    received: list[bytes] = []
    piece = bytes(1 << 16)

    async def receives(connection: TaskSocket) -> None:
        with connection:
            while len(received) < 100:
                received.append((await connection.recvmsg(1 << 17, 0))[0])

    async def main() -> None:
        tasks.start(receives(TaskSocket(other)))
        with TaskSocket(one) as connection:
            for _ in range(100):  # more than the kernel keeps
                await connection.send(piece)
            await Until(fd=one.fileno(), seconds=LONG_S)

    tasks.run(main())
    assert received == [piece] * 100
