"""One run of a plan, from containers to the last result: start, supervise, end, clean up."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import trio

from rsg_server.clock.clock_page import next_tick_ns
from rsg_server.diagnosis.stalls import actor_lines
from rsg_server.edge.control import Control
from rsg_server.edge.service import Service, ServiceOptions
from rsg_server.errors import SimunixError
from rsg_server.event_log import EventLog
from rsg_server.handlers.signals import inject
from rsg_server.kernel import Kernel
from rsg_server.process.host_state import Command
from rsg_server.process.process import Process
from rsg_server.protocol import FLAG_FAKE_GROUPS, FLAG_FAKE_NAME
from rsg_server.sockets.interfaces import Interface, InterfaceTable
from simunix.launch.debug.gdb import Gdb
from simunix.launch.debug.observation import Observation
from simunix.launch.debug.strace import NO_STRACE, StraceOptions
from simunix.launch.factory.container import Bind, ContainerSpec, Isolation, PrivatePath, probe
from simunix.launch.factory.launcher import ContainerLauncher, write_private
from simunix.launch.interrupts import Interrupts
from simunix.launch.limits.capacity import check, needs_of
from simunix.launch.limits.cores import Claim, claim
from simunix.launch.limits.ksm import Room, start_merging
from simunix.launch.limits.limits import raise_open_files
from simunix.launch.plan import HostSpec, Plan, PrivateSpec, ProcessSpec
from simunix.launch.run_directory import RunDirectory
from simunix.launch.view.hardware import write_tree
from simunix.launch.view.interface_files import interface_binds
from simunix.launch.view.login_records import login_record_binds
from simunix.roots.tree import THIS_COMPUTER

NSSWITCH = "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n"
HOST_FLAGS = {
    Isolation.ROOT: 0,
    Isolation.USER_NAMESPACE: FLAG_FAKE_GROUPS,
    Isolation.NONE: FLAG_FAKE_NAME | FLAG_FAKE_GROUPS,
}
BOOT_STEP_NS = 10**9
"""At most so long after one another the processes of a host are started again when it boots."""
Warn = Callable[[str], None]


def say(text: str) -> None:
    """One line for the user, on stderr."""
    print(f"simunix: {text}", file=sys.stderr, flush=True)


@dataclass(slots=True)
class Supervised:
    """A process of the plan and what has become of it."""

    spec: ProcessSpec
    process: Process | None = None
    starts: int = 0
    ended: bool = False
    exit_code: int | None = None
    started_ns: int | None = None  # its latest start and end, in virtual time
    ended_ns: int | None = None
    at_boot: bool = False  # to be started when its host comes on again


@dataclass
class Emulation:
    """Runs a plan in a run directory. `foreground` is the descriptors of a single command, if it is one."""

    plan: Plan
    directory: RunDirectory
    foreground: tuple[int, int, int] | None = None
    warn: Warn = say
    keep_alive: bool = False
    strace: StraceOptions = NO_STRACE
    debug: str | None = None  # PROCESS or HOST:PROCESS for gdb
    isolation: Isolation | None = None
    warnings: list[str] = field(default_factory=list)
    supervised: list[Supervised] = field(default_factory=list)
    wall_s: float = 0.0
    failure: str | None = None
    waiting: list[str] = field(default_factory=list)  # who still lived when the run ended, and what each waited for
    kernel: Kernel = field(init=False)
    service: Service = field(init=False)
    log: EventLog = field(init=False)
    gdb: Gdb | None = field(default=None, init=False)
    interrupts: Interrupts = field(default_factory=Interrupts)  # in force if the caller has entered it
    lists_waiting: bool = False  # say at the end who still lived: one look into /proc per actor
    begun_ns: int = field(default_factory=next_tick_ns, init=False)
    core: Claim | None = field(default=None, init=False)
    launcher: ContainerLauncher = field(init=False)
    observation: Observation = field(init=False)
    room: Room | None = field(default=None, init=False)  # if pages are merged

    def prepare(self) -> None:
        """Write what the hosts will see, choose the isolation and the core, make the kernel."""
        plan = self.plan
        if self.isolation is None:
            self.isolation, given_up = probe()
            if given_up:
                self._warned(given_up)
        for warning in plan.warnings:
            self._warned(warning)
        elsewhere = [host.name for host in plan.hosts if host.root != THIS_COMPUTER]
        if elsewhere and self.isolation is Isolation.NONE:
            raise SimunixError(f"host {elsewhere[0]}: a root of its own needs namespaces, which cannot be had here")
        self.log = EventLog(self.directory.events, plan.log_every_turn)
        self.core = claim()
        specs: dict[str, ContainerSpec] = {}
        self.launcher = ContainerLauncher(specs, plan.kernel.nofile, self.core.core)
        self._make_room()
        interfaces = InterfaceTable(plan.platform)
        by_name = {name: interfaces.of(plan.platform.host_by_name(name)) for name in (host.name for host in plan.hosts)}
        specs.update({host.name: self._container_spec(host, by_name[host.name]) for host in plan.hosts})
        self._write_files()
        options = dataclasses.replace(plan.kernel, host_flags=HOST_FLAGS[self.isolation], begun_ns=self.begun_ns)
        self.kernel = Kernel(plan.platform, options, self.log, self.launcher)
        self.kernel.on_warning = self._warned
        if self.isolation is Isolation.NONE:
            for name, spec in specs.items():
                self.kernel.hosts[name].files = str(show_files(spec.directory / "files", spec.binds))
        if self.debug is not None:
            self.gdb = Gdb(self.debug, self.directory.path, self.warn)
            self.gdb.check(plan)
            self.kernel.debugger = self.gdb.debugger
        self.kernel.traces = self.strace.traces(self.directory, plan, self.isolation)
        self.service = Service(
            self.kernel,
            ServiceOptions(
                plan.pace, plan.until_ns, self.keep_alive, plan.preempt_after_s, external_files(self.foreground or ())
            ),
            self._is_finished,
        )
        self.supervised = [Supervised(spec) for spec in plan.processes]
        self.observation = Observation(self.kernel, self.directory, plan.observation)
        self._schedule_faults()
        for entry in self.supervised:
            self.kernel.timeline.add(entry.spec.start_ns, partial(self._start, entry))

    def _warned(self, text: str) -> None:
        self.warnings.append(text)
        self.warn(text)

    def _make_room(self) -> None:
        """Estimate what the run takes of this computer; merge pages if that is worth it, refuse or warn if it does not fit."""
        assert self.isolation is not None
        needs = needs_of(self.plan)
        try:
            if start_merging(self.plan.merge_pages, needs, self.launcher, self._warned):
                self.room = Room(lambda: bool(self.service.reason))
            for line in check(needs, self.isolation, self.room is not None, self.plan.capacity == "refuse"):
                self._warned(line)
        except SimunixError:
            self.launcher.close()
            raise
        raise_open_files(needs.descriptors)

    # What the hosts see

    def _container_spec(self, host: HostSpec, interfaces: tuple[Interface, ...]) -> ContainerSpec:
        assert self.isolation is not None
        directory = self.directory.host(host.name)
        directory.mkdir(parents=True)
        binds = [Bind(path, target) for path, target in self._identity_files(host)]
        if host.hardware is not None:
            hardware = host.hardware
            shape = f"{hardware.sockets}x{hardware.cores_per_socket}x{hardware.threads_per_core}-{hardware.memory_bytes}"
            binds += write_tree(self.directory.path / "hardware" / shape, hardware)
        private = tuple(
            PrivatePath(entry.path, self._source(host.name, entry), entry.owner, entry.mode) for entry in host.private
        )
        binds += interface_binds(self.directory.path / "hardware", directory, interfaces, self.isolation is not Isolation.NONE)
        if host.root != THIS_COMPUTER:
            binds.append(Bind(self.directory.path, str(self.directory.path), read_only=False))
        else:
            binds += login_record_binds(self.directory, host.name, (entry.path for entry in host.private))
        return ContainerSpec(host.name, directory, self.isolation, private, tuple(binds), root=host.root)

    def _identity_files(self, host: HostSpec) -> list[tuple[Path, str]]:
        """Files that tell a host its name and everybody's addresses and names, bound over the real ones."""
        shared = self.directory.path / "etc"
        if not shared.exists():
            shared.mkdir()
            lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost"]
            lines += [f"{address} {each.name}" for each in self.plan.platform.hosts for address in each.addresses]
            (shared / "hosts").write_text("\n".join(lines) + "\n")
            (shared / "nsswitch.conf").write_text(NSSWITCH)
            (shared / "resolv.conf").write_text("")
        own = self.directory.host(host.name) / "hostname"
        own.write_text(host.name + "\n")
        pairs = [(shared / file, f"/etc/{file}") for file in ("hosts", "nsswitch.conf", "resolv.conf")]
        for file, content in host.etc.items():
            same = shared / f"{file}-{hashlib.sha256(content).hexdigest()[:16]}"  # one for all hosts that have the same
            same.write_bytes(content)
            pairs.append((same, f"/etc/{file}"))
        return [*pairs, (own, "/etc/hostname")]

    def _write_files(self) -> None:
        by_name = {host.name: host for host in self.plan.hosts}
        for file in self.plan.files:
            candidates = [entry for entry in by_name[file.host].private if file.path.startswith(entry.path + "/")]
            private = max(candidates, key=lambda entry: len(entry.path))
            write_private(self._source(file.host, private), private.path, file, by_name[file.host].root)

    def _source(self, host: str, entry: PrivateSpec) -> Path:
        """Where a private path's content lives."""
        return self.directory.shared(entry.path) if entry.shared else self.directory.private(host, entry.path)

    # Processes

    def _schedule_faults(self) -> None:
        faults = self.kernel.faults
        faults.power.on_boot = self._booted
        faults.power.on_loss = lambda host: self._end_if_finished()
        faults.schedule(self.plan.faults)
        for profile in self.plan.profiles:
            faults.play(profile)

    def _booted(self, host: str) -> None:
        """Start again what was running, in the order of the plan's times, and what was to be started meanwhile."""
        offset_ns, before_ns = 0, None
        for entry in sorted(self.supervised, key=lambda entry: entry.spec.start_ns):
            if entry.at_boot and entry.spec.host == host:
                offset_ns += 0 if before_ns is None else min(entry.spec.start_ns - before_ns, BOOT_STEP_NS)
                before_ns = entry.spec.start_ns
                entry.at_boot = entry.ended = False
                self.kernel.timeline.add(self.kernel.now_ns + offset_ns, partial(self._start, entry))

    def _start(self, entry: Supervised) -> None:
        """Start a process of the plan now; called from the timeline."""
        spec = entry.spec
        if not self.kernel.faults.power.starts_programs(spec.host):
            entry.at_boot = True
            return
        if self.room is not None:
            self.room.wait()
        entry.starts += 1
        entry.started_ns = self.kernel.now_ns
        environment = {**self.plan.environment, **spec.environment}
        with contextlib.ExitStack() as stack:
            stdin, stdout, stderr = self.foreground or self._output_files(spec, stack)
            command = Command(
                spec.argv,
                environment,
                spec.directory,
                stdin,
                stdout,
                stderr,
                spec.user,
                spec.name,
                self.foreground is not None,
            )
            try:
                entry.process = self.kernel.lifecycle.spawn(spec.host, command)
            except SimunixError as error:
                entry.ended = True
                self._fail(str(error))
                return
        entry.process.on_exit = partial(self._ended, entry)

    def _output_files(self, spec: ProcessSpec, stack: contextlib.ExitStack) -> tuple[int, int, int]:
        directory = self.directory.host(spec.host)
        append = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        stdout, stderr = (os.open(directory / f"{spec.name}.{suffix}", append, 0o644) for suffix in ("out", "err"))
        for fd in (stdin, stdout, stderr):
            stack.callback(os.close, fd)
        return stdin, stdout, stderr

    def _ended(self, entry: Supervised, process: Process) -> None:
        status = process.exit_status
        entry.exit_code = None if status is None or status < 0 else os.waitstatus_to_exitcode(status)
        entry.process = None
        entry.ended_ns = self.kernel.now_ns
        spec = entry.spec
        if not self.kernel.faults.power.starts_programs(spec.host):  # it went with its host: see on_loss
            entry.ended = entry.at_boot = True
            return
        again = spec.restart == "always" or (spec.restart == "on-failure" and entry.exit_code != 0)
        if again and not self.service.reason:
            self.kernel.timeline.add(self.kernel.now_ns + spec.restart_delay_ns, partial(self._start, entry))
            return
        entry.ended = True
        finished = self._is_finished()
        if finished and (entry.exit_code == 0 or not spec.essential):
            self.service.end("done")  # at this very turn, or the log would depend on how fast this computer is
        elif spec.essential and not (spec.is_workload and entry.exit_code == 0):
            self._fail(
                f"{spec.host}: {spec.name} ended with {describe_exit(entry.exit_code)} at "
                f"{self.kernel.now_ns / 1e9:.3f} s; its output is in {self.directory.host(spec.host)}/{spec.name}.err"
            )

    def send_signal(self, entry: Supervised, number: int) -> None:
        """Send a signal to a process of the plan, if it lives; only from an action of the timeline."""
        if entry.process is not None:
            inject(self.kernel, entry.process, number)

    def _fail(self, text: str) -> None:
        self.failure = self.failure or text
        self.service.end("failed")

    def _end_if_finished(self) -> None:
        if self._is_finished():
            self.service.end("done")

    def _is_over(self, entry: Supervised) -> bool:
        if entry.at_boot:
            return not self.kernel.faults.power.boots_later(entry.spec.host)
        return entry.ended

    def _is_finished(self) -> bool:
        if self.plan.stop == "time" or self.keep_alive:
            return False
        entries = self.supervised
        if self.plan.stop == "workload":
            entries = [entry for entry in entries if entry.spec.is_workload]
        done = bool(entries) and all(self._is_over(entry) for entry in entries)
        return done and (self.plan.stop == "workload" or not self.kernel.processes)

    # The run

    def run(self, watcher: Callable[[Emulation], None] | None = None) -> None:
        """Run to the end. Whatever happens, nothing is left behind and the log is on disk."""
        self.interrupts.tell(self.service.interrupt)
        self._run(watcher)
        self.interrupts.check()

    def _run(self, watcher: Callable[[Emulation], None] | None) -> None:
        affinity = os.sched_getaffinity(0)
        started = time.monotonic()
        try:
            if self.core is not None:
                os.sched_setaffinity(0, {self.core.core})  # one runner at a time: handing over on one core is fastest
            trio.run(self._serve, watcher)
        except BaseExceptionGroup as group:
            raise first_of(group) from None
        finally:
            self.wall_s = time.monotonic() - started
            os.sched_setaffinity(0, affinity)
            if self.gdb is not None:
                self.gdb.finish(self.service.reason or "failed")
            self.launcher.close()
            if self.core is not None:
                self.core.release()
            if self.kernel.traces is not None:
                self.kernel.traces.close()
            self.log.close()
            self.observation.close()

    async def _serve(self, watcher: Callable[[Emulation], None] | None) -> None:
        control = Control(self.service, self.directory.control)
        async with trio.open_nursery() as nursery:
            await nursery.start(control.serve)
            for each in self._watchers(watcher):
                nursery.start_soon(self._watch, each)
            try:
                await self.service.run()
            finally:
                self.waiting = actor_lines(self.kernel) if self.lists_waiting else []
            nursery.cancel_scope.cancel()

    def _watchers(self, given: Callable[[Emulation], None] | None) -> Iterator[Callable[[Emulation], None]]:
        if given is not None:
            yield given
        if self.gdb is not None:
            gdb = self.gdb
            yield lambda emulation: gdb.look()

    async def _watch(self, watcher: Callable[[Emulation], None]) -> None:
        while True:
            watcher(self)
            await trio.sleep(0.25)

    def close(self) -> None:
        """Release what the kernel holds, once its results have been read."""
        self.kernel.close()


def external_files(fds: Iterable[int]) -> set[tuple[int, int]]:
    """(device, inode) of descriptors through which input may come from outside the emulation: all but files and /dev/null."""
    found = set()
    for fd in fds:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) and status.st_rdev != os.stat(os.devnull).st_rdev:
            found.add((status.st_dev, status.st_ino))
    return found


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What a nursery has wrapped: a user's interrupt before all else, then the first error."""
    interrupts = group.subgroup(KeyboardInterrupt)
    found: BaseException = interrupts or group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def show_files(folder: Path, binds: Sequence[Bind]) -> Path:
    """What would be mounted over this computer's files, as links in a folder laid out like the host's root, for the shim."""
    for bind in binds:
        link = folder / bind.target.lstrip("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(bind.source)
    return folder


def describe_exit(code: int | None) -> str:
    """Words for an exit code as subprocess gives it: negative numbers are signals."""
    if code is None:
        return "an unknown status"
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
