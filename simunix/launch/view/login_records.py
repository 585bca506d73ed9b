"""The records of logins (user, time, origin), which login and sshd keep in files with fixed names.

Each host has records of its own, empty at first. In this computer's records, an emulated login would find the logins of
earlier runs, and equal runs would differ.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable

from simunix.launch.factory.container import Bind, is_below
from simunix.launch.run_directory import RunDirectory

RECORDS = ("/var/log/wtmp", "/var/log/btmp", "/var/log/lastlog")
"""The files of login records. The file of utmp(5) is in /run, which is empty at the start of every host."""


def login_record_binds(directory: RunDirectory, host: str, private: Iterable[str]) -> tuple[Bind, ...]:
    """Make empty files of login records for a host, with the owners and modes of this computer's. Return the binds that
    show them; files in private paths need none.
    """
    folders = tuple(private)
    binds = []
    for record in RECORDS:
        if not os.path.exists(record) or any(is_below(record, folder) for folder in folders):
            continue
        own = directory.private(host, record)
        own.parent.mkdir(exist_ok=True)
        own.touch()
        shutil.copymode(record, own)
        # an ordinary user cannot give the files to the group utmp (in a user namespace: EINVAL)
        with contextlib.suppress(OSError):
            os.chown(own, -1, os.stat(record).st_gid)
        binds.append(Bind(own, record, read_only=False))
    return tuple(binds)
