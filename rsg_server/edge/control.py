"""The control socket of a running emulation: joining programs, pausing, pace, listing; one JSON request for each connection.

A request is one line of JSON {"op": ...}; `run` comes with stdin, stdout and stderr (SCM_RIGHTS). The answer is one line of
JSON, in as many datagrams as it takes, then the end of the connection.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from rsg_server.diagnosis.ps import list_processes
from rsg_server.edge import requests
from rsg_server.errors import LACKS, SimunixError
from rsg_server.faults.faults import Fault, check

if TYPE_CHECKING:
    from rsg_server.edge.service import Service

REQUEST_BYTES = 1 << 18
PIECE_BYTES = 1 << 16  # an answer may be longer than one datagram
LACK_S = 0.1
"""Real time until the next connection is taken when descriptors are lacking."""
Answer = dict[str, Any]


class Control:
    """Serves the control socket of a run directory."""

    def __init__(self, service: Service, path: Path) -> None:
        self._service = service
        self._path = path
        self._operations: dict[str, Callable[[Answer, list[int]], Awaitable[Answer]]] = {
            "run": self._run,
            "pause": self._pause,
            "resume": self._resume,
            "pace": self._pace,
            "status": self._status,
            "ps": self._ps,
            "stop": self._stop,
            "change": self._change,
        }

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept until cancelled, then remove the socket's file; bound through /proc for a path of any length."""
        plain = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener = trio.socket.from_stdlib_socket(plain)
        directory = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            plain.bind(f"/proc/self/fd/{directory}/{self._path.name}")  # trio's own bind starts a thread for it
            listener.listen(16)
            task_status.started()
            async with trio.open_nursery() as nursery:
                while True:
                    try:
                        connection, _ = await listener.accept()
                    except OSError as error:
                        if error.errno not in LACKS:
                            raise
                        await trio.sleep(LACK_S)  # somebody keeps many connections open: the run goes on
                        continue
                    nursery.start_soon(self._answer, connection)
        finally:
            listener.close()
            os.close(directory)
            with contextlib.suppress(FileNotFoundError):
                self._path.unlink()

    async def _answer(self, connection: trio.socket.SocketType) -> None:
        with connection, contextlib.suppress(OSError):
            message, ancillary, flags, _ = await connection.recvmsg(REQUEST_BYTES, socket.CMSG_SPACE(3 * 4))
            fds = received_fds(ancillary)
            try:
                is_whole = not flags & socket.MSG_TRUNC
                answer = await self._dispatch(message, fds) if is_whole else {"error": "a request may have 256 KiB"}
            finally:
                for fd in fds:
                    os.close(fd)
            text = json.dumps(answer).encode()
            for start in range(0, len(text), PIECE_BYTES):
                await connection.send(text[start : start + PIECE_BYTES])

    async def _dispatch(self, message: bytes, fds: list[int]) -> Answer:
        try:
            request = requests.read(message)
            operation = self._operations.get(request["op"])
            if operation is None:
                raise SimunixError(f"no operation {request['op'][:40]!r}; there are {', '.join(self._operations)}")
            return await operation(request, fds)
        except SimunixError as error:
            return {"error": str(error)}

    async def _run(self, request: Answer, fds: list[int]) -> Answer:
        """Start a program on a host and wait for its end."""
        host, command = requests.command(request, fds)
        ended = trio.Event()
        process = self._service.kernel.lifecycle.spawn(host, command)
        process.on_exit = lambda _: ended.set()
        self._service.joined += 1
        self._service.kernel.disturbances.note(f"a program joined by hand: {command.argv[0]} on {host}")
        self._service.attend()
        try:
            await ended.wait()
        finally:
            self._service.joined -= 1
        return {"status": process.exit_status}

    async def _pause(self, request: Answer, fds: list[int]) -> Answer:
        self._service.pause(True)
        self._service.kernel.disturbances.note("the run was paused by hand")
        return await self._status(request, fds)

    async def _resume(self, request: Answer, fds: list[int]) -> Answer:
        self._service.pause(False)
        return await self._status(request, fds)

    async def _pace(self, request: Answer, fds: list[int]) -> Answer:
        self._service.set_pace(requests.pace(request))
        self._service.kernel.disturbances.note("the pace was changed by hand")
        return await self._status(request, fds)

    async def _stop(self, request: Answer, fds: list[int]) -> Answer:
        self._service.kernel.disturbances.note("the run was ended by hand")
        self._service.end("stopped by request")
        return await self._status(request, fds)

    async def _change(self, request: Answer, fds: list[int]) -> Answer:
        """Change hosts, links or partitions at the next turn boundary."""
        kernel = self._service.kernel
        changes = requests.changes(request)
        for change in changes:
            check(kernel.platform, change)
        kernel.faults.schedule(Fault(kernel.now_ns, change) for change in changes)
        kernel.disturbances.note("hosts or links were changed by hand")
        self._service.attend()
        return await self._status(request, fds)

    async def _status(self, request: Answer, fds: list[int]) -> Answer:
        kernel = self._service.kernel
        return {
            "virtual_s": kernel.now_ns / 1e9,
            "paused": self._service.paused,
            "pace": self._service.options.pace,
            "hosts": sorted(kernel.hosts),
            "off": sorted(kernel.wire.reach.off),
            "processes": len(kernel.processes),
        }

    async def _ps(self, request: Answer, fds: list[int]) -> Answer:
        kernel = self._service.kernel
        host = request.get("host")
        if host is not None and (not isinstance(host, str) or host not in kernel.hosts):
            raise SimunixError(f"--host {host}: no such host; known: {', '.join(kernel.hosts)}")
        listed = [entry for entry in list_processes(kernel) if host in (None, entry["host"])]
        return {"virtual_s": kernel.now_ns / 1e9, "processes": listed}


def received_fds(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """Descriptors of SCM_RIGHTS messages."""
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return list(fds)
