"""The errors of Remote SimGrid, as csrc/shared/wire/rsg_protocol.h numbers them, and the exception that contains one."""

from __future__ import annotations

from enum import IntEnum, unique

from rsg_server._native import lib


@unique
class Code(IntEnum):
    """The reasons for which an operation of Remote SimGrid fails.

    The caller gets the number of the reason; the library of Remote SimGrid in the caller's process has the text.
    """

    NONE = lib.RSG_NO_ERROR
    BAD_REQUEST = lib.RSG_BAD_REQUEST
    NO_ACTOR = lib.RSG_NO_ACTOR
    UNKNOWN_HOST = lib.RSG_UNKNOWN_HOST
    UNKNOWN_LINK = lib.RSG_UNKNOWN_LINK
    UNKNOWN_MAILBOX = lib.RSG_UNKNOWN_MAILBOX
    UNKNOWN_ACTIVITY = lib.RSG_UNKNOWN_ACTIVITY
    WAITED_TWICE = lib.RSG_WAITED_TWICE
    UNKNOWN_OBJECT = lib.RSG_UNKNOWN_OBJECT
    NEGATIVE = lib.RSG_NEGATIVE
    TIMEOUT = lib.RSG_TIMEOUT
    CANCELED = lib.RSG_CANCELED
    NETWORK_FAILURE = lib.RSG_NETWORK_FAILURE
    HOST_FAILURE = lib.RSG_HOST_FAILURE
    STORAGE_FAILURE = lib.RSG_STORAGE_FAILURE
    UNKNOWN_DISK = lib.RSG_UNKNOWN_DISK
    NO_TASKS = lib.RSG_NO_TASKS
    KILLED = lib.RSG_KILLED
    NOT_OWNER = lib.RSG_NOT_OWNER
    MEMORY = lib.RSG_MEMORY
    NO_ROUTE = lib.RSG_NO_ROUTE
    BAD_VALUE = lib.RSG_BAD_VALUE
    HAS_BEGUN = lib.RSG_HAS_BEGUN
    CYCLE = lib.RSG_CYCLE
    DEPENDENCY = lib.RSG_DEPENDENCY
    NO_SPEED = lib.RSG_NO_SPEED


class OperationError(Exception):
    """Raised if an operation of Remote SimGrid fails. The text of the exception is the Code that the caller gets."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.name)
        self.code = code
