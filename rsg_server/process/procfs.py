"""Readers of /proc of emulated processes, for decisions of the server and for its reports."""

from __future__ import annotations


def epoll_targets(fdinfo: str | None) -> list[tuple[int, int]]:
    """(descriptor, inode) of what an epoll watches, ascending, from the epoll's fdinfo file; empty if there is no such file."""
    if fdinfo is None:
        return []
    try:
        with open(fdinfo) as lines:
            words = [line.partition("ino:") for line in lines if line.startswith("tfd:")]
    except OSError:
        return []
    return sorted((int(target.split()[1]), int(inode.split()[0], 16)) for target, _, inode in words)
