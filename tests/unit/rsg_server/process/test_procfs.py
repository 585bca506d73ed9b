"""Reads in /proc what an epoll watches, and the content of memory."""

from __future__ import annotations

import ctypes
import os
import re
import select

from rsg_server.process.procfs import epoll_targets, mapping_of, word_value
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import this_process


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


def test_what_is_mapped_at_an_address(world: Fake) -> None:
    process = this_process(world).process
    function = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
    assert function is not None
    assert re.fullmatch(r"libc[^/]*\+0x[0-9a-f]+", mapping_of(process, function))
    assert mapping_of(process, 1) == ""


def test_memory_that_cannot_be_read(world: Fake) -> None:
    process = this_process(world).process
    assert word_value(process, 1) == "" and word_value(process, -1) == ""
    process.global_pid = 2**31 - 1  # above every pid
    assert word_value(process, os.getpid()) == "" and mapping_of(process, 1) == ""
