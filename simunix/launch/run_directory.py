"""The folder of a run: results, logs, the hosts' private files, the control socket."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from rsg_server.errors import SimunixError

CONTROL_SOCKET = "control.sock"
MARK = ".simunix-run"


def remove_tree(path: Path) -> None:
    """Remove a folder with all in it, also what overlay mounts leave behind without permissions. Raises SimunixError."""

    def open_up(function: object, name: str, problem: object) -> None:
        os.chmod(name, 0o700)
        if os.path.isdir(name):
            shutil.rmtree(name)
        else:
            os.unlink(name)

    try:
        shutil.rmtree(path, onerror=open_up)
        if path.exists():
            path.rmdir()
    except OSError as error:
        raise SimunixError(f"{error.filename}: {error.strerror}; remove the folder {path} or choose another --out") from error


class RunDirectory:
    """Paths below one run directory, private to the user (0700)."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    @classmethod
    def create(cls, path: Path) -> RunDirectory:
        """Make the folder. The results of an earlier run are replaced; SimunixError for a folder with anything else in it."""
        if path.exists():
            if not path.is_dir():
                raise SimunixError(f"--out {path}: exists and is not a folder; choose another name")
            if any(path.iterdir()) and not (path / MARK).exists():
                raise SimunixError(f"--out {path}: exists and is not an earlier run's folder; choose another name")
            remove_tree(path)
        path.mkdir(parents=True, mode=0o700)
        (path / MARK).touch()
        return cls(path)

    @property
    def control(self) -> Path:
        """The control socket of the running emulation."""
        return self.path / CONTROL_SOCKET

    @property
    def events(self) -> Path:
        """The canonical event log."""
        return self.path / "events.jsonl"

    def host(self, name: str) -> Path:
        """A host's private files and its processes' output."""
        return self.path / "hosts" / name

    def private(self, host: str, path: str) -> Path:
        """Where the content of a host's private path lives."""
        return self.host(host) / "files" / path.strip("/").replace("/", "_")

    def shared(self, path: str) -> Path:
        """Where the content of a path lives that hosts share."""
        return self.path / "shared" / path.strip("/").replace("/", "_")
