"""The control socket of a running emulation: joining programs, pausing, pace, listing; one JSON request for each connection.

A request is one line of JSON {"op": ...}; the request `run` carries stdin, stdout and stderr (SCM_RIGHTS). The answer
is one line of JSON, in one or more datagrams, after which the server closes the connection. The answer to `terminal`
comes when the session has ended. Before that answer, a datagram {"opened": true} brings the caller's side of the
terminal (SCM_RIGHTS). The answer to `watch` is a line for each moment that the viewer is told of, until the run ends or
the viewer hangs up.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from rsg_server.diagnosis.descriptors import Descriptors
from rsg_server.diagnosis.ps import list_processes
from rsg_server.edge import requests
from rsg_server.edge.loads import loads_of
from rsg_server.edge.watch import VIEWERS_MOST, Board
from rsg_server.errors import LACKS, SimunixError, quoted, shortened
from rsg_server.faults.changes import Fault
from rsg_server.faults.faults import check

if TYPE_CHECKING:
    from rsg_server.edge.deployment import Added, Deployment
    from rsg_server.edge.service import Service
    from rsg_server.edge.terminal import OpenedTerminal, TerminalOpener
    from rsg_server.process.host_state import Command
    from rsg_server.process.process import Process

REQUEST_BYTES = 1 << 18
PIECE_BYTES = 1 << 16  # an answer may be longer than one datagram
LACK_S = 0.1
"""How long, in real time, the server waits for the next connection when it has no descriptors left."""
STILL_S = 1.0
"""The longest time (s, real time) between two messages to a viewer, so that the viewer knows that the run still exists."""
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request: the descriptors that came with the request, and the connection for the answer.

    `scope` is the trio scope in which the request is carried out and answered. If the scope is shielded, the request is
    answered even if the run ends.
    """

    fds: list[int]
    connection: trio.socket.SocketType | None = None
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)


