"""What a user does to a running emulation from the live page: steer its time, change the machine, run programs on hosts.

Each change and each program is recorded with its virtual time, as an entry of `events:` or `processes:` of a scenario.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import trio
from pydantic import ValidationError

from rsg_server.errors import SimunixError, quoted
from rsg_server.faults.changes import as_message
from simunix.app.join import ask, exit_code
from simunix.scenario.faults import EventSection
from simunix.view.model import Model

Request = Mapping[str, Any]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PATIENCE_S = 1.0
"""How long, in real time, the page waits for an answer; what takes longer goes on, and its end is told later."""
OUTPUT_BYTES = 1 << 14
"""The most of a program's output that the page shows."""
PROGRAMS_MOST = 16
COMMAND_MOST = 4000
NS = 10**9


@dataclass(slots=True)
class Recorded:
    """What was done by hand so far: entries of `events:` and `processes:` of a scenario, in the order of their moments."""

    events: list[dict[str, Any]] = field(default_factory=list)
    processes: list[dict[str, Any]] = field(default_factory=list)


class Actions:
    """Carries out what the page asks for. `environment` is that of the run's programs."""

    def __init__(self, folder: Path, model: Model, environment: Mapping[str, str], nursery: trio.Nursery) -> None:
        self.recorded = Recorded()
        self._folder, self._model, self._nursery = folder, model, nursery
        self._environment = {"PATH": PATH, "HOME": "/root", **environment}
        self._done = 0
        self._programs = 0
        self._do: dict[str, Callable[[Request], Awaitable[str]]] = {
            "pause": self._steer,
            "resume": self._steer,
            "step": self._steer,
            "stop": self._steer,
            "until": self._until,
            "pace": self._pace,
            "event": self._event,
            "run": self._run,
        }

    async def carry_out(self, request: object) -> str:
        """Carry out a request of the page; return a line that says what has happened. Raises SimunixError."""
        what = request.get("what") if isinstance(request, dict) else None
        if not isinstance(request, dict) or not isinstance(what, str) or what not in self._do:
            raise SimunixError(f'expected an object with "what", one of {", ".join(self._do)}')
        return await self._do[what](request)

    async def _ask(self, request: dict[str, object], fds: tuple[int, ...] = ()) -> dict[str, Any]:
        return await trio.to_thread.run_sync(partial(ask, self._folder, request, fds), abandon_on_cancel=True)

    async def _steer(self, request: Request) -> str:
        return await self._answer_soon({"op": request["what"]})

    async def _until(self, request: Request) -> str:
        """Go on until a moment (`at_s`) of the run, or for so many seconds (`for_s`)."""
        status = await self._ask({"op": "status"})
        given = request.get("at_s", request.get("for_s"))
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 9e9:
            raise SimunixError(f"until: expected a number of seconds, got {quoted(given)}")
        at_s = given if "at_s" in request else status["virtual_s"] + given
        return await self._answer_soon({"op": "until", "virtual_ns": round(at_s * NS)})

    async def _pace(self, request: Request) -> str:
        return await self._answer_soon({"op": "pace", "pace": request.get("pace")})

    async def _answer_soon(self, request: dict[str, object]) -> str:
        """Ask the run, and wait for the answer for a while: that of `until` may take long. Raises SimunixError if it is one."""
        answered: list[dict[str, Any] | SimunixError] = []
        came = trio.Event()

        async def asking() -> None:
            try:
                answered.append(await self._ask(request))
            except SimunixError as error:
                answered.append(error)
            came.set()

        self._nursery.start_soon(asking)
        with trio.move_on_after(PATIENCE_S):
            await came.wait()
        if answered and isinstance(answered[0], SimunixError):
            raise answered[0]
        return f"{request['op']}: done" if answered else f"{request['op']}: the run goes on until then"

    # What is recorded

    async def _event(self, request: Request) -> str:
        """Change the machine now, as an entry of `events:` without its moment says."""
        given = request.get("event")
        if not isinstance(given, dict):
            raise SimunixError("event: expected an object, as an entry of events: without at")
        try:
            section = EventSection.model_validate({**given, "at": 0})
        except ValidationError as error:
            text = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
            raise SimunixError(f"event: {text}") from None
        if section.duration is not None:
            raise SimunixError("duration: an action by hand lasts until another one ends it")
        answer = await self._ask({"op": "change", "changes": [as_message(change) for change in section.changes()]})
        at_ns = round(answer["virtual_s"] * NS)
        entry = {"at": _moment(at_ns), **{key: value for key, value in given.items() if key != "at"}}
        self.recorded.events.append(entry)
        text = ", ".join(f"{key} {value}" for key, value in given.items())
        self._done += 1
        self._model.note_action(self._done, {"at_s": at_ns / NS, "text": text, "output": "", "status": 0})
        return f"{text}: {'happens as soon as the run goes on' if answer['paused'] else 'done'}"

    async def _run(self, request: Request) -> str:
        """Run a command of a shell on a host. The command's end may take as long as virtual time stands still."""
        host, command = request.get("host"), request.get("command")
        if not isinstance(host, str) or not isinstance(command, str) or not 0 < len(command.strip()) <= COMMAND_MOST:
            raise SimunixError(f"run: expected a host, and a command of up to {COMMAND_MOST} characters")
        if self._programs >= PROGRAMS_MOST:
            raise SimunixError(f"run: {PROGRAMS_MOST} programs have not ended yet; let the run go on")
        status = await self._ask({"op": "status"})
        if host not in status["hosts"] or host in status["off"]:
            raise SimunixError(f"run: {host}: {'is off' if host in status['off'] else 'no such host'}")
        at_ns = round(status["virtual_s"] * NS)
        self._done += 1
        entry = {"name": f"by-hand-{self._done}", "host": host, "start": _moment(at_ns), "command": command}
        self.recorded.processes.append(entry)
        told = {"at_s": at_ns / NS, "text": f"{host}: {command}", "output": "", "status": None}
        self._model.note_action(self._done, told)
        ended = trio.Event()
        self._nursery.start_soon(self._await_program, self._done, entry, told, ended)
        with trio.move_on_after(PATIENCE_S):
            await ended.wait()
        return f"{host}: {'has run' if ended.is_set() else 'runs, or waits for virtual time'}: {command}"

    async def _await_program(self, number: int, entry: dict[str, Any], told: dict[str, Any], ended: trio.Event) -> None:
        output = os.memfd_create("output", os.MFD_CLOEXEC)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        request: dict[str, object] = {"op": "run", "host": entry["host"], "argv": ["/bin/sh", "-c", entry["command"]]}
        self._programs += 1
        try:
            answer = await self._ask({**request, "environment": self._environment, "directory": "/"}, (nothing, output, output))
            status = answer["status"]
            entry["start"], told["at_s"] = _moment(answer["born_ns"]), answer["born_ns"] / NS
            code = None if status is None or status < 0 else exit_code(status)
            text = os.pread(output, OUTPUT_BYTES, 0).decode(errors="replace")
        except SimunixError as error:
            code, text = None, str(error)
        finally:
            self._programs -= 1
            os.close(output)
            os.close(nothing)
        if code:
            entry["expect"] = [code]
        self._model.note_action(number, {**told, "output": text, "status": "lost" if code is None else code})
        ended.set()


def _moment(at_ns: int) -> str:
    """A moment of a scenario to the nanosecond, which seconds as a number are not."""
    return f"{at_ns // NS}s {at_ns % NS}ns"
