"""The exceptions of Remote SimGrid's operations; they have SimGrid's names where SimGrid has one."""

from __future__ import annotations

import builtins
import os
import sys

from simunix.rsg._librsg import ffi, lib


class RsgError(Exception):
    """The exception that an operation has failed; `code` is a value of enum simunix_rsg_error."""

    code: int | str | None

    def __init__(self, code: int, about: str) -> None:
        words = ffi.string(lib.rsg_error_text(code)).decode()
        super().__init__(f"{about}: {words}" if about else words)
        self.code = code


class NotEmulatedError(RsgError, SystemExit):
    """The exception that the program is not emulated; `code` is the message with which Python ends a program that does
    not catch it.
    """

    def __init__(self, code: int, about: str) -> None:
        super().__init__(code, "")  # the text about the call would only distract
        self.code = f"{os.path.basename(sys.argv[0]) or 'python'}: {self}"


class ActorKilled(BaseException):
    """The exception that the actor has been killed; its function must end."""


class AssertionError(RsgError, builtins.AssertionError):  # the name that SimGrid uses
    """The exception for a senseless request: an unknown name, a number that does not exist, a second wait for an
    activity.
    """


class CancelException(RsgError):  # noqa: N818  # as SimGrid names it
    """The exception that the activity was cancelled."""


class HostFailureException(RsgError):  # noqa: N818  # as SimGrid names it
    """The exception that a host is off."""


class NetworkFailureException(RsgError):  # noqa: N818  # as SimGrid names it
    """The exception that a link is down, or that the actor at the other end has died."""


class StorageFailureException(RsgError):  # noqa: N818  # as SimGrid names it
    """The exception that a disk fails or is read-only, or that its host is off."""


class TimeoutException(RsgError, TimeoutError):  # noqa: N818
    """Raised when the time limit of a wait has passed."""


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
"""The exception for each error code; a code that is not listed means a senseless request."""


def check(code: int, about: str = "") -> None:
    """Raise the exception for an error code; do nothing for 0. `about` is added to the message."""
    if code == 0:
        return
    if code == lib.RSG_KILLED:
        raise ActorKilled(about)
    raise KINDS.get(code, AssertionError)(code, about)
