"""The `storages:` and `mounts:` sections: disks of hosts, what they can do, and which paths are kept on them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from simunix.scenario.section import Duration, FileName, HostList, Rate, Seconds, Section, Size, check_private


class StorageSection(Section):
    """A disk, or an array of disks, of a host; each host of a list has one of its own.

    `readwrite_bandwidth` is what all reads and writes may have together; by default the larger of the two bandwidths, as in
    SimGrid. Each operation waits for `latency` first, then for its bytes. At one time each operation has an equal share of the
    disk (`fair_per: operation`), or each application has, however many operations it has there (`application`): a job of an
    RJMS, or the processes of one name on all hosts.
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
    """A path of a host, or of each of several, that is kept on a storage: reading and writing takes time.

    The storage is one of the same host, and each host has its own content there; or one of a file `server`, and all hosts that
    name this server and `export` (by default the path) have one content. Of several servers each has a `stripe` of a file in
    turn. The content is nothing at first, or a copy of what the host's root has.
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
                    raise ValueError(f"{key}: only a file server has that; name one, such as server: nfs1")
        elif len(self.server) == 1 and self.stripe is not None:
            raise ValueError(f"stripe: of several servers each has a stripe in turn, and {self.server[0]} is one; name more")
        return self
