"""The errors that a user can act on. The text of an error is one line; the command line shows this line and no traceback."""

import errno

LACKS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS}
"""Error numbers (errno) that Linux returns if no descriptor is left, or no memory for one."""
ROOM = {
    errno.ENOSPC: "free some space, or ",
    errno.EDQUOT: "free some of your quota, or ",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
}
"""Error numbers (errno) for a file that has no room, each with what the user can do besides writing the file elsewhere."""
MORE_FILES = "raise the limit of open files (ulimit -n) or emulate fewer processes"


QUOTED_MOST = 100
"""The most characters of one value that a message quotes."""
LINE_MOST, LINE_HEAD, LINE_TAIL = 1000, 500, 300
"""The most characters of a message's line, and how much of a longer line is shown: its beginning, which has the file
and the key, and its end, which says how to mend the error.
"""


class SimunixError(Exception):
    """Raised for a mistake that the user can mend.

    The command line prints the message and exits with the status `exit_code`.
    """

    exit_code = 2


class DeadlockError(SimunixError):
    """Raised if no actor can run and no event is due, so that virtual time cannot move."""

    exit_code = 3


class ServerError(SimunixError):
    """Raised if the server itself cannot continue: its disk is full, or it has no descriptor left."""

    exit_code = 5


class StallError(SimunixError):
    """Raised if the actor that has the turn has not given the turn back for too long, in real time."""

    exit_code = 4


def quoted(value: object) -> str:
    """Return a user's value as messages quote it: its repr(), cut after QUOTED_MOST characters, with the length of the
    whole value if it is cut.
    """
    text = repr(value)
    if len(text) <= QUOTED_MOST:
        return text
    return f"{text[:QUOTED_MOST]}… ({len(value) if isinstance(value, str) else len(text):,} characters)"


def shortened(text: str) -> str:
    """Return a message with its long lines shortened, so that an input of 100 kB does not appear whole in the error."""
    return "\n".join(map(_shortened_line, text.split("\n")))


def _shortened_line(line: str) -> str:
    left_out = len(line) - LINE_HEAD - LINE_TAIL
    if len(line) <= LINE_MOST:
        return line
    return f"{line[:LINE_HEAD]}… ({left_out:,} characters left out) …{line[-LINE_TAIL:]}"


def described(error: OSError | MemoryError) -> str:
    """Return one line of text for an OSError of this computer: what went wrong, and with which file."""
    if isinstance(error, MemoryError):
        return "not enough memory (ulimit -v, or this computer has no more)"
    reason = error.strerror or str(error) or type(error).__name__
    mend = f"; {MORE_FILES}" if error.errno in (errno.EMFILE, errno.ENFILE) else ""
    mend = f"; {mend_of(error, 'choose another folder')}" if error.errno in ROOM else mend
    return f"{error.filename!s:.300}: {reason}{mend}" if error.filename is not None else f"{reason}{mend}"


def mend_of(error: OSError, elsewhere: str) -> str:
    """Return what the user can do about a file that cannot be written.

    `elsewhere` says how to have the file written elsewhere.
    """
    return ROOM.get(error.errno or 0, "") + (elsewhere if error.errno != errno.EFBIG else "")
