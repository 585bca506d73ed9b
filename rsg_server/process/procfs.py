"""What /proc tells of emulated processes, read by the server for what it decides and for its reports."""

from __future__ import annotations


def epoll_targets(fdinfo: str | None) -> list[tuple[int, int]]:
    """Descriptors that an epoll watches, ascending, with their files' inodes, from its fdinfo file; none if it is gone."""
    if fdinfo is None:
        return []
    try:
        with open(fdinfo) as lines:
            words = [line.partition("ino:") for line in lines if line.startswith("tfd:")]
    except OSError:
        return []
    return sorted((int(target.split()[1]), int(inode.split()[0], 16)) for target, _, inode in words)
