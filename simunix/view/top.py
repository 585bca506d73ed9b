"""`simunix top`: a run in the terminal, while it runs or afterwards; as plain text, once, if the output is no terminal."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import trio
from rich.live import Live

from rsg_server.errors import SimunixError, shortened
from simunix.console import Console
from simunix.results.live_json import NAME, LiveRecord, read_live
from simunix.view.actions import Actions
from simunix.view.model import Model
from simunix.view.overview import Overview
from simunix.view.pages import facts_for_page
from simunix.view.serve import LOOK_S, facts_of_folder, follow, found_run

DRAW_S = 0.5
FIRST_S = 5.0
"""How long, in real time, a run that is no terminal's is waited for to tell its state."""
MINUTE_S = 60
KEY_BYTES = 64
KEY = re.compile(rb"\x1b\[[A-Z]|.", re.DOTALL)
"""A key as a terminal sends it; keys that are typed fast come together."""
UP, DOWN = b"\x1b[A", b"\x1b[B"


def top(given: Path | None) -> int:
    """Show a run until the user quits; returns the exit code. Raises SimunixError."""
    folder = found_run(given).resolve()
    live = read_live(folder) if (folder / NAME).exists() else None
    model = Model(facts_for_page(asdict(live)) if live is not None else facts_of_folder(folder))
    nodes = [name for cluster in model.facts["clusters"] for name in cluster["nodes"]] or list(model.facts["hosts"])
    overview = Overview(model, nodes)
    if sys.stdin.isatty() and sys.stdout.isatty():
        trio.run(Screen(folder, live, overview).show)
    else:
        trio.run(_print_once, folder, live, overview)
    return 0


async def _print_once(folder: Path, live: LiveRecord | None, overview: Overview) -> None:
    model = overview.model
    async with trio.open_nursery() as nursery:
        nursery.start_soon(follow, folder, live, model)
        with trio.move_on_after(FIRST_S):
            while model.status not in ("running", "ended"):
                await model.news()
            if model.status == "running":
                await trio.sleep(LOOK_S)  # until the run's files have been read
        nursery.cancel_scope.cancel()
    overview.take()
    Console().print(overview.draw(0, is_live=False))


@contextmanager
def keys_at_once() -> Iterator[None]:
    """Have the terminal give each key at once, and print none."""
    before = termios.tcgetattr(sys.stdin.fileno())
    stopping = signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # the screen would stay behind
    tty.setcbreak(sys.stdin.fileno())
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)
        signal.signal(signal.SIGTSTP, stopping)


class Screen:
    """The whole terminal, and what its keys do."""

    def __init__(self, folder: Path, live: LiveRecord | None, overview: Overview) -> None:
        self._folder, self._live, self._overview = folder, live, overview
        self._scope = trio.CancelScope()

    async def show(self) -> None:
        """Show the run until q, Ctrl-C or SIGTERM."""
        with keys_at_once(), self._scope:
            async with trio.open_nursery() as nursery:
                environment = self._live.environment if self._live is not None else {}
                actions = Actions(self._folder, self._overview.model, environment, nursery)
                nursery.start_soon(self._until_signal)
                nursery.start_soon(follow, self._folder, self._live, self._overview.model)
                nursery.start_soon(self._read_keys, actions)
                with Live(console=Console(), screen=True, auto_refresh=False) as screen:
                    while True:
                        self._overview.take()
                        screen.update(self._overview.draw(screen.console.height, is_live=True), refresh=True)
                        await trio.sleep(DRAW_S)

    async def _until_signal(self) -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async for _ in signals:
                self._scope.cancel()

    async def _read_keys(self, actions: Actions) -> None:
        while True:
            await trio.lowlevel.wait_readable(sys.stdin)
            keys = os.read(sys.stdin.fileno(), KEY_BYTES)
            for key in KEY.findall(keys) or [b"q"]:
                await self._press(key, actions)

    async def _press(self, key: bytes, actions: Actions) -> None:
        if key == b"q":
            self._scope.cancel()
        elif key in (UP, b"k", DOWN, b"j"):
            step = -1 if key in (UP, b"k") else 1
            self._overview.chosen = max(0, min(len(self._overview.nodes) - 1, self._overview.chosen + step))
        elif (request := self._request(key)) is not None:
            await self._carry_out(actions, request)

    def _request(self, key: bytes) -> dict[str, Any] | None:
        """What a key asks for; None if it means nothing."""
        nodes, chosen = self._overview.nodes, self._overview.chosen
        is_paused = self._overview.model.clock["paused"]
        requests: dict[bytes, dict[str, Any]] = {
            b" ": {"what": "resume" if is_paused else "pause"},
            b"n": {"what": "step"},
            b"+": {"what": "until", "for_s": MINUTE_S},
        }
        if nodes:
            for letter, state in ((b"o", "off"), (b"i", "on")):
                requests[letter] = {"what": "event", "event": {"host": nodes[chosen], "state": state}}
        return requests.get(key)

    async def _carry_out(self, actions: Actions, request: dict[str, Any]) -> None:
        try:
            self._overview.said = await actions.carry_out(request)
        except SimunixError as error:
            self._overview.said = shortened(str(error))
