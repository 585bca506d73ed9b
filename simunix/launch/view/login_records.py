"""Records of logins (user, time, origin), which login and sshd keep in files whose names cannot be configured.

A host has records of its own, empty at first. In this computer's records an emulated login would find the logins of earlier
runs, so that equal runs differed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable

from simunix.launch.factory.container import Bind, is_below
from simunix.launch.run_directory import RunDirectory

RECORDS = ("/var/log/wtmp", "/var/log/btmp", "/var/log/lastlog")
"""utmp(5) lies in /run, which is fresh on every host."""


def login_record_binds(directory: RunDirectory, host: str, private: Iterable[str]) -> tuple[Bind, ...]:
    """Make a host's records as this computer's are, but empty; the binds that show them. Private paths have their own."""
    folders = tuple(private)
    binds = []
    for record in RECORDS:
        if not os.path.exists(record) or any(is_below(record, folder) for folder in folders):
            continue
        own = directory.private(host, record)
        own.parent.mkdir(exist_ok=True)
        own.touch()
        shutil.copymode(record, own)
        with contextlib.suppress(OSError):  # an ordinary user cannot give them to the group utmp (in a user namespace: EINVAL)
            os.chown(own, -1, os.stat(record).st_gid)
        binds.append(Bind(own, record, read_only=False))
    return tuple(binds)
