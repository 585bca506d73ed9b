"""Remote SimGrid for Python: actors, mailboxes and activities of an emulation, with the names of SimGrid's own Python
module.

A script written for `import simgrid` runs with `import simunix.rsg as simgrid`, under `simunix rsg run PLATFORM -- python3
SCRIPT`; docs/reference/rsg.md has the calls of S4U beside those that are here.
"""

from simunix.rsg import this_actor
from simunix.rsg.activity import Comm, Exec
from simunix.rsg.actor import Actor
from simunix.rsg.disks import Disk, Io
from simunix.rsg.engine import Engine
from simunix.rsg.errors import (
    ActorKilled,
    AssertionError,  # the name that SimGrid uses
    CancelException,
    HostFailureException,
    NetworkFailureException,
    RsgError,
    StorageFailureException,
    TimeoutException,
)
from simunix.rsg.mailbox import Mailbox
from simunix.rsg.places import Host, Link
from simunix.rsg.synchronisation import Barrier, ConditionVariable, Mutex, Semaphore

__all__ = [
    "Actor",
    "ActorKilled",
    "AssertionError",
    "Barrier",
    "CancelException",
    "Comm",
    "ConditionVariable",
    "Disk",
    "Engine",
    "Exec",
    "Host",
    "HostFailureException",
    "Io",
    "Link",
    "Mailbox",
    "Mutex",
    "NetworkFailureException",
    "RsgError",
    "Semaphore",
    "StorageFailureException",
    "TimeoutException",
    "this_actor",
]
