"""Errors of operations, with SimGrid's names where it has one."""

from __future__ import annotations

import builtins
import os
import sys

from simunix.rsg._librsg import ffi, lib


class RsgError(Exception):
    """An operation has failed; `code` is one of enum simunix_rsg_error."""

    code: int | str | None

    def __init__(self, code: int, about: str) -> None:
        words = ffi.string(lib.rsg_error_text(code)).decode()
        super().__init__(f"{about}: {words}" if about else words)
        self.code = code


class NotEmulatedError(RsgError, SystemExit):
    """The program is not emulated; `code` is a line for the user, with which Python ends a program that does not catch this."""

    def __init__(self, code: int, about: str) -> None:
        super().__init__(code, "")  # whatever the call was about, it is not what is wrong
        self.code = f"{os.path.basename(sys.argv[0]) or 'python'}: {self}"


class ActorKilled(BaseException):
    """The actor has been killed: its function is to end."""


class AssertionError(RsgError, builtins.AssertionError):  # as SimGrid names it
    """A request that makes no sense: an unknown name, a number that does not exist, a wait for what was waited for already."""


class CancelException(RsgError):  # noqa: N818  # as SimGrid names it
    """The activity was cancelled."""


class HostFailureException(RsgError):  # noqa: N818  # as SimGrid names it
    """A host is off."""


class NetworkFailureException(RsgError):  # noqa: N818  # as SimGrid names it
    """A link is down, or the actor at the other end has died."""


class StorageFailureException(RsgError):  # noqa: N818  # as SimGrid names it
    """A disk is failing or read-only, or its host is off."""


class TimeoutException(RsgError, TimeoutError):  # noqa: N818
    """The time that the caller would wait is over."""


KINDS: dict[int, type[RsgError]] = {
    lib.RSG_TIMEOUT: TimeoutException,
    lib.RSG_CANCELED: CancelException,
    lib.RSG_NETWORK_FAILURE: NetworkFailureException,
    lib.RSG_HOST_FAILURE: HostFailureException,
    lib.RSG_STORAGE_FAILURE: StorageFailureException,
    lib.RSG_NO_EMULATION: NotEmulatedError,
    lib.RSG_NO_ACTOR: RsgError,
    lib.RSG_MEMORY: RsgError,
}
"""The exception for a code; a code that is not here is a request that makes no sense."""


def check(code: int, about: str = "") -> None:
    """Raise what a code means; 0 is no error."""
    if code == 0:
        return
    if code == lib.RSG_KILLED:
        raise ActorKilled(about)
    raise KINDS.get(code, AssertionError)(code, about)
