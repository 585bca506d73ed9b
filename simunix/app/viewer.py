"""The live page beside a run (`simunix run --view`): a process of its own, so that no browser holds up a turn."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.emulation import say
from simunix.launch.parent_death import die_with

END_S = 5.0


@contextlib.contextmanager
def viewer(folder: Path) -> Iterator[None]:
    """Serve the page of a run, whose live.json is written, until the context ends. Raises SimunixError if there is no page."""
    process = subprocess.Popen(
        [sys.executable, "-m", "simunix.cli.main", "view", str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C ends the run first, and the page shows the end of the run
        preexec_fn=die_with(os.getpid()),
        text=True,
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise SimunixError("--view: the live page could not be started, for the reason above; leave --view out")
        say(f"live page: {address}")
        yield
    finally:
        process.terminate()
        process.stdout.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
