"""The keys `storages:` and `mounts:` of a scenario: disks of hosts, their bandwidths, and which paths lie on them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from simunix.scenario.section import Duration, FileName, HostList, Rate, Seconds, Section, Size, check_private


class StorageSection(Section):
    """A disk, or an array of disks, of a host; each host of a list has a disk of its own.

    `readwrite_bandwidth` is the bandwidth of all reads and writes together; as in SimGrid, it is by default the larger
    of the two bandwidths. Each operation waits for `latency`, and then for its bytes. The operations of one moment
    share the disk equally (`fair_per: operation`), or the applications do, whatever number of operations each has
    (`application`): a job of an RJMS, or the processes of one name on all hosts.
    """

    name: FileName
    host: HostList
    read_bandwidth: Rate
    write_bandwidth: Rate
    readwrite_bandwidth: Rate | None = None
    latency: Seconds = 0.0
    capacity: Annotated[Size, Field(ge=1)] | None = None
    fair_per: Literal["operation", "application"] = "operation"


def _mount_point(path: str) -> str:
    check_private(path)
    if any(ord(character) < 32 for character in path):
        raise ValueError(f"expected a path without control characters, got {path[:60]!r}")
    return path.rstrip("/")


class MountSection(Section):
    """A path of one or several hosts that lies on a storage, so that reading and writing takes virtual time.

    The storage may be a disk of the same host; each host then has its own content. Or it is a disk of a file `server`;
    then all hosts that name this server and this `export` (by default the path) have one content. With several servers,
    each has a `stripe` of a file in turn. At first the path is empty, or a copy of what the host's root file system
    has.
    """

    path: Annotated[str, AfterValidator(_mount_point)]
    host: HostList
    storage: str
    content: Literal["empty", "copy"] = "empty"
    cache: bool = True
    server: HostList | None = None
    export: Annotated[str, AfterValidator(_mount_point)] | None = None
    stripe: Annotated[Size, Field(ge=1)] | None = None
    soft: Duration | None = None

    @model_validator(mode="after")
    def _check(self) -> MountSection:
        if self.server is None:
            for key in ("export", "stripe", "soft"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key}: works only with a file server; name one, such as server: nfs1")
        elif len(self.server) == 1 and self.stripe is not None:
            raise ValueError(f"stripe: works only with several servers, and there is only {self.server[0]}; name more")
        return self
