"""The waits of the service in real time: for descriptors, or for events that need its attention."""

from __future__ import annotations

import contextlib
import os

import trio


class Outside:
    """The waits of one service. The object is made and used while trio runs."""

    def __init__(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        self._attention = trio.Event()
        self._pausing = trio.Event()

    def attend(self) -> None:
        """Wake the service if it waits, since something outside of the emulation has happened."""
        self._attention.set()

    def attend_soon(self) -> None:
        """Wake the service from the handler of a signal, which runs outside of trio."""
        with contextlib.suppress(trio.RunFinishedError):  # the run has ended already, and its results are being written
            self._token.run_sync_soon(self.attend)

    def tell_pause(self) -> None:
        """Wake the tasks that wait until the run is paused."""
        self._pausing.set()
        self._pausing = trio.Event()

    async def until_pause(self) -> None:
        """Wait until the run is paused."""
        await self._pausing.wait()

    async def checkpoint(self) -> None:
        """Let the other tasks of trio go on."""
        await trio.lowlevel.checkpoint()

    async def attention(self, seconds: float) -> None:
        """Wait for so many seconds, or until something needs attention."""
        with trio.move_on_after(seconds):
            await self._attention.wait()
        self._attention = trio.Event()

    async def readable_or_attention(self, descriptor: int, seconds: float) -> None:
        """Wait for so many seconds, until a descriptor is readable, or until something needs attention."""
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_readable, descriptor, nursery.cancel_scope)
                nursery.start_soon(self._until_attention, nursery.cancel_scope)

    async def _until_readable(self, descriptor: int, scope: trio.CancelScope) -> None:
        copy = os.dup(descriptor)
        try:
            await trio.lowlevel.wait_readable(copy)
        finally:
            trio.lowlevel.notify_closing(copy)
            os.close(copy)
        scope.cancel()

    async def _until_attention(self, scope: trio.CancelScope) -> None:
        await self._attention.wait()
        self._attention = trio.Event()
        scope.cancel()
