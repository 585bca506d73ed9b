"""Who may use the live page: browsers of this computer that know the token, and no other page that runs in such a browser.

The token is the first part of each path. Each request must name this computer as its Host, so that a name of another site that
leads here (DNS rebinding) is refused, and an Origin, if there is one, must be the page's own.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = frozenset(("127.0.0.1", "localhost"))
"""Names of this computer in a Host. The port may be another one, that ssh listens at (-L)."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
REFUSED = "refused: open the address that simunix view has printed, which has the token of this page\n"


def new_token() -> str:
    """A token that nobody can guess, 192 bits."""
    return secrets.token_urlsafe(24)


class Guard:
    """Passes on the requests that may be answered, without the token in their path; answers the others with 403."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        path = self._path(scope)
        if path is None or not _is_own(scope):
            await _refuse(send)
            return
        await self._app({**scope, "path": path, "raw_path": path.encode(), "root_path": ""}, receive, _with_headers(send))

    def _path(self, scope: Scope) -> str | None:
        """The path behind the token; None without the token."""
        _, token, *rest = (*scope["path"].split("/", 2), "", "")[:3]
        return f"/{rest[0]}" if hmac.compare_digest(token.encode(), self._token.encode()) else None


def _is_own(scope: Scope) -> bool:
    """Whether a request comes from the page itself, or from the user's own typing of its address."""
    given = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    hosts = [value for name, value in given if name == "host"]
    if len(hosts) != 1 or _name(hosts[0]) not in NAMES:
        return False
    origins = [value for name, value in given if name == "origin"]
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return False
    sites = {value for name, value in given if name == "sec-fetch-site"}
    return sites <= {"same-origin", "none"} and (scope["method"] in ("GET", "HEAD") or bool(origins))


def _name(host: str) -> str | None:
    """The name in a Host, without its port; None if it has none."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


async def _refuse(send: Send) -> None:
    body = REFUSED.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
        await send(message)

    return sending
