"""The live page over HTTP: its files, the stream of what changes, the processes of a host, what the user does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import trio
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from rsg_server.errors import SimunixError, shortened
from simunix.app.join import ask
from simunix.view.actions import Actions
from simunix.view.logs import logs_of, read_log
from simunix.view.model import Model
from simunix.view.saved import with_actions

HERE = Path(__file__).parent / "page"
VENDOR = Path(__file__).parents[1] / "report" / "page" / "vendor"
FILES = {
    "/": (HERE / "live.html", "text/html"),
    "/live.css": (HERE / "live.css", "text/css"),
    "/live.js": (HERE / "live.js", "text/javascript"),
    "/charts.js": (HERE / "charts.js", "text/javascript"),
    "/panels.js": (HERE / "panels.js", "text/javascript"),
    "/uPlot.js": (VENDOR / "uPlot.iife.min.js", "text/javascript"),
    "/uPlot.css": (VENDOR / "uPlot.min.css", "text/css"),
    "/tabulator.js": (VENDOR / "tabulator.min.js", "text/javascript"),
    "/tabulator.css": (VENDOR / "tabulator_simple.min.css", "text/css"),
}
"""All files of the page, by path: no other file can be asked for."""
CLUSTER_FACTS = ("name", "rjms", "controller", "login", "nodes", "by_hand", "power_cap_w")
"""What the page gets of a cluster."""
STREAMS_MOST = 32
EVERY_S, STILL_S = 0.2, 5.0
"""Seconds of real time between two messages of a stream, at least and at most."""
BODY_BYTES, BODY_S = 1 << 16, 10.0
"""The most of a request's body, and how long its sender may take for it."""


class Pages:
    """Answers the requests that the guard lets through. `actions` is None for a run that had ended when the page began."""

    def __init__(self, folder: Path, model: Model, actions: Actions | None) -> None:
        self._folder, self._model, self._actions = folder, model, actions
        self._streams = 0

    def app(self) -> Starlette:
        """The application."""
        files = [Route(path, partial(_file, *found), methods=["GET"]) for path, found in FILES.items()]
        return Starlette(
            routes=[
                *files,
                Route("/stream", self._stream, methods=["GET"]),
                Route("/processes", _answered(self._processes), methods=["GET"]),
                Route("/loads", _answered(self._loads), methods=["GET"]),
                Route("/logs", _answered(self._logs), methods=["GET"]),
                Route("/log", _answered(self._log), methods=["GET"]),
                Route("/scenario", _answered(self._scenario), methods=["GET"]),
                Route("/do", _answered(self._act), methods=["POST"]),
            ]
        )

    async def _stream(self, request: Request) -> Response:
        if self._streams >= STREAMS_MOST:
            return PlainTextResponse(f"{STREAMS_MOST} pages show this run already; close one of them\n", 503)
        return StreamingResponse(self._messages(), media_type="text/event-stream")

    async def _messages(self) -> AsyncIterator[bytes]:
        """Yield the whole state, then what has changed, as fast as the browser reads but not faster than EVERY_S."""
        self._streams += 1
        try:
            told = 0
            while True:
                message, told = self._model.message(told)
                yield b"data: " + json.dumps(message, separators=(",", ":")).encode() + b"\n\n"
                await trio.sleep(EVERY_S)
                with trio.move_on_after(STILL_S):
                    await self._model.news()
        finally:
            self._streams -= 1

    async def _processes(self, request: Request) -> Response:
        host = request.query_params.get("host", "")
        asked: dict[str, object] = {"op": "ps", "host": host}
        answer = await trio.to_thread.run_sync(partial(ask, self._folder, asked), abandon_on_cancel=True)
        return JSONResponse(answer["processes"])

    async def _loads(self, request: Request) -> Response:
        asked: dict[str, object] = {"op": "loads"}
        return JSONResponse(await trio.to_thread.run_sync(partial(ask, self._folder, asked), abandon_on_cancel=True))

    async def _logs(self, request: Request) -> Response:
        """The logs of a host."""
        return JSONResponse(self._logs_of(request.query_params.get("host", "")))

    async def _log(self, request: Request) -> Response:
        """What a log of a host has from a byte on, or its end."""
        host, name = (request.query_params.get(key, "") for key in ("host", "name"))
        if name not in self._logs_of(host):
            raise SimunixError(f"{host}: no such log: {shortened(name)}")
        given = request.query_params.get("from", "")
        return JSONResponse(read_log(self._folder / "hosts" / host / name, int(given[:18]) if given.isdecimal() else None))

    def _logs_of(self, host: str) -> list[str]:
        if host not in self._model.facts["hosts"]:
            raise SimunixError(f"host {shortened(host)}: no such host")
        return logs_of(self._folder / "hosts" / host)

    async def _scenario(self, request: Request) -> Response:
        """The scenario with what was done by hand, as a file to keep."""
        if self._actions is None or "scenario" not in self._model.facts:
            raise SimunixError("nothing was done by hand in this run, or it is no run of a scenario")
        facts = self._model.facts
        text = (self._folder / "scenario.yaml").read_text()
        saved = with_actions(text, self._actions.recorded, facts["scenario"], facts["arguments"])
        headers = {"content-disposition": 'attachment; filename="by-hand.yaml"'}
        return PlainTextResponse(saved, media_type="application/yaml", headers=headers)

    async def _act(self, request: Request) -> Response:
        if request.headers.get("content-type") != "application/json":
            raise SimunixError("content-type: expected application/json")
        if self._actions is None:
            raise SimunixError("this run has ended: there is nothing to be changed")
        return JSONResponse({"said": await self._actions.carry_out(await _body(request))})


def _answered(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """A handler whose errors are answers of one line."""

    async def answering(request: Request) -> Response:
        try:
            return await handler(request)
        except SimunixError as error:
            return JSONResponse({"error": shortened(str(error))}, 400)
        except OSError as error:
            return JSONResponse({"error": shortened(f"{error.filename or ''}: {error.strerror}")}, 400)
        except ClientDisconnect:
            return Response(status_code=400)

    return answering


async def _body(request: Request) -> object:
    """The request's JSON. Raises SimunixError for a body that is none, is too long, or takes too long."""
    body = b""
    with trio.move_on_after(BODY_S) as scope:
        async for piece in request.stream():
            body += piece
            if len(body) > BODY_BYTES:
                raise SimunixError(f"a request may have {BODY_BYTES >> 10} KiB")
    if scope.cancelled_caught:
        raise SimunixError(f"the request did not come within {BODY_S:g} s")
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise SimunixError("expected JSON") from error
    return found


async def _file(path: Path, media_type: str, request: Request) -> Response:
    return Response(path.read_bytes(), media_type=media_type)


def facts_for_page(facts: dict[str, Any]) -> dict[str, Any]:
    """What the page gets of live.json: not where files are, nor what each job of the trace asks for."""
    clusters = [{key: each[key] for key in CLUSTER_FACTS} for each in facts["clusters"]]
    jobs = sum(len(each["jobs"]) for each in facts["workloads"])
    kept = {key: facts[key] for key in ("name", "scenario", "arguments", "epoch_s", "hosts")}
    return {**kept, "clusters": clusters, "jobs_of_workload": jobs}
