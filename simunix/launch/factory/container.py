"""Start an emulated host: its namespaces and its first process (csrc/hostinit).

If the user has the rights for it, the kernel isolates hosts from each other: each has its own mounts, host name, pids,
network interfaces and abstract sockets. All emulated processes descend from the host's first process, which dies with
the server; the kernel then kills the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.process.host_state import Command
from simunix.launch.factory.broker import ContainerError, FactoryError
from simunix.launch.factory.factory import LIBRARY, HostFactory
from simunix.launch.view.device_numbers import DeviceNode
from simunix.roots.tracing import tracing_is_allowed
from simunix.roots.tree import THIS_COMPUTER, RootTree

SHIM = LIBRARY / "libsimunix.so"
SHIM_IN_HOST = "/run/simunix/libsimunix.so"
WHOLE_PROC_IN_HOST = "/run/simunix/proc"
"""A second /proc of the host, in which no file is hidden. The kernel requires one before programs may mount /proc in
user namespaces of their own.
"""
MOUNTS_IN_HOST = "/run/simunix/mounts"
"""The file in which the shim reads which mounts the host's set-up has made (csrc/shim/sys/procfs/mounts.c)."""
SHIM_BEHIND_CHANNEL = 2
"""The distance between the descriptor of a program's channel and the descriptor of the shim's file, for a program that
the host's first process starts (csrc/hostinit/spawn.c).
"""
REPORT_TIMEOUT_S = 10.0
DEVICE_MODE = 0o666  # drivers such as NVIDIA's let all users open their devices
OVERLAY_SEPARATORS = frozenset(",:\\")


class Isolation(Enum):
    """How far hosts are isolated from each other and from this computer; each value is the word for it in messages to
    the factory.
    """

    ROOT = "all"
    CONTAINED = "contained"
    USER_NAMESPACE = "user"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PrivatePath:
    """A path whose content each host has for itself; `source` is the place of the content in the run directory."""

    path: str
    source: Path
    owner: str = ""
    mode: int = 0o755


@dataclass(frozen=True, slots=True)
class Bind:
    """A file or directory of this computer that a host sees under another path."""

    source: Path
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class Temporary:
    """A folder such as /tmp that a host has for itself, empty at first.

    With `is_layer`, the host sees this computer's content below a writable layer of its own; files in `first` hide
    files of this computer. Paths in `shared` remain this computer's own. `source` is the place of the content, or of
    the layer, in the run directory.
    """

    path: str
    source: Path
    is_layer: bool = False
    shared: tuple[str, ...] = ()
    first: Path | None = None


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """The description of a host's container. `directory` is the host's own folder in the run directory; `terminal` is
    the caller's terminal, for a console.

    `devices` are made below /dev. `storages` are private paths on a storage, each with the storage's number and the
    flags that the shim needs. `cgroups` are the control files, with modes, of the group in which all processes begin;
    without them the host sees this computer's cgroups. Of `sensors`, the folder `sys` is added to /sys, and the folder
    `cpu` appears as /dev/cpu. `owned` are further folders of this computer which root of a contained host owns if the
    caller does.
    """

    name: str
    directory: Path
    isolation: Isolation
    private: tuple[PrivatePath, ...] = ()
    binds: tuple[Bind, ...] = ()
    temporary: tuple[Temporary, ...] = ()
    fresh_run: bool = True
    terminal: str = ""
    shim: Path = field(default=SHIM)
    root: RootTree = THIS_COMPUTER
    devices: tuple[DeviceNode, ...] = ()
    storages: tuple[tuple[str, str], ...] = ()
    sensors: Path | None = None
    cgroups: Mapping[str, int] = field(default_factory=dict)
    owned: tuple[str, ...] = ()


def nearest_existing(path: str, tree: RootTree) -> Path:
    """Return the longest leading part of an absolute path that exists in a root file system."""
    candidate = Path(path)
    while not tree.has(str(candidate)):
        candidate = candidate.parent
    return candidate


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is the folder itself or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


CGROUPS = "/sys/fs/cgroup"
FIRMWARE = ("/sys/firmware", "/sys/devices/virtual/dmi")
"""Paths that tell the identity of this computer (maker, ACPI tables, ranges of memory). Hosts do not see them; some
real computers have none either.
"""


