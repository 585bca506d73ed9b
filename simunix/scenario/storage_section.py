"""The `storages:` section: disks of hosts, and what they can do."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simunix.scenario.section import FileName, HostList, Rate, Seconds, Section, Size


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
