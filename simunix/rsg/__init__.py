"""Remote SimGrid for Python: actors, mailboxes and activities of an emulation, spelled as SimGrid's own Python module.

A script written for `import simgrid` runs with `import simunix.rsg as simgrid`, under `simunix rsg run PLATFORM -- python3
SCRIPT`; docs/reference/rsg.md has the calls of S4U beside those that are here.
"""

from simunix.rsg import this_actor
from simunix.rsg.activity import Comm, Exec
from simunix.rsg.actor import Actor
from simunix.rsg.engine import Engine
from simunix.rsg.errors import (
    ActorKilled,
    AssertionError,  # as SimGrid names it
    CancelException,
    HostFailureException,
    NetworkFailureException,
    RsgError,
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
    "Engine",
    "Exec",
    "Host",
    "HostFailureException",
    "Link",
    "Mailbox",
    "Mutex",
    "NetworkFailureException",
    "RsgError",
    "Semaphore",
    "TimeoutException",
    "this_actor",
]
