"""`simunix view`: follows a run's control socket and files, and serves the live page on the loopback interface."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import trio

from rsg_server.errors import SimunixError
from simunix.app.join import PIECE_BYTES, NotRunningError, connect
from simunix.results.live_json import NAME, LiveRecord, read_live
from simunix.results.run_json import read_record
from simunix.view.actions import Actions
from simunix.view.files import RunFiles, Tail, faults_of, finished_jobs
from simunix.view.guard import Guard, new_token
from simunix.view.model import Model
from simunix.view.pages import Pages, facts_for_page

ADDRESS = "127.0.0.1"
BACKLOG = 128
LOOK_S = 0.25
"""How often the run's files are looked at, in real time; how often a run is looked for that has not begun."""
LAST_S = 1.0
"""How long, in real time, streams may go on when the page is closed. A browser that does not read would hold it up for ever."""
NS = 10**9


def found_run(given: Path | None) -> Path:
    """The folder of the run that is meant: a folder, a name below out/, or the newest run below out/. Raises SimunixError."""
    if given is None:
        runs = [mark.parent for name in (NAME, "run.json") for mark in Path("out").glob(f"*/{name}")]
        if not runs:
            raise SimunixError("there is no run below out/; give the folder of a run, as simunix run --out made it")
        return max(runs, key=lambda folder: folder.stat().st_mtime)
    for folder in (given, Path("out") / given):
        if folder.is_dir():
            if any((folder / mark).exists() for mark in (NAME, "run.json", "control.sock", "events.jsonl")):
                return folder
            raise SimunixError(f"{folder}: is not the folder of a run: it has no {NAME}, no run.json")
    raise SimunixError(f"{given}: there is no such folder; give the folder of a run, as simunix run --out made it")


def listening(port: int) -> socket.socket:
    """A socket that listens at a port of the loopback interface, any free one if it is 0. Raises SimunixError."""
    if not 0 <= port <= 65535:
        raise SimunixError(f"--port: expected a number from 0 to 65535, got {port}")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SimunixError(f"--port {port}: {error.strerror}; choose another port, or none for any free one") from error
    return listener


def view(given: Path | None, port: int) -> int:
    """Serve the page until SIGINT, SIGTERM or SIGHUP; returns the exit code. Raises SimunixError."""
    folder = found_run(given).resolve()
    live = read_live(folder) if (folder / NAME).exists() else None
    with listening(port) as listener:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a connection more must not be one too many
        token = new_token()
        print(f"http://{ADDRESS}:{listener.getsockname()[1]}/{token}/", flush=True)
        trio.run(_serve, folder, live, listener, token)
    return 0


async def _serve(folder: Path, live: LiveRecord | None, listener: socket.socket, token: str) -> None:
    from hypercorn.config import Config
    from hypercorn.trio import serve

    config = Config()
    config.bind = [f"fd://{os.dup(listener.fileno())}"]
    config.errorlog = config.accesslog = None
    config.include_server_header = False
    config.graceful_timeout = LAST_S / 2
    model = Model(facts_for_page(asdict(live)) if live is not None else facts_of_folder(folder))
    ended = trio.Event()
    async with trio.open_nursery() as nursery:
        has_ended = (folder / "run.json").exists()
        actions = None if has_ended else Actions(folder, model, live.environment if live is not None else {}, nursery)
        nursery.start_soon(_until_signal, ended)
        nursery.start_soon(follow, folder, live, model)
        guard = Guard(Pages(folder, model, actions).app(), token)
        await serve(guard, config, shutdown_trigger=ended.wait, mode="asgi")  # type: ignore[arg-type]
        nursery.cancel_scope.cancel()


async def _until_signal(ended: trio.Event) -> None:
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            ended.set()
            signal.setitimer(signal.ITIMER_REAL, LAST_S)  # then the process ends, whatever a browser does


def facts_of_folder(folder: Path) -> dict[str, Any]:
    """What is known of a run without live.json: its name."""
    return {"name": folder.name, "arguments": [], "epoch_s": 0.0, "hosts": {}, "clusters": [], "jobs_of_workload": 0}


# Following a run


async def follow(folder: Path, live: LiveRecord | None, model: Model) -> None:
    """Read a run into the model, from before it begins until it has ended."""
    files = RunFiles(folder, live, model) if live is not None else None
    async with trio.open_nursery() as nursery:
        if files is not None and not (folder / "run.json").exists():
            nursery.start_soon(_look_at_files, files)
        while not (folder / "run.json").exists():
            with contextlib.suppress(NotRunningError, OSError):
                async for message in _messages(folder):
                    _take(model, message)
                model.set_status("ending", "the run has ended; its results are being written")
            await trio.sleep(LOOK_S)
        nursery.cancel_scope.cancel()
    load_finished(folder, model, files if files is not None and files.tells_starts else None)


async def _look_at_files(files: RunFiles) -> None:
    while True:
        files.look()
        await trio.sleep(LOOK_S)


async def _messages(folder: Path) -> AsyncIterator[dict[str, Any]]:
    """Yield what the run tells its viewers."""
    with trio.socket.from_stdlib_socket(connect(folder)) as control:
        await control.send(json.dumps({"op": "watch", "every_s": LOOK_S}).encode())
        rest = b""
        while piece := await control.recv(PIECE_BYTES):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield json.loads(line)


def _take(model: Model, message: dict[str, Any]) -> None:
    """Take over a message of the run."""
    for name, (power, processes) in message["hosts"].items():
        model.set_host(name, power, processes)
    model.status = "running"
    model.status_text = ""
    kept = ("paused", "pace", "speed", "turns", "processes", "disturbances", "links_down")
    model.set_clock(virtual_s=message["virtual_ns"] / NS, **{key: message[key] for key in kept})


def load_finished(folder: Path, model: Model, files: RunFiles | None) -> None:
    """Read what a run that has ended has left: the files that a viewer follows if they tell of all jobs, else jobs.csv."""
    try:
        record = read_record(folder / "run.json")
        jobs = finished_jobs(folder) if files is None else []
        if files is not None:
            files.look_to_end()
    except (SimunixError, OSError, ValueError, KeyError) as error:
        model.set_status("ended", f"the results cannot be read: {error}")
        return
    if jobs:
        model.replace_jobs(jobs)
    if files is None:
        model.faults.clear()
        tail = Tail(folder / "events.jsonl")
        while lines := tail.lines():
            for fault in faults_of(lines):
                model.note_fault(fault)
    model.set_clock(
        virtual_s=record.get("virtual_s") or 0.0, paused=True, speed=0.0, disturbances=record.get("disturbances", [])
    )
    reason = record.get("failure") or record.get("ended")
    model.set_status("ended", f"this run has ended: {reason}")
