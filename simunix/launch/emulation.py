"""One run of a plan: prepare the hosts, run the processes, and release what the run holds.

`Emulation(...)` writes what the hosts will see and makes a kernel in which nothing has happened yet; `run` runs that kernel to
the end, once; results are read after `run` and before `close`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.clock.file_stamps import next_tick_ns
from rsg_server.diagnosis.traces import Traces
from rsg_server.edge.service import Service, ServiceOptions
from rsg_server.errors import ServerError, SimunixError, shortened
from rsg_server.event_log import EventLog
from rsg_server.kernel import Kernel
from rsg_server.options import KernelOptions
from rsg_server.process.host_state import HostState
from rsg_server.protocol import FLAG_CONTAINED, FLAG_FAKE_GROUPS, FLAG_FAKE_NAME, FLAG_POWER, FLAG_STORAGES
from rsg_server.storage.waits import StorageWaits
from simunix.launch.caller import umask_set_aside
from simunix.launch.debug.observation import Observation
from simunix.launch.debug.strace import NO_STRACE, StraceOptions
from simunix.launch.factory.container import ContainerSpec, Isolation
from simunix.launch.factory.launcher import ContainerLauncher
from simunix.launch.factory.probe import probe
from simunix.launch.failures import Failure
from simunix.launch.interrupts import Interrupts
from simunix.launch.limits.capacity import check, needs_of
from simunix.launch.limits.cores import claim
from simunix.launch.limits.disk import check_disk
from simunix.launch.limits.ksm import MemoryGate, start_merging
from simunix.launch.limits.limits import raise_open_files
from simunix.launch.plan import HostSpec, Plan
from simunix.launch.run_directory import RESERVE_OF_LOGS, RunDirectory
from simunix.launch.session import Sessions
from simunix.launch.supervisor import FROM_OUTSIDE, Descriptors, Supervised, Supervisor
from simunix.launch.system_bus import BusStarter
from simunix.launch.view.host_files import HostFiles, show_files
from simunix.roots.tree import THIS_COMPUTER

if TYPE_CHECKING:
    from simunix.launch.debug.gdb import Gdb

CHARGES = "cpu_charges"
"""The file in the run directory with the CPU time that was charged, under `cpu_policy: charged`."""
COSTS = "cpu_costs.json"
"""The file in the run directory with the computing time before each system call, under `cpu_policy: charged`."""
HOST_FLAGS = {
    Isolation.ROOT: 0,
    Isolation.CONTAINED: 0,
    Isolation.USER_NAMESPACE: FLAG_FAKE_GROUPS,
    Isolation.NONE: FLAG_FAKE_NAME | FLAG_FAKE_GROUPS,
}
WATCH_S = 0.25
"""The interval, in real seconds, at which the emulation calls the functions that watch it."""
Warn = Callable[[str], None]


def say(text: str) -> None:
    """Print one line for the user on stderr."""
    with contextlib.suppress(OSError):  # the terminal may be closed
        print(f"simunix: {shortened(text)}", file=sys.stderr, flush=True)


class Emulation:
    """A run of a plan in a run directory.

    `foreground` has the descriptors of a single command, if the plan is one. `debug` is PROCESS or HOST:PROCESS for
    gdb. `isolation` is by default the best that this user can have. `interrupts` act if the caller has entered them. At
    `pause_at_ns` the run pauses until a user resumes it through the control socket. With `lists_waiting`, `waiting`
    lists the threads alive at the end, and what each waited for.
    """

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        *,
        foreground: Descriptors | None = None,
        warn: Warn = say,
        keep_alive: bool = False,
        strace: StraceOptions = NO_STRACE,
        debug: str | None = None,
        isolation: Isolation | None = None,
        interrupts: Interrupts | None = None,
        lists_waiting: bool = False,
        pause_at_ns: int | None = None,
        storage_waits: StorageWaits | None = None,
    ) -> None:
        self.plan = plan
        self.directory = directory
        self.warnings: list[str] = []
        self.waiting: list[str] = []
        self.wall_s = 0.0
        self.before_debugger: Callable[[], None] = lambda: None  # called before a debugger takes the terminal
        self._warn = warn
        self._interrupts = interrupts or Interrupts()
        self._lists_waiting = lists_waiting
        self._begun_ns, self.begun_real_ns = next_tick_ns(), time.time_ns()
        self.isolation = self._isolation(isolation)
        self._log = EventLog(directory.events, plan.log_every_turn)
        self._core = claim()
        self._specs: dict[str, ContainerSpec] = {}
        self._launcher = ContainerLauncher(self._specs, plan.kernel, self._core.core)
        gate = self._make_room()
        with umask_set_aside():
            self._specs.update(HostFiles(plan, directory, self.isolation).write())
        self._gdb = self._make_gdb(debug)
        options = self._options(None if foreground is not None else directory.path)
        self.kernel = self._make_kernel(options, strace.traces(directory, plan, self.isolation), storage_waits)
        self.service = self._make_service(keep_alive, foreground, pause_at_ns)
        self._observation = Observation(self.kernel, self.service.turns, directory, plan.observation, plan.decoders)
        self.supervisor = Supervisor(self.service, plan, directory, foreground, gate, keep_alive)

    @property
    def supervised(self) -> list[Supervised]:
        """The processes of the plan in the plan's order, each with its present state."""
        return self.supervisor.entries

    @property
    def layers(self) -> frozenset[str] | None:
        """The folders over which hosts that see this computer's files have writable layers; None without such a host."""
        return self._launcher.layers

    @property
    def privileged(self) -> list[str]:
        """The names of the hosts whose root user is this computer's root."""
        return [name for name, spec in self._specs.items() if os.geteuid() == 0 and spec.isolation is Isolation.ROOT]

    @property
    def failure(self) -> str | None:
        """The reason why the run has failed, in words; None if the run has not failed."""
        return self.supervisor.failure

    @property
    def is_debugged(self) -> bool:
        """Whether a debugger has the terminal of this process."""
        return self._gdb is not None and self._gdb.is_on_terminal

    @property
    def failures(self) -> list[Failure]:
        """The processes that did not end as the plan expects, without those that a failure of the run has ended."""
        found, now_ns = self.supervisor.failures, self.kernel.now_ns
        return found if self.failure is None else [each for each in found if each.at_ns < now_ns]

    def note_failure(self, error: SimunixError) -> None:
        """Record that the run was ended by an error. An earlier failure stays the reason."""
        if isinstance(error, FROM_OUTSIDE):
            self.kernel.disturbances.note(str(error))
        self.supervisor.failure = self.supervisor.failure or str(error)

    # Preparation

    def _isolation(self, given: Isolation | None) -> Isolation:
        """Return the isolation between hosts; warn of what is lost if it is not the best, and print the plan's
        warnings.
        """
        isolation = given
        if isolation is None:
            isolation, given_up = probe((self.directory.path, *(host.root.path for host in self.plan.hosts)))
            if given_up:
                self._warned(given_up)
        if isolation is Isolation.CONTAINED and all(host.privileged for host in self.plan.hosts):
            isolation = Isolation.ROOT
        for warning in self.plan.warnings:
            self._warned(warning)
        elsewhere = [host.name for host in self.plan.hosts if host.root != THIS_COMPUTER]
        if elsewhere and isolation is Isolation.NONE:
            raise SimunixError(f"host {elsewhere[0]}: a root of its own needs namespaces, which simunix cannot make here")
        if isolation is Isolation.NONE and any(host.mounts for host in self.plan.hosts):
            raise SimunixError("mounts: a path that is kept on a storage needs namespaces, which simunix cannot make here")
        if isolation is Isolation.NONE and any(host.wired for host in self.plan.hosts):
            raise SimunixError("bmcs: a BMC needs namespaces, which simunix cannot make here; leave bmcs out")
        return isolation

    def _warned(self, text: str) -> None:
        self.warnings.append(text)
        self._warn(text)

    def _make_room(self) -> MemoryGate | None:
        """Estimate the run's memory; merge equal pages if worthwhile. Warn or raise SimunixError if too little is free."""
        needs, folder = needs_of(self.plan), self.directory.path
        try:
            merges = start_merging(self.plan.merge_pages, needs, self._launcher, self._warned)
            for line in (*check(needs, self.isolation, merges, self.plan.capacity == "refuse"), *check_disk(self.plan, folder)):
                self._warned(line)
        except SimunixError:
            self._launcher.close()
            raise
        raise_open_files(needs.descriptors)
        return MemoryGate(lambda: self.service.is_ending) if merges else None

    def _options(self, run_folder: Path | None) -> KernelOptions:
        """Return the plan's options, with what depends on this computer and on this run's folder."""
        flags = HOST_FLAGS[self.isolation]
        options = dataclasses.replace(self.plan.kernel, host_flags=flags, begun_ns=self._begun_ns, run_folder=run_folder)
        if options.charging is not None:
            folder = self.directory.path
            charging = dataclasses.replace(options.charging, recording=folder / CHARGES, costs=folder / COSTS)
            options = dataclasses.replace(options, charging=charging)
        return options

    def _make_kernel(self, options: KernelOptions, traces: Traces | None, storage_waits: StorageWaits | None) -> Kernel:
        kernel = Kernel(
            self.plan.platform,
            options,
            self._log,
            self._launcher,
            debugger=self._gdb.debugger if self._gdb is not None else None,
            traces=traces,
            storage_waits=storage_waits,
        )
        self._tell_kernel(kernel)
        return kernel

    def _tell_kernel(self, kernel: Kernel) -> None:
        """Tell the kernel which cgroups, devices, storages and files each host has, which the platform does not say."""
        kernel.warner.on_warning.connect(self._warned)
        self._launcher.on_device = kernel.devices.given
        for host in self.plan.hosts:
            state = kernel.hosts[host.name]
            self._mount(kernel, host, state)
            if self._specs[host.name].isolation is Isolation.CONTAINED:
                state.flags |= FLAG_CONTAINED
            if host.wired:
                kernel.switches.of[host.name] = host.wired
            if state.host.power is not None or host.wired:
                state.flags |= FLAG_POWER
                kernel.power_files.packages[host.name] = host.hardware.sockets if host.hardware is not None else 1
        if self.isolation is Isolation.NONE:
            for name, spec in self._specs.items():
                kernel.hosts[name].files = str(show_files(spec.directory / "files", spec.binds))
        else:
            kernel.buses.start = BusStarter(self._launcher, kernel.programs, self.directory).start

    def _mount(self, kernel: Kernel, host: HostSpec, state: HostState) -> None:
        """Tell the kernel on which storages a host keeps the files of its paths."""
        directory = self.directory
        for number, remote in enumerate(host.remotes, start=len(state.host.disks)):
            kernel.storages.mount(state.host, number, remote, self.plan.platform.host_by_name)
        for mount in host.mounts:
            state.flags |= FLAG_STORAGES
            private = directory.private(host.name, mount.path)
            kernel.storages.keep(state.host, mount.storage, directory.exported(mount.export) if mount.export else private)

    def _make_gdb(self, target: str | None) -> Gdb | None:
        if target is None:
            return None
        from simunix.launch.debug.gdb import Gdb  # imported here, because few runs use gdb

        gdb = Gdb(target, self.directory.path, self._warn, lambda: self.before_debugger())
        gdb.check(self.plan)
        return gdb

    def _make_service(self, keep_alive: bool, foreground: Descriptors | None, pause_at_ns: int | None) -> Service:
        external = external_files(foreground or ())
        options = ServiceOptions(
            pace=self.plan.pace,
            until_ns=self.plan.until_ns,
            pause_at_ns=pause_at_ns,
            keep_alive=keep_alive,
            preempt_after_s=self.plan.preempt_after_s,
            external_files=external,
        )
        return Service(
            self.kernel,
            options,
            at_pause=self._tell_pause,
            finished=lambda: self.supervisor.is_finished(),
            at_rest=lambda: self.supervisor.is_at_rest(),
            at_limit=lambda reason: self.supervisor.conclude(reason),
            at_wish=(lambda reason: self.supervisor.wind_up(reason)) if self._has_to_collect() else None,
        )

    def _tell_pause(self) -> None:
        self.kernel.disturbances.note("the run was paused by hand")
        at = f"{self.kernel.now_ns / 1e9:.6f} s"
        say(f"paused at {at} of virtual time; to go on: simunix ctl {self.directory.path} resume (or step, or until TIME)")

    def _has_to_collect(self) -> bool:
        """Return whether programs still have to collect results when the user ends the run; not under a debugger."""
        return self._gdb is None and any(process.collects for process in self.plan.processes)

    # The run

    def run(self, watcher: Callable[[Emulation], None] | None = None, is_alone: bool = False) -> None:
        """Run until processes, workload or time limit end the emulation. In any case no process is left, the log is on disk.

        A run that `is_alone` has no control socket in its first moments (rsg_server.edge.service.HEAD_START_S).
        """
        self._interrupts.tell(self.service.interrupt)
        with umask_set_aside():
            self._run(watcher, is_alone and watcher is None and self._gdb is None)
        self._interrupts.check()

    def _run(self, watcher: Callable[[Emulation], None] | None, is_alone: bool) -> None:
        affinity = os.sched_getaffinity(0)
        started = time.monotonic()
        try:
            # only one emulated thread runs at a time; switching between threads on one core is fastest
            os.sched_setaffinity(0, {self._core.core})
            if not (is_alone and self.service.head_start()):
                self._run_in_trio(watcher)
        finally:
            self.wall_s = time.monotonic() - started
            self._interrupts.close()
            os.sched_setaffinity(0, affinity)
            self.directory.release_reserve(RESERVE_OF_LOGS)
            # if one of these steps fails, the others still take place
            with _first_server_error(), contextlib.ExitStack() as ends:
                ends.callback(self._observation.close)
                ends.callback(self._log.close)
                if self.kernel.traces is not None:
                    ends.callback(self.kernel.traces.close)
                ends.callback(self._core.release)
                ends.callback(self._launcher.close)
                if self._gdb is not None:
                    ends.callback(self._gdb.finish, self.service.reason or "failed")

    def _run_in_trio(self, watcher: Callable[[Emulation], None] | None) -> None:
        import trio  # takes long; a run that fails at once does not need trio

        try:
            trio.run(self._serve, watcher)
        except BaseExceptionGroup as group:
            raise first_of(group) from None

    async def _serve(self, watcher: Callable[[Emulation], None] | None) -> None:
        import trio

        from rsg_server.edge.control import Control  # imports trio

        control = Control(self.service, self.directory.control, Sessions(self._launcher, self.plan.environment).open)
        async with trio.open_nursery() as nursery:
            await nursery.start(control.serve)
            for each in self._watchers(watcher):
                nursery.start_soon(self._watch, each)
            try:
                await self.service.run()
            finally:
                self.waiting = self.service.actor_lines() if self._lists_waiting else []
            nursery.cancel_scope.cancel()

    def _watchers(self, given: Callable[[Emulation], None] | None) -> Iterator[Callable[[Emulation], None]]:
        if given is not None:
            yield given
        if self._gdb is not None:
            gdb = self._gdb
            yield lambda emulation: gdb.look()

    async def _watch(self, watcher: Callable[[Emulation], None]) -> None:
        from trio import sleep

        while True:
            watcher(self)
            await sleep(WATCH_S)

    def close(self) -> None:
        """Release what the kernel holds; called after the results have been read."""
        self.kernel.close()


@contextlib.contextmanager
def _first_server_error() -> Iterator[None]:
    """Raise only the first ServerError of the `with` block, such as a full disk; others follow from it."""
    before = sys.exception()
    try:
        yield
    except ServerError:
        if not isinstance(before, ServerError):
            raise


def external_files(fds: Iterable[int]) -> set[tuple[int, int]]:
    """Return (device, inode) of the descriptors that bring input from outside, that is, no regular files or /dev/null."""
    found = set()
    for fd in fds:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) and status.st_rdev != os.stat(os.devnull).st_rdev:
            found.add((status.st_dev, status.st_ino))
    return found


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that a nursery has wrapped: a user's interrupt if there is one, else the first error."""
    interrupts = group.subgroup(KeyboardInterrupt)
    found: BaseException = interrupts or group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
