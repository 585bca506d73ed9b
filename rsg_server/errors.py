"""Errors that a user can act on. The text of an error is one line, and the command line shows nothing else."""

import errno

LACKS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}
"""Error numbers by which Linux says that no descriptor is left, or no memory for one."""
ROOM = {
    errno.ENOSPC: "free some space, or ",
    errno.EDQUOT: "free some of your quota, or ",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
}
"""Error numbers by which Linux says that a file has no room, and what to do about each, before writing it elsewhere."""
MORE_FILES = "raise the limit of open files (ulimit -n) or emulate fewer processes"


QUOTED_MOST = 100
"""Most characters that a message quotes of one value."""
LINE_MOST, LINE_HEAD, LINE_TAIL = 1000, 500, 300
"""A longer line of a message is shown by its beginning, where the file and the key stand, and its end, where the mend does."""


class SimunixError(Exception):
    """A mistake that the user can mend. The command line prints the message and exits with `exit_code`."""

    exit_code = 2


class DeadlockError(SimunixError):
    """No actor can run and no event is due, so virtual time cannot move."""

    exit_code = 3


class ServerError(SimunixError):
    """The server itself cannot continue: its disk is full, or it has no descriptor left."""

    exit_code = 5


class StallError(SimunixError):
    """The holder of the turn has not given the turn back for too long."""

    exit_code = 4


def quoted(value: object) -> str:
    """A user's value as messages quote it: as Python writes it, at most QUOTED_MOST characters, then how long it is."""
    text = repr(value)
    if len(text) <= QUOTED_MOST:
        return text
    return f"{text[:QUOTED_MOST]}… ({len(value) if isinstance(value, str) else len(text):,} characters)"


def shortened(text: str) -> str:
    """A message whose lines are of a length that can be read: no input of 100 kB comes back with what is wrong in it."""
    return "\n".join(map(_shortened_line, text.split("\n")))


def _shortened_line(line: str) -> str:
    left_out = len(line) - LINE_HEAD - LINE_TAIL
    if len(line) <= LINE_MOST:
        return line
    return f"{line[:LINE_HEAD]}… ({left_out:,} characters left out) …{line[-LINE_TAIL:]}"


def described(error: OSError | MemoryError) -> str:
    """What went wrong on this computer, and where, on one line."""
    if isinstance(error, MemoryError):
        return "not enough memory (ulimit -v, or this computer has no more)"
    reason = error.strerror or str(error) or type(error).__name__
    mend = f"; {MORE_FILES}" if error.errno in (errno.EMFILE, errno.ENFILE) else ""
    mend = f"; {mend_of(error, 'choose another folder')}" if error.errno in ROOM else mend
    return f"{error.filename!s:.300}: {reason}{mend}" if error.filename is not None else f"{reason}{mend}"


def mend_of(error: OSError, elsewhere: str) -> str:
    """What to do about a file that cannot be written; `elsewhere` says how to have it written somewhere else."""
    return ROOM.get(error.errno or 0, "") + (elsewhere if error.errno != errno.EFBIG else "")