class _Directives:
    """The words of the first message to hostinit, in the order in which hostinit carries them out."""

    def __init__(self, spec: ContainerSpec) -> None:
        self.spec = spec
        self.words: list[str] = []
        self._layered: set[str] = set()
        self._private_paths = {self._resolved(private.path) for private in spec.private}  # these have modes of their own
        self._is_elsewhere = spec.root != THIS_COMPUTER

    def build(self) -> list[str]:
        """Return all directives of hostinit's first message."""
        spec = self.spec
        self.words.append(f"hostname={spec.name}")
        if self._is_elsewhere:
            self._enter_root()
        self.words.append("proc=")
        if spec.sensors is not None:
            self.words.append(f"merge={spec.sensors / 'sys'}\t/sys")
        self.words += [f"keep={folder.path}" for folder in spec.temporary]
        if spec.fresh_run:
            self._fresh_run()
        private_paths = [replace(private, path=self._resolved(private.path)) for private in spec.private]
        ordered = sorted(private_paths, key=lambda private: private.path.count("/"))
        for private in ordered:  # layers come before binds, since a layer hides what is bound below it
            self._layer_for(private)
        for folder in spec.temporary:
            self._temporary(folder)
        for private in ordered:
            self._private(private)
        if spec.isolation in (Isolation.ROOT, Isolation.CONTAINED):  # an ordinary user can change nothing in these folders
            self.words.append("seal=")  # seal before the binds, which would hide the paths that must become read-only
        if spec.cgroups:
            self.words.append("cgroups=" + " ".join(f"{name}:{mode:o}" for name, mode in spec.cgroups.items()))
        for bind in spec.binds:
            self._bind(bind)
        if self._is_elsewhere:
            self.words.append("close=")
        self.words += [f"storage={storage}\t{self._resolved(path)}" for path, storage in spec.storages]
        if spec.fresh_run:
            self.words += [f"whole={WHOLE_PROC_IN_HOST}", f"mounts={MOUNTS_IN_HOST}"]
        return self.words

    def _resolved(self, path: str) -> str:
        """Return the path without symbolic links (/var/run is one), as the host sees it."""
        tree = self.spec.root
        return str(Path("/", tree.locate(path).relative_to(tree.path)))

    def _enter_root(self) -> None:
        """Give the host a writable layer of its own over its root file system, which stays unchanged."""
        base = self.spec.directory / "root"
        for path in (self.spec.root.path, base):
            if set(str(path)) & OVERLAY_SEPARATORS:
                raise ContainerError(f"host {self.spec.name}: {path}: no ',', ':' or '\\' in a path that a layer is made of")
        base.mkdir(parents=True, exist_ok=True)
        self.words.append(f"root={self.spec.root.path}\t{base}")

    def _bind(self, bind: Bind) -> None:
        """Bind a file or folder of this computer. If the host has another root, a missing target is made there; /proc
        and /sys are this computer's in every root.
        """
        of_kernel = is_below(bind.target, "/proc") or is_below(bind.target, "/sys")
        tree = THIS_COMPUTER if of_kernel else self.spec.root
        inside = bind.target if of_kernel else self._resolved(bind.target)
        is_fresh = self._is_fresh(inside)  # /etc/resolv.conf is often a link into /run, which is empty at this point
        is_link = tree.path.joinpath(bind.target[1:]).is_symlink()
        if is_fresh and is_link:
            bind = replace(bind, target=inside)
        elif not tree.has(bind.target) and (tree == THIS_COMPUTER or is_link) and not self._is_bound(bind.target):
            return
        if tree != THIS_COMPUTER or is_fresh:
            self.words.append(f"place={'directory' if bind.source.is_dir() else 'file'} {bind.target}")
        self.words.append(f"bind={'ro' if bind.read_only else 'rw'} {bind.source}\t{bind.target}")

    def _is_bound(self, path: str) -> bool:
        """Return whether another bind makes the path appear, so that it need not exist on this computer."""
        above = (bind for bind in self.spec.binds if bind.target != path and is_below(path, bind.target))
        return any((bind.source / path[len(bind.target) :].lstrip("/")).exists() for bind in above)

    def _fresh_run(self) -> None:
        """Make empty /run and /dev, as after a boot, and put the shim into /run, where users can read it who cannot
        read the installed package.
        """
        self.words += [
            f"devices={self.spec.terminal}",
            "tmpfs=755 /run",
            "directory=755  /run/simunix",
            f"file={SHIM_IN_HOST}",
            "directory=1777  /run/lock",
        ]
        self.words += [f"bind=ro {self.spec.shim}\t{SHIM_IN_HOST}", "tmpfs=1777 /dev/shm"]
        self.words += [f"tmpfs=555 {path}" for path in FIRMWARE if Path(path).is_dir()]
        if self.spec.sensors is not None:
            self.words += ["directory=755  /dev/cpu", f"bind=ro {self.spec.sensors / 'cpu'}\t/dev/cpu"]
        for device in self.spec.devices:
            self.words += [f"directory=755  {above}" for above in reversed(Path(device.path).parents) if len(above.parts) > 2]
            self.words.append(f"device={DEVICE_MODE:o} {device.path}")

    def _temporary(self, folder: Temporary) -> None:
        """Give the host a temporary folder of its own, except for the shared paths below it: two hosts, or two runs,
        may choose equal names for their files.
        """
        if folder.is_layer:
            is_users = self.spec.isolation is Isolation.USER_NAMESPACE  # an ordinary user may not mount every kind of layer
            self._layer(folder.source, folder.path, "layer" if is_users else "overlay", folder.first)
        else:
            folder.source.mkdir(parents=True, exist_ok=True)
            self.words += [f"bind=rw {folder.source}\t{folder.path}", f"directory=1777  {folder.path}"]
        self.words += [f"share={path}" for path in folder.shared]

    def _private(self, private: PrivatePath) -> None:
        private.source.mkdir(parents=True, exist_ok=True)
        if fresh := self._fresh_folder(private.path):
            self._make_parents(fresh, private)
        elif str(existing := nearest_existing(private.path, self.spec.root)) != private.path:
            self._make_parents(str(existing), private)
        self.words.append(f"bind=rw {private.source}\t{private.path}")
        self.words.append(f"directory={private.mode:o} {private.owner} {private.path}")

    def _is_fresh(self, path: str) -> bool:
        return self.spec.fresh_run and is_below(path, "/run")

    def _fresh_folder(self, path: str) -> str | None:
        """Return the folder that is empty at first and contains a path; None if no such folder does."""
        folders = [folder.path for folder in self.spec.temporary if not folder.is_layer]
        if self.spec.fresh_run:
            folders.append("/run")
        return next((folder for folder in folders if is_below(path, folder)), None)

    def _layer_for(self, private: PrivatePath) -> None:
        """Put a layer over an existing folder in which a private path is missing, so that the path can be made; the
        layer's files stay in the run directory.
        """
        existing = nearest_existing(private.path, self.spec.root)
        if self._is_elsewhere or str(existing) == private.path or self._fresh_folder(private.path):
            return
        if str(existing) == "/":
            raise ContainerError(f"private path {private.path}: neither it nor a folder above it exists; create one")
        if any(is_below(str(existing), layer) for layer in self._layered):
            return
        self._layer(self.spec.directory / "layers" / str(existing).strip("/").replace("/", "_"), str(existing))
        self._layered.add(str(existing))

    def _layer(self, base: Path, target: str, directive: str = "overlay", first: Path | None = None) -> None:
        for part in ("upper", "work"):
            (base / part).mkdir(parents=True, exist_ok=True)
        hiding = "" if first is None else f"\t{first}"
        self.words.append(f"{directive}={base / 'upper'}\t{base / 'work'}\t{target}{hiding}")

    def _make_parents(self, above: str, private: PrivatePath) -> None:
        missing = Path(private.path).relative_to(above).parts
        folders = [str(Path(above, *missing[:depth])) for depth in range(1, len(missing))]
        self.words += [f"directory=755  {folder}" for folder in folders if folder not in self._private_paths]
        self.words.append(f"directory={private.mode:o} {private.owner} {private.path}")


