"""The `storages:` and `mounts:` sections: disks of hosts, what they can do, and which paths are kept on them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from simunix.scenario.section import FileName, HostList, Rate, Seconds, Section, Size, check_private


class StorageSection(Section):
    """A disk, or an array of disks, of a host; each host of a list has one of its own.

    `readwrite_bandwidth` is what all reads and writes may have together; by default the larger of the two bandwidths, as in
    SimGrid. Each operation waits for `latency` first, then for its bytes.
    """

    name: FileName
    host: HostList
    read_bandwidth: Rate
    write_bandwidth: Rate
    readwrite_bandwidth: Rate | None = None
    latency: Seconds = 0.0
    capacity: Annotated[Size, Field(ge=1)] | None = None


def _mount_point(path: str) -> str:
    check_private(path)
    return path.rstrip("/")


class MountSection(Section):
    """A path of a host, or of each of several, that is kept on a storage of the same host: reading and writing takes time.

    Each host has its own content there: nothing at first, or a copy of what its root has.
    """

    path: Annotated[str, AfterValidator(_mount_point)]
    host: HostList
    storage: str
    content: Literal["empty", "copy"] = "empty"
    cache: bool = True
