"""Characters that are typed at a terminal arrive at once, with their echo; the kernel delivers those that the server
cannot type.
"""

from __future__ import annotations

import os
import pty
import select
import termios
from collections.abc import Iterator

import pytest

from rsg_server.process import terminals
from rsg_server.protocol import Op
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.handlers.test_handlers import ask


@pytest.fixture
def world() -> Iterator[Fake]:
    with fake() as made:
        yield made


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def number_of(slave: int) -> int:
    return int(os.ttyname(slave).rpartition("/")[2])


def all_of(master: int) -> bytes:
    """As the shim reads: what was under way comes once there is nothing left."""
    text = b""
    while select.select([master], [], [], 0)[0]:
        text += os.read(master, 100)
    return text


def test_keys_arrive_at_once(world: Fake, terminal: tuple[int, int]) -> None:
    master, slave = terminal
    actor = world.born()
    actor.process.open_pidfd(os.getpid())
    if ask(world, actor, Op.TYPED, number_of(slave), b"line\nmo") == (-11,):
        pytest.skip("TIOCSTI is not allowed here")
    assert os.read(slave, 100) == b"line\n"
    assert all_of(master) == b"line\r\nmo"


def test_a_full_terminal_is_left_to_the_kernel(world: Fake, terminal: tuple[int, int]) -> None:
    _, slave = terminal
    modes = termios.tcgetattr(slave)
    modes[3] &= ~termios.ICANON
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    actor = world.born()
    actor.process.open_pidfd(os.getpid())
    results = [ask(world, actor, Op.TYPED, number_of(slave), b"x" * 1000) for _ in range(3)]
    assert results[-1] == (-11,)


def test_a_terminal_that_nobody_has_open(world: Fake) -> None:
    actor = world.born()
    actor.process.open_pidfd(os.getpid())
    assert ask(world, actor, Op.TYPED, 987654, b"x") == (-11,)


def test_descriptors_that_are_gone_are_passed_over(world: Fake) -> None:
    actor = world.born()
    actor.process.open_pidfd(os.getpid())
    terminals.flush_for(actor.process, [987654])