class Control:
    """Serves the control socket of a run directory; `open_terminal` makes a host's terminal for a session there."""

    def __init__(self, service: Service, path: Path, open_terminal: TerminalOpener | None = None) -> None:
        self._service = service
        self._path = path
        self._open_terminal = open_terminal
        self._board: Board | None = None  # made for the first viewer
        self._operations: dict[str, Callable[[Answer, Caller], Awaitable[Answer]]] = {
            "run": self._run,
            "terminal": self._terminal,
            "pause": self._pause,
            "resume": self._resume,
            "until": self._until,
            "step": self._step,
            "pace": self._pace,
            "status": self._status,
            "ps": self._ps,
            "loads": self._loads,
            "watch": self._watch,
            "stop": self._stop,
            "change": self._change,
            "rsg add-actor": self._add_actor,
            "rsg start": self._start,
            "rsg status": self._deployed,
            "rsg kill": self._kill,
        }

    async def serve(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Accept connections until cancelled, then remove the socket's file.

        The socket is bound through /proc, so that the path may have any length. The file gets its name once the server
        listens: a program that waits for the file can connect at once.
        """
        plain = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener = trio.socket.from_stdlib_socket(plain)
        directory = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        silent = f".{self._path.name}"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(silent, dir_fd=directory)  # left by a server that was killed between bind and rename
        try:
            plain.bind(f"/proc/self/fd/{directory}/{silent}")  # trio's own bind starts a thread for it
            listener.listen(16)
            os.rename(silent, self._path.name, src_dir_fd=directory, dst_dir_fd=directory)
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
            caller = Caller(received_fds(ancillary), connection)
            with caller.scope:
                try:
                    is_whole = not flags & socket.MSG_TRUNC
                    answer = await self._dispatch(message, caller) if is_whole else {"error": "a request may have 256 KiB"}
                finally:
                    for fd in caller.fds:
                        os.close(fd)
                await _send(connection, json.dumps(answer).encode())

    async def _dispatch(self, message: bytes, caller: Caller) -> Answer:
        try:
            request = requests.read(message)
            operation = self._operations.get(request["op"])
            if operation is None:
                raise SimunixError(f"there is no operation {quoted(request['op'])}; known: {', '.join(self._operations)}")
            return await operation(request, caller)
        except SimunixError as error:
            return {"error": shortened(str(error))}

    async def _run(self, request: Answer, caller: Caller) -> Answer:
        """Start a program on a host and wait for its end."""
        host, command = requests.command(request, caller.fds)
        process = await self._spawned(host, command)
        self._joined(process, command.argv[0])
        return await self._end_of(process)

    async def _spawned(self, host: str, command: Command) -> Process:
        """Start a program at the next turn boundary, after the changes that are due by then, as a plan's programs start."""
        programs, timeline = self._service.kernel.programs, self._service.kernel.timeline
        programs.hosts.find(host)  # a wrong name is told at once
        done: list[Process | SimunixError] = []
        is_done = trio.Event()

        def start() -> None:
            try:
                done.append(programs.spawn(host, command))
            except SimunixError as error:  # the host has been switched off
                done.append(error)
            is_done.set()

        def start_behind() -> None:
            timeline.add(self._service.kernel.now_ns, start)

        timeline.add(self._service.kernel.now_ns, start_behind)
        self._service.attend()
        await is_done.wait()
        if isinstance(done[0], SimunixError):
            raise done[0]
        return done[0]

    async def _terminal(self, request: Answer, caller: Caller) -> Answer:
        """Start a session on a terminal of a host, give the caller the other side of the terminal, wait for the end."""
        wanted = requests.terminal(request)
        if self._open_terminal is None or caller.connection is None:
            raise SimunixError("hosts of this emulation have no terminals")
        programs = self._service.kernel.programs
        programs.hosts.find(wanted.host)
        opened = self._open_terminal(wanted)
        try:
            process = programs.spawn(wanted.host, opened.command)
            # a person outside of the emulation types at the terminal
            self._service.kernel.signals.listen_to_kernel(process, is_at_terminal=False)
            self._joined(process, opened.command.argv[0])
            with contextlib.suppress(OSError):  # the caller is gone: the kernel hangs the terminal up
                await _hand_over(opened, caller.connection)
        finally:
            opened.close()
        return await self._end_of(process)

    def _joined(self, process: Process, program: str) -> None:
        self._service.kernel.disturbances.note(f"a program joined by hand: {program} on {process.host.name}")
        self._service.attend()

    async def _end_of(self, process: Process) -> Answer:
        """Wait for the end of a program that has joined; until then an idle run waits for its input and is no deadlock."""
        ended = trio.Event()
        process.on_exit.connect(lambda _: ended.set())
        self._service.joined += 1
        try:
            if not process.dead:
                await ended.wait()
        finally:
            self._service.joined -= 1
        is_off = self._service.kernel.faults.power.is_off(process.host.name)
        return {"status": process.exit_status, "is_off": is_off, "born_ns": process.born_ns}

    async def _pause(self, request: Answer, caller: Caller) -> Answer:
        self._service.pause(True)
        self._service.kernel.disturbances.note("the run was paused by hand")
        return await self._status(request, caller)

    async def _resume(self, request: Answer, caller: Caller) -> Answer:
        self._service.pause(False)
        return await self._status(request, caller)

    async def _until(self, request: Answer, caller: Caller) -> Answer:
        """Let the run go on until a moment of virtual time, and answer when the run is paused at that moment."""
        at_ns = requests.moment(request)
        self._service.kernel.disturbances.note("the run was paused by hand")
        await self._service.go_until(at_ns)
        return await self._status(request, caller)

    async def _step(self, request: Answer, caller: Caller) -> Answer:
        """Let the run go on to the moment of the next event, and answer when the run is paused at that moment."""
        self._service.kernel.disturbances.note("the run was paused by hand")
        await self._service.step()
        return await self._status(request, caller)

    async def _pace(self, request: Answer, caller: Caller) -> Answer:
        self._service.set_pace(requests.pace(request))
        self._service.kernel.disturbances.note("the pace was changed by hand")
        return await self._status(request, caller)

    async def _stop(self, request: Answer, caller: Caller) -> Answer:
        self._service.kernel.disturbances.note("the run was ended by hand")
        self._service.wish_end("stopped by request")
        return await self._status(request, caller)

    async def _change(self, request: Answer, caller: Caller) -> Answer:
        """Change hosts, links or partitions when the present turn has ended."""
        kernel = self._service.kernel
        changes = requests.changes(request)
        for change in changes:
            check(kernel.platform, change)
        kernel.faults.schedule(Fault(kernel.now_ns, change) for change in changes)
        kernel.disturbances.note("hosts or links were changed by hand")
        self._service.attend()
        return await self._status(request, caller)

    async def _status(self, request: Answer, caller: Caller) -> Answer:
        kernel = self._service.kernel
        return {
            "virtual_s": kernel.now_ns / 1e9,
            "paused": self._service.paused,
            "pace": self._service.options.pace,
            "hosts": list(kernel.hosts),
            "off": [name for name in kernel.hosts if name in kernel.wire.reach.off],
            "processes": len(kernel.processes),
        }

    async def _ps(self, request: Answer, caller: Caller) -> Answer:
        kernel = self._service.kernel
        host = request.get("host")
        if host is not None and (not isinstance(host, str) or host not in kernel.hosts):
            raise SimunixError(f"--host {host}: no such host; known: {', '.join(kernel.hosts)}")
        descriptors = Descriptors(kernel.processes, kernel.sockets)
        wanted = {number: each for number, each in kernel.processes.items() if host in (None, each.host.name)}
        return {"virtual_s": kernel.now_ns / 1e9, "processes": list_processes(kernel.hosts, wanted, descriptors)}

    async def _loads(self, request: Answer, caller: Caller) -> Answer:
        """Tell how busy links, storages and power supplies are."""
        return loads_of(self._service.kernel)

    async def _watch(self, request: Answer, caller: Caller) -> Answer:
        """Send a viewer the run's state, then the changes, every so many seconds of real time, until the viewer hangs up."""
        every_s = requests.interval(request)
        board = self._board = self._board or Board(self._service)
        if caller.connection is None or board.viewers >= VIEWERS_MOST:
            raise SimunixError(f"{VIEWERS_MOST} viewers follow this run already; close one of them")
        board.viewers += 1
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_until_hung_up, caller.connection, nursery.cancel_scope)
                await self._tell_viewer(board, caller.connection, every_s)
        finally:
            board.viewers -= 1
        return {}

    async def _tell_viewer(self, board: Board, connection: trio.socket.SocketType, every_s: float) -> None:
        """Send a viewer the changes, in an endless loop.

        While the viewer does not read, only the line that is being sent is queued.
        """
        told, before, told_at = 0, None, 0.0
        with contextlib.suppress(OSError):  # the viewer is gone
            while True:
                board.look()
                message, change = board.message(told), board.change
                if message != before or trio.current_time() >= told_at + STILL_S:
                    before, told, told_at = message, change, trio.current_time()
                    await _send(connection, json.dumps(message).encode() + b"\n")
                await trio.sleep(every_s)

    # Remote SimGrid

    @property
    def _deployment(self) -> Deployment:
        found = self._service.deployment
        if found is None:
            raise SimunixError("no actors can be added to this run; start a server for actors: simunix rsg serve PLATFORM")
        return found

    async def _add_actor(self, request: Answer, caller: Caller) -> Answer:
        """Add an actor, and start the program that becomes the actor; with `waits`, answer at the end of the program."""
        name = requests.actor_name(request)
        host, command = requests.command(request, caller.fds)
        waits = bool(request.get("waits"))
        ended = trio.Event()
        added = self._deployment.add(name, host, replace(command, foreground=waits), ended.set)
        if waits:
            await self._until_end(added, ended, caller)
        return {"pid": added.who.pid, "status": added.process.exit_status if waits else None}

    async def _until_end(self, added: Added, ended: trio.Event, caller: Caller) -> None:
        """Wait for the end of an actor's program. If the caller hangs up, the program is killed."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._kill_if_left, added, caller)
            await ended.wait()
            caller.scope.shield = True  # the end of this program may have been the end of the run
            nursery.cancel_scope.cancel()

    async def _kill_if_left(self, added: Added, caller: Caller) -> None:
        if caller.connection is None:
            return
        with contextlib.suppress(OSError):
            await caller.connection.recv(1)  # a caller sends nothing after its request, so it has closed the connection
        self._deployment.kill_actor(added)

    async def _start(self, request: Answer, caller: Caller) -> Answer:
        self._deployment.start()
        return self._deployment.status()

    async def _deployed(self, request: Answer, caller: Caller) -> Answer:
        return self._deployment.status()

    async def _kill(self, request: Answer, caller: Caller) -> Answer:
        reason = request.get("reason")
        self._deployment.kill(reason if isinstance(reason, str) and reason.isprintable() else "")
        return {}


async def _send(connection: trio.socket.SocketType, text: bytes) -> None:
    for start in range(0, len(text), PIECE_BYTES):
        await connection.send(text[start : start + PIECE_BYTES])


async def _until_hung_up(connection: trio.socket.SocketType, scope: trio.CancelScope) -> None:
    """Cancel the scope when a viewer hangs up. A viewer sends nothing more, and what it sends nevertheless is dropped."""
    with contextlib.suppress(OSError):
        while await connection.recv(PIECE_BYTES):
            pass
    scope.cancel()


async def _hand_over(opened: OpenedTerminal, connection: trio.socket.SocketType) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [opened.outside]))]
    await connection.sendmsg([json.dumps({"opened": True}).encode()], rights)


def received_fds(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """Return the descriptors of SCM_RIGHTS messages."""
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return list(fds)
