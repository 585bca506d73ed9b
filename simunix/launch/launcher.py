"""Starts real processes in the containers of a run; the server's only way to the outside."""

from __future__ import annotations

import contextlib
import os
import pwd
from pathlib import Path

from rsg_server.host_state import Command
from simunix.launch.container import Container, ContainerSpec

DESCRIPTORS_FOR_SHIM = 4096
"""How many descriptors of its own a process's shim may have: two for each thread."""


class ContainerLauncher:
    """One container per host, started when it is first needed."""

    def __init__(self, specs: dict[str, ContainerSpec], nofile: int, core: int | None) -> None:
        self._specs = specs
        self._nofile = nofile
        self._core = core
        self.containers: dict[str, Container] = {}

    def start(self, host_name: str) -> Container:
        """The host's container, booted if it is not up yet."""
        if host_name not in self.containers:
            self.containers[host_name] = Container(self._specs[host_name])
        return self.containers[host_name]

    def spawn(self, host_name: str, command: Command, channel_fd: int) -> None:
        """See rsg_server.host_state.Launcher."""
        limit = self._nofile + DESCRIPTORS_FOR_SHIM
        self.start(host_name).spawn(command, channel_fd, self._nofile, limit, self._core)

    def wait_status(self, host_name: str, pid: int) -> int:
        """See rsg_server.host_state.Launcher."""
        return self.containers[host_name].wait_status(pid)

    def close(self) -> None:
        """End all hosts."""
        for container in self.containers.values():
            container.close()
        self.containers.clear()


def write_private(root: Path, private: str, path: str, content: bytes, mode: int, owner: str) -> None:
    """Put a generated file where a host will see it at `path`, inside its private path `private`."""
    target = root / os.path.relpath(path, private)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    target.chmod(mode)
    if owner:
        with contextlib.suppress(PermissionError):
            entry = pwd.getpwnam(owner)
            os.chown(target, entry.pw_uid, entry.pw_gid)
