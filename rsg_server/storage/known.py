"""Records the files that a host has looked up, as Linux does in its caches of names and inodes.

A file of the host's own disk is looked up once. A file server's answer about a file is valid for three seconds (acregmin,
nfs(5)), but open(2) asks again (close-to-open consistency).
"""

from __future__ import annotations

FILES_MAX = 1 << 16
"""The most files that are remembered; the file that was looked up least recently is forgotten first."""
GOOD_NS = 3 * 10**9
MADE = -(1 << 62)
"""Stands for the moment of a look-up, for a file that this host has made and its file server does not know yet."""


class Known:
    """The files of one host, each with the moment at which the host last asked for it."""

    __slots__ = ("_asked_ns",)

    def __init__(self) -> None:
        self._asked_ns: dict[int, int] = {}

    def _note(self, file: int, moment_ns: int) -> None:
        self._asked_ns.pop(file, None)
        self._asked_ns[file] = moment_ns
        if len(self._asked_ns) > FILES_MAX:
            del self._asked_ns[next(iter(self._asked_ns))]

    def made(self, file: int) -> None:
        """Note that a file has been made, emptied or removed."""
        self._note(file, MADE)

    def look(self, file: int, now_ns: int, is_remote: bool, is_open: bool) -> bool | None:
        """Note that a program looks a file up, or opens it.

        Returns True if the look-up needs an operation of the disk, False if the file server is only asked, None if
        neither is needed.
        """
        asked_ns = self._asked_ns.get(file)
        if not is_remote:
            if asked_ns is None:
                self._note(file, now_ns)
            return True if asked_ns is None else None
        if asked_ns is not None and not is_open and now_ns - asked_ns < GOOD_NS:
            return None
        self._note(file, now_ns)
        return asked_ns is None or asked_ns == MADE
