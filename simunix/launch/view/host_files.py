"""What the hosts of a run see of the file system: their containers with binds and private paths, and the files in these
paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import source_hash
from pathlib import Path

from rsg_server.cgroups.cgroups import ROOT_FILES
from rsg_server.cgroups.hierarchy import SLICES
from rsg_server.sockets.interfaces import Interface, InterfaceTable
from simunix.launch.factory.container import Bind, ContainerSpec, Isolation, Temporary
from simunix.launch.factory.launcher import write_private
from simunix.launch.plan import HostSpec, Plan, PrivateSpec
from simunix.launch.run_directory import RunDirectory
from simunix.launch.view.block_devices import block_binds
from simunix.launch.view.hardware_files import write_tree
from simunix.launch.view.interface_files import interface_binds
from simunix.launch.view.login_records import login_record_binds
from simunix.launch.view.own_etc import copied_etc, etc_layer
from simunix.launch.view.pci_files import first_nic
from simunix.launch.view.power_files import write_cpufreq, write_sensors, write_wires
from simunix.launch.view.private_paths import private_path, with_crontabs
from simunix.launch.view.temporary import temporary_folders
from simunix.roots.tree import THIS_COMPUTER

CGROUPS = {**ROOT_FILES, **{f"{name}/": 0o755 for name in SLICES}}
"""The control files and folders of a host's cgroups at its start; names of folders end with a slash."""
NSSWITCH = "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n"


@dataclass(frozen=True, slots=True)
class HostFiles:
    """Writes the files that the hosts of a plan see into the run directory."""

    plan: Plan
    directory: RunDirectory
    isolation: Isolation

    def write(self) -> dict[str, ContainerSpec]:
        """Write all files; return the containers of the hosts by name."""
        interfaces = InterfaceTable(self.plan.platform)
        by_name = {host.name: interfaces.of(self.plan.platform.host_by_name(host.name)) for host in self.plan.hosts}
        self._write_shared_identity()
        specs = {host.name: self._container(host, by_name[host.name]) for host in self.plan.hosts}
        self._write_private_files()
        return specs

    def _container(self, host: HostSpec, interfaces: tuple[Interface, ...]) -> ContainerSpec:
        directory = self.directory.host(host.name)
        directory.mkdir(parents=True)
        hardware = self.directory.path / "hardware"
        sensors = None
        binds = [Bind(path, target) for path, target in self._identity_files(host)]
        if host.hardware is not None:
            has_power = self._shows_power(host)
            tree = hardware / (host.hardware.shape + ("-power" if has_power else ""))
            binds += write_tree(tree, host.hardware)
            if has_power:
                write_cpufreq(tree / "cpu", host.hardware.cpus)
                sensors = write_sensors(tree / "sensors", host.hardware)
        binds += block_binds(hardware, self.plan.platform.host_by_name(host.name), self._mounts)
        binds += interface_binds(hardware, directory, interfaces, self._mounts, first_nic(host.hardware))
        if host.root != THIS_COMPUTER:
            binds.append(Bind(self.directory.path, str(self.directory.path), read_only=False))
        else:
            binds += login_record_binds(self.directory, host.name, (entry.path for entry in host.private))
        temporary = self._layers(host) if host.root == THIS_COMPUTER else ()
        own_anyway = {folder.path for folder in temporary}
        private = tuple(
            private_path(entry, self._source(host.name, entry), host.root)
            for entry in with_crontabs(host)
            if entry.path not in own_anyway
        )
        return ContainerSpec(
            host.name,
            directory,
            self._isolation(host),
            (*private, *write_wires(directory / "power", host.wired)),
            tuple(binds),
            temporary,
            terminal=host.terminal,
            root=host.root,
            devices=host.devices,
            cgroups=CGROUPS if self._mounts else {},
            sensors=sensors if self.isolation in (Isolation.ROOT, Isolation.CONTAINED) else None,
            storages=tuple((mount.path, mount.record) for mount in host.mounts),
        )

    def _isolation(self, host: HostSpec) -> Isolation:
        return Isolation.ROOT if host.privileged and self.isolation is Isolation.CONTAINED else self.isolation

    def _layers(self, host: HostSpec) -> tuple[Temporary, ...]:
        """Return the folders that a host with this computer's files has for itself, or below a writable layer."""
        temporary = temporary_folders(host, self.plan, self.directory)
        if not self._mounts:
            return temporary
        copies = self._shared / "computer"
        if not copies.exists():
            copied_etc(copies)
        return (*temporary, *etc_layer(copies, host.name, self.plan.shared, self.directory))

    @property
    def _mounts(self) -> bool:
        """Whether hosts can have files of the run mounted over this computer's files."""
        return self.isolation is not Isolation.NONE

    def _shows_power(self, host: HostSpec) -> bool:
        """Return whether a host has files about its power: the host has watts, and its files have the names under which
        the server knows them.
        """
        return self._mounts and self.plan.platform.host_by_name(host.name).power is not None

    @property
    def _shared(self) -> Path:
        """The folder for files of /etc that many hosts have in common."""
        return self.directory.path / "etc"

    def _write_shared_identity(self) -> None:
        self._shared.mkdir()
        lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"]
        lines += [f"{address} {each.name}" for each in self.plan.platform.hosts for address in each.addresses]
        (self._shared / "hosts").write_text("\n".join(lines) + "\n")
        (self._shared / "nsswitch.conf").write_text(NSSWITCH)
        (self._shared / "resolv.conf").write_text("")

    def _identity_files(self, host: HostSpec) -> list[tuple[Path, str]]:
        """Return the files that tell a host its own name and the addresses and names of all hosts, with the paths over
        which they are mounted.
        """
        own = self.directory.host(host.name) / "hostname"
        own.write_text(host.name + "\n")
        pairs = [(self._shared / file, f"/etc/{file}") for file in ("hosts", "nsswitch.conf", "resolv.conf")]
        for file, content in host.etc.items():
            same = self._shared / f"{file}-{source_hash(content).hex()}"  # one file for all hosts with this content
            same.write_bytes(content)
            pairs.append((same, f"/etc/{file}"))
        return [*pairs, (own, "/etc/hostname")]

    def _write_private_files(self) -> None:
        """Write each generated file of the plan into the innermost private path of its host that contains it."""
        by_name = {host.name: host for host in self.plan.hosts}
        for file in self.plan.files:
            candidates = [entry for entry in by_name[file.host].private if file.path.startswith(entry.path + "/")]
            private = max(candidates, key=lambda entry: len(entry.path))
            write_private(self._source(file.host, private), private.path, file, by_name[file.host].root)

    def _source(self, host: str, entry: PrivateSpec) -> Path:
        """Return the folder with the content of a private path."""
        if entry.export:
            return self.directory.exported(entry.export)
        return self.directory.shared(entry.path) if entry.shared else self.directory.private(host, entry.path)


def show_files(folder: Path, binds: Sequence[Bind]) -> Path:
    """Make a folder with links to the files that would be mounted, laid out like the host's root, for the shim to use
    if mounts are not allowed.
    """
    for bind in binds:
        link = folder / bind.target.lstrip("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(bind.source)
    return folder
