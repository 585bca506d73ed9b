"""What an epoll watches, read from /proc."""

from __future__ import annotations

import os
import select

from rsg_server.process.procfs import epoll_targets


def test_descriptors_come_ascending_with_their_inodes() -> None:
    first, second = os.pipe()
    with select.epoll() as epoll:
        for fd in (second, first):
            epoll.register(fd, select.EPOLLIN)
        found = epoll_targets(f"/proc/self/fdinfo/{epoll.fileno()}")
    assert found == [(fd, os.fstat(fd).st_ino) for fd in sorted((first, second))]
    os.close(first)
    os.close(second)


def test_an_epoll_of_nothing_and_none_at_all() -> None:
    with select.epoll() as epoll:
        path = f"/proc/self/fdinfo/{epoll.fileno()}"
        assert epoll_targets(path) == []
    assert epoll_targets("/proc/self/fdinfo/987654") == []
    assert epoll_targets(None) == []
