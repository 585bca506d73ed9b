"""Errors that a user can act on: their text is one line and is all that is shown."""


class SimunixError(Exception):
    """Something the user can mend; the command line prints the message and exits with `exit_code`."""

    exit_code = 2


class DeadlockError(SimunixError):
    """Nobody can run, nothing is due: virtual time cannot move."""

    exit_code = 3


class StallError(SimunixError):
    """The holder of the turn never gave it back."""

    exit_code = 4
