"""A reader that begins when its peer has written all and ended: each piece that it makes room for wakes it at once."""

from __future__ import annotations

import select
import socket
import time

from simunix.testing import Cluster

SENT_BYTES = 700_000
"""More than three times what a reader's socket holds, but little enough for the writer to end before the reader begins."""


def write_all() -> None:
    with socket.create_server(("", 7000)) as listener:
        connection = listener.accept()[0]
    connection.sendall(bytes(SENT_BYTES))


def read_late() -> None:
    time.sleep(0.5)
    with socket.create_connection(("near", 7000)) as connection:
        connection.setblocking(False)
        time.sleep(1)
        begin, received = time.monotonic(), 0
        poller = select.poll()
        poller.register(connection, select.POLLIN)
        while received < SENT_BYTES and poller.poll(10_000):
            received += len(connection.recv(SENT_BYTES))
        print(received, time.monotonic() - begin < 1)


def test_a_reader_that_waits_for_the_rest_does_not_wait_for_its_timeout(emulation: Cluster) -> None:
    emulation.network(bandwidth="10Gbps", latency="100us")
    emulation.host("near").start(emulation.python(write_all))
    reader = emulation.host("near").start(emulation.python(read_late))
    emulation.run()
    assert reader.stdout == f"{SENT_BYTES} True\n"
