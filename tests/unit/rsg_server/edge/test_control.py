"""The control socket."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, cast

import pytest
import trio

from rsg_server.edge.control import Control
from rsg_server.edge.service import Service


def test_whoever_sees_the_file_can_connect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that waits for the file was told that no emulation was running, while the server did not listen yet."""
    path = tmp_path / "control.sock"
    seen: list[bool] = []

    def rename(source: str, target: str, **folders: int) -> None:
        seen.append(path.exists())
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(str(tmp_path / source))
        cast(Any, os).replace(source, target, **folders)

    async def serve() -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(Control(cast(Service, None), path).serve)
            assert path.is_socket()
            nursery.cancel_scope.cancel()

    (tmp_path / ".control.sock").touch()  # of a server that was killed before it listened
    monkeypatch.setattr(os, "rename", rename)
    trio.run(serve)
    assert seen == [False]
    assert list(tmp_path.iterdir()) == []
