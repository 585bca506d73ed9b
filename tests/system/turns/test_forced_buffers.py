"""Streams whose buffers are forced beyond the usual (SO_SNDBUFFORCE, SO_RCVBUFFORCE): more is under way, that is all."""

from __future__ import annotations

import hashlib
import os
import socket
import time

import pytest

from simunix.testing import Cluster

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may force the size of a buffer")
FORCED_BYTES = 4 << 20


def widen(which: socket.socket, size: int) -> None:
    for option in (32, 33) if size else ():
        which.setsockopt(socket.SOL_SOCKET, option, size)


def receive(size: int, asleep_s: float) -> None:
    with socket.create_server(("", 7000)) as listener:
        connection = listener.accept()[0]
    widen(connection, size)
    time.sleep(asleep_s)
    digest = hashlib.sha256()
    while data := connection.recv(1 << 20):
        digest.update(data)
    print(digest.hexdigest(), time.time())


def fill(size: int) -> None:
    with socket.create_connection(("far", 7000)) as connection:
        widen(connection, size)
        connection.setblocking(False)
        sent, end = 0, time.time() + 5
        while time.time() < end:
            try:
                sent += connection.send(bytes(1 << 20))
            except BlockingIOError:
                time.sleep(0.1)
        print(sent)


def send_all(size: int) -> None:
    data = bytes(number * number % 251 for number in range(1 << 20)) * 8 + b"end"
    print(hashlib.sha256(data).hexdigest(), end=" ")
    with socket.create_connection(("far", 7000)) as connection:
        widen(connection, size)
        print(time.time())
        connection.sendall(data)


@pytest.mark.parametrize(("near", "far"), [(0, 0), (FORCED_BYTES, 0), (0, FORCED_BYTES), (FORCED_BYTES, FORCED_BYTES)])
def test_the_window_is_what_both_sides_have_forced(emulation: Cluster, near: int, far: int) -> None:
    """While the receiver sleeps, as much as its kernel holds can be sent, and the window besides."""
    emulation.network(bandwidth="1Gbps", latency="100us")
    emulation.host("far", privileged=True).start(emulation.python(receive, far, 10.0))
    source = emulation.host("near", privileged=True).start(emulation.python(fill, near), at="1s")
    emulation.run(check=True)
    window = int(source.stdout) - 2 * (near + far)  # Linux doubles a buffer's size for what it adds itself
    assert (window > FORCED_BYTES // 2) is bool(near and far)


@pytest.mark.parametrize("size", [0, FORCED_BYTES])
def test_the_same_bytes_arrive_at_the_same_time(emulation: Cluster, size: int) -> None:
    emulation.network(bandwidth="1Gbps", latency="100us")
    sink = emulation.host("far", privileged=True).start(emulation.python(receive, size, 0.0))
    source = emulation.host("near", privileged=True).start(emulation.python(send_all, size), at="1s")
    emulation.run(check=True)
    (sent, begin), (received, end) = source.stdout.split(), sink.stdout.split()
    assert sent == received
    assert float(end) - float(begin) == pytest.approx(((8 << 20) + 3) / (0.97 * 125e6) + 1e-4, abs=1e-3)
