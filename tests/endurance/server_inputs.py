"""The inputs of the server for fuzz.py: messages of processes, and requests to the control socket of an emulation."""

from __future__ import annotations

import json
import random
from pathlib import Path

import msgpack
import trio

from rsg_server.edge.control import Caller, Control
from rsg_server.edge.service import Service, ServiceOptions
from rsg_server.process.actor import State
from rsg_server.protocol import Wait
from tests.unit.rsg_server.fakes import HANDLERS, Fake, fake

REQUESTS = (
    '{"op": "rsg add-actor", "name": "a", "host": "h0", "argv": ["/bin/true"], "environment": {}, "directory": "/"}',
    '{"op": "rsg kill", "reason": "x"}',
    '{"op": "run", "host": "h0", "argv": ["/bin/true", "x"], "environment": {"A": "b"}, "directory": "/"}',
    '{"op": "pace", "pace": 2.5}',
    '{"op": "pause"}',
    '{"op": "until", "virtual_ns": 5000000000}',
    '{"op": "step"}',
    '{"op": "terminal", "host": "h0", "argv": ["x"], "environment": {"TERM": "y"}, "rows": 24, "columns": 80}',
    '{"op": "ps", "host": "h1"}',
    '{"op": "change", "changes": [{"kind": "HostChange", "host": "h1", "state": "off", "grace_ns": 5}]}',
    '{"op": "change", "changes": [{"kind": "Partition", "one": ["h0"], "other": ["h1"]}, {"kind": "Heal", "one": []}]}',
    '{"op": "change", "changes": [{"kind": "Loss", "one": ["h0"], "rate": 0.5, "other": ["h1"]}]}',
    '{"op": "change", "changes": [{"kind": "LinkChange", "link": "h0", "bandwidth_bytes_per_s": 5.0, "latency_s": null}]}',
)
MESSAGES = 60
WAITS_S = 0.05
NUMBERS = (0, 1, 2, 3, -1, 5, 100, 101, 102, 103, 1000, 65535, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), (1 << 64) - 1)


def read_messages(path: Path) -> None:
    """Messages of three processes, whose operations, arguments and order the file's bytes decide."""
    chance = random.Random(path.read_bytes())
    with fake() as world:
        actors = [world.born(host) for host in ("h0", "h1", "h0")]
        for _ in range(MESSAGES):
            actor = chance.choice(actors)
            if actor.state is not State.RUNNING:
                continue
            operation = chance.choice(list(HANDLERS))
            arguments = [_argument(chance, kind) for kind in HANDLERS[operation].shape]
            if chance.random() < 0.1:
                arguments = arguments[:-1] if chance.random() < 0.5 else [*arguments, chance.choice((b"", "x", None, [], -1))]
            world.send(actor, msgpack.packb([operation, *arguments]))
            if chance.random() < 0.3:
                _go_on(world, chance.randrange(20))


def read_request(path: Path) -> None:
    """A request to the control socket of an emulation without real processes, and what comes of it."""
    with fake() as world:
        world.born("h0")
        service = Service(world.kernel, ServiceOptions())
        service._restart_pace()
        answer = trio.run(_answer, Control(service, path), path.read_bytes())
        json.dumps(answer)
        service._set_limit()
        for actor in list(world.kernel.actors.values()):
            world.park(actor, Wait.FD)
        _go_on(world, 5)


async def _answer(control: Control, message: bytes) -> object:
    """The answer to a request; None of one that waits until a run that goes on is paused."""
    with trio.move_on_after(WAITS_S):
        return await control._dispatch(message, Caller([0, 1, 2]))
    return None


def _go_on(world: Fake, moments: int) -> None:
    """Let what is ready happen, and what is due at the next moments: a timer may be due every nanosecond."""
    world.wake_ready()
    for _ in range(moments):
        due = world.kernel.timeline.next_ns
        if due is not None:
            world.pass_time(due)


def _argument(chance: random.Random, kind: str) -> object:
    if kind == "i":
        return chance.choice(NUMBERS) if chance.random() < 0.7 else chance.randrange(-5, 300)
    if kind == "b":
        return chance.choice((b"", bytes(4), b"\x0a\0\0\x01", b"\x7f\0\0\1", bytes(16), bytes(64), bytes([255]) * 48))
    return chance.choice(("", "x", "/bin/sh", "h0", "a/b", "\u00ff", "x" * 300))
