"""Start real processes in the containers of hosts; all processes of a run are started here."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.options import KernelOptions
from rsg_server.process.host_state import Command
from simunix.launch.factory.broker import FactoryError
from simunix.launch.factory.container import CGROUPS, Container, ContainerSpec, Isolation
from simunix.launch.factory.factory import HostFactory
from simunix.launch.limits.limits import descriptors
from simunix.launch.plan import FileSpec
from simunix.launch.view.device_numbers import DeviceNode
from simunix.roots.tree import THIS_COMPUTER, RootTree

DESCRIPTORS_FOR_SHIM = 4096
"""The number of descriptors that the shim of a process may use for itself: two for each thread."""


class ContainerLauncher:
    """Has one container for each host, which is started when it is first needed. One factory makes all containers."""

    def __init__(self, specs: dict[str, ContainerSpec], options: KernelOptions, core: int | None) -> None:
        self._specs = specs
        self._options = options
        self._core = core
        self.containers: dict[str, Container] = {}
        self._factory: HostFactory | None = None
        self._shims: dict[Path, int] = {}
        self.layers: frozenset[str] | None = None
        """The folders over which hosts that see this computer's files have writable layers; None as long as there is no
        such host.
        """
        self.on_device: Callable[[str, tuple[int, int], int, int], None] = lambda host, file, major, minor: None
        """The function that is called with each device of a new host: the device's file (st_dev, st_ino), major and
        minor number.
        """

    @property
    def factory(self) -> HostFactory:
        """The factory of the hosts, started when it is first needed."""
        if self._factory is None:
            self._factory = HostFactory()
        return self._factory

    def start(self, host_name: str) -> Container:
        """Return the container of a host, and start the container if it does not run yet."""
        if host_name not in self.containers:
            spec = self._specs[host_name]
            container = self.containers[host_name] = Container(spec, self.factory)
            if self.layers is None and spec.root == THIS_COMPUTER:
                self.layers = frozenset(layers_of(container.init) if spec.isolation is not Isolation.NONE else ())
            if spec.isolation is not Isolation.NONE:
                self._tell_devices(host_name, spec.devices)
        return self.containers[host_name]

    def files_of(self, host_name: str) -> str:
        """Return the path below which this computer sees the host's files; see rsg_server.process.host_state.Launcher."""
        container = self.start(host_name)
        return "" if container.spec.isolation is Isolation.NONE else f"/proc/{container.init}/root"

    def _tell_devices(self, host_name: str, devices: tuple[DeviceNode, ...]) -> None:
        """Call `on_device` for each device file of a host that has just been made."""
        for device in devices:
            status = os.stat(self.files_of(host_name) + device.path)
            self.on_device(host_name, (status.st_dev, status.st_ino), device.major, device.minor)

    def spawn(self, host_name: str, command: Command, channel_fd: int) -> int:
        """Start a program on a host, and return its pid; see rsg_server.process.host_state.Launcher."""
        least = self._options.nofile + DESCRIPTORS_FOR_SHIM
        limit = max(least, min(self._options.nofile_hard + DESCRIPTORS_FOR_SHIM, descriptors().free))
        return self.start(host_name).spawn(command, channel_fd, self._options.nofile, limit, self._core)

    def cgroups(self, host_name: str) -> int:
        """Return a descriptor for the host's cgroups; see rsg_server.process.host_state.Launcher."""
        container = self.start(host_name)
        try:
            if container.spec.cgroups:
                return os.open(f"/proc/{container.init}/root{CGROUPS}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:  # the kernel of this computer has no cgroup file system for hosts
            pass
        raise SimunixError(f"host {host_name}: no cgroups")

    def inject(self, host_name: str, thread: int, descriptor: int) -> int:
        """Inject the shim into the program that a thread is about to execute; see
        rsg_server.process.host_state.Launcher.
        """
        container = self.start(host_name)
        shim = container.spec.shim
        if shim not in self._shims:
            self._shims[shim] = os.open(shim, os.O_RDONLY | os.O_CLOEXEC)
        container.inject(thread, descriptor)
        return self._shims[shim]

    def release(self, host_name: str, thread: int) -> None:
        """Let a thread continue whose execve(2) has failed; see rsg_server.process.host_state.Launcher."""
        self.start(host_name).release(thread)

    def why_killed(self, host_name: str, pid: int) -> str:
        """Return why a process was killed after `inject`; see rsg_server.process.host_state.Launcher."""
        container = self.containers.get(host_name)
        return container.why_killed(pid) if container is not None else ""

    def wait_status(self, host_name: str, pid: int) -> int:
        """Return the wait(2) status of a process that has ended; see rsg_server.process.host_state.Launcher."""
        container = self.containers.get(host_name)
        return container.wait_status(pid) if container is not None else int(signal.SIGKILL)  # the process ended with its host

    def power_off(self, host_name: str) -> None:
        """End all processes of a host; see rsg_server.process.host_state.Launcher."""
        container = self.containers.pop(host_name, None)
        if container is not None:
            container.close()

    def close(self) -> None:
        """End all hosts: send the order to all of them first, and then wait for each."""
        for container in self.containers.values():
            container.give_up()
        with contextlib.suppress(FactoryError):  # the containers have ended together with the factory
            for container in self.containers.values():
                container.close()
        self.containers.clear()
        while self._shims:
            os.close(self._shims.popitem()[1])
        if self._factory is not None:
            self._factory.close()
            self._factory = None


def layers_of(process: int) -> Iterator[str]:
    """Yield the paths at which overlay file systems are mounted, as a process sees them."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/mountinfo").read_text().splitlines():
            mount, _, source = line.partition(" - ")
            if source.startswith("overlay "):
                yield mount.split()[4]


def write_private(folder: Path, private: str, file: FileSpec, root: RootTree) -> None:
    """Write a generated file into a private path of a host; `private` is that path. The file's owner is looked up in
    the host's root.
    """
    target = folder / os.path.relpath(file.path, private)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(file.content)
    target.chmod(file.mode)
    if file.owner:
        owner = root.user(file.owner)
        if owner is None:
            raise SimunixError(f"host {file.host}: {file.path}: no user {file.owner!r} in {root.path / 'etc/passwd'}")
        with contextlib.suppress(PermissionError):
            os.chown(target, *owner)
