"""Turn `storages:` and `mounts:` of a scenario into disks of its hosts and paths that lie on these disks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rsg_server.errors import SimunixError
from rsg_server.platform.disk import Disk
from rsg_server.platform.host import Host
from rsg_server.storage.volume import Remote
from simunix.launch.plan import DiskNeed, MountSpec, PrivateSpec
from simunix.ranges import fold_hosts
from simunix.roots.tree import THIS_COMPUTER, RootTree
from simunix.scenario.model import Scenario
from simunix.scenario.storage_section import MountSection, StorageSection

NEEDED = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
"""The folders without which no program of a host can run."""
NAME_BYTES_MAX = 255
"""The most bytes of one part of a path (NAME_MAX)."""
MOUNTS_MAX = 16
"""The most mounts of one host, which the shim's STORED_MOUNTS_MAX (csrc/shim/core/core.h) limits."""
STRIPE_BYTES = 1 << 20
"""The stripe size, in bytes, of parallel mounts for which the scenario gives none: Lustre's default."""
FOR_EVERYBODY = 0o1777
"""The mode of a mounted folder that the host's root does not have: all users may write there, since a new file system
has no folders of users.
"""


def with_disks(hosts: Sequence[Host], storages: Sequence[StorageSection]) -> list[Host]:
    """Return the hosts with their disks. The text of a SimunixError begins with the wrong storage."""
    disks: dict[str, dict[str, Disk]] = {host.name: {} for host in hosts}
    for index, section in enumerate(storages):
        disk = Disk(
            section.name,
            section.read_bandwidth,
            section.write_bandwidth,
            section.readwrite_bandwidth,
            section.latency,
            section.capacity,
            fair_per_application=section.fair_per == "application",
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
    """Return the disks of a host in a platform file, followed by those that the scenario adds. Raises SimunixError for
    two disks with one name.
    """
    names = {disk.name for disk in of_file.disks}
    for disk in of_scenario.disks:
        if disk.name in names:
            text = f"host {of_file.name} of the platform file has a disk {disk.name!r} already; choose another name"
            raise SimunixError(f"storages: {text}")
    return (*of_file.disks, *of_scenario.disks)


@dataclass(frozen=True, slots=True)
class Mounts:
    """By host: the paths that are on storages, the private paths with their content, and the paths that file servers
    export.
    """

    specs: Mapping[str, tuple[MountSpec, ...]]
    private: Mapping[str, tuple[PrivateSpec, ...]]
    remotes: Mapping[str, tuple[Remote, ...]]


def copies(scenario: Scenario) -> tuple[DiskNeed, ...]:
    """Return the folders that mounts and private paths copy from the root file systems of hosts.

    A folder that file servers export is copied once.
    """
    found: list[DiskNeed] = []
    for index, mount in enumerate(scenario.mounts):
        if mount.content == "copy":
            hosts = mount.host if mount.server is None else mount.host[:1]
            found.append(_copy(scenario, f"mounts[{index}].content", mount.path, hosts))
    for index, host in enumerate(scenario.hosts):
        for place, entry in enumerate(host.private):
            if entry.content == "copy":
                found.append(_copy(scenario, f"hosts[{index}].private[{place}]", entry.path, host.name))
    return tuple(found)


def _copy(scenario: Scenario, key: str, path: str, hosts: Sequence[str]) -> DiskNeed:
    place = scenario.place_of_key(key)
    what = f"copied from {path} of {fold_hosts(list(hosts))}"
    return DiskNeed(f"{place}: {key}" if place else key, what, copies=tuple((name, path) for name in hosts))


def plan_mounts(mounts: Sequence[MountSection], hosts: Mapping[str, Host], roots: Mapping[str, RootTree]) -> Mounts:
    """Plan the mounts of all hosts. The text of a SimunixError begins with the wrong mount."""
    planner = _Planner(hosts, roots)
    for index, section in enumerate(mounts):
        planner.add(section, f"mounts[{index}]")
    return Mounts(planner.specs, planner.private, planner.remotes)


class _Planner:
    """Adds the mounts of a scenario to a plan, one after the other."""

    def __init__(self, hosts: Mapping[str, Host], roots: Mapping[str, RootTree]) -> None:
        self._hosts = hosts
        self._roots = roots
        self._exports: dict[str, tuple[str, Remote]] = {}  # by SERVERS:PATH: the storage, and the servers' disks
        self.specs: dict[str, tuple[MountSpec, ...]] = {}
        self.private: dict[str, tuple[PrivateSpec, ...]] = {}
        self.remotes: dict[str, tuple[Remote, ...]] = {}

    def _known(self, name: str, key: str) -> Host:
        if name not in self._hosts:
            known = fold_hosts(list(self._hosts))
            raise SimunixError(f"{key}: {name!r} is not among the hosts; known: {known}")
        return self._hosts[name]

    def add(self, section: MountSection, key: str) -> None:
        """Add a mount to each of its hosts."""
        remote, export = None, ""
        if section.server is not None:
            export = f"{fold_hosts(list(section.server))}:{section.export or section.path}"
            remote = self._remote(section, section.server, export, key)
        for name in section.host:
            host = self._known(name, f"{key}.host")
            spec = self._spec(section, host, remote, export, key)
            if problem := _wrong_place(section, name, self._roots[name]):
                raise SimunixError(f"{key}.path: {problem}")
            there = self.specs.get(name, ())
            if any(other.path == spec.path for other in there):
                raise SimunixError(f"{key}.path: {name} has a mount at {spec.path} already; choose another path")
            if len(there) == MOUNTS_MAX:
                raise SimunixError(f"{key}: {name} has {MOUNTS_MAX} mounts already, as many as a host can have")
            self.specs[name] = (*there, spec)
            mode = None if self._roots[name].has(spec.path) else FOR_EVERYBODY
            private = PrivateSpec(spec.path, mode=mode, copied=section.content == "copy", export=export)
            self.private[name] = (*self.private.get(name, ()), private)

    def _remote(self, section: MountSection, servers: Sequence[str], export: str, key: str) -> Remote:
        """Return the disks of file servers for a mount. An exported path must be on one storage."""
        disks = [(name, _number(section, self._known(name, f"{key}.server"), key)) for name in servers]
        if len(set(servers)) < len(servers):
            raise SimunixError(f"{key}.server: {section.server} names a host twice; name each once")
        stripe_bytes = (section.stripe or STRIPE_BYTES) if len(servers) > 1 else 0
        remote = Remote(tuple(disks), stripe_bytes)
        storage, other = self._exports.setdefault(export, (section.storage, remote))
        if storage != section.storage:
            raise SimunixError(f"{key}.storage: {export} is on {storage} in another mount; name one storage, or another export")
        if other != remote:
            raise SimunixError(
                f"{key}.stripe: {export} has stripes of {other.stripe_bytes} bytes in another mount; name one size"
            )
        return replace(remote, soft_ns=section.soft)

    def _spec(self, section: MountSection, host: Host, remote: Remote | None, export: str, key: str) -> MountSpec:
        """Return the mount of one host. If the host is the only server of the mount, the mount is a local disk of that
        host.
        """
        path, is_cached = section.path, section.cache
        if remote is None or [name for name, _ in remote.servers] == [host.name]:
            number = _number(section, host, key)
            return MountSpec(path, number, host.disks[number].capacity_bytes is not None, is_cached, export=export)
        remotes = self.remotes.get(host.name, ())
        if remote not in remotes:
            remotes = self.remotes[host.name] = (*remotes, remote)
        has_capacity = all(self._hosts[name].disks[disk].capacity_bytes is not None for name, disk in remote.servers)
        return MountSpec(path, len(host.disks) + remotes.index(remote), has_capacity, is_cached, True, export)


def _wrong_place(section: MountSection, host: str, root: RootTree) -> str:
    """Return why a host cannot have a mount at a path; "" if it can."""
    path = section.path
    top = "/" + path.split("/")[1]
    if top in ("/proc", "/sys"):
        return f"{top} is the kernel's on each host; choose a path elsewhere"
    if path in ("/dev", "/run") or (path + "/").startswith("/run/simunix/"):
        return f"hosts have a {top} of their own; choose a path elsewhere"
    if path == "/etc":
        return "hosts have files of their own in /etc; choose a path below it, or elsewhere"
    if path in NEEDED and section.content == "empty":
        return f"{host} cannot run programs without what is in {path}; write content: copy, or choose another path"
    if long := [part for part in path.split("/") if len(part.encode()) > NAME_BYTES_MAX]:
        return f"a part of a path has {NAME_BYTES_MAX} bytes at most; this one has {len(long[0].encode())}: {long[0][:20]}…"
    if root.has(path) and not root.locate(path).is_dir():
        return f"{path} is a file in the root of {host}; choose a folder"
    if root == THIS_COMPUTER and not root.has(top):
        exists = f"neither {path} nor a folder above it exists in the root of {host}"
        return f"{exists}; create one, or choose a path below a folder that does, such as /srv{path}"
    return ""


def _number(section: MountSection, host: Host, key: str) -> int:
    names = [disk.name for disk in host.disks]
    if section.storage not in names:
        known = f"it has {', '.join(names)}" if names else f"add one under storages, with host: {host.name}"
        raise SimunixError(f"{key}.storage: {host.name} has no storage {section.storage!r}; {known}")
    return names.index(section.storage)
