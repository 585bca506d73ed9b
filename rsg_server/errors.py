"""Errors that a user can act on: their text is one line and is all that is shown."""

import errno

LACKS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}
"""What the kernel says when the server has no descriptor, or no memory for one, left."""
MORE_FILES = "raise the limit of open files (ulimit -n) or emulate fewer processes"


class SimunixError(Exception):
    """Something the user can mend; the command line prints the message and exits with `exit_code`."""

    exit_code = 2


class DeadlockError(SimunixError):
    """Nobody can run, nothing is due: virtual time cannot move."""

    exit_code = 3


class ServerError(SimunixError):
    """The server itself cannot go on: its disk is full, it has no descriptor left."""

    exit_code = 5


class StallError(SimunixError):
    """The holder of the turn never gave it back."""

    exit_code = 4
