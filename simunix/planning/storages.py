"""From the `storages:` of a scenario to the disks of its hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rsg_server.errors import SimunixError
from rsg_server.platform.disk import Disk
from rsg_server.platform.host import Host
from simunix.ranges import fold_hosts
from simunix.scenario.storage_section import StorageSection


def with_disks(hosts: Sequence[Host], storages: Sequence[StorageSection]) -> list[Host]:
    """The hosts with their disks. SimunixError names the storage that is wrong."""
    disks: dict[str, dict[str, Disk]] = {host.name: {} for host in hosts}
    for index, section in enumerate(storages):
        disk = Disk(
            section.name,
            section.read_bandwidth,
            section.write_bandwidth,
            section.readwrite_bandwidth,
            section.latency,
            section.capacity,
        )
        for name in section.host:
            if name not in disks:
                known = fold_hosts(list(disks))
                raise SimunixError(f"storages[{index}].host: {name!r} is not among the hosts; known: {known}")
            if disk.name in disks[name]:
                text = f"{name} has a storage {disk.name!r} already; choose another name"
                raise SimunixError(f"storages[{index}].name: {text}")
            disks[name][disk.name] = disk
    return [replace(host, disks=tuple(disks[host.name].values())) if disks[host.name] else host for host in hosts]


def together(of_file: Host, of_scenario: Host) -> tuple[Disk, ...]:
    """The disks of a host in a platform file, then those that the scenario adds. SimunixError names one that both have."""
    names = {disk.name for disk in of_file.disks}
    for disk in of_scenario.disks:
        if disk.name in names:
            text = f"host {of_file.name} of the platform file has a disk {disk.name!r} already; choose another name"
            raise SimunixError(f"storages: {text}")
    return (*of_file.disks, *of_scenario.disks)