@cache
def _entry_of(shim: Path) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return where programs start that have the library injected, in bytes of its file (e_entry of the ELF header), and
    the size of the file.
    """
    content = shim.read_bytes()
    return ("entry", int.from_bytes(content[24:32], "little")), ("size", len(content))


def _kept(spec: ContainerSpec) -> list[str]:
    """Return the paths outside that the host must own: its folder in the run directory, and its root."""
    return (
        [str(path) for path in (spec.directory, spec.root.path, *spec.owned)] if spec.isolation is Isolation.CONTAINED else []
    )


class Container:
    """A running host, which starts programs and ends all of them when it is closed."""

    def __init__(self, spec: ContainerSpec, factory: HostFactory) -> None:
        self.spec = spec
        try:
            self._line = factory.bear(spec.isolation.value, _kept(spec))
        except ContainerError as error:
            raise type(error)(f"host {spec.name}: {error}") from error
        if spec.isolation is Isolation.NONE:
            return  # a host whose processes are not isolated needs no set-up
        try:
            self._ask(_Directives(spec).build())
        except SimunixError:
            with contextlib.suppress(FactoryError):  # the error that is reported is the first one, not an error of the clean-up
                self.close()
            raise

    @property
    def shim_path(self) -> str:
        """The path of the shim's library, as the host sees it."""
        inside = self.spec.isolation is not Isolation.NONE and self.spec.fresh_run
        return SHIM_IN_HOST if inside else str(self.spec.shim)

    @property
    def init(self) -> int:
        """The process number of the host's first process, as this computer sees it."""
        return self._line.init

    def spawn(self, command: Command, channel_fd: int, channel_number: int, nofile: int, core: int | None) -> int:
        """Start a program under the shim; return its pid in the host. Raises ContainerError with the reason if the
        start fails.
        """
        environment = dict(command.environment)
        preload = environment.get("LD_PRELOAD")
        environment["LD_PRELOAD"] = f"{preload}:{self.shim_path}" if preload else self.shim_path
        environment["SIMUNIX_CHANNEL"] = str(channel_number)
        if tracing_is_allowed():
            environment["SIMUNIX_CHANNEL"] += f":{channel_number + SHIM_BEHIND_CHANNEL}"
        words = [f"argv={argument}" for argument in command.argv]
        words += [f"env={name}={value}" for name, value in environment.items()]
        words += [f"cwd={command.directory}", f"user={command.user or ''}", f"nofile={nofile}"]
        words += [
            f"channel={channel_number}",
            f"core={-1 if core is None else core}",
            f"foreground={command.foreground:d}",
            f"terminal={command.terminal:d}",
        ]
        if tracing_is_allowed():
            words += [f"shim={self.shim_path}", *(f"{key}={number}" for key, number in _entry_of(self.spec.shim))]
        return self._ask(words, (command.stdin, command.stdout, command.stderr, channel_fd))

    def inject(self, thread: int, descriptor: int) -> None:
        """Inject the shim into the program that a thread is about to execute. `descriptor` is the program's open file
        in that thread.
        """
        entry, size = (number for _, number in _entry_of(self.spec.shim))
        self._ask([f"inject={thread} {descriptor} {entry} {size}"])

    def release(self, thread: int) -> None:
        """Let a thread continue whose execve(2) has failed."""
        self._ask([f"release={thread}"])

    def why_killed(self, pid: int) -> str:
        """Return why the host's first process killed a process after `inject`; "" if it did not."""
        try:
            self._line.ask([f"reason={pid}"])
        except ContainerError as error:
            return str(error)
        return ""

    def wait_status(self, pid: int) -> int:
        """Return the wait(2) status of a started program that has ended; -1 if the host's first process has died, too.

        Raises FactoryError if all hosts have ended.
        """
        status = self._line.wait_ended(pid, REPORT_TIMEOUT_S)
        return -1 if status is None else status

    def _ask(self, words: list[str], fds: tuple[int, ...] = ()) -> int:
        try:
            return self._line.ask(words, fds)
        except ContainerError as error:
            raise type(error)(f"host {self.spec.name}: {error}") from error

    def give_up(self) -> None:
        """End every process of the host."""
        self._line.give_up()

    def close(self) -> None:
        """End every process of the host, and wait until all are gone."""
        self._line.close()
